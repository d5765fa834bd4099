package files

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// cleaner removes or archives files that were read, beside the query and as far as it goes: a file that cannot be cleaned stays.
type cleaner struct {
	t       *Table
	mode    cleanMode
	archive string
	queue   chan string
	wait    sync.WaitGroup
}

// cleanQueue is how many files may wait; more of them hold up the query.
const cleanQueue = 1024

// newCleaner returns nil when nothing is to be cleaned. It has no goroutine before the first file.
func newCleaner(t *Table, opts streamOptions) (*cleaner, error) {
	if opts.clean == cleanOff {
		return nil, nil
	}
	c := &cleaner{t: t, mode: opts.clean}
	if opts.clean != cleanArchive {
		return c, nil
	}
	dir, err := absolute(opts.archiveDir)
	if err != nil {
		return nil, err
	}
	c.archive = dir
	for _, p := range t.paths {
		// The archive must not be found by the source again, nor hold the files already.
		if within(dir, p) || within(p, dir) {
			return nil, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "sourceArchiveDir", "value", "'"+opts.archiveDir+"'",
				"requirement", "it must lie outside of the source's path "+p+".")
		}
		if isGlob(p) && archiveMatches(p, dir) {
			return nil, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "sourceArchiveDir", "value", "'"+opts.archiveDir+"'",
				"requirement", "it must not match the source's path "+p+".")
		}
	}
	return c, nil
}

// within tells whether path is dir or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// archiveMatches tells whether a directory, or one above it, is found by a glob.
func archiveMatches(glob, dir string) bool {
	pattern := strings.Split(strings.Trim(filepath.ToSlash(glob), "/"), "/")
	names := strings.Split(strings.Trim(filepath.ToSlash(dir), "/"), "/")
	if len(names) < len(pattern) {
		return false
	}
	for i, s := range pattern {
		p, err := compilePattern(s)
		if err != nil || !p.match(names[i]) {
			return false
		}
	}
	return true
}

// clean puts a file into line. Only one goroutine calls it and close.
func (c *cleaner) clean(ctx context.Context, path string) {
	if c.queue == nil {
		queue := make(chan string, cleanQueue)
		c.queue = queue
		c.wait.Go(func() {
			for path := range queue {
				c.one(path)
			}
		})
	}
	select {
	case c.queue <- path:
	case <-ctx.Done():
	}
}

// close waits for the files in line.
func (c *cleaner) close() {
	if c.queue != nil {
		close(c.queue)
		c.queue = nil
	}
	c.wait.Wait()
}

func (c *cleaner) one(path string) {
	var err error
	if c.mode == cleanDelete {
		err = c.t.fsys.Remove(path)
	} else {
		to := filepath.Join(c.archive, strings.TrimPrefix(path, filepath.VolumeName(path)))
		if err = c.t.fsys.MkdirAll(filepath.Dir(to)); err == nil {
			err = c.t.fsys.RenameNew(path, to)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && c.t.env.Log != nil {
		c.t.env.Log.Warn("cleaning a file that was read", "file", path, "error", err)
	}
}
