package state

import (
	"context"

	"github.com/millrace/millrace/internal/vec"
)

// Reader looks at the states of a provider, whoever they belong to: the columns are those that the files name. dir is the folder of an
// operator's partition 0; a negative version is the newest, which Changes must be told, and version 0 is empty. A query that runs on a state is not disturbed, but may delete what is being
// read.
type Reader interface {
	// Header is what the file of a version says of the state; nothing of version 0.
	Header(dir string, version int64) (Header, error)
	// Content is the state at a version, for tables. Rows come shard by shard in the order in which they were first seen.
	Content(ctx context.Context, dir string, version int64) (Content, error)
	// Changes are what led to a version from the one before, for tables.
	Changes(ctx context.Context, dir string, version int64) (Content, error)
	// KVs hands out the state at a version shard by shard, for ordered bytes: none at version 0. They are for reading, and only while do runs.
	KVs(ctx context.Context, dir string, version int64, do func(kvs []KV) error) error
	// Count reads all of a version and counts its rows, or its keys.
	Count(ctx context.Context, dir string, version int64) (int64, error)
}

// Content is what a state holds at a version, or what one version has changed.
type Content struct {
	Header Header
	// Rows are keys and then values; of changes those that were added or changed.
	Rows []*vec.Batch
	// Gone are the keys that were removed; of changes only.
	Gone []*vec.Batch
}
