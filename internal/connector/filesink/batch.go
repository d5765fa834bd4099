package filesink

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/sink"
)

// job is what the batches of streams and of writes have in common.
type job struct {
	*Set
	s *Sink
	// name is the part of file names that tells this job's from others'; empty when every file gets one of its own.
	name string
}

func newJob(s *Sink, root string) *job { return &job{Set: NewSet(s.fsys, root), s: s} }

// collect gathers the files of all writers, in the order of their parts.
func collect(messages []sink.Message) []Written {
	var all []Written
	for _, m := range messages {
		if w, ok := m.([]Written); ok {
			all = append(all, w...)
		}
	}
	return all
}

// empty writes a file without rows, which tells readers the schema.
func (j *job) empty(ctx context.Context) ([]Written, error) {
	w := newWriter(j, 0)
	w.always = true
	m, err := w.Close(ctx)
	if err != nil {
		return nil, err
	}
	return collect([]sink.Message{m}), nil
}

// streamBatch is a batch of a stream. Its parts share files.
type streamBatch struct {
	*job
	id     int64
	files  *Shared
	mu     sync.Mutex
	done   []Written
	staged bool
}

func newStreamBatch(s *Sink, id int64) *streamBatch {
	b := &streamBatch{job: newJob(s, s.path), id: id}
	b.files = NewShared(func(lane int) Output { return b.output(lane, b.add) })
	return b
}

func (b *streamBatch) add(f Written) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = append(b.done, f)
}

// Writer implements sink.Batch.
func (b *streamBatch) Writer(_ context.Context, part int) (sink.Writer, error) {
	return &Writer{job: b.job, files: b.files.Part(part)}, nil
}

// Stage makes a batch part of the output with a round: its entry in the log gets its name when its files are durable. A crash before that
// leaves files that nobody reads, and the batch is written again; a crash after it finds the batch in the log.
func (s *Sink) Stage(ctx context.Context, out sink.Batch, _ []sink.Message, r *fs.Round) error {
	return out.(*streamBatch).stage(ctx, r)
}

func (b *streamBatch) stage(ctx context.Context, r *fs.Round) error {
	if err := b.files.Finish(); err != nil {
		return WriteError(b.s.path, err)
	}
	files := b.done
	if len(files) == 0 && len(b.s.parts) == 0 {
		// As in Spark every batch leaves a file; one without rows tells readers the schema.
		var err error
		if files, err = b.empty(ctx); err != nil {
			return err
		}
	}
	entries := make([]checkpoint.SinkFile, len(files))
	for i, f := range files {
		info, err := b.s.fsys.Stat(f.Path)
		if err != nil {
			return WriteError(f.Path, err)
		}
		entries[i] = checkpoint.NewSinkFile(f.Path, info.Size(), info.ModTime())
	}
	b.Set.Stage(r)
	entry, err := b.s.log.Stage(ctx, b.id, entries)
	if err != nil {
		return WriteError(b.s.path, err)
	}
	r.Publish(entry)
	b.staged = true
	return nil
}

// Commit implements sink.Batch. A batch that was staged is part of the output already.
func (b *streamBatch) Commit(ctx context.Context, _ []sink.Message) error {
	if !b.staged {
		var r fs.Round
		if err := b.stage(ctx, &r); err != nil {
			return err
		}
		if err := r.Commit(ctx); err != nil {
			return WriteError(b.s.path, err)
		}
	}
	if err := b.s.log.Clean(); err != nil {
		return WriteError(b.s.path, err)
	}
	return nil
}

// Abort implements sink.Batch.
func (b *streamBatch) Abort(context.Context) {
	b.files.Abort()
	b.Wait()
	if b.s.log.Committed(b.id) {
		return // the entry may be there although its writing gave an error: the files must stay
	}
	if err := b.s.log.Refresh(); err != nil || b.s.log.Committed(b.id) {
		return
	}
	b.Remove()
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
		mode = s.conf(setting.OverwriteMode)
	}
	b.dynamic = strings.EqualFold(mode, "dynamic") && s.req.Mode == sink.Overwrite && len(s.parts) > 0
	if err := fs.MakeDirs(s.fsys, b.root); err != nil {
		return nil, WriteError(s.path, err)
	}
	return b, nil
}

// Writer implements sink.Batch.
func (b *writeBatch) Writer(_ context.Context, part int) (sink.Writer, error) {
	return newWriter(b.job, part), nil
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
	if err := b.Synced(ctx); err != nil {
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
		rel, err := filepath.Rel(b.root, f.Path)
		if err != nil {
			return WriteError(f.Path, err)
		}
		to := filepath.Join(b.s.path, rel)
		dir := filepath.Dir(to)
		if !made[dir] {
			if err := b.s.fsys.MkdirAll(dir); err != nil {
				return WriteError(to, err)
			}
			for d := dir; !made[d]; d = filepath.Dir(d) {
				made[d] = true
				r.Dir(b.s.fsys, d)
			}
		}
		if err := b.s.fsys.RenameNew(f.Path, to); err != nil {
			return WriteError(to, err)
		}
	}
	if err := b.s.fsys.RemoveAll(b.root); err != nil {
		return WriteError(b.root, err)
	}
	if err := b.success(); err != nil {
		return err
	}
	r.Dir(b.s.fsys, b.s.path)
	if err := r.Commit(ctx); err != nil {
		return WriteError(b.s.path, err)
	}
	return nil
}

// clear deletes what is overwritten: everything, or the partitions that get new files.
func (b *writeBatch) clear(files []Written) error {
	dirs := map[string]bool{b.s.path: true}
	if b.dynamic {
		dirs = map[string]bool{}
		for _, f := range files {
			if rel, err := filepath.Rel(b.root, filepath.Dir(f.Path)); err == nil {
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
			return WriteError(dir, err)
		}
		for _, e := range entries {
			if path := filepath.Join(dir, e.Name()); path != b.root {
				if err := b.s.fsys.RemoveAll(path); err != nil {
					return WriteError(path, err)
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
		return WriteError(path, err)
	}
	return nil
}

// Abort implements sink.Batch.
func (b *writeBatch) Abort(context.Context) {
	b.Wait()
	_ = b.s.fsys.RemoveAll(b.root)
	if b.made {
		_ = b.s.fsys.Remove(b.s.path) // only if nothing else came to be in it
	}
}
