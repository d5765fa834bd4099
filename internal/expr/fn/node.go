package fn

import (
	"errors"
	"math/bits"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// call is the node of a bound function: it prepares arguments as the kernel wants them and takes care of nulls.
type call struct {
	bound  *Bound
	args   []expr.Node
	kernel Kernel
	origin *errclass.QueryContext
	vecs   []*vec.Vector
	flat   []vec.Vector // scratch for arguments that had to be flattened
	out    vec.Vector
	valid  vec.Bitmap // rows without a null argument
	both   vec.Bitmap // and without a null result
}

// NewNode returns the node of a call. Arguments have the types that the binding asks for.
func NewNode(bound *Bound, args []expr.Node) expr.Node { return NewNodeAt(bound, args, nil) }

// NewNodeAt is NewNode for a call whose errors are to tell the place in the query; origin may be nil.
func NewNodeAt(bound *Bound, args []expr.Node, origin *errclass.QueryContext) expr.Node {
	c := &call{bound: bound, args: args, kernel: bound.New(), origin: origin}
	c.vecs = make([]*vec.Vector, len(args))
	c.flat = make([]vec.Vector, len(args))
	return c
}

func (c *call) Type() types.DataType  { return c.bound.Type }
func (c *call) Operands() []expr.Node { return c.args }

func (c *call) CannotFail() bool {
	for _, a := range c.args {
		if !expr.CannotFail(a) {
			return false
		}
	}
	return !c.bound.CanFail && !c.bound.Nondeterministic
}

func (c *call) Eval(e *expr.Eval, in *vec.Batch) *vec.Vector {
	if in.N == 0 {
		return vec.NewNulls(c.bound.Type, 0)
	}
	consts, dict, null := 0, -1, false
	for k := range c.args {
		i := c.bound.turn(k)
		mark := e.Errs.Len()
		v := c.args[i].Eval(e, in)
		switch {
		case k == 0 || e.Errs.Len() == mark:
		case c.bound.Reached != nil:
			e.Errs.Keep(mark, func(row int) bool { return c.bound.Reached(c.vecs[:k], row) })
		case !c.bound.NullsAreArgs && !c.bound.Eager:
			e.Errs.Keep(mark, func(row int) bool { return c.reached(k, row) })
		}
		if failed := e.Errs.Since(mark); len(failed) > 0 {
			v = withoutFailed(v, failed)
			if c.bound.TryArgs {
				e.Errs.Keep(mark, func(int) bool { return false })
			}
		}
		c.vecs[i] = v
		switch v.Encoding() {
		case vec.Const:
			consts++
		case vec.Dict:
			dict = i
		}
		if !c.bound.NullsAreArgs && (v.Phys() == vec.PhysNull || v.Encoding() == vec.Const && v.IsNull(0)) {
			null = true
			if !c.bound.Eager {
				break
			}
		}
	}
	if null {
		return vec.NewNulls(c.bound.Type, in.N)
	}
	if !c.bound.Nondeterministic {
		switch {
		case consts == len(c.args):
			return c.once(e, in.N)
		case dict >= 0 && consts == len(c.args)-1 && !c.bound.CanFail && !c.bound.NullsAreArgs && c.vecs[dict].Base().Len() <= in.N/2:
			return c.overDict(e, dict)
		}
	}
	return c.run(e, in.N)
}

// turn is the argument that is computed after k others.
func (b *Bound) turn(k int) int {
	switch {
	case k == 0:
		return b.First
	case k <= b.First:
		return k - 1
	}
	return k
}

// reached tells whether a row's arguments are looked at beyond the first k: none of those may be null.
func (c *call) reached(k, row int) bool {
	for j := range k {
		if c.vecs[c.bound.turn(j)].IsNull(row) {
			return false
		}
	}
	return c.bound.Needs == nil || c.bound.Needs(c.vecs[c.bound.First], row)
}

// withoutFailed gives null for rows that have failed: their values are unspecified, and a kernel such as sequence's would make
// gigabytes of one.
func withoutFailed(v *vec.Vector, failed []expr.RowErr) *vec.Vector {
	idx := make([]uint32, v.Len())
	for i := range idx {
		idx[i] = uint32(i)
	}
	for _, f := range failed {
		idx[f.Row] = vec.NoRow
	}
	return vec.Take(v, idx, nil)
}

// once computes a call of constants for one row.
func (c *call) once(e *expr.Eval, n int) *vec.Vector {
	for i, v := range c.vecs {
		c.vecs[i] = vec.NewConst(v, 1)
	}
	mark := e.Errs.Len()
	one := c.run(e, 1)
	if failed := e.Errs.Since(mark); len(failed) > 0 {
		// Every row has met the same error.
		err := failed[0].Err
		for i := 1; i < n; i++ {
			e.Errs.Add(i, err)
		}
	}
	return vec.NewConst(one, n)
}

// overDict computes a call with one dictionary and otherwise constants once for each value of the dictionary. The result is a
// dictionary with the same index.
func (c *call) overDict(e *expr.Eval, dict int) *vec.Vector {
	d := c.vecs[dict]
	base := d.Base()
	for i, v := range c.vecs {
		if i == dict {
			c.vecs[i] = base
		} else {
			c.vecs[i] = vec.NewConst(v, base.Len())
		}
	}
	if base.Len() == 0 {
		return vec.NewNulls(c.bound.Type, d.Len())
	}
	r := vec.NewDict(c.run(e, base.Len()), d.Index(), d.Validity())
	r.SetBorrowed(true)
	return r
}

// run calls the kernel for n rows.
func (c *call) run(e *expr.Eval, n int) *vec.Vector {
	for i, v := range c.vecs {
		if v.Encoding() == vec.Dict || v.Encoding() == vec.Const && !c.bound.TakesConst {
			c.vecs[i] = v.FlattenInto(&c.flat[i])
		}
	}
	valid := vec.Bitmap(nil)
	if !c.bound.NullsAreArgs {
		valid = c.liveRows(n)
	}
	c.out.Retype(c.bound.Type)
	mark := e.Errs.Len()
	r := c.kernel(e, n, c.vecs, &c.out)
	if e.Errs.Len() > mark {
		if valid != nil {
			e.Errs.Keep(mark, valid.Get)
		}
		c.locate(e.Errs.Since(mark))
	}
	return c.settle(r, valid, n)
}

// liveRows are the rows without a null argument, nil for all.
func (c *call) liveRows(n int) vec.Bitmap {
	var b vec.Bitmap
	for _, v := range c.vecs {
		if v.Encoding() == vec.Const || v.Validity() == nil { // a null constant has been dealt with
			continue
		}
		if b == nil {
			b = v.Validity()
			continue
		}
		c.valid = vec.AndInto(c.valid, b, v.Validity(), n)
		b = c.valid
	}
	return b
}

// settle gives the kernel's result its nulls, its type and its ownership.
func (c *call) settle(r *vec.Vector, valid vec.Bitmap, n int) *vec.Vector {
	if valid != nil && r.Phys() != vec.PhysNull {
		r = r.Flatten()
		c.both = vec.AndInto(c.both, valid, r.Validity(), n)
		if r != &c.out {
			r = r.WithType(c.bound.Type) // a header of our own
		}
		r.SetValidity(c.both)
		r.SetBorrowed(true)
	}
	if r != &c.out {
		if !types.Equal(r.Type(), c.bound.Type) {
			r = r.WithType(c.bound.Type)
		}
		return r
	}
	r.SetBorrowed(true)
	if spans := r.Spans(); r.Validity() != nil && (r.Phys() == vec.PhysBytes || r.Phys() == vec.PhysList || r.Phys() == vec.PhysMap) {
		// The kernel may have left anything in a null row; readers rely on spans that lie within the buffer.
		for w, word := range r.Validity() {
			for word = ^word; word != 0; word &= word - 1 {
				if i := w<<6 + bits.TrailingZeros64(word); i < len(spans) {
					spans[i] = vec.Span{}
				}
			}
		}
	}
	return r
}

// locate adds the place in the query to errors that have none.
func (c *call) locate(errs []expr.RowErr) {
	if c.origin == nil {
		return
	}
	for i := range errs {
		e, ok := errors.AsType[*errclass.Error](errs[i].Err)
		if !ok || len(e.Context) > 0 {
			continue
		}
		at := *e // kernels may share one error among rows
		at.Context = []errclass.QueryContext{*c.origin}
		errs[i].Err = &at
	}
}
