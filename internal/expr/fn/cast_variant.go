package fn

import (
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// variantAt is the value of a row of a variant vector that is not null.
func variantAt(v *vec.Vector, i int) variant.Value {
	v, i = v.Stored(i)
	return variant.Value{Bytes: v.Kids()[0].BytesAt(i), Meta: v.Kids()[1].BytesAt(i)}
}

// variantRows reads the values of n rows into scratch. Those of null rows have no bytes.
func variantRows(v *vec.Vector, n int, scratch []variant.Value) []variant.Value {
	scratch = scratch[:0]
	for i := range n {
		var x variant.Value
		if !v.IsNull(i) {
			x = variantAt(v, i)
		}
		scratch = append(scratch, x)
	}
	return scratch
}

// appendVariant appends what a builder holds as a row.
func appendVariant(out *vec.Builder, b *variant.Builder) {
	out.Child(0).AppendBytes(b.Value())
	meta := out.Child(1)
	meta.CommitBytes(b.AppendMeta(meta.Buffer()))
	out.AppendStruct(true)
}

func malformedVariant() error { return errclass.New("MALFORMED_VARIANT") }

// toVariantAllowed tells whether values of a type become variants. Objects says that structs and maps do, as objects.
func toVariantAllowed(from types.DataType, objects bool) bool {
	switch kindOf(from) {
	case kBool, kInt, kFloat, kDecimal, kText, kBinary, kDate, kTimestamp, kNTZ, kVariant:
		return true
	case kArray:
		return toVariantAllowed(from.(types.ArrayType).Element, objects)
	case kMap:
		m := from.(types.MapType)
		return objects && isText(m.Key) && toVariantAllowed(m.Value, objects)
	case kStruct:
		for _, f := range from.(types.StructType).Fields {
			if !toVariantAllowed(f.Type, objects) {
				return false
			}
		}
		return objects
	}
	return false
}

// fromVariantAllowed tells whether variants can be cast to a type.
func fromVariantAllowed(to types.DataType) bool {
	switch kindOf(to) {
	case kBool, kInt, kFloat, kDecimal, kText, kBinary, kDate, kTimestamp, kNTZ, kVariant:
		return true
	case kArray:
		return fromVariantAllowed(to.(types.ArrayType).Element)
	case kMap:
		m := to.(types.MapType)
		return isText(m.Key) && fromVariantAllowed(m.Value)
	case kStruct:
		for _, f := range to.(types.StructType).Fields {
			if !fromVariantAllowed(f.Type) {
				return false
			}
		}
		return true
	}
	return false
}

// putVariant appends row i, which is not null, of a vector to a variant.
type putVariant func(b *variant.Builder, v *vec.Vector, i int) error

// toVariant casts to VARIANT.
func toVariant(from types.DataType) Kernel {
	put := variantPutter(from)
	out := vec.NewBuilder(types.Variant)
	var b variant.Builder
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		out.Reset()
		for i := range n {
			if args[0].IsNull(i) {
				out.AppendNull()
				continue
			}
			b.Reset()
			err := put(&b, args[0], i)
			if err == nil && b.TooLarge() {
				err = variantTooLarge("cast")
			}
			if err != nil {
				e.Errs.Add(i, err)
				out.AppendNull()
				continue
			}
			appendVariant(out, &b)
		}
		return out.Borrow()
	}
}

func variantTooLarge(name string) error {
	return errclass.New("VARIANT_SIZE_LIMIT", "sizeLimit", "128.0 MiB", "functionName", "`"+name+"`")
}

func variantPutter(from types.DataType) putVariant {
	switch t := from.(type) {
	case types.BooleanType:
		return func(b *variant.Builder, v *vec.Vector, i int) error { b.Bool(vec.At[uint8](v, i) != 0); return nil }
	case types.ByteType:
		return putLong[int8]
	case types.ShortType:
		return putLong[int16]
	case types.IntegerType:
		return putLong[int32]
	case types.LongType:
		return putLong[int64]
	case types.FloatType:
		return func(b *variant.Builder, v *vec.Vector, i int) error { b.Float(vec.At[float32](v, i)); return nil }
	case types.DoubleType:
		return func(b *variant.Builder, v *vec.Vector, i int) error { b.Double(vec.At[float64](v, i)); return nil }
	case types.DecimalType:
		return func(b *variant.Builder, v *vec.Vector, i int) error {
			b.Decimal(loadDecimal(v, i), t.Scale)
			return nil
		}
	case types.StringType, types.CharType, types.VarcharType:
		return func(b *variant.Builder, v *vec.Vector, i int) error { b.Text(v.BytesAt(i)); return nil }
	case types.BinaryType:
		return func(b *variant.Builder, v *vec.Vector, i int) error { b.Binary(v.BytesAt(i)); return nil }
	case types.DateType:
		return func(b *variant.Builder, v *vec.Vector, i int) error { b.Date(vec.At[int32](v, i)); return nil }
	case types.TimestampType:
		return func(b *variant.Builder, v *vec.Vector, i int) error { b.Timestamp(vec.At[int64](v, i)); return nil }
	case types.TimestampNTZType:
		return func(b *variant.Builder, v *vec.Vector, i int) error { b.TimestampNTZ(vec.At[int64](v, i)); return nil }
	case types.VariantType:
		return func(b *variant.Builder, v *vec.Vector, i int) error {
			if !b.Append(variantAt(v, i)) {
				return malformedVariant()
			}
			return nil
		}
	case types.ArrayType:
		return putArray(variantPutter(t.Element))
	case types.MapType:
		return putMap(variantPutter(t.Value))
	case types.StructType:
		return putStruct(t)
	}
	return func(b *variant.Builder, _ *vec.Vector, _ int) error { b.Null(); return nil }
}

func putLong[T signed](b *variant.Builder, v *vec.Vector, i int) error {
	b.Long(int64(vec.At[T](v, i)))
	return nil
}

// putPart appends a value inside of another.
func putPart(b *variant.Builder, put putVariant, v *vec.Vector, i int) error {
	if v.IsNull(i) {
		b.Null()
		return nil
	}
	return put(b, v, i)
}

func putArray(element putVariant) putVariant {
	return func(b *variant.Builder, v *vec.Vector, i int) error {
		s, owner := v.SpanAt(i)
		m := b.StartArray()
		for k := s.Off; k < s.Off+s.Len; k++ {
			b.Element()
			if err := putPart(b, element, owner.Kids()[0], int(k)); err != nil {
				return err
			}
		}
		b.EndArray(m)
		return nil
	}
}

func putMap(value putVariant) putVariant {
	return func(b *variant.Builder, v *vec.Vector, i int) error {
		s, owner := v.SpanAt(i)
		m := b.StartObject()
		for k := s.Off; k < s.Off+s.Len; k++ {
			b.Field(owner.Kids()[0].BytesAt(int(k)))
			if err := putPart(b, value, owner.Kids()[1], int(k)); err != nil {
				return err
			}
		}
		return endObject(b, m)
	}
}

func putStruct(t types.StructType) putVariant {
	names, puts := make([][]byte, len(t.Fields)), make([]putVariant, len(t.Fields))
	for k, f := range t.Fields {
		names[k], puts[k] = []byte(f.Name), variantPutter(f.Type)
	}
	return func(b *variant.Builder, v *vec.Vector, i int) error {
		i, v = fieldRow(v, i)
		m := b.StartObject()
		for k, put := range puts {
			b.Field(names[k])
			if err := putPart(b, put, v.Kids()[k], i); err != nil {
				return err
			}
		}
		return endObject(b, m)
	}
}

func endObject(b *variant.Builder, m variant.Mark) error {
	if twice, ok := b.EndObject(m); !ok {
		return errclass.New("VARIANT_DUPLICATE_KEY", "key", twice)
	}
	return nil
}

// fromVariant casts variants to a type.
func (c castEnv) fromVariant(to types.DataType) Kernel {
	w := newVariantCast(to, c.zone)
	var vals []variant.Value
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		vals = variantRows(args[0], n, vals)
		r := w.cast(vals)
		if c.mode != CastTry {
			w.report(e)
		}
		return r
	}
}

// report notes the casts that failed, the first of each row.
func (w *variantCast) report(e *expr.Eval) {
	last := int32(-1)
	for _, f := range w.failed {
		if f.row == last {
			continue
		}
		last = f.row
		if f.value.Kind() == variant.Malformed {
			e.Errs.Add(int(f.row), malformedVariant())
			continue
		}
		shown, _ := jsonrow.AppendVariant(nil, f.value, w.zone)
		e.Errs.Add(int(f.row), errclass.New("INVALID_VARIANT_CAST", "value", string(shown), "dataType", quoteType(f.to)))
	}
}

// variantCast turns variants into vectors of a type, level by level: the values are sorted by what they are, each sort is cast as a
// column of its own, and the elements of all arrays or the fields of all objects are cast at once.
type variantCast struct {
	to     types.DataType
	zone   *datetime.Zone
	env    castEnv
	kids   []*variantCast
	names  []string // of a struct's fields
	sorts  map[types.DataType]*variantSort
	order  []*variantSort
	failed []variantFailure // by row

	vals []variant.Value // of the children
	rows []int32         // which of the rows each child belongs to
}

type variantFailure struct {
	row   int32
	value variant.Value
	to    types.DataType
}

// variantSort are the values of one type among those that are cast.
type variantSort struct {
	from types.DataType
	in   *vec.Builder
	cast *child
	rows []int32
}

func newVariantCast(to types.DataType, loc castZone) *variantCast {
	w := &variantCast{to: to, zone: datetime.NewZone(loc), env: castEnv{mode: CastTry, zone: loc}}
	switch t := to.(type) {
	case types.ArrayType:
		w.kids = []*variantCast{newVariantCast(t.Element, loc)}
	case types.MapType:
		w.kids = []*variantCast{newVariantCast(t.Value, loc)}
	case types.StructType:
		for _, f := range t.Fields {
			w.kids = append(w.kids, newVariantCast(f.Type, loc))
			w.names = append(w.names, f.Name)
		}
	}
	return w
}

// cast gives a row for each value: null for one without bytes, for a variant null and for what cannot be cast.
func (w *variantCast) cast(vals []variant.Value) *vec.Vector {
	w.failed = w.failed[:0]
	switch t := w.to.(type) {
	case types.VariantType:
		return w.copies(vals)
	case types.ArrayType:
		return w.arrays(t, vals)
	case types.MapType:
		return w.maps(t, vals)
	case types.StructType:
		return w.structs(t, vals)
	}
	return w.scalars(vals)
}

func (w *variantCast) fail(row int, v variant.Value) {
	w.failed = append(w.failed, variantFailure{int32(row), v, w.to})
}

// copies rebuilds each value with the names that it needs.
func (w *variantCast) copies(vals []variant.Value) *vec.Vector {
	out := vec.NewBuilder(types.Variant)
	var b variant.Builder
	for i, v := range vals {
		if v.Bytes == nil {
			out.AppendNull()
			continue
		}
		b.Reset()
		if !b.Append(v) {
			w.fail(i, variant.Value{})
			out.AppendNull()
			continue
		}
		appendVariant(out, &b)
	}
	return out.Finish()
}

// open makes w's children those of no row.
func (w *variantCast) open() { w.vals, w.rows = w.vals[:0], w.rows[:0] }

// adopt takes over the failures of a child, whose rows are w.rows. Failures of several children have to be sorted afterwards.
func (w *variantCast) adopt(kid *variantCast) {
	for _, f := range kid.failed {
		f.row = w.rows[f.row]
		w.failed = append(w.failed, f)
	}
}

func (w *variantCast) arrays(t types.ArrayType, vals []variant.Value) *vec.Vector {
	w.open()
	spans := make([]vec.Span, len(vals))
	valid := vec.NewBitmap(len(vals))
	for i, v := range vals {
		spans[i].Off = uint32(len(w.vals))
		if !w.present(i, v, variant.Array) {
			continue
		}
		valid.Set(i)
		e, _ := v.Elements()
		spans[i].Len = uint32(e.Len())
		for k := range e.Len() {
			w.child(i, e.At(k))
		}
	}
	elements := w.kids[0].cast(w.vals)
	w.adopt(w.kids[0])
	w.sortFailures()
	r := vec.NewList(t, spans, elements)
	r.SetValidity(valid)
	return r
}

// present tells whether a value is there and of a kind. One of another kind has failed, but for null.
func (w *variantCast) present(i int, v variant.Value, want variant.Kind) bool {
	if v.Bytes == nil {
		return false
	}
	switch k := v.Kind(); k {
	case want:
		return true
	case variant.Null:
	default:
		w.fail(i, v)
	}
	return false
}

// child appends a child of row i. One that is not whole is kept as such.
func (w *variantCast) child(i int, v variant.Value) {
	if v.Bytes == nil {
		v.Bytes = []byte{}
	}
	w.vals, w.rows = append(w.vals, v), append(w.rows, int32(i))
}

func (w *variantCast) maps(t types.MapType, vals []variant.Value) *vec.Vector {
	w.open()
	spans := make([]vec.Span, len(vals))
	valid := vec.NewBitmap(len(vals))
	keys := vec.NewBuilder(t.Key)
	for i, v := range vals {
		spans[i].Off = uint32(len(w.vals))
		if !w.present(i, v, variant.Object) {
			continue
		}
		valid.Set(i)
		f, _ := v.Fields()
		spans[i].Len = uint32(f.Len())
		for k := range f.Len() {
			name, x := f.At(k)
			keys.AppendBytes(name)
			w.child(i, x)
		}
	}
	values := w.kids[0].cast(w.vals)
	w.adopt(w.kids[0])
	w.sortFailures()
	r := vec.NewMap(t, spans, keys.Finish(), values)
	r.SetValidity(valid)
	return r
}

func (w *variantCast) structs(t types.StructType, vals []variant.Value) *vec.Vector {
	valid := vec.NewBitmap(len(vals))
	for i, v := range vals {
		if w.present(i, v, variant.Object) {
			valid.Set(i)
		}
	}
	cols := make([]*vec.Vector, len(w.kids))
	for k, kid := range w.kids {
		w.open()
		for i, v := range vals {
			var x variant.Value
			if valid.Get(i) {
				f, _ := v.Fields()
				found := false
				if x, found = f.Find(w.names[k]); found {
					w.child(i, x)
					continue
				}
			}
			w.vals, w.rows = append(w.vals, variant.Value{}), append(w.rows, int32(i))
		}
		cols[k] = kid.cast(w.vals)
		w.adopt(kid)
	}
	w.sortFailures()
	r := vec.NewStruct(t, len(vals), cols)
	r.SetValidity(valid)
	return r
}
