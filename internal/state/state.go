package state

import (
	"context"
	"runtime"
	"time"

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
	// Parts are what the value columns belong to, one after the other from the first or, if there are fewer, so that they end with the last;
	// none for states that have no such parts.
	Parts []Part
	// Partitions is the logical number of partitions, fixed by the checkpoint.
	Partitions int
	// Time reads the event time in microseconds by which rows expire from key columns; nil for state that never does, or does by
	// a value (see Timed). A null time must read as NoTime.
	Time func(keys []*vec.Vector, n int) []int64
	// Serial says that the one key column is a LONG without nulls that counts up: each new row's is greater than all before it.
	Serial bool
	// Group reads the columns by which rows are looked for together (see Table.Gather) from the keys and values of n rows; nil for
	// state whose rows are only found by their keys. Resolve finds rows of grouped state only after their group was gathered.
	Group func(keys, values []*vec.Vector, n int) []*vec.Vector

	// Alone keeps work on segments of the state to one goroutine: it is done beside something that matters more.
	Alone bool

	// Views say how people see the state; nil for keys and values by their names.
	Views []View

	kind string // of a segment's rows: bytesKind, or nothing for tables
}

// AsKV is the spec of the same state as ordered bytes, for headers.
func (s Spec) AsKV() Spec {
	s.kind = bytesKind
	return s
}

// Tables tells whether the state is tables, not ordered bytes.
func (s *Spec) Tables() bool { return s.kind == "" }

// workers is how many goroutines may work on a segment.
func (s *Spec) workers() int {
	if s.Alone {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// EachShard calls f for every shard, side by side when there are many values to look at. The error is that of the lowest shard.
func (s *Spec) EachShard(values int, f func(shard int) error) error {
	return eachShard(Shards(s.Partitions), values, s.workers(), f)
}

// Part is what some neighbouring value columns belong to: an aggregate.
type Part struct {
	// Text says what it is, as in Meaning.
	Text string `json:"text"`
	// Columns is how many there are.
	Columns int `json:"columns"`
}

// KeyTypes are the types of the key columns.
func (s *Spec) KeyTypes() []types.DataType { return fieldTypes(s.Keys) }

// ValueTypes are the types of the value columns.
func (s *Spec) ValueTypes() []types.DataType { return fieldTypes(s.Values) }

func fieldTypes(fs []types.Field) []types.DataType {
	ts := make([]types.DataType, len(fs))
	for i, f := range fs {
		ts[i] = f.Type
	}
	return ts
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
	return PartitionOf(hash, partitions) % Shards(partitions)
}

// PartitionOf is the partition of a partition hash.
func PartitionOf(hash uint32, partitions int) int {
	p := int(int32(hash)) % partitions
	if p < 0 {
		p += partitions
	}
	return p
}

// Provider keeps states in a checkpoint.
type Provider interface {
	// Name is the provider's name in the offset log.
	Name() string
	// Open returns the store of one operator below dir, the checkpoint's state directory. Nothing is read yet.
	Open(dir string, spec Spec) (Store, error)
	KVProvider
}

// Versioned is what is alike of all states of one operator: they are loaded, changed and saved as versions.
type Versioned interface {
	// Load brings the shards to a version, after a restart or an abort. Version 0 is empty.
	Load(ctx context.Context, version int64) error
	// Version is the version that is loaded, or -1.
	Version() int64
	// Prepare writes the changes since the loaded version as version+1 and returns the file to be published with the batch's
	// other files. The shards are at version+1 afterwards.
	Prepare(ctx context.Context) (*fs.Staged, error)
	// Abort drops uncommitted changes by dropping the shards' content; Load reads it again.
	Abort()
	// Maintain merges and deletes old files, or begins to; keep is the oldest version that must remain loadable. It comes between a commit
	// and the changes of the next batch.
	Maintain(ctx context.Context, keep int64) error
	Stats() Stats
	// Close waits for what Maintain has begun.
	Close() error
}

// Store is the state of one operator as tables. It has Shards(spec.Partitions) of them, which may be used side by side, one
// goroutine each.
type Store interface {
	Versioned
	// Attach gives a table the operator's value columns. It comes before Load.
	Attach(shard int, v Values)
	// Table is one shard.
	Table(shard int) Table
}

// Stats are figures of a store, for progress.
type Stats struct {
	Rows  int64
	Bytes int64 // in memory
	Disk  int64 // in files, as far as the provider reads them while it runs
	// LoadTime and CommitTime are how long the last load that read files and the last Prepare took.
	LoadTime, CommitTime time.Duration
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

// Timed is implemented by Values whose rows expire by a value. Times returns the event times of rows; it is asked when rows are
// touched.
type Timed interface {
	Times(rows []uint32) []int64
}

// Movable is implemented by Values whose rows can be given other numbers. Move makes the values of rows[i] those of row i; the rows
// ascend, and others are forgotten.
type Movable interface {
	Move(rows []uint32)
}

// Table is one shard: rows by key. It belongs to one goroutine at a time.
//
// Row numbers are valid until the next call of Expire, Remove or Scan, of a cursor's Next, or of the store's Prepare, Load or Abort.
type Table interface {
	// Resolve finds the rows of n keys, adding absent ones when insert is set; others become group.None. New row numbers are
	// appended to fresh in the order of the keys. A provider that keeps rows elsewhere brings the values in before it returns.
	Resolve(keys []*vec.Vector, n int, insert bool, rows, fresh []uint32) ([]uint32, error)
	// Gather brings in all rows of n groups, those of one group in the order in which they were first seen. It must come before
	// new rows of the groups are added.
	Gather(groups []*vec.Vector, n int) error
	// Touch notes rows whose values were changed: they go into the next segment.
	Touch(rows []uint32)
	// Delete removes rows and clears their values.
	Delete(rows []uint32)
	// Expire goes through the rows whose event time is at most bound, by time and then in the order in which they were first
	// seen, and removes them as it goes on: a chunk is gone with the call of Next after it.
	Expire(bound int64) (Cursor, error)
	// Remove is Expire for a caller who does not look. It returns how many rows there were.
	Remove(bound int64) (int64, error)
	// Scan goes through every row in the order in which they were first seen.
	Scan() (Cursor, error)
	// Sort puts rows in the order in which they were first seen.
	Sort(rows []uint32)
	// Keys returns the key columns of rows.
	Keys(rows []uint32) []*vec.Vector
}

// ChunkRows is how many rows a cursor hands out at a time. Every provider cuts at the same places, so that what operators put out
// does not depend on it.
const ChunkRows = vec.BatchRows

// Cursor goes through rows of a table. Nothing else may use the table meanwhile but to read and save the rows it has handed out.
type Cursor interface {
	// Next returns the next ChunkRows rows, fewer only at the end and none after it. They are valid until the next call.
	Next() ([]uint32, error)
	// Close ends it. A cursor of Expire must have been read to its end, unless the batch is given up.
	Close() error
}
