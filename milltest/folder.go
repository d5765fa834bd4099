package milltest

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
)

// Disk is the engine's disk, for connectors that a test registers itself: those that come with the engine read and write the machine's.
func (e *Engine) Disk() fs.FS { return e.disk }

// WriteFile puts a file on the engine's disk, with the folders above it. It is there after a power failure, too.
func (e *Engine) WriteFile(name, content string) {
	e.t.Helper()
	disk := e.disk.get()
	if err := disk.MkdirAll(path.Dir(name)); err != nil {
		e.t.Fatalf("%v", err)
	}
	w, err := disk.Create(name)
	if err == nil {
		_, err = w.Write([]byte(content))
		err = errors.Join(err, w.Sync(), w.Close())
	}
	for dir := path.Dir(name); err == nil; dir = path.Dir(dir) {
		if err = disk.SyncDir(dir); dir == "/" {
			break
		}
	}
	if err != nil {
		e.t.Fatalf("%v", err)
	}
}

// Folder are the rows that queries have written to a folder of the engine's disk in the format json: lines, sorted. What counts are the
// files in the folder's log, those of folders below it too, with their name in front.
func (e *Engine) Folder(dir string) ([]string, error) {
	disk := e.disk.found()
	log, err := checkpoint.OpenSinkLog(disk, dir, checkpoint.CompactOptions{})
	if err != nil {
		return nil, err
	}
	files, err := log.Files()
	if err != nil {
		return nil, err
	}
	var rows []string
	for _, f := range files {
		name, err := fs.ParseURI(f.Path)
		if err != nil {
			return nil, err
		}
		content, err := fs.ReadFile(disk, name)
		if err != nil {
			return nil, err
		}
		if text := strings.TrimRight(string(content), "\n"); text != "" {
			rows = append(rows, strings.Split(text, "\n")...)
		}
	}
	slices.Sort(rows)
	entries, err := disk.ReadDir(dir)
	if err != nil {
		return rows, nil
	}
	for _, d := range entries {
		if !d.IsDir() || strings.HasPrefix(d.Name(), "_") {
			continue
		}
		below, err := e.Folder(path.Join(dir, d.Name()))
		if err != nil {
			return nil, err
		}
		for _, r := range below {
			rows = append(rows, d.Name()+" "+r)
		}
	}
	return rows, nil
}
