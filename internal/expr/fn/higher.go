package fn

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Lambda is a compiled function value. Its body reads a batch of its own, whose columns are the parameters, in order, and then the
// columns of the batch around it that it uses. A row of that batch is one call.
type Lambda struct {
	Body   expr.Node
	Params int
	// Outer are the columns of the batch around the call that the body uses, and OuterTypes their types.
	Outer      []int
	OuterTypes []types.DataType
}

// call computes the body for calls that belong to the given rows of in; params are the arguments, each a vector of one value for each
// call. Errors get the row numbers of in, those of calls for which keep is false are dropped.
func (l *Lambda) call(e *expr.Eval, in *vec.Batch, rows []uint32, keep func(v *vec.Vector, call int) bool, params ...*vec.Vector) *vec.Vector {
	if len(rows) == 0 {
		return emptyOf(l.Body.Type())
	}
	b := vec.NewBatch(len(rows), params[:l.Params]...)
	for _, c := range l.Outer {
		b.Cols = append(b.Cols, vec.Take(in.Cols[c], rows, nil))
	}
	mark := e.Errs.Len()
	v := l.Body.Eval(e, b).Flatten()
	if keep != nil && e.Errs.Len() > mark {
		e.Errs.Keep(mark, func(call int) bool { return keep(v, call) })
	}
	e.Errs.Move(mark, rows)
	return v
}

// higher is a call of a function that takes functions.
type higher struct {
	t       types.DataType
	args    []expr.Node
	lambdas []*Lambda
	compute func(h *higher, e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector
	vecs    []*vec.Vector
}

var higherOrder = map[string]func(h *higher, e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector{
	"transform": (*higher).transform, "filter": (*higher).filter, "exists": (*higher).exists, "any": (*higher).exists,
	"forall": (*higher).forall, "all": (*higher).forall, "aggregate": (*higher).reduce, "reduce": (*higher).reduce,
	"zip_with": (*higher).zipWith, "map_filter": (*higher).mapFilter, "transform_keys": (*higher).transformKeys,
	"array_sort":       (*higher).sort,
	"transform_values": (*higher).transformValues, "map_zip_with": (*higher).mapZipWith,
}

// NewHigherOrder returns the node of a function that takes functions, or nil for a name that is none. t is the type of its result.
func NewHigherOrder(name string, t types.DataType, args []expr.Node, lambdas []*Lambda) expr.Node {
	compute := higherOrder[name]
	if compute == nil {
		return nil
	}
	return &higher{t: t, args: args, lambdas: lambdas, compute: compute, vecs: make([]*vec.Vector, len(args))}
}

func (h *higher) Type() types.DataType { return h.t }

// Operands implements expr.Parent: what the arguments read, and what the functions do.
func (h *higher) Operands() []expr.Node {
	ops := slices.Clone(h.args)
	for _, l := range h.lambdas {
		for i, c := range l.Outer {
			ops = append(ops, expr.NewColumn(c, l.OuterTypes[i]))
		}
	}
	return ops
}

func (h *higher) CannotFail() bool { return false }

func (h *higher) Eval(e *expr.Eval, in *vec.Batch) *vec.Vector {
	if in.N == 0 {
		return vec.NewNulls(h.t, 0)
	}
	for i, a := range h.args {
		v := a.Eval(e, in)
		if i == 0 && v.Phys() == vec.PhysNull {
			return vec.NewNulls(h.t, in.N)
		}
		h.vecs[i] = v.Flatten()
	}
	return borrowed(h.compute(h, e, in, h.vecs))
}

// calls are the elements of the rows' arrays or maps, one after the other.
type calls struct {
	rows  []uint32 // the row of each
	at    []uint32 // where it lies in the child
	spans []vec.Span
}

// each lists the elements of all rows of a list or map that are not null.
func each(v *vec.Vector) *calls {
	c := &calls{spans: make([]vec.Span, v.Len())}
	for i := range c.spans {
		c.spans[i].Off = uint32(len(c.rows))
		if v.IsNull(i) {
			continue
		}
		s, _ := v.SpanAt(i)
		for k := range s.Len {
			c.rows, c.at = append(c.rows, uint32(i)), append(c.at, s.Off+k)
		}
		c.spans[i].Len = s.Len
	}
	return c
}

// index is the position of each element in its array.
func (c *calls) index() *vec.Vector {
	v := vec.NewFixed(types.Integer, len(c.rows))
	dst := vec.Fixed[int32](v)
	for _, s := range c.spans {
		for k := range s.Len {
			dst[s.Off+k] = int32(k)
		}
	}
	return v
}

func take(kid *vec.Vector, at []uint32) *vec.Vector { return vec.Take(kid, at, nil).Flatten() }

// like gives v the nulls of the arguments that it was computed from.
func like(v *vec.Vector, args ...*vec.Vector) *vec.Vector {
	var scratch vec.Bitmap
	v.SetValidity(live(args, v.Len(), &scratch))
	return v
}

func (h *higher) transform(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	c := each(args[0])
	v := h.lambdas[0].call(e, in, c.rows, nil, take(args[0].Kids()[0], c.at), c.index())
	return like(vec.NewList(h.t, c.spans, v), args[0])
}

// kept drops the elements for which a predicate is not true.
func (c *calls) kept(pred *vec.Vector) *calls {
	out := &calls{spans: make([]vec.Span, len(c.spans))}
	yes := make([]bool, len(c.rows))
	for _, k := range expr.SelectTrue(pred, nil) {
		yes[k] = true
	}
	for i, s := range c.spans {
		out.spans[i].Off = uint32(len(out.rows))
		for k := s.Off; k < s.Off+s.Len; k++ {
			if yes[k] {
				out.rows, out.at = append(out.rows, c.rows[k]), append(out.at, c.at[k])
			}
		}
		out.spans[i].Len = uint32(len(out.rows)) - out.spans[i].Off
	}
	return out
}

func (h *higher) filter(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	c := each(args[0])
	kid := args[0].Kids()[0]
	c = c.kept(h.lambdas[0].call(e, in, c.rows, nil, take(kid, c.at), c.index()))
	return like(vec.NewList(h.t, c.spans, take(kid, c.at)), args[0])
}

// search finds out whether an array has an element for which the predicate is stop; one that is null makes the result null when there
// is none. Elements behind the first such are not looked at, so they cannot fail.
func (h *higher) search(e *expr.Eval, in *vec.Batch, v *vec.Vector, stop bool) *vec.Vector {
	c := each(v)
	hit := func(p *vec.Vector, k uint32) bool { return !p.IsNull(int(k)) && (vec.Fixed[uint8](p)[k] != 0) == stop }
	reached := func(p *vec.Vector, call int) bool {
		for k := c.spans[c.rows[call]].Off; k < uint32(call); k++ {
			if hit(p, k) {
				return false
			}
		}
		return true
	}
	p := h.lambdas[0].call(e, in, c.rows, reached, take(v.Kids()[0], c.at), c.index())
	if p.Phys() == vec.PhysNull {
		p = vec.NewNulls(types.Boolean, p.Len()).Flatten()
	}
	out := vec.NewFixed(types.Boolean, v.Len())
	dst, valid := vec.Fixed[uint8](out), vec.NewBitmapSet(v.Len())
	for i, s := range c.spans {
		found, null := false, v.IsNull(i)
		for k := s.Off; k < s.Off+s.Len && !found; k++ {
			found = hit(p, k)
			null = null || p.IsNull(int(k))
		}
		if found == stop { // found what was looked for, or looked in vain for what would make it false
			dst[i] = 1
		}
		if null && !found {
			valid.Clear(i)
		}
	}
	out.SetValidity(valid)
	return out
}

func (h *higher) exists(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	return h.search(e, in, args[0], true)
}

func (h *higher) forall(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	return h.search(e, in, args[0], false)
}

// reduce takes one element of every array at a time.
func (h *higher) reduce(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	list, acc := args[0], args[1].Own()
	var live []uint32
	longest := uint32(0)
	for i := range list.Len() {
		if !list.IsNull(i) {
			live = append(live, uint32(i))
			s, _ := list.SpanAt(i)
			longest = max(longest, s.Len)
		}
	}
	kid := list.Kids()[0]
	for step := range longest {
		var rows, at []uint32
		for _, i := range live {
			if s, _ := list.SpanAt(int(i)); step < s.Len {
				rows, at = append(rows, i), append(at, s.Off+step)
			}
		}
		next := h.lambdas[0].call(e, in, rows, nil, take(acc, rows), take(kid, at))
		acc = replaced(acc, rows, next)
	}
	done := h.lambdas[1].call(e, in, live, nil, take(acc, live))
	at := make([]uint32, list.Len())
	for i := range at {
		at[i] = vec.NoRow
	}
	for k, i := range live {
		at[i] = uint32(k)
	}
	return take(done, at).WithType(h.t)
}

// replaced is v with the values of some rows replaced.
func replaced(v *vec.Vector, rows []uint32, by *vec.Vector) *vec.Vector {
	if len(rows) == v.Len() {
		return by.Own().WithType(v.Type())
	}
	at := make([]uint32, v.Len())
	for i := range at {
		at[i] = uint32(i)
	}
	for k, i := range rows {
		at[i] = uint32(v.Len() + k)
	}
	return take(vec.Concat([]*vec.Vector{v, by.WithType(v.Type())}), at).Own()
}

func (h *higher) zipWith(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	c := &calls{spans: make([]vec.Span, in.N)}
	var right []uint32
	for i := range c.spans {
		c.spans[i].Off = uint32(len(c.rows))
		if args[0].IsNull(i) || args[1].IsNull(i) {
			continue
		}
		l, _ := args[0].SpanAt(i)
		r, _ := args[1].SpanAt(i)
		for k := range max(l.Len, r.Len) {
			c.rows, c.at, right = append(c.rows, uint32(i)), append(c.at, within(l, k)), append(right, within(r, k))
		}
		c.spans[i].Len = max(l.Len, r.Len)
	}
	v := h.lambdas[0].call(e, in, c.rows, nil, take(args[0].Kids()[0], c.at), take(args[1].Kids()[0], right))
	return like(vec.NewList(h.t, c.spans, v), args...)
}

// sort inserts one element after the other, each at the place that the comparator finds for it: equal ones keep their order, and a
// comparator that contradicts itself still gives a result.
func (h *higher) sort(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	c, kid := each(args[0]), args[0].Kids()[0]
	compare := func(row, a, b uint32) int32 {
		v := h.lambdas[0].call(e, in, []uint32{row}, nil, take(kid, []uint32{a}), take(kid, []uint32{b}))
		if v.IsNull(0) {
			e.Errs.Add(int(row), errclass.New("COMPARATOR_RETURNS_NULL", "function", "`array_sort`"))
			return 0
		}
		return vec.Fixed[int32](v)[0]
	}
	for _, s := range c.spans {
		at := c.at[s.Off : s.Off+s.Len]
		for k := 1; k < len(at); k++ {
			x, lo, hi := at[k], 0, k
			for lo < hi {
				mid := (lo + hi) / 2
				if compare(c.rows[s.Off], x, at[mid]) < 0 {
					hi = mid
				} else {
					lo = mid + 1
				}
			}
			copy(at[lo+1:k+1], at[lo:k])
			at[lo] = x
		}
	}
	return like(vec.NewList(h.t, c.spans, take(kid, c.at)), args[0])
}

func within(s vec.Span, k uint32) uint32 {
	if k < s.Len {
		return s.Off + k
	}
	return vec.NoRow
}

func (h *higher) mapFilter(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	c, keys, values := each(args[0]), args[0].Kids()[0], args[0].Kids()[1]
	c = c.kept(h.lambdas[0].call(e, in, c.rows, nil, take(keys, c.at), take(values, c.at)))
	return like(vec.NewMap(h.t, c.spans, take(keys, c.at), take(values, c.at)), args[0])
}

func (h *higher) transformKeys(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	c, keys, values := each(args[0]), args[0].Kids()[0], args[0].Kids()[1]
	values = take(values, c.at)
	made := h.lambdas[0].call(e, in, c.rows, nil, take(keys, c.at), values)
	var scratch vec.Bitmap
	return like(newMaps(e, h.t.(types.MapType), c.spans, made, values, live(args, in.N, &scratch), false, true), args[0])
}

func (h *higher) transformValues(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	c, keys, values := each(args[0]), args[0].Kids()[0], args[0].Kids()[1]
	keys = take(keys, c.at)
	made := h.lambdas[0].call(e, in, c.rows, nil, keys, take(values, c.at))
	return like(vec.NewMap(h.t, c.spans, keys, made), args[0])
}

// mapZipWith goes through the keys of the first map and then through those that only the second has.
func (h *higher) mapZipWith(e *expr.Eval, in *vec.Batch, args []*vec.Vector) *vec.Vector {
	c := &calls{spans: make([]vec.Span, in.N)}
	lk, rk := args[0].Kids()[0], args[1].Kids()[0]
	var left, right []uint32 // the value of each key in either map
	var keysL, keysR vec.KeyBuffer
	vec.EncodeKeys([]*vec.Vector{lk}, lk.Len(), &keysL)
	vec.EncodeKeys([]*vec.Vector{rk}, rk.Len(), &keysR)
	other := map[string]uint32{}
	for i := range c.spans {
		c.spans[i].Off = uint32(len(c.rows))
		if args[0].IsNull(i) || args[1].IsNull(i) {
			continue
		}
		l, _ := args[0].SpanAt(i)
		r, _ := args[1].SpanAt(i)
		clear(other)
		for k := range r.Len {
			other[string(keysR.Key(int(r.Off+k)))] = r.Off + k
		}
		for k := range l.Len {
			key := string(keysL.Key(int(l.Off + k)))
			at, ok := other[key]
			if !ok {
				at = vec.NoRow
			}
			delete(other, key)
			c.rows, c.at = append(c.rows, uint32(i)), append(c.at, l.Off+k)
			left, right = append(left, l.Off+k), append(right, at)
		}
		for k := range r.Len {
			if at, ok := other[string(keysR.Key(int(r.Off+k)))]; ok && at == r.Off+k {
				c.rows, c.at = append(c.rows, uint32(i)), append(c.at, uint32(lk.Len())+at)
				left, right = append(left, vec.NoRow), append(right, at)
			}
		}
		c.spans[i].Len = uint32(len(c.rows)) - c.spans[i].Off
	}
	keys := take(vec.Concat([]*vec.Vector{lk, rk.WithType(lk.Type())}), c.at)
	made := h.lambdas[0].call(e, in, c.rows, nil, keys, take(args[0].Kids()[1], left), take(args[1].Kids()[1], right))
	return like(vec.NewMap(h.t, c.spans, keys, made), args...)
}
