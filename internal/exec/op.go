package exec

import (
	"context"

	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Stream yields the batches of one part, in order.
type Stream interface {
	// Next returns the next batch, which has at least one row and is valid until the next call, or io.EOF. After an error the
	// stream is finished. Columns may be Borrowed: whoever keeps a batch calls Own on it.
	Next(ctx context.Context) (*vec.Batch, error)
	// Close ends the stream early or late; it is called once.
	Close() error
}

// Parts are an operator's rows, cut into N streams. Stream i holds the rows that come before those of stream i+1.
type Parts struct {
	N int
	// Open starts stream i. It is called at most once for each i, from any goroutine.
	Open func(ctx context.Context, i int) (Stream, error)
}

// Op is a physical operator: a description that does not change. Everything that belongs to one execution is in Task, so one Op
// tree serves all micro-batches of a query.
type Op interface {
	// Types are the output columns' types.
	Types() []types.DataType
	// Parts prepares the execution, for a breaker by running the operators below it, and hands out the result.
	Parts(ctx context.Context, t *Task) (Parts, error)
	// Inputs are the operators below.
	Inputs() []Op
	// Label is the operator's one line in a tree.
	Label() string
}

// Task is one execution of an operator tree: a query or one micro-batch.
type Task struct {
	// Workers is the number of goroutines that run parts side by side.
	Workers int
	// Partitions is the logical number of hash partitions of this query (spark.sql.shuffle.partitions).
	Partitions int
	// Coalesce says that partitions are joined while they are small, as Spark's adaptive execution does it.
	Coalesce bool
	Batch    *expr.BatchParams
	// Inputs are the splits of streaming scans in this micro-batch, by scan id; batch scans bring their own.
	Inputs map[uint64]Input
	// Levels are the rows of the level before of the recursions around the operators that run, by the recursion's id.
	Levels map[uint64][]*vec.Batch
	// Observed collects what Observe operators see; nil when nobody asks.
	Observed *Observed
	// Dead takes rows that cannot be computed with, so that the task goes on; nil makes their errors the task's.
	Dead *DeadLetters
	// Memory is what the task holds; nil has no limit.
	Memory *spill.Scope
	// Streaming is nil for a batch query; package stateful looks behind it.
	Streaming any
}

// Input is the data of one scan in one micro-batch.
type Input struct {
	Parts Parts
	// Read, when not nil, is called with the number of rows of each batch read, from any worker.
	Read func(rows int)
}

// NodeFunc makes a compiled expression for one worker.
type NodeFunc func() expr.Node
