package csvrow

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// NewNestedWriter returns a writer for rows whose arrays, maps and structs are printed as texts. Files do not take such columns: nothing
// reads them back.
func NewNestedWriter(schema types.StructType, opts Options) (*Writer, error) {
	return newWriter(schema, opts, true)
}

// compileNested compiles a column and what is inside of it.
func compileNested(f types.Field, has map[kind]bool) (printed, error) {
	c := printed{column: column{name: f.Name, typ: f.Type}}
	parts := []types.Field(nil)
	switch t := f.Type.(type) {
	case types.ArrayType:
		c.kind, parts = kArray, []types.Field{{Name: f.Name, Type: t.Element}}
	case types.MapType:
		c.kind, parts = kMap, []types.Field{{Name: f.Name, Type: t.Key}, {Name: f.Name, Type: t.Value}}
	case types.StructType:
		c.kind, parts = kStruct, t.Fields
	default:
		var err error
		c.column, err = compile(f, "CSV")
		has[c.kind] = true
		return c, err
	}
	for _, p := range parts {
		kid, err := compileNested(p, has)
		if err != nil {
			return c, err
		}
		c.kids = append(c.kids, kid)
	}
	return c, nil
}

// bind takes the vector of a column and those inside of it.
func (c *printed) bind(v *vec.Vector) {
	c.v = v.Flatten()
	if len(c.kids) == 0 || c.v.Phys() == vec.PhysNull {
		return
	}
	for i, k := range c.v.Kids() {
		c.kids[i].bind(k)
	}
}

// nested prints an array as [a, b], a map as {k -> v} and a struct as {a, b}. Of a null inside there is only the text for nulls, and
// where that is empty no blank before it either.
func (w *Writer) nested(b []byte, c *printed, i int) []byte {
	if c.kind == kStruct {
		b = append(b, '{')
		for k := range c.kids {
			b = w.part(b, &c.kids[k], i, k > 0)
		}
		return append(b, '}')
	}
	s := c.v.Spans()[i]
	if c.kind == kArray {
		b = append(b, '[')
		for k := range s.Len {
			b = w.part(b, &c.kids[0], int(s.Off+k), k > 0)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	for k := range s.Len {
		b = w.part(b, &c.kids[0], int(s.Off+k), k > 0)
		b = append(b, " ->"...)
		b = w.blankAnd(b, &c.kids[1], int(s.Off+k))
	}
	return append(b, '}')
}

func (w *Writer) part(b []byte, c *printed, i int, more bool) []byte {
	if more {
		return w.blankAnd(append(b, ','), c, i)
	}
	if c.v.IsNull(i) {
		return append(b, w.opts.NullValue...)
	}
	return w.append(b, c, i)
}

func (w *Writer) blankAnd(b []byte, c *printed, i int) []byte {
	if !c.v.IsNull(i) {
		return w.append(append(b, ' '), c, i)
	}
	if w.opts.NullValue != "" {
		b = append(append(b, ' '), w.opts.NullValue...)
	}
	return b
}
