package state

import (
	"context"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Spec describes one operator's state.
type Spec struct {
	// Operator is the operator's number in the plan, counted from the sources.
	Operator int
	// Name is the operator's name in Spark's terms: stateStoreSave, dedupe, ...
	Name string
	// Keys and Values are the columns. Types, not names, decide whether a stored state fits.
	Keys, Values []types.Field
	// Meaning fingerprints the stateful expressions, so that a changed window size is noticed although the types agree.
	Meaning string
	// Partitions is the logical number of partitions, fixed by the checkpoint.
	Partitions int
	// Time reads the event time in microseconds by which rows expire from key columns; nil for state that never does. A null
	// time must read as NoTime.
	Time func(keys []*vec.Vector, n int) []int64
}

// NoTime is the event time of a row that never expires.
const NoTime = int64(1<<63 - 1)

// maxShards bounds how many tables the state of one operator is cut into.
const maxShards = 16

// Shards is the number of tables that the state of an operator with that many partitions is cut into. It must not depend on
// the machine: shard numbers are part of a batch's visible order.
func Shards(partitions int) int { return max(1, min(partitions, maxShards)) }

// ShardOf is the shard of a partition hash: that of the partition which owns the key.
func ShardOf(hash uint32, partitions int) int {
	p := int(int32(hash)) % partitions
	if p < 0 {
		p += partitions
	}
	return p % Shards(partitions)
}

// Provider keeps states in a checkpoint.
type Provider interface {
	// Name is the provider's name in the offset log.
	Name() string
	// Open returns the store of one operator below dir, the checkpoint's state directory. Nothing is read yet.
	Open(dir string, spec Spec) (Store, error)
}

// Store is the state of one operator. It has Shards(spec.Partitions) tables, which may be used side by side, one goroutine each.
type Store interface {
	// Attach gives a table the operator's value columns. It comes before Load.
	Attach(shard int, v Values)
	// Load brings the tables to a version, after a restart or an abort. Version 0 is empty.
	Load(ctx context.Context, version int64) error
	// Version is the version that is loaded, or -1.
	Version() int64
	// Table is one shard.
	Table(shard int) Table
	// Prepare writes the changes since the loaded version as version+1 and returns the file to be published with the batch's
	// other files. The tables are at version+1 afterwards.
	Prepare(ctx context.Context) (*fs.Staged, error)
	// Abort drops uncommitted changes by dropping the tables; Load reads them again.
	Abort()
	// Maintain merges and deletes old files; keep is the oldest version that must remain loadable.
	Maintain(ctx context.Context, keep int64) error
	Stats() Stats
	Close() error
}

// Stats are figures of a store, for progress.
type Stats struct {
	Rows  int64
	Bytes int64
	// Hits counts the loads that found the version in memory, Misses those that had to read files, since the store was opened.
	Hits, Misses int64
}

// Values are the columns that an operator keeps for each row of a table, indexed by row number.
type Values interface {
	// Grow makes room for rows 0 to n-1; new ones are empty.
	Grow(n int)
	// Load sets rows to stored values.
	Load(rows []uint32, cols []*vec.Vector) error
	// Save returns the values of rows.
	Save(rows []uint32) []*vec.Vector
	// Clear empties rows, whose numbers may be used again.
	Clear(rows []uint32)
	// Reset forgets everything.
	Reset()
}

// Table is one shard: rows by key. It belongs to one goroutine at a time.
type Table interface {
	// Resolve finds the rows of n keys, adding absent ones when insert is set; others become group.None. New row numbers are
	// appended to fresh. A provider that keeps rows elsewhere brings the values in before it returns.
	Resolve(keys []*vec.Vector, n int, insert bool, rows, fresh []uint32) ([]uint32, error)
	// Touch notes rows whose values were changed: they go into the next segment.
	Touch(rows []uint32)
	// Delete removes rows and clears their values.
	Delete(rows []uint32)
	// Expired appends the rows whose event time is at most bound.
	Expired(bound int64, rows []uint32) ([]uint32, error)
	// All appends every row.
	All(rows []uint32) ([]uint32, error)
	// Keys returns the key columns of rows.
	Keys(rows []uint32) []*vec.Vector
	Len() int
}
