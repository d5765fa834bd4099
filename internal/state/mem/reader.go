package mem

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// Reader implements state.Reader.
type Reader struct{ FS fs.FS }

// Header implements state.Reader.
func (r Reader) Header(dir string, version int64) (state.Header, error) {
	files, err := state.LookInto(r.FS, dir, delta, snapshot)
	if err != nil {
		return state.Header{}, err
	}
	if version = newest(files, version); version == 0 {
		return state.Header{}, nil
	}
	return headerOf(files, version)
}

func newest(files *state.Folder, version int64) int64 {
	if version < 0 {
		return max(files.Newest(delta), files.Newest(snapshot))
	}
	return version
}

// headerOf reads the header of a version's file: the delta of the oldest snapshot is gone.
func headerOf(files *state.Folder, version int64) (state.Header, error) {
	kind := delta
	if files.Base(version, snapshot) == version {
		kind = snapshot
	}
	content, err := readFile(files, version, kind)
	if err != nil {
		return state.Header{}, err
	}
	return state.ReadHeader(files.File(version, kind), content)
}

// Content implements state.Reader.
func (r Reader) Content(ctx context.Context, dir string, version int64) (state.Content, error) {
	s, h, err := r.load(ctx, dir, version)
	c := state.Content{Header: h}
	if err != nil || s == nil {
		return c, err
	}
	if tables, ok := s.content.(*tableStore); ok {
		for _, t := range tables.tables {
			if all := t.changes(true); all.Puts > 0 {
				c.Rows = append(c.Rows, batchOf(all))
			}
		}
	}
	return c, nil
}

// KVs implements state.Reader.
func (r Reader) KVs(ctx context.Context, dir string, version int64, do func(kvs []state.KV) error) error {
	s, _, err := r.load(ctx, dir, version)
	if err != nil {
		return err
	}
	var kvs []state.KV
	if s != nil {
		if of, ok := s.content.(*kvStore); ok {
			for i := range of.shards {
				kvs = append(kvs, of.KV(i))
			}
		}
	}
	return do(kvs)
}

// Count implements state.Reader.
func (r Reader) Count(ctx context.Context, dir string, version int64) (int64, error) {
	s, _, err := r.load(ctx, dir, version)
	if err != nil || s == nil {
		return 0, err
	}
	return s.Stats().Rows, nil
}

// load reads a version of a state that is known by its files alone; of version 0, which has none, it gives nothing.
func (r Reader) load(ctx context.Context, dir string, version int64) (*store, state.Header, error) {
	files, err := state.LookInto(r.FS, dir, delta, snapshot)
	if err != nil {
		return nil, state.Header{}, err
	}
	if version = newest(files, version); version == 0 {
		return nil, state.Header{}, nil
	}
	h, err := headerOf(files, version)
	if err != nil {
		return nil, h, err
	}
	spec, err := h.Spec()
	if err != nil {
		return nil, h, state.Damaged(files.File(version, delta), err)
	}
	s := readingStore(files, spec)
	return s, h, s.fill(ctx, files.Base(version, snapshot), version)
}

// Changes implements state.Reader.
func (r Reader) Changes(_ context.Context, dir string, version int64) (c state.Content, err error) {
	files, err := state.LookInto(r.FS, dir, delta, snapshot)
	if err != nil {
		return c, err
	}
	version = newest(files, version)
	content, err := readFile(files, version, delta)
	if err != nil {
		return c, err
	}
	name := files.File(version, delta)
	h, shards, err := state.Inspect(name, content)
	if err == nil && h.Version != version {
		err = state.Damaged(name, fmt.Errorf("it is version %d", h.Version))
	}
	if err != nil {
		return c, err
	}
	c.Header = h
	for _, s := range shards {
		if s.Puts > 0 {
			c.Rows = append(c.Rows, batchOf(s))
		}
		if s.Deletes > 0 {
			c.Gone = append(c.Gone, vec.NewBatch(s.Deletes, s.Deleted...))
		}
	}
	return c, nil
}

func batchOf(c state.Changes) *vec.Batch {
	return vec.NewBatch(c.Puts, append(append([]*vec.Vector(nil), c.Keys...), c.Values...)...)
}
