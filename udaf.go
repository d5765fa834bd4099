package millrace

import (
	"reflect"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/userfunc"
	"github.com/millrace/millrace/types"
)

// Aggregator computes something of the rows of a group. I is a row: a struct whose fields are the arguments of a call, in order, or any
// other type for a single argument. B is a buffer, an intermediate result, and O the final one.
//
// Buffers travel between workers, into files, and into the checkpoint of a streaming query. B is any type that a state variable can be
// (ValueState): numbers, strings, times, structs with exported fields, slices and maps of them. Rows are divided among buffers in any way and
// come in any order, so Merge must fit Reduce. An Aggregator is used by several goroutines at once and keeps nothing itself.
//
// Nulls are as for UDF1: a row with a null for which I has no place is left out.
type Aggregator[I, B, O any] interface {
	// Zero is a new buffer without any row.
	Zero() B
	// Reduce adds a row to a buffer. It may change the buffer and return it.
	Reduce(buffer B, row I) (B, error)
	// Merge adds a buffer to another one. It may change and return the first.
	Merge(buffer, other B) (B, error)
	// Finish is the result of a buffer, which must stay as it is: in a stream more rows may come.
	Finish(buffer B) (O, error)
}

// UDAF makes an aggregate function of an Aggregator, for Agg, for windows and for SQL. In a streaming query its buffers are kept with the state, under
// the name of the function: give it one with WithName. A checkpoint refuses an aggregate whose buffer is of another type.
func UDAF[I, B, O any](a Aggregator[I, B, O]) *UDF {
	return newUDF(func(u *UDF) (any, error) {
		if a == nil {
			return nil, errclass.New("CANNOT_BE_EMPTY", "item", "aggregator")
		}
		g := &groupFunc[I, B, O]{a: a, sig: u.signature()}
		if u.nondeterm {
			return nil, errclass.New("VALUE_NOT_ALLOWED", "argName", "AsNondeterministic", "allowed", "functions of rows", "value", "an aggregate")
		}
		var err error
		if g.codec, err = processor.CodecFor[B](); err != nil {
			return nil, err
		}
		if err := g.params(); err != nil {
			return nil, err
		}
		g.sig.Result, g.sig.Nullable, err = resultOf[O](u.result)
		return g, err
	})
}

// groupFunc implements userfunc.Aggregate.
type groupFunc[I, B, O any] struct {
	a     Aggregator[I, B, O]
	sig   userfunc.Signature
	codec *processor.Codec
	// names are the fields of I by order of arguments, nil when I is the one argument; nulls tells which of them take nulls.
	names []string
	nulls []bool
}

func (g *groupFunc[I, B, O]) params() error {
	t := reflect.TypeFor[I]()
	if t.Kind() != reflect.Struct || isValue(t) {
		p, err := paramOf(t)
		g.sig.Params, g.nulls = []userfunc.Param{p}, []bool{nullableType(t)}
		return err
	}
	g.names = []string{}
	for i := range t.NumField() {
		name, ok := types.ColumnName(t.Field(i))
		if !ok {
			continue
		}
		p, err := paramOf(t.Field(i).Type)
		if err != nil {
			return err
		}
		g.names = append(g.names, name)
		g.nulls = append(g.nulls, nullableType(t.Field(i).Type))
		g.sig.Params = append(g.sig.Params, p)
	}
	return nil
}

// Signature implements userfunc.Aggregate.
func (g *groupFunc[I, B, O]) Signature() userfunc.Signature { return g.sig }

// Buffer implements userfunc.Aggregate.
func (g *groupFunc[I, B, O]) Buffer() string { return g.codec.Type.SQL() }

// New implements userfunc.Aggregate.
func (g *groupFunc[I, B, O]) New(args []types.DataType) (userfunc.Buffers, error) {
	b := &groupBuffers[I, B, O]{g: g, rows: &rowsOf[I]{names: g.names}, out: newResults[O](g.sig.Result)}
	b.in = argSet{args: []argument{b.rows}}
	b.rows.types = args
	return b, nil
}

// groupBuffers implements userfunc.Buffers.
type groupBuffers[I, B, O any] struct {
	g    *groupFunc[I, B, O]
	in   argSet
	rows *rowsOf[I]
	out  *results[O]

	buffers []B
	live    []bool
}

// rowsOf is the one argument of an aggregate: a row made of all columns.
type rowsOf[I any] struct {
	argOf[I]
	names []string
	types []types.DataType
}

// bindAll takes the columns.
func (r *rowsOf[I]) bindAll(arrays []arrow.Array, n int) (err error) {
	if r.block == nil {
		r.block = make([]I, blockRows)
	}
	if r.names == nil {
		return r.argOf.bind(arrays[0], r.types[0])
	}
	var s types.StructType
	for i, name := range r.names {
		s = s.Add(name, r.types[i], true)
	}
	rec := array.NewRecordBatch(types.ArrowSchema(s, types.ArrowOptions{}), arrays, int64(n))
	r.fills, err = structFiller(reflect.TypeFor[I](), s, rec)
	return err
}

// Grow implements userfunc.Buffers.
func (b *groupBuffers[I, B, O]) Grow(n int) {
	if n > len(b.buffers) {
		b.buffers = append(b.buffers, make([]B, n-len(b.buffers))...)
		b.live = append(b.live, make([]bool, n-len(b.live))...)
	}
}

// Update implements userfunc.Buffers.
func (b *groupBuffers[I, B, O]) Update(groups []uint32, args []arrow.Array, fail userfunc.Fail) error {
	n := len(groups)
	if err := b.rows.bindAll(args, n); err != nil {
		return err
	}
	b.in.skip = b.in.skip[:0]
	for i, a := range args {
		if a.NullN() > 0 && !b.g.nulls[i] {
			b.in.skip = append(b.in.skip, a)
		}
	}
	for from := 0; from < n; {
		m, err := b.in.fill(from, n)
		if m == 0 {
			if err != nil {
				fail(from, err)
			}
			from++
			continue
		}
		for i := 0; i < m; {
			i = b.some(i, m, from, groups, fail)
		}
		from += m
	}
	return nil
}

// some adds rows i to m-1 of the block, or up to one for which the aggregator panics, and returns where to go on.
func (b *groupBuffers[I, B, O]) some(i, m, from int, groups []uint32, fail userfunc.Fail) (next int) {
	defer func() {
		var err error
		recoveredValue(recover(), &err)
		if err != nil {
			fail(from+i, err)
			next = i + 1
		}
	}()
	for ; i < m; i++ {
		g := groups[from+i]
		if !b.live[g] {
			b.buffers[g], b.live[g] = b.g.a.Zero(), true
		}
		x, err := b.g.a.Reduce(b.buffers[g], b.rows.block[i])
		if err != nil {
			fail(from+i, err)
			continue
		}
		b.buffers[g] = x
	}
	return m
}

// Merge implements userfunc.Buffers.
func (b *groupBuffers[I, B, O]) Merge(group uint32, image []byte) (err error) {
	defer recovered(&err)
	var x B
	if err := processor.Decode(b.g.codec, image, &x); err != nil {
		return err
	}
	if b.live[group] {
		if x, err = b.g.a.Merge(b.buffers[group], x); err != nil {
			return err
		}
	}
	b.buffers[group], b.live[group] = x, true
	return nil
}

// Finish implements userfunc.Buffers.
func (b *groupBuffers[I, B, O]) Finish(groups []uint32, fail userfunc.Fail) (arrow.Array, error) {
	b.out.reset(len(groups))
	for from := 0; from < len(groups); from += blockRows {
		m := min(blockRows, len(groups)-from)
		for i := range m {
			v, err := b.finish(groups[from+i])
			if err != nil {
				fail(from+i, err)
			}
			b.out.block[i] = v
		}
		b.out.flush(m, from, fail)
	}
	return b.out.array(), nil
}

func (b *groupBuffers[I, B, O]) finish(g uint32) (v O, err error) {
	defer recovered(&err)
	if !b.live[g] {
		return b.g.a.Finish(b.g.a.Zero())
	}
	return b.g.a.Finish(b.buffers[g])
}

// Save implements userfunc.Buffers.
func (b *groupBuffers[I, B, O]) Save(g uint32, image []byte) ([]byte, bool, error) {
	if !b.live[g] {
		return image, false, nil
	}
	image, err := processor.Append(b.g.codec, image, &b.buffers[g])
	return image, true, err
}

// Clear implements userfunc.Buffers.
func (b *groupBuffers[I, B, O]) Clear(groups []uint32) {
	var none B
	for _, g := range groups {
		b.buffers[g], b.live[g] = none, false
	}
}

// Bytes implements userfunc.Buffers. What buffers point to is not looked at.
func (b *groupBuffers[I, B, O]) Bytes() int64 {
	var one B
	return int64(cap(b.buffers)) * (int64(unsafe.Sizeof(one)) + 1)
}
