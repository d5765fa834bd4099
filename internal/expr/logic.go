package expr

import (
	"encoding/binary"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// logic is AND or OR in three-valued logic. The right side is evaluated where the left one does not decide: where it is not
// false for AND, not true for OR; a null does not decide.
type logic struct {
	left    Node
	right   branch
	total   bool  // the right side cannot fail: computing it for all rows is cheaper than gathering some
	decides uint8 // the value of the left side that is the result whatever the right one is
	rows    []uint32
	l, r    vec.Vector // flattened operands
	out     vec.Vector
	valid   vec.Bitmap
}

// NewAnd returns left AND right.
func NewAnd(left, right Node) Node { return newLogic(left, right, 0) }

// NewOr returns left OR right.
func NewOr(left, right Node) Node { return newLogic(left, right, 1) }

func newLogic(left, right Node, decides uint8) Node {
	n := &logic{left: left, right: newBranch(right), decides: decides, total: CannotFail(right)}
	n.out.Retype(types.Boolean)
	return n
}

func (n *logic) Type() types.DataType { return types.Boolean }
func (n *logic) Operands() []Node     { return []Node{n.left, n.right.node} }
func (n *logic) CannotFail() bool     { return n.total && CannotFail(n.left) }

func (n *logic) Eval(e *Eval, in *vec.Batch) *vec.Vector {
	l := n.left.Eval(e, in)
	if l.Encoding() == vec.Const && !l.IsNull(0) {
		if in.N == 0 || vec.Fixed[uint8](l)[0] == n.decides {
			return l
		}
		return n.right.eval(e, in, nil) // true AND x is x
	}
	l = booleans(l, &n.l)
	if !n.total {
		n.rows = n.undecided(l, n.rows[:0])
		switch len(n.rows) {
		case 0:
			return l
		case in.N:
		default:
			n.some(l, booleans(n.right.eval(e, in, n.rows), &n.r))
			return &n.out
		}
	}
	r := n.right.eval(e, in, nil)
	if r.Encoding() == vec.Const && !r.IsNull(0) {
		if in.N == 0 || vec.Fixed[uint8](r)[0] == n.decides {
			return r
		}
		return l
	}
	n.all(l, booleans(r, &n.r))
	return &n.out
}

// booleans returns a Flat boolean vector; a void one becomes nulls.
func booleans(v *vec.Vector, scratch *vec.Vector) *vec.Vector {
	if v.Phys() == vec.PhysNull {
		v = vec.NewNulls(types.Boolean, v.Len())
	}
	return v.FlattenInto(scratch)
}

// undecided appends the rows in which l is not the deciding value.
func (n *logic) undecided(l *vec.Vector, rows []uint32) []uint32 {
	x, valid := vec.Fixed[uint8](l), l.Validity()
	if cap(rows) < len(x) {
		rows = make([]uint32, 0, len(x))
	}
	rows = rows[:len(x)]
	k := 0
	for i, b := range x {
		rows[k] = uint32(i)
		if b != n.decides || !valid.Get(i) {
			k++
		}
	}
	return rows[:k]
}

// some combines l with r, which has the rows of n.rows only.
func (n *logic) some(l, r *vec.Vector) {
	rows := l.Len()
	n.out.ResetFixed(rows)
	n.out.SetBorrowed(true)
	x, y, dst := vec.Fixed[uint8](l), vec.Fixed[uint8](r), vec.Fixed[uint8](&n.out)
	copy(dst, x)
	if l.Validity() == nil && r.Validity() == nil {
		for k, i := range n.rows {
			dst[i] = y[k]
		}
		return
	}
	n.valid = vec.AndInto(n.valid, l.Validity(), nil, rows)
	if n.valid == nil {
		n.valid = vec.NewBitmapSet(rows)
	}
	rv := r.Validity()
	for k, i := range n.rows {
		switch {
		case !rv.Get(k): // null unless the left side decides, which it does not here
			n.valid.Clear(int(i))
		case y[k] == n.decides:
			dst[i] = n.decides
			n.valid.Set(int(i))
		}
	}
	n.out.SetValidity(n.valid)
}

// all combines two sides that both have all rows.
func (n *logic) all(l, r *vec.Vector) {
	rows := l.Len()
	n.out.ResetFixed(rows)
	n.out.SetBorrowed(true)
	x, y, dst := vec.Fixed[uint8](l), vec.Fixed[uint8](r), vec.Fixed[uint8](&n.out)
	lv, rv := l.Validity(), r.Validity()
	if lv == nil && rv == nil {
		if n.decides == 0 {
			andBytes(dst, x, y)
		} else {
			orBytes(dst, x, y)
		}
		return
	}
	n.valid = vec.GrowBitmap(n.valid, rows)
	var xb, yb, tb [8]byte
	for w := range n.valid {
		from := w << 6
		to := min(from+64, rows)
		vec.PackBits(xb[:], x[from:to])
		vec.PackBits(yb[:], y[from:to])
		xw, yw := binary.LittleEndian.Uint64(xb[:]), binary.LittleEndian.Uint64(yb[:])
		xv, yv := word(lv, w), word(rv, w)
		var yes, no uint64
		if n.decides == 0 {
			yes = xv & xw & yv & yw
			no = xv&^xw | yv&^yw
		} else {
			yes = xv&xw | yv&yw
			no = xv &^ xw & (yv &^ yw)
		}
		n.valid[w] = yes | no
		binary.LittleEndian.PutUint64(tb[:], yes)
		vec.UnpackBits(dst[from:to], tb[:], 0, to-from)
	}
	n.out.SetValidity(n.valid)
}

func word(b vec.Bitmap, w int) uint64 {
	if b == nil {
		return ^uint64(0)
	}
	return b[w]
}

func andBytes(dst, x, y []uint8) {
	x, y = x[:len(dst)], y[:len(dst)]
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(x[i:])&binary.LittleEndian.Uint64(y[i:]))
	}
	for ; i < len(dst); i++ {
		dst[i] = x[i] & y[i]
	}
}

func orBytes(dst, x, y []uint8) {
	x, y = x[:len(dst)], y[:len(dst)]
	i := 0
	for ; i+8 <= len(dst); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(x[i:])|binary.LittleEndian.Uint64(y[i:]))
	}
	for ; i < len(dst); i++ {
		dst[i] = x[i] | y[i]
	}
}
