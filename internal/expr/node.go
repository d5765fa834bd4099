package expr

import (
	"time"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Node is a compiled expression. It belongs to one goroutine.
type Node interface {
	// Type is the data type of the result.
	Type() types.DataType
	// Eval computes the expression for all rows of in, which has no selection, and notes failing rows in e.Errs; the result
	// of a failed row is unspecified. The returned vector has in.N rows, and unless it is one of in's own columns it is
	// valid until the next call of Eval on this node.
	Eval(e *Eval, in *vec.Batch) *vec.Vector
}

// Eval is what an evaluation needs besides the rows.
type Eval struct {
	// Errs collects the failing rows of this evaluation.
	Errs RowErrs
	// Batch are the values that are fixed for one query or micro-batch.
	Batch *BatchParams
	// Part is the ordinal of the part that the rows belong to and Row the number of rows of it that came before this
	// batch: rand, uuid, monotonically_increasing_id and spark_partition_id are functions of them.
	Part int
	Row  int64
}

// BatchParams are values that stay the same for all rows of one query or micro-batch.
type BatchParams struct {
	// Now is what current_timestamp and its kin answer, in microseconds since 1970. A re-run batch sees the logged value.
	Now int64
	// Ran is when the micro-batch is really run, in microseconds since 1970: what now() answers in a stream, as in Spark. It is
	// not logged; 0 outside of streams.
	Ran int64
	// Zone is the session time zone.
	Zone *time.Location
	// Seed varies rand() and uuid() from batch to batch.
	Seed int64
}

// Wall is the value of now().
func (b *BatchParams) Wall() int64 {
	if b.Ran != 0 {
		return b.Ran
	}
	return b.Now
}

// RowErr is one failing row.
type RowErr struct {
	Row int
	Err error
}

// RowErrs is a sparse list of failing rows, in order of evaluation: of two errors of one row the first added is the one that a
// row-at-a-time evaluation would have met.
type RowErrs struct{ list []RowErr }

// Add notes that a row failed. Kernels call it on their cold path only, and never for a row that has a null argument.
func (r *RowErrs) Add(row int, err error) { r.list = append(r.list, RowErr{row, err}) }

// Empty tells whether no row has failed.
func (r *RowErrs) Empty() bool { return len(r.list) == 0 }

// First returns the first failing row and its first error; ok is false when there is none.
func (r *RowErrs) First() (row int, err error, ok bool) {
	for i, e := range r.list {
		if i == 0 || e.Row < row {
			row, err, ok = e.Row, e.Err, true
		}
	}
	return row, err, ok
}

// All returns every noted error in order of evaluation.
func (r *RowErrs) All() []RowErr { return r.list }

// Len is the number of noted errors; Since, Move and Keep take it as a mark.
func (r *RowErrs) Len() int { return len(r.list) }

// Since returns the errors noted after a mark, to be changed in place.
func (r *RowErrs) Since(mark int) []RowErr { return r.list[mark:] }

// Move turns the row numbers of the errors noted after a mark, which count rows of a gathered batch, into rows of the batch
// that they were gathered from.
func (r *RowErrs) Move(mark int, rows []uint32) {
	for i := range r.list[mark:] {
		e := &r.list[mark+i]
		e.Row = int(rows[e.Row])
	}
}

// Keep drops the errors noted after a mark for whose row keep is false.
func (r *RowErrs) Keep(mark int, keep func(row int) bool) {
	kept := r.list[:mark]
	for _, e := range r.list[mark:] {
		if keep(e.Row) {
			kept = append(kept, e)
		}
	}
	r.list = kept
}

// Reset forgets all errors and keeps the memory.
func (r *RowErrs) Reset() { r.list = r.list[:0] }

// Mode says what a kernel does with a row that it cannot compute.
type Mode uint8

// The modes.
const (
	Raise Mode = iota // note an error: ANSI behaviour
	Null              // the result is null: non-ANSI behaviour and the try_ functions
)
