package fn

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// child casts a child vector as a whole. Errors come back by child row.
type child struct {
	kernel Kernel
	out    *vec.Vector
	eval   expr.Eval
}

func (c castEnv) child(from, to types.DataType) *child {
	if isNull(from) {
		return &child{kernel: c.kernel(from, to)}
	}
	return &child{kernel: c.kernel(from, to), out: emptyOf(to)}
}

// emptyOf returns a vector of no rows for a kernel to fill.
func emptyOf(t types.DataType) *vec.Vector { return vec.NewBuilder(t).Finish() }

func (k *child) cast(e *expr.Eval, v *vec.Vector) *vec.Vector {
	k.eval = expr.Eval{Batch: e.Batch, Part: e.Part, Row: e.Row}
	v = v.Flatten()
	r := k.kernel(&k.eval, v.Len(), []*vec.Vector{v}, k.out)
	if b := v.Validity(); b != nil && r != v {
		r.SetValidity(vec.AndInto(nil, b, r.Validity(), v.Len()))
	}
	return r
}

// spread notes the errors of children for the rows that they belong to; rows is where row i's children lie.
func (k *child) spread(e *expr.Eval, v *vec.Vector) {
	if k.eval.Errs.Empty() {
		return
	}
	failed := map[int]error{}
	for _, r := range k.eval.Errs.All() {
		if failed[r.Row] == nil {
			failed[r.Row] = r.Err
		}
	}
	for i := range v.Len() {
		if v.IsNull(i) {
			continue
		}
		if v.Phys() == vec.PhysStruct {
			if err := failed[i]; err != nil {
				e.Errs.Add(i, err)
			}
			continue
		}
		s, _ := v.SpanAt(i)
		for r := s.Off; r < s.Off+s.Len; r++ {
			if err := failed[int(r)]; err != nil {
				e.Errs.Add(i, err)
			}
		}
	}
}

func (c castEnv) array(from, to types.ArrayType) Kernel {
	element := c.child(from.Element, to.Element)
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		v := args[0]
		kid := element.cast(e, v.Kids()[0])
		element.spread(e, v)
		return borrowed(vec.NewList(to, v.Spans()[:n], kid))
	}
}

func (c castEnv) mapping(from, to types.MapType) Kernel {
	key, value := c.child(from.Key, to.Key), c.child(from.Value, to.Value)
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		v := args[0]
		keys, values := key.cast(e, v.Kids()[0]), value.cast(e, v.Kids()[1])
		key.spread(e, v)
		value.spread(e, v)
		return borrowed(vec.NewMap(to, v.Spans()[:n], keys, values))
	}
}

func (c castEnv) structure(from, to types.StructType) Kernel {
	fields := make([]*child, len(from.Fields))
	for i, f := range from.Fields {
		fields[i] = c.child(f.Type, to.Fields[i].Type)
	}
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		v := args[0]
		kids := make([]*vec.Vector, len(fields))
		for i, f := range fields {
			kids[i] = f.cast(e, v.Kids()[i])
			f.spread(e, v)
		}
		return borrowed(vec.NewStruct(to, n, kids))
	}
}

// borrowed marks a vector that is made of a kernel's scratch and its arguments.
func borrowed(v *vec.Vector) *vec.Vector {
	v.SetBorrowed(true)
	return v
}
