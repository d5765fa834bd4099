package expr

import (
	"slices"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// caseNode is CASE WHEN: a condition is evaluated for the rows that no earlier one was true for, a value for the rows whose
// condition is true.
type caseNode struct {
	t         types.DataType
	conds     []branch
	values    []branch
	otherwise *branch    // nil for NULL
	hit       [][]uint32 // rows of each value; kept until they are merged
	rest      []uint32
	merge     merger
}

// NewCase returns CASE WHEN conds[0] THEN values[0] ... ELSE otherwise END; otherwise may be nil. The values have one type.
func NewCase(conds, values []Node, otherwise Node) Node {
	n := &caseNode{t: values[0].Type(), hit: make([][]uint32, len(conds))}
	for i, c := range conds {
		n.conds = append(n.conds, newBranch(c))
		n.values = append(n.values, newBranch(values[i]))
	}
	if otherwise != nil {
		b := newBranch(otherwise)
		n.otherwise = &b
	}
	return n
}

// NewIf returns IF(cond, then, otherwise).
func NewIf(cond, then, otherwise Node) Node {
	return NewCase([]Node{cond}, []Node{then}, otherwise)
}

func (n *caseNode) Type() types.DataType { return n.t }

func (n *caseNode) Operands() []Node {
	var ops []Node
	for i := range n.conds {
		ops = append(ops, n.conds[i].node, n.values[i].node)
	}
	if n.otherwise != nil {
		ops = append(ops, n.otherwise.node)
	}
	return ops
}

func (n *caseNode) CannotFail() bool { return cannotFail(n.Operands()) }

func cannotFail(nodes []Node) bool {
	for _, o := range nodes {
		if !CannotFail(o) {
			return false
		}
	}
	return true
}

func (n *caseNode) Eval(e *Eval, in *vec.Batch) *vec.Vector {
	n.merge.start(n.t, in.N)
	var open []uint32 // rows without a true condition yet; nil stands for all
	for i := range n.conds {
		c := n.conds[i].eval(e, in, open)
		// The rows that stay open may be written over those that were: partition reads ahead of where it writes.
		n.hit[i], n.rest = partition(c, open, n.hit[i][:0], n.rest[:0])
		hit := n.hit[i]
		switch len(hit) {
		case 0:
			continue
		case in.N:
			return n.values[i].eval(e, in, nil)
		}
		open = n.rest
		n.merge.add(n.values[i].eval(e, in, hit), hit)
		if len(open) == 0 {
			return n.merge.finish()
		}
	}
	switch {
	case n.otherwise != nil:
		v := n.otherwise.eval(e, in, open)
		if open == nil {
			return v
		}
		n.merge.add(v, open)
	case open == nil:
		return vec.NewNulls(n.t, in.N)
	}
	return n.merge.finish()
}

// partition splits rows, which a condition was evaluated for, into those where it is true and the others. rows is nil for all;
// rest may be the same memory.
func partition(cond *vec.Vector, rows, hit, rest []uint32) (hits, rests []uint32) {
	if cond.Encoding() == vec.Const || cond.Phys() == vec.PhysNull {
		if cond.Len() > 0 && !cond.IsNull(0) && vec.Fixed[uint8](cond)[0] != 0 {
			return appendRows(hit, rows, cond.Len()), rest
		}
		return hit, appendRows(rest, rows, cond.Len())
	}
	cond = cond.Flatten()
	n := cond.Len()
	hit, rest = slices.Grow(hit, n)[:n], slices.Grow(rest, n)[:n]
	valid := cond.Validity()
	h, r := 0, 0
	// Both lists are written for every row, and one moves on: cheaper than a branch that nobody can predict.
	for k, x := range vec.Fixed[uint8](cond) {
		i := uint32(k)
		if rows != nil {
			i = rows[k]
		}
		yes := int(x & 1)
		if valid != nil {
			yes &= int(valid[k>>6] >> (uint(k) & 63))
		}
		hit[h], rest[r] = i, i
		h += yes
		r += 1 - yes
	}
	return hit[:h], rest[:r]
}

func appendRows(dst, rows []uint32, n int) []uint32 {
	if rows != nil {
		return append(dst, rows...)
	}
	for i := range n {
		dst = append(dst, uint32(i))
	}
	return dst
}

// coalesce is the first operand that is not null, each evaluated for the rows that are still null.
type coalesce struct {
	t     types.DataType
	args  []branch
	open  [][]uint32 // rows that each operand left null; kept until they are merged
	every []uint32
	merge merger
}

// NewCoalesce returns COALESCE(args...). The operands have one type.
func NewCoalesce(args ...Node) Node {
	n := &coalesce{t: args[0].Type(), open: make([][]uint32, len(args))}
	for _, a := range args {
		n.args = append(n.args, newBranch(a))
	}
	return n
}

func (n *coalesce) Type() types.DataType { return n.t }

func (n *coalesce) Operands() []Node {
	ops := make([]Node, len(n.args))
	for i := range n.args {
		ops[i] = n.args[i].node
	}
	return ops
}

func (n *coalesce) CannotFail() bool { return cannotFail(n.Operands()) }

func (n *coalesce) Eval(e *Eval, in *vec.Batch) *vec.Vector {
	n.merge.start(n.t, in.N)
	var open []uint32 // nil stands for all
	for i := range n.args {
		v := n.args[i].eval(e, in, open)
		if open == nil && (i == len(n.args)-1 || !v.HasNulls()) {
			return v
		}
		n.open[i] = stillNull(v, open, n.open[i][:0])
		rest := n.open[i]
		switch {
		case len(rest) == v.Len() && v.Len() > 0:
			continue // nothing came of this one
		case len(rest) == 0 && open == nil:
			return v
		case open == nil:
			n.every = appendRows(n.every[:0], nil, in.N)
			n.merge.add(v, n.every)
		default:
			n.merge.add(v, open)
		}
		if len(rest) == 0 {
			break
		}
		open = rest
	}
	return n.merge.finish()
}

// stillNull appends the rows in which v is null to dst; value k of v is row rows[k], or k when rows is nil.
func stillNull(v *vec.Vector, rows, dst []uint32) []uint32 {
	for k := range v.Len() {
		if !v.IsNull(k) {
			continue
		}
		if rows != nil {
			dst = append(dst, rows[k])
		} else {
			dst = append(dst, uint32(k))
		}
	}
	return dst
}
