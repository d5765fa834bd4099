package avrorow

import (
	"slices"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/types"
)

// wire is how a value lies in a record.
type wire uint8

const (
	wireFail wire = iota // cannot be read into what is wanted: a record that has it is malformed
	wireNull
	wireBool
	wireInt
	wireLong
	wireFloat
	wireDouble
	wireBytes
	wireFixed
	wireEnum
	wireArray
	wireMap
	wireRecord
	wireUnion
)

// conv reads the values of one place of a record.
type conv struct {
	wire wire
	into types.DataType // what the builder holds; nil for what is passed over
	// scale turns the number written into what is stored.
	scale   int64
	decimal int      // digits of a decimal, or 0
	digits  [2]int   // of a decimal: behind the point as written and as wanted
	size    int      // bytes of a fixed
	symbols [][]byte // of an enum, as they are read; nil for one that cannot be
	item    *conv    // of arrays and maps
	kids    []*conv  // fields of a record, in the order of writing, or branches of a union
	to      []int    // of a record: the column of each field, or -1
	fill    []filler // of a record: columns that nobody has written
	nulls   []int    // of a record: columns that the schema does not know
	member  int      // the branch of a union that became a struct goes to this field; -1 otherwise
	entries []entry  // scratch of maps
	seen    map[string]int
	free    bool // values may take no bytes
	rebase  *Calendar
}

// filler is a field of a record with its default.
type filler struct {
	to    int
	bytes []byte // the default, encoded
	conv  *conv
}

func fail() *conv { return &conv{wire: wireFail, member: -1} }

// resolver finds out how what was written by one schema is read by another.
type resolver struct {
	// match is set where t of resolve is not the type of r itself but one that is wanted of it.
	match *matching
	// calendar is nil where it is today's.
	calendar *Calendar
	// passed are the records that are passed over: one may hold itself.
	passed map[*avro.RecordSchema]*conv
}

// resolve reads w as r and gives it the type t. Without r the values are passed over.
func (rs *resolver) resolve(w, r avro.Schema, t types.DataType) *conv {
	w = deref(w)
	if r != nil {
		r = deref(r)
		if rs.match != nil && !rs.match.takes(r, t) {
			return fail()
		}
	}
	if u, ok := w.(*avro.UnionSchema); ok {
		c := &conv{wire: wireUnion, member: -1, into: t}
		for _, b := range u.Types() {
			c.kids = append(c.kids, rs.resolve(b, r, t))
		}
		return c
	}
	if u, ok := r.(*avro.UnionSchema); ok {
		return rs.intoUnion(w, u, t)
	}
	if r != nil && !fits(w, r) {
		return fail()
	}
	c := &conv{member: -1, into: t, scale: 1}
	switch w := w.(type) {
	case *avro.NullSchema:
		c.wire, c.free = wireNull, true
	case *avro.PrimitiveSchema:
		primitive(c, w, r)
		rs.rebase(c)
	case *avro.FixedSchema:
		c.wire, c.size, c.free = wireFixed, w.Size(), w.Size() == 0
		setDecimal(c, r, t)
	case *avro.EnumSchema:
		c.wire = wireEnum
		c.symbols = symbols(w, r)
	case *avro.ArraySchema:
		c.wire = wireArray
		if a, ok := r.(*avro.ArraySchema); ok {
			c.item = rs.resolve(w.Items(), a.Items(), t.(types.ArrayType).Element)
		} else {
			c.item = rs.resolve(w.Items(), nil, nil)
		}
	case *avro.MapSchema:
		c.wire, c.seen = wireMap, map[string]int{}
		if m, ok := r.(*avro.MapSchema); ok {
			c.item = rs.resolve(w.Values(), m.Values(), t.(types.MapType).Value)
		} else {
			c.item = rs.resolve(w.Values(), nil, nil)
		}
	case *avro.RecordSchema:
		c.wire = wireRecord
		if r == nil {
			if known := rs.passed[w]; known != nil {
				return known
			}
			if rs.passed == nil {
				rs.passed = map[*avro.RecordSchema]*conv{}
			}
			rs.passed[w] = c
		}
		rs.record(c, w, r, t)
	default:
		return fail()
	}
	return c
}

func primitive(c *conv, w *avro.PrimitiveSchema, r avro.Schema) {
	switch w.Type() {
	case avro.Boolean:
		c.wire = wireBool
	case avro.Int:
		c.wire = wireInt
	case avro.Long:
		c.wire = wireLong
	case avro.Float:
		c.wire = wireFloat
	case avro.Double:
		c.wire = wireDouble
	default:
		c.wire = wireBytes
		setDecimal(c, r, c.into)
	}
	switch c.into.(type) {
	case types.TimestampType, types.TimestampNTZType:
		if l := logicalOf(r); l == avro.TimestampMillis || l == avro.LocalTimestampMillis || l == "" {
			c.scale = 1000
		}
	case types.TimeType:
		c.scale = 1000 // times are kept in nanoseconds
	}
}

// rebase sets the calendar of a day or time.
func (rs *resolver) rebase(c *conv) {
	switch c.into.(type) {
	case types.DateType, types.TimestampType:
		c.rebase = rs.calendar
	}
}

func setDecimal(c *conv, r avro.Schema, t types.DataType) {
	d, ok := t.(types.DecimalType)
	if !ok {
		return
	}
	c.decimal, c.digits = d.Precision, [2]int{d.Scale, d.Scale}
	if l, ok := r.(avro.LogicalTypeSchema); ok {
		if own, ok := l.Logical().(*avro.DecimalLogicalSchema); ok {
			c.digits[0] = own.Scale()
		}
	}
}

// symbols are the names of an enum that was written as those that are read: itself, the default, or none.
func symbols(w *avro.EnumSchema, r avro.Schema) [][]byte {
	out := make([][]byte, len(w.Symbols()))
	to, _ := r.(*avro.EnumSchema)
	for i, s := range w.Symbols() {
		switch {
		case to == nil || slices.Contains(to.Symbols(), s):
			out[i] = []byte(s)
		case to.HasDefault():
			out[i] = []byte(to.Default())
		}
	}
	return out
}

// intoUnion reads what was written as one type as the branch of a union that has the type, or else the first that can take it.
func (rs *resolver) intoUnion(w avro.Schema, u *avro.UnionSchema, t types.DataType) *conv {
	if w.Type() == avro.Null {
		if _, null := branchesOf(u); !null {
			return fail()
		}
		return &conv{wire: wireNull, member: -1, into: t, free: true}
	}
	branches, _ := branchesOf(u)
	k := slices.IndexFunc(branches, func(b avro.Schema) bool { return b.Type() == w.Type() && branchName(b) == branchName(w) })
	if k < 0 {
		k = slices.IndexFunc(branches, func(b avro.Schema) bool { return fits(w, b) })
	}
	if k < 0 {
		return fail()
	}
	s, isStruct := t.(types.StructType)
	if !isStruct || len(branches) == 1 {
		return rs.resolve(w, branches[k], t)
	}
	if len(s.Fields) != len(branches) { // a branch was left out
		return fail()
	}
	c := rs.resolve(w, branches[k], s.Fields[k].Type)
	return &conv{wire: wireUnion, member: k, into: t, kids: []*conv{c}, free: c.free}
}

func (rs *resolver) record(c *conv, w *avro.RecordSchema, r avro.Schema, t types.DataType) {
	to, _ := r.(*avro.RecordSchema)
	var fields []*avro.Field
	if to != nil {
		fields = to.Fields()
	}
	written := make([]bool, len(fields))
	var at []int // the column of each field of r, or -1
	if st, ok := t.(types.StructType); ok && to != nil {
		if at, c.nulls, ok = rs.columns(fields, st); !ok {
			c.wire = wireFail
			return
		}
	}
	c.free = true
	for _, f := range w.Fields() {
		k := slices.IndexFunc(fields, func(x *avro.Field) bool { return x.Name() == f.Name() })
		if k < 0 {
			k = slices.IndexFunc(fields, func(x *avro.Field) bool { return slices.Contains(x.Aliases(), f.Name()) })
		}
		if k >= 0 && written[k] {
			k = -1
		}
		column := -1
		if k >= 0 {
			written[k], column = true, at[k]
		}
		var kid *conv
		if column < 0 {
			kid = rs.resolve(f.Type(), nil, nil)
		} else {
			kid = rs.resolve(f.Type(), fields[k].Type(), t.(types.StructType).Fields[column].Type)
		}
		c.kids, c.to, c.free = append(c.kids, kid), append(c.to, column), c.free && kid.free
	}
	for k, f := range fields {
		if written[k] {
			continue
		}
		b, ok := encodedDefault(f)
		if !ok {
			if rs.match != nil {
				rs.match.refuse("the files lack the field " + f.Name() + ", and the schema has no default for it")
			}
			c.wire = wireFail
			return
		}
		if at[k] >= 0 {
			c.fill = append(c.fill, filler{to: at[k], bytes: b, conv: rs.resolve(f.Type(), f.Type(), t.(types.StructType).Fields[at[k]].Type)})
		}
	}
}

// columns gives each field of a schema its column, or -1, and tells which columns have no field.
func (rs *resolver) columns(fields []*avro.Field, t types.StructType) (at, missing []int, ok bool) {
	if rs.match != nil {
		return rs.match.columns(fields, t)
	}
	at = make([]int, len(fields))
	for k, f := range fields { // one that was left out has no column
		at[k] = slices.IndexFunc(t.Fields, func(c types.Field) bool { return c.Name == f.Name() })
	}
	return at, nil, true
}

// encodedDefault is a field's default as it would have been written. The default of a union is of its first branch.
func encodedDefault(f *avro.Field) ([]byte, bool) {
	if !f.HasDefault() {
		return nil, false
	}
	s, prefix := deref(f.Type()), []byte(nil)
	if u, ok := s.(*avro.UnionSchema); ok {
		s, prefix = deref(u.Types()[0]), []byte{0}
	}
	if s.Type() == avro.Null {
		return prefix, true
	}
	b, err := avro.Marshal(s, f.Default())
	return append(prefix, b...), err == nil
}

// fits tells whether a value of w, no union, may be read as r: kinds must be the same, but numbers may get wider and texts are bytes.
func fits(w, r avro.Schema) bool {
	from, to := w.Type(), r.Type()
	switch {
	case to == avro.Union:
		branches, null := branchesOf(r.(*avro.UnionSchema))
		return null && from == avro.Null || slices.ContainsFunc(branches, func(b avro.Schema) bool { return fits(w, b) })
	case from == avro.Fixed && to == avro.Fixed:
		return w.(*avro.FixedSchema).Size() == r.(*avro.FixedSchema).Size()
	case from == to:
		return true
	}
	switch from {
	case avro.Int:
		return to == avro.Long || to == avro.Float || to == avro.Double
	case avro.Long:
		return to == avro.Float || to == avro.Double
	case avro.Float:
		return to == avro.Double
	case avro.Bytes:
		return to == avro.String
	case avro.String:
		return to == avro.Bytes
	}
	return false
}
