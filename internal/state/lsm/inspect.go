package lsm

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Inspect reads the state of an operator at a version, or at the newest for a negative one, whoever it belongs to: the columns are
// those that its files name. dir is the folder of partition 0. Rows come shard by shard in the order in which they were first seen. A
// query that runs on the state is not disturbed as long as it does not delete what is being read.
func Inspect(fsys fs.FS, dir string, version int64) (c state.Content, err error) {
	files, err := state.LookInto(fsys, dir, changes, snapshot)
	if err != nil {
		return c, err
	}
	if version < 0 {
		version = max(files.Newest(changes), files.Newest(snapshot))
	}
	if version == 0 {
		return c, nil
	}
	s := &store{folder: files, scratch: "look-" + uuid.NewString(), treeVersion: -1}
	h, err := s.readHeader(version)
	c.Header = h.Header
	if err != nil || !h.Tables() {
		return c, err
	}
	s.layout = h.Layout
	if s.spec, err = h.Spec(); err != nil {
		return c, damaged(s.file(version, changes), err)
	}
	err = s.fill(version)
	for shard := 0; err == nil && shard < state.Shards(h.Partitions); shard++ {
		var b *vec.Batch
		if b, err = s.dump(shard, s.spec.KeyTypes(), s.spec.ValueTypes()); b != nil {
			c.Rows = append(c.Rows, b)
		}
	}
	return c, errors.Join(err, s.drop())
}

// InspectHeader reads what the files of a version say of the state.
func InspectHeader(fsys fs.FS, dir string, version int64) (state.Header, error) {
	files, err := state.LookInto(fsys, dir, changes, snapshot)
	if err != nil {
		return state.Header{}, err
	}
	h, err := (&store{folder: files}).readHeader(version)
	return h.Header, err
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

// IsFile tells whether a name, of a file in the folder of a partition, is one of this provider's.
func IsFile(name string) bool {
	for _, kind := range []string{changes, folder} {
		if _, ok := state.VersionOf(filepath.Base(name), kind); ok {
			return true
		}
	}
	return false
}

// Count reads all of a version and counts its rows; of ordered bytes, its keys. dir is the folder of partition 0. Like Inspect it does not
// disturb a query.
func Count(fsys fs.FS, dir string, version int64) (rows int64, err error) {
	files, err := state.LookInto(fsys, dir, changes, snapshot)
	if err != nil {
		return 0, err
	}
	s := &store{folder: files, scratch: "look-" + uuid.NewString(), treeVersion: -1}
	h, err := s.readHeader(version)
	if err != nil {
		return 0, err
	}
	s.layout = h.Layout
	if s.spec, err = h.Spec(); err != nil {
		return 0, damaged(s.file(version, changes), err)
	}
	if !h.Tables() {
		s.spec = s.spec.AsKV()
	}
	if err = s.fill(version); err == nil {
		rows, err = s.count()
	}
	return rows, errors.Join(err, s.drop())
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
