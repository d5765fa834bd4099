package expr

import "github.com/millrace/millrace/internal/vec"

// SelectTrue appends to sel the rows in which a boolean vector is true: not false, not null.
func SelectTrue(v *vec.Vector, sel []uint32) []uint32 {
	n := v.Len()
	if v.Phys() == vec.PhysNull || n == 0 {
		return sel
	}
	if v.Encoding() == vec.Const {
		if v.IsNull(0) || vec.Fixed[uint8](v)[0] == 0 {
			return sel
		}
		return appendRows(sel, nil, n)
	}
	v = v.Flatten()
	from := len(sel)
	if cap(sel)-from < n {
		sel = append(make([]uint32, 0, from+n), sel...)
	}
	// Every row is written down; a row that is not true is overwritten by the next. That is cheaper than a branch.
	out := sel[from : from+n]
	k := 0
	if valid := v.Validity(); valid == nil {
		for i, x := range vec.Fixed[uint8](v) {
			out[k] = uint32(i)
			k += int(x & 1)
		}
	} else {
		for i, x := range vec.Fixed[uint8](v) {
			out[k] = uint32(i)
			k += int(uint64(x) & (valid[i>>6] >> (uint(i) & 63)) & 1)
		}
	}
	return sel[:from+k]
}

// EvalAll computes several expressions over the rows of a batch that count. The results have one row for each of those; they
// are valid until the next call of Eval on one of the nodes. Failing rows are noted by their position in the result.
func EvalAll(e *Eval, nodes []Node, b *vec.Batch) []*vec.Vector {
	in := b
	if b.Sel != nil {
		g := newGatherer(nodes...)
		in = g.gather(b, b.Sel)
	}
	out := make([]*vec.Vector, len(nodes))
	for i, n := range nodes {
		out[i] = n.Eval(e, in)
	}
	return out
}
