package exec

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Expr is an expression as operators hold it: a maker of compiled nodes, one for each worker.
type Expr struct {
	New  NodeFunc
	Type types.DataType
	// Uses are the input columns that the expression reads.
	Uses []int
	// Column is the input column that the expression is, or -1 when it computes something.
	Column int
}

// ColumnExpr is the expression that passes input column i through.
func ColumnExpr(i int, t types.DataType) Expr {
	return Expr{New: func() expr.Node { return expr.NewColumn(i, t) }, Type: t, Uses: []int{i}, Column: i}
}

// TypesOf lists the types of expressions.
func TypesOf(es []Expr) []types.DataType {
	ts := make([]types.DataType, len(es))
	for i, e := range es {
		ts[i] = e.Type
	}
	return ts
}

// Evaluator computes some expressions over the batches of one part. Evaluation stops at the first bad row: Compute returns the
// rows before it, and the error with the next call.
type Evaluator struct {
	nodes   []expr.Node
	columns []int // input column that an expression is, or -1
	used    []bool
	eval    expr.Eval
	in      vec.Batch // the dense input, reused
	scratch []*vec.Vector
	out     []*vec.Vector
	pending error
}

// NewEvaluator compiles expressions for the rows of one part.
func NewEvaluator(t *Task, part int, exprs []Expr) *Evaluator {
	ev := &Evaluator{out: make([]*vec.Vector, len(exprs))}
	ev.eval.Batch, ev.eval.Part = t.Batch, part
	for _, e := range exprs {
		ev.nodes = append(ev.nodes, e.New())
		ev.columns = append(ev.columns, e.Column)
		for _, c := range e.Uses {
			for c >= len(ev.used) {
				ev.used = append(ev.used, false)
			}
			ev.used[c] = true
		}
	}
	return ev
}

// dense gathers the selected rows of the columns that are used; others become nil.
func (ev *Evaluator) dense(b *vec.Batch) *vec.Batch {
	if b.Sel == nil {
		return b
	}
	ev.in.N = len(b.Sel)
	if len(ev.in.Cols) < len(b.Cols) {
		ev.in.Cols = make([]*vec.Vector, len(b.Cols))
		ev.scratch = make([]*vec.Vector, len(b.Cols))
	}
	for i, c := range b.Cols {
		if i >= len(ev.used) || !ev.used[i] {
			ev.in.Cols[i] = nil
			continue
		}
		if ev.scratch[i] == nil {
			ev.scratch[i] = &vec.Vector{}
		}
		ev.in.Cols[i] = vec.Take(c, b.Sel, ev.scratch[i])
	}
	return &ev.in
}

// Compute evaluates all expressions. n is the number of good rows, all of which come before the first bad one; 0 with an error
// means that the very first row is bad.
func (ev *Evaluator) Compute(b *vec.Batch) (cols []*vec.Vector, n int, err error) {
	if ev.pending != nil {
		return nil, 0, ev.pending
	}
	in := ev.dense(b)
	for i, node := range ev.nodes {
		ev.out[i] = node.Eval(&ev.eval, in)
	}
	ev.eval.Row += int64(in.N)
	if ev.eval.Errs.Empty() {
		return ev.out, in.N, nil
	}
	row, err, _ := ev.eval.Errs.First()
	ev.eval.Errs.Reset()
	ev.pending = err
	if row == 0 {
		return nil, 0, err
	}
	for i, v := range ev.out {
		ev.out[i] = v.Slice(0, row)
	}
	return ev.out, row, nil
}

// ComputeAll is Compute for a caller who has no use for the rows before a bad one.
func (ev *Evaluator) ComputeAll(b *vec.Batch) ([]*vec.Vector, error) {
	cols, _, err := ev.Compute(b)
	if err == nil {
		err = ev.pending
	}
	return cols, err
}
