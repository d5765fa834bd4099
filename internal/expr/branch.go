package expr

import (
	"slices"

	"github.com/millrace/millrace/internal/vec"
)

// Parent is implemented by nodes that read their input only through other nodes. The columns that such a tree needs are
// known, so that only those are gathered for a branch; a node that is no Parent is taken to read all.
type Parent interface {
	Operands() []Node
}

// Infallible is implemented by nodes that can tell that they never note an error. A branch of that kind may be computed for
// rows that do not need it.
type Infallible interface {
	CannotFail() bool
}

// CannotFail tells whether a node is known never to note an error.
func CannotFail(n Node) bool {
	f, ok := n.(Infallible)
	return ok && f.CannotFail()
}

// Columns returns the ordinals of the input columns that nodes read, in order; all is set when that is not known.
func Columns(nodes ...Node) (cols []int, all bool) {
	for _, n := range nodes {
		if c, ok := n.(*column); ok {
			if !slices.Contains(cols, c.i) {
				cols = append(cols, c.i)
			}
			continue
		}
		p, ok := n.(Parent)
		if !ok {
			return nil, true
		}
		more, all := Columns(p.Operands()...)
		if all {
			return nil, true
		}
		for _, c := range more {
			if !slices.Contains(cols, c) {
				cols = append(cols, c)
			}
		}
	}
	slices.Sort(cols)
	return cols, false
}

// gatherer narrows batches to some rows of the columns that some nodes read.
type gatherer struct {
	cols    []int
	all     bool
	in      vec.Batch
	scratch []*vec.Vector
}

func newGatherer(nodes ...Node) gatherer {
	cols, all := Columns(nodes...)
	return gatherer{cols: cols, all: all}
}

// gather returns the given rows of the needed columns; the others are nil. The result is valid until the next call.
func (g *gatherer) gather(in *vec.Batch, rows []uint32) *vec.Batch {
	if len(g.in.Cols) < len(in.Cols) {
		g.in.Cols = make([]*vec.Vector, len(in.Cols))
		g.scratch = make([]*vec.Vector, len(in.Cols))
	}
	g.in.Cols, g.in.N = g.in.Cols[:len(in.Cols)], len(rows)
	if g.all {
		for i, c := range in.Cols {
			if c != nil {
				g.take(i, c, rows)
			}
		}
		return &g.in
	}
	for _, i := range g.cols {
		g.take(i, in.Cols[i], rows)
	}
	return &g.in
}

func (g *gatherer) take(i int, c *vec.Vector, rows []uint32) {
	if g.scratch[i] == nil {
		g.scratch[i] = &vec.Vector{}
	}
	g.in.Cols[i] = vec.Take(c, rows, g.scratch[i])
}

// branch is an operand that is computed for some rows only.
type branch struct {
	node Node
	gatherer
}

func newBranch(n Node) branch { return branch{n, newGatherer(n)} }

// eval computes the operand for the given rows of in, all of them when rows is nil; the result has as many rows. Errors get
// the row numbers of in.
func (b *branch) eval(e *Eval, in *vec.Batch, rows []uint32) *vec.Vector {
	if rows == nil {
		return b.node.Eval(e, in)
	}
	mark := e.Errs.Len()
	v := b.node.Eval(e, b.gather(in, rows))
	e.Errs.Move(mark, rows)
	return v
}
