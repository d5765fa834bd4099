package transform

import (
	"bytes"

	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/sorted"
)

// memoryKV is the state of a batch query, which ends with it.
type memoryKV struct{ m *sorted.Map }

// Get implements state.KV.
func (k memoryKV) Get(key []byte) ([]byte, bool, error) {
	e, ok := k.m.Get(key)
	return e.Value, ok, nil
}

// Put implements state.KV.
func (k memoryKV) Put(key, value []byte) error {
	k.m.Set(sorted.Entry{Key: bytes.Clone(key), Value: bytes.Clone(value)})
	return nil
}

// Delete implements state.KV.
func (k memoryKV) Delete(key []byte) error {
	k.m.Delete(key)
	return nil
}

// Scan implements state.KV.
func (k memoryKV) Scan(from, to []byte) (state.KVCursor, error) {
	return memoryCursor{k.m.Scan(from, to)}, nil
}

type memoryCursor struct{ c *sorted.Cursor }

// Next implements state.KVCursor.
func (c memoryCursor) Next() (key, value []byte, ok bool, err error) {
	e, ok := c.c.Next()
	return e.Key, e.Value, ok, nil
}

// Close implements state.KVCursor.
func (c memoryCursor) Close() error {
	c.c.Close()
	return nil
}
