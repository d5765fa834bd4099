package lsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Reader implements state.Reader. It makes a tree of its own in a scratch folder beside the state.
type Reader struct{ FS fs.FS }

// Header implements state.Reader.
func (r Reader) Header(dir string, version int64) (state.Header, error) {
	files, err := state.LookInto(r.FS, dir, changes, snapshot)
	if err != nil {
		return state.Header{}, err
	}
	if version = newest(files, version); version == 0 {
		return state.Header{}, nil
	}
	h, err := (&store{folder: files}).readHeader(version)
	return h.Header, err
}

func newest(files *state.Folder, version int64) int64 {
	if version < 0 {
		return max(files.Newest(changes), files.Newest(snapshot))
	}
	return version
}

// look makes the tree of a version and lets do look at it. Version 0 has none.
func (r Reader) look(dir string, version int64, do func(s *store, h state.Header) error) error {
	files, err := state.LookInto(r.FS, dir, changes, snapshot)
	if err != nil {
		return err
	}
	if version = newest(files, version); version == 0 {
		return nil
	}
	s := &store{folder: files, scratch: "look-" + uuid.NewString(), treeVersion: -1}
	h, err := s.readHeader(version)
	if err != nil {
		return err
	}
	s.layout = h.Layout
	if s.spec, err = h.Spec(); err != nil {
		return damaged(s.file(version, changes), err)
	}
	if !h.Tables() {
		s.spec = s.spec.AsKV()
	}
	if err = s.fill(version); err == nil {
		err = do(s, h.Header)
	}
	return errors.Join(err, s.drop())
}

// Content implements state.Reader.
func (r Reader) Content(_ context.Context, dir string, version int64) (c state.Content, err error) {
	err = r.look(dir, version, func(s *store, h state.Header) error {
		c.Header = h
		if !h.Tables() {
			return nil
		}
		for shard := range state.Shards(h.Partitions) {
			b, err := s.dump(shard, s.spec.KeyTypes(), s.spec.ValueTypes())
			if err != nil {
				return err
			}
			if b != nil {
				c.Rows = append(c.Rows, b)
			}
		}
		return nil
	})
	return c, err
}

// KVs implements state.Reader.
func (r Reader) KVs(_ context.Context, dir string, version int64, do func(kvs []state.KV) error) error {
	looked := false
	err := r.look(dir, version, func(s *store, h state.Header) error {
		looked = true
		var kvs []state.KV
		for shard := range state.Shards(h.Partitions) {
			if h.Tables() {
				break
			}
			t := newKV(s, shard)
			t.inTree = true
			defer t.pause()
			kvs = append(kvs, t)
		}
		return do(kvs)
	})
	if err == nil && !looked {
		err = do(nil)
	}
	return err
}

// Count implements state.Reader.
func (r Reader) Count(_ context.Context, dir string, version int64) (rows int64, err error) {
	err = r.look(dir, version, func(s *store, _ state.Header) (err error) {
		rows, err = s.count()
		return err
	})
	return rows, err
}

// Changes implements state.Reader. They are what differs between the two versions: a row that was written again as it had been is not among
// them.
func (r Reader) Changes(ctx context.Context, dir string, version int64) (out state.Content, err error) {
	before, err := r.Content(ctx, dir, version-1)
	if err != nil {
		return out, err
	}
	now, err := r.Content(ctx, dir, version)
	if err != nil {
		return out, err
	}
	keys := len(now.Header.Keys)
	was, is := map[string]string{}, map[string]bool{}
	for _, b := range before.Rows {
		for i := range b.N {
			was[rowText(b.Cols[:keys], i)] = rowText(b.Cols, i)
		}
	}
	out.Header = now.Header
	out.Rows = choose(now.Rows, func(b *vec.Batch, i int) bool {
		k := rowText(b.Cols[:keys], i)
		is[k] = true
		old, there := was[k]
		return !there || old != rowText(b.Cols, i)
	})
	out.Gone = choose(before.Rows, func(b *vec.Batch, i int) bool { return !is[rowText(b.Cols[:keys], i)] })
	for _, b := range out.Gone {
		b.Cols = b.Cols[:keys]
	}
	return out, nil
}

// choose returns the rows that a condition holds for.
func choose(batches []*vec.Batch, keep func(b *vec.Batch, i int) bool) []*vec.Batch {
	var out []*vec.Batch
	for _, b := range batches {
		var idx []uint32
		for i := range b.N {
			if keep(b, i) {
				idx = append(idx, uint32(i))
			}
		}
		if len(idx) > 0 {
			out = append(out, vec.NewBatch(len(idx), vec.TakeAll(b.Cols, idx)...))
		}
	}
	return out
}

func rowText(cols []*vec.Vector, i int) string {
	var out strings.Builder
	for _, c := range cols {
		fmt.Fprintf(&out, "%#v\n", vec.ValueAt(c, i))
	}
	return out.String()
}

// readHeader reads the header of a version's file.
func (s *store) readHeader(version int64) (h header, err error) {
	name, magic := s.file(version, changes), changesMagic
	if s.base(version) == version {
		name, magic = s.file(version, snapshot), snapshotMagic
	}
	err = s.reading(name, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS", func(r io.Reader) error {
		b, err := newBlockReader(r, name, magic)
		if err != nil {
			return err
		}
		return b.header(&h)
	})
	if err == nil && (h.Partitions < 1 || h.Version != version) {
		err = damaged(name, fmt.Errorf("it is version %d of %d partitions", h.Version, h.Partitions))
	}
	return h, err
}

// fill makes the tree of a version.
func (s *store) fill(version int64) error {
	base := s.base(version)
	if err := s.openTree(base); err != nil {
		return err
	}
	for v := base + 1; v <= version; v++ {
		if _, err := s.apply(v); err != nil {
			return err
		}
	}
	return nil
}

// dump reads all rows of a shard.
func (s *store) dump(shard int, keys, values []types.DataType) (*vec.Batch, error) {
	sorted := newSorter(s, maxSort)
	lower := prefix(rowKind, shard)
	it, err := s.iterate(lower, after(lower))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return nil, s.readError(err)
		}
		e, err := s.layout.entry(it.Key(), v)
		if err == nil {
			err = sorted.add(e, false)
		}
		if err != nil {
			return nil, s.readError(err)
		}
	}
	if err := errors.Join(it.Error(), sorted.finish()); err != nil {
		return nil, s.readError(err)
	}
	var rows [][]byte
	for {
		e, err := sorted.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, append(append([]byte(nil), e.key...), e.value...))
	}
	if len(rows) == 0 {
		return nil, nil
	}
	cols, err := decodeRows(rows, append(append([]types.DataType(nil), keys...), values...))
	if err != nil {
		return nil, s.readError(err)
	}
	return vec.NewBatch(len(rows), cols...), nil
}

// count goes through the whole tree.
func (s *store) count() (rows int64, err error) {
	it, err := s.iterate([]byte{0}, []byte{0xff})
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok; ok = it.Next() {
		if it.Key()[0] == rowKind {
			rows++
		}
		if _, err := it.ValueAndErr(); err != nil {
			return 0, errors.Join(s.readError(err), it.Close())
		}
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return 0, s.readError(err)
	}
	return rows, nil
}
