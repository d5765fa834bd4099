package filesink

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/sink"
)

// job is what the batches of streams and of writes have in common: a set of files below a root.
type job struct {
	s    *Sink
	root string // where files are written
	// name is the part of file names that tells this job's from others'; empty when every file gets one of its own.
	name string

	mu    sync.Mutex
	files []string        // written or begun, to be removed when the job fails
	dirs  map[string]bool // in which names appeared
	wait  sync.WaitGroup
	err   error // of a sync
}

// written is a file that is complete.
type written struct {
	path string
	size int64
	rows int64
}

func newJob(s *Sink, root string) *job { return &job{s: s, root: root, dirs: map[string]bool{}} }

// Writer implements sink.Batch.
func (j *job) Writer(_ context.Context, part int) (sink.Writer, error) {
	return &Writer{job: j, part: part, open: map[string]*output{}}, nil
}

// create begins a file and the directories that it lies in.
func (j *job) create(path string) (fs.Writer, error) {
	dir := filepath.Dir(path)
	j.mu.Lock()
	known := j.dirs[dir]
	j.mu.Unlock()
	if !known {
		if err := j.s.fsys.MkdirAll(dir); err != nil {
			return nil, err
		}
	}
	w, err := j.s.fsys.Create(path)
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.files = append(j.files, path)
	for d := dir; !j.dirs[d]; d = filepath.Dir(d) {
		j.dirs[d] = true
		if d == j.root || len(d) <= len(j.root) {
			break
		}
	}
	return w, nil
}

// sync makes a file durable beside the work on others. Commit waits for it.
func (j *job) sync(path string, w fs.Writer) {
	j.wait.Go(func() {
		if err := errors.Join(w.Sync(), w.Close()); err != nil {
			j.mu.Lock()
			if j.err == nil {
				j.err = writeError(path, err)
			}
			j.mu.Unlock()
		}
	})
}

// synced waits until the content of all files and the names of all files and directories are durable.
func (j *job) synced(ctx context.Context) error {
	j.wait.Wait()
	if j.err != nil {
		return j.err
	}
	var r fs.Round
	for d := range j.dirs {
		r.Dir(j.s.fsys, d)
	}
	if err := r.Commit(ctx); err != nil {
		return writeError(j.root, err)
	}
	return nil
}

// remove deletes what was written.
func (j *job) remove() {
	j.wait.Wait()
	for _, f := range j.files {
		_ = j.s.fsys.Remove(f) // an orphan is not part of the output
	}
}

// collect gathers the files of all writers, in the order of their parts.
func collect(messages []sink.Message) []written {
	var all []written
	for _, m := range messages {
		if w, ok := m.([]written); ok {
			all = append(all, w...)
		}
	}
	return all
}

// empty writes a file without rows, which tells readers the schema.
func (j *job) empty(ctx context.Context) ([]written, error) {
	w := &Writer{job: j, open: map[string]*output{}, always: true}
	m, err := w.Close(ctx)
	if err != nil {
		return nil, err
	}
	return collect([]sink.Message{m}), nil
}

// streamBatch is a batch of a stream.
type streamBatch struct {
	*job
	id int64
}

func newStreamBatch(s *Sink, id int64) *streamBatch { return &streamBatch{newJob(s, s.path), id} }

// Commit implements sink.Batch. The entry in the log is what makes the files part of the output. A crash before it leaves files
// that nobody reads, and the batch is written again; a crash after it finds the batch in the log.
func (b *streamBatch) Commit(ctx context.Context, messages []sink.Message) error {
	files := collect(messages)
	if _, any := b.s.log.LatestID(); !any && len(files) == 0 && len(b.s.parts) == 0 {
		// The first batch has no rows: readers shall find the schema all the same.
		var err error
		if files, err = b.empty(ctx); err != nil {
			return err
		}
	}
	if err := b.synced(ctx); err != nil {
		return err
	}
	entries := make([]checkpoint.SinkFile, len(files))
	for i, f := range files {
		info, err := b.s.fsys.Stat(f.path)
		if err != nil {
			return writeError(f.path, err)
		}
		entries[i] = checkpoint.NewSinkFile(f.path, info.Size(), info.ModTime())
	}
	if err := b.s.log.Add(ctx, b.id, entries); err != nil {
		return writeError(b.s.path, err)
	}
	return nil
}

// Abort implements sink.Batch.
func (b *streamBatch) Abort(context.Context) {
	b.wait.Wait()
	if b.s.log.Committed(b.id) {
		return // the entry may be there although its writing gave an error: the files must stay
	}
	if err := b.s.log.Refresh(); err != nil || b.s.log.Committed(b.id) {
		return
	}
	b.remove()
}

// writeBatch is a batch write.
type writeBatch struct {
	*job
	dynamic bool // overwrite only the partitions that get rows
	made    bool // the output directory did not exist
}

// temporary begins the name of the folder in which a write is prepared. Readers pass over it.
const temporary = "_temporary-"

func newWriteBatch(_ context.Context, s *Sink) (*writeBatch, error) {
	id := uuid.NewString()
	_, err := s.fsys.Stat(s.path)
	b := &writeBatch{made: errors.Is(err, fs.ErrNotExist)}
	b.job = newJob(s, filepath.Join(s.path, temporary+id))
	b.name = id
	mode, ok := s.req.Options.Get("partitionOverwriteMode")
	if !ok {
		mode = s.conf("spark.sql.sources.partitionOverwriteMode")
	}
	b.dynamic = strings.EqualFold(mode, "dynamic") && s.req.Mode == sink.Overwrite && len(s.parts) > 0
	if err := fs.MakeDirs(s.fsys, b.root); err != nil {
		return nil, writeError(s.path, err)
	}
	return b, nil
}

// Commit implements sink.Batch. Files are complete and durable before the first of them is moved into place, and what an overwrite
// replaces is deleted last before that.
func (b *writeBatch) Commit(ctx context.Context, messages []sink.Message) error {
	files := collect(messages)
	if len(files) == 0 && len(b.s.parts) == 0 {
		var err error
		if files, err = b.empty(ctx); err != nil {
			return err
		}
	}
	if err := b.synced(ctx); err != nil {
		return err
	}
	if b.s.req.Mode == sink.Overwrite {
		if err := b.clear(files); err != nil {
			return err
		}
	}
	var r fs.Round
	made := map[string]bool{b.s.path: true}
	for _, f := range files {
		rel, err := filepath.Rel(b.root, f.path)
		if err != nil {
			return writeError(f.path, err)
		}
		to := filepath.Join(b.s.path, rel)
		dir := filepath.Dir(to)
		if !made[dir] {
			if err := b.s.fsys.MkdirAll(dir); err != nil {
				return writeError(to, err)
			}
			for d := dir; !made[d]; d = filepath.Dir(d) {
				made[d] = true
				r.Dir(b.s.fsys, d)
			}
		}
		if err := b.s.fsys.RenameNew(f.path, to); err != nil {
			return writeError(to, err)
		}
	}
	if err := b.s.fsys.RemoveAll(b.root); err != nil {
		return writeError(b.root, err)
	}
	if err := b.success(); err != nil {
		return err
	}
	r.Dir(b.s.fsys, b.s.path)
	if err := r.Commit(ctx); err != nil {
		return writeError(b.s.path, err)
	}
	return nil
}

// clear deletes what is overwritten: everything, or the partitions that get new files.
func (b *writeBatch) clear(files []written) error {
	dirs := map[string]bool{b.s.path: true}
	if b.dynamic {
		dirs = map[string]bool{}
		for _, f := range files {
			if rel, err := filepath.Rel(b.root, filepath.Dir(f.path)); err == nil {
				dirs[filepath.Join(b.s.path, rel)] = true
			}
		}
	}
	for dir := range dirs {
		entries, err := b.s.fsys.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return writeError(dir, err)
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); path != b.root {
				if err := b.s.fsys.RemoveAll(path); err != nil {
					return writeError(path, err)
				}
			}
		}
	}
	return nil
}

// success leaves the empty file by which other programs know that a directory is complete.
func (b *writeBatch) success() error {
	if b.s.conf("spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs") == "false" {
		return nil
	}
	path := filepath.Join(b.s.path, "_SUCCESS")
	w, err := b.s.fsys.Create(path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return writeError(path, err)
	}
	return nil
}

// Abort implements sink.Batch.
func (b *writeBatch) Abort(context.Context) {
	b.wait.Wait()
	_ = b.s.fsys.RemoveAll(b.root)
	if b.made {
		_ = b.s.fsys.Remove(b.s.path) // only if nothing else came to be in it
	}
}

// sortedKeys gives the keys of a map in order, so that files are finished in a fixed order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
