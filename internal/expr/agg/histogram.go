package agg

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/sketch"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func histogramFunctions() []*Function {
	return []*Function{{Name: "histogram_numeric", Bind: bindHistogram}}
}

// bin is a number of values around a centre.
type bin struct{ x, y float64 }

// histogram has bins in order; when there are too many, the two nearest become one.
type histogram struct {
	bins []bin
	most int
	r    sketch.Random // decides between pairs that are equally near
}

// histogramSeed is what Spark starts each histogram with.
const histogramSeed = 31183

func newHistogram(most int) *histogram {
	return &histogram{most: most, r: sketch.NewRandom(histogramSeed)}
}

func (h *histogram) add(x float64) {
	at, found := slices.BinarySearchFunc(h.bins, x, func(b bin, x float64) int {
		switch {
		case b.x > x:
			return 1
		case b.x < x:
			return -1
		}
		return 0 // NaN as well
	})
	if found && h.bins[at].x == x {
		h.bins[at].y++
		return
	}
	h.bins = slices.Insert(h.bins, at, bin{x, 1})
	h.trim()
}

func (h *histogram) trim() {
	for len(h.bins) > h.most {
		at, nearest, ties := 0, h.bins[1].x-h.bins[0].x, 1
		for i := 1; i < len(h.bins)-1; i++ {
			switch d := h.bins[i+1].x - h.bins[i].x; {
			case d < nearest:
				at, nearest, ties = i, d, 1
			case d == nearest:
				if ties++; h.r.Double() <= 1/float64(ties) {
					at = i
				}
			}
		}
		a, b := &h.bins[at], h.bins[at+1]
		n := a.y + b.y
		a.x *= a.y / n
		a.x += b.x / n * b.y
		a.y = n
		h.bins = slices.Delete(h.bins, at+1, at+2)
	}
}

func (h *histogram) merge(o []bin) {
	h.bins = append(h.bins, o...)
	slices.SortStableFunc(h.bins, func(a, b bin) int { return compareNumbers(a.x, b.x) })
	h.trim()
}

// bindHistogram binds histogram_numeric(value, bins).
func bindHistogram(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 2); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.NumericOrTime, fn.CastTo(types.Integer))
	if err != nil {
		return nil, err
	}
	if b.Args[1].Const == nil {
		return nil, c.NotFoldable(1, "`nb`", `"INT"`)
	}
	if b.Args[1].Const.IsNull(0) {
		return nil, c.IsNull("nb")
	}
	most, ok := fn.ConstLong(b.Args[1])
	if ok && (most < 2 || most > math.MaxInt32) {
		return nil, errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", c.SQL(), "exprName", "nb", "valueRange", "[2, 2147483647]",
			"currentValue", b.Args[1].SQL)
	}
	t := b.arg(casts, 0)
	result := types.ArrayType{Element: types.StructType{Fields: []types.Field{field("x", t, true), field("y", types.Double, true)}}, ContainsNull: true}
	k := &objectKind[histogram]{
		result: result,
		fresh:  func() *histogram { return newHistogram(int(most)) },
		save: func(b []byte, h *histogram) []byte {
			for _, x := range h.bins {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x.x))
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x.y))
			}
			return b
		},
		size: func(h *histogram) int64 { return int64(cap(h.bins))*16 + 56 },
	}
	k.merge = func(h *histogram, image []byte) (*histogram, error) {
		if h == nil {
			h = k.fresh()
		}
		bins := make([]bin, len(image)/16)
		for i := range bins {
			bins[i].x = math.Float64frombits(binary.LittleEndian.Uint64(image[16*i:]))
			bins[i].y = math.Float64frombits(binary.LittleEndian.Uint64(image[16*i+8:]))
		}
		h.merge(bins)
		return h, nil
	}
	put := appendCentre(t)
	k.emit = func(out *vec.Builder, h *histogram) error {
		if h == nil {
			out.AppendNull()
			return nil
		}
		out.StartList()
		item := out.Child(0)
		for _, x := range h.bins {
			put(item.Child(0), x.x)
			item.Child(1).AppendFloat64(x.y)
			item.AppendStruct(true)
		}
		out.EndList()
		return nil
	}
	k.update = func(_ *expr.Eval, get func(g uint32) *histogram, groups []uint32, args []*vec.Vector) {
		x := doubles(args[0])
		for i, g := range groups {
			if !args[0].IsNull(i) {
				get(g).add(x(i))
			}
		}
	}
	return k.bound(casts, true), nil
}

// doubles gives access to numbers, dates and times as doubles.
func doubles(v *vec.Vector) func(i int) float64 {
	v = flatten(v)
	scale := 1.0
	if d, ok := v.Type().(types.DecimalType); ok {
		scale = math.Pow10(d.Scale)
	}
	switch v.Phys() {
	case vec.PhysInt8:
		return doublesOf[int8](v, scale)
	case vec.PhysInt16:
		return doublesOf[int16](v, scale)
	case vec.PhysInt32:
		return doublesOf[int32](v, scale)
	case vec.PhysInt64:
		return doublesOf[int64](v, scale)
	case vec.PhysFloat32:
		return doublesOf[float32](v, scale)
	case vec.PhysFloat64:
		return doublesOf[float64](v, scale)
	}
	return func(i int) float64 {
		x := decimalAt(v, i)
		return (float64(x.Hi)*math.Exp2(64) + float64(x.Lo)) / scale
	}
}

func doublesOf[T number](v *vec.Vector, scale float64) func(i int) float64 {
	x := vec.Fixed[T](v)
	return func(i int) float64 { return float64(x[i]) / scale }
}

// appendCentre appends the centre of a bin as a value of the histogram's type.
func appendCentre(t types.DataType) func(b *vec.Builder, x float64) {
	switch vec.PhysOf(t) {
	case vec.PhysInt8:
		return func(b *vec.Builder, x float64) { b.AppendInt8(int8(saturate(x))) }
	case vec.PhysInt16:
		return func(b *vec.Builder, x float64) { b.AppendInt16(int16(saturate(x))) }
	case vec.PhysInt32:
		return func(b *vec.Builder, x float64) { b.AppendInt32(saturate(x)) }
	case vec.PhysFloat32:
		return func(b *vec.Builder, x float64) { b.AppendFloat32(float32(x)) }
	case vec.PhysFloat64:
		return func(b *vec.Builder, x float64) { b.AppendFloat64(x) }
	}
	if _, ok := t.(types.DecimalType); !ok {
		return func(b *vec.Builder, x float64) {
			switch {
			case x != x:
				b.AppendInt64(0)
			case x >= math.MaxInt64:
				b.AppendInt64(math.MaxInt64)
			default:
				b.AppendInt64(int64(x))
			}
		}
	}
	return func(b *vec.Builder, x float64) {
		v, err := fn.DecimalOf(x, t)
		if err != nil || v.IsNull(0) {
			b.AppendNull()
			return
		}
		appendRow(b, v, 0)
	}
}

// saturate cuts a number off as a conversion to a whole one in Java does.
func saturate(x float64) int32 {
	switch {
	case x != x:
		return 0
	case x >= math.MaxInt32:
		return math.MaxInt32
	case x <= math.MinInt32:
		return math.MinInt32
	}
	return int32(x)
}
