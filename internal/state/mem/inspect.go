package mem

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// Inspect reads the state of an operator at a version, whoever it belongs to: the columns are those that its files name. dir is the
// folder of partition 0. Rows come shard by shard in the order in which they were first seen. A query that runs on the state is not
// disturbed, but may delete what is being read.
func Inspect(ctx context.Context, fsys fs.FS, dir string, version int64) (state.Content, error) {
	files, err := state.LookInto(fsys, dir, delta, snapshot)
	if err != nil {
		return state.Content{}, err
	}
	h, err := headerOf(files, version)
	if err != nil || !h.Tables() {
		return state.Content{Header: h}, err
	}
	spec, err := h.Spec()
	if err != nil {
		return state.Content{}, state.Damaged(files.File(version, delta), err)
	}
	s := &tableStore{tables: make([]*table, state.Shards(spec.Partitions))}
	s.store = &store{folder: files, spec: spec, content: s, version: -1}
	for i := range s.tables {
		s.tables[i] = newTable(&s.spec, &anyValues{})
	}
	if err := s.fill(ctx, version); err != nil {
		return state.Content{}, err
	}
	c := state.Content{Header: h}
	for _, t := range s.tables {
		if all := t.changes(true); all.Puts > 0 {
			c.Rows = append(c.Rows, batchOf(all))
		}
	}
	return c, nil
}

// InspectHeader reads what the file of a version says of the state.
func InspectHeader(fsys fs.FS, dir string, version int64) (state.Header, error) {
	files, err := state.LookInto(fsys, dir, delta, snapshot)
	if err != nil {
		return state.Header{}, err
	}
	return headerOf(files, version)
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
	return state.InspectHeader(files.File(version, kind), content)
}

// InspectChanges reads what led to a version.
func InspectChanges(fsys fs.FS, dir string, version int64) (state.Content, error) {
	files, err := state.LookInto(fsys, dir, delta, snapshot)
	if err != nil {
		return state.Content{}, err
	}
	content, err := readFile(files, version, delta)
	if err != nil {
		return state.Content{}, err
	}
	name := files.File(version, delta)
	h, shards, err := state.Inspect(name, content)
	if err == nil && h.Version != version {
		err = state.Damaged(name, fmt.Errorf("it is version %d", h.Version))
	}
	if err != nil {
		return state.Content{}, err
	}
	c := state.Content{Header: h}
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

// anyValues implements state.Values for whoever does not know what they mean.
type anyValues struct {
	parts []*vec.Batch // as they were loaded, one after the other
	n     int
	at    []uint32 // by row: where in the parts
}

// Grow implements state.Values.
func (v *anyValues) Grow(n int) {
	for len(v.at) < n {
		v.at = append(v.at, 0)
	}
}

// Load implements state.Values.
func (v *anyValues) Load(rows []uint32, cols []*vec.Vector) error {
	v.parts = append(v.parts, vec.NewBatch(len(rows), cols...))
	for i, r := range rows {
		v.at[r] = uint32(v.n + i)
	}
	v.n += len(rows)
	return nil
}

// Save implements state.Values.
func (v *anyValues) Save(rows []uint32) []*vec.Vector {
	all := vec.ConcatBatches(v.parts)
	v.parts = []*vec.Batch{all}
	idx := make([]uint32, len(rows))
	for i, r := range rows {
		idx[i] = v.at[r]
	}
	return vec.TakeAll(all.Cols, idx)
}

// Clear implements state.Values.
func (v *anyValues) Clear([]uint32) {}

// Reset implements state.Values.
func (v *anyValues) Reset() { v.parts, v.n, v.at = nil, 0, nil }
