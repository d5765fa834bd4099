package xmlrow

import (
	"strconv"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func variantAt(v *vec.Vector, i int) variant.Value {
	return variant.Value{Bytes: v.Kids()[0].BytesAt(i), Meta: v.Kids()[1].BytesAt(i)}
}

// variantArray is value i if it is a variant that holds an array, which has no element of its own.
func (w *Writer) variantArray(t types.DataType, v *vec.Vector, i int) (variant.Value, bool) {
	if _, ok := t.(types.VariantType); !ok || v.IsNull(i) {
		return variant.Value{}, false
	}
	x := variantAt(v, i)
	_, ok := x.Elements()
	return x, ok
}

// variantContent prints what a variant is as an element's content.
func (w *Writer) variantContent(b []byte, c *content, v variant.Value) []byte {
	if f, ok := v.Fields(); ok {
		for i := range f.Len() {
			if name, x := f.At(i); isAttribute(string(name), &w.opts) && x.Kind() != variant.Null {
				b = quoted(b, string(name)[len(w.opts.AttributePrefix):], w.variantText(x))
			}
		}
		for i := range f.Len() {
			if name, x := f.At(i); !isAttribute(string(name), &w.opts) {
				b = w.variantChild(b, c, string(name), x)
			}
		}
		return b
	}
	if v.Kind() == variant.Null && !w.opts.HasNullValue {
		return b
	}
	return escape(w.more(b, c), w.variantText(v), false)
}

func (w *Writer) variantChild(b []byte, c *content, name string, v variant.Value) []byte {
	if c.depth > maxVariantDepth || v.Kind() == variant.Null && !w.opts.HasNullValue {
		return b
	}
	if _, ok := v.Elements(); ok {
		w.eachElement(name, v, func(name string, x variant.Value) { b = w.variantElement(b, c, name, x) })
		return b
	}
	if name == w.opts.ValueTag {
		return escape(w.more(b, c), w.variantText(v), false)
	}
	return w.variantElement(b, c, name, v)
}

// eachElement visits the elements of an array of variants, each of which becomes an element by the name of the array. Those of arrays in
// the array have the name of items.
func (w *Writer) eachElement(name string, array variant.Value, visit func(name string, x variant.Value)) {
	e, _ := array.Elements()
	for i := range e.Len() {
		x := e.At(i)
		if _, nested := x.Elements(); nested {
			w.eachElement(w.opts.ArrayElement, x, visit)
		} else {
			visit(name, x)
		}
	}
}

// maxVariantDepth is how deep a variant is printed; what lies deeper is left out.
const maxVariantDepth = 1000

func (w *Writer) variantElement(b []byte, c *content, name string, v variant.Value) []byte {
	b = w.newline(w.more(b, c), c.depth+1)
	c.nested = true
	b = append(append(b, '<'), name...)
	inner := &content{name: name, depth: c.depth + 1}
	b = w.variantContent(b, inner, v)
	return w.finish(b, inner)
}

func (w *Writer) variantText(v variant.Value) string {
	var b []byte
	switch v.Kind() {
	case variant.Null:
		return w.opts.NullValue
	case variant.Bool:
		return strconv.FormatBool(v.Bool())
	case variant.Long:
		return strconv.FormatInt(v.Long(), 10)
	case variant.Double:
		b = numtext.AppendFloat(b, v.Double(), 64)
	case variant.Float:
		b = numtext.AppendFloat(b, float64(v.Float()), 32)
	case variant.Decimal:
		x, scale := v.Stripped()
		b = decimal.Append(b, x, scale)
	case variant.Date:
		b = datetime.AppendDate(b, v.Long())
	case variant.Timestamp:
		b = w.times.AppendTimestamp(b, v.Long())
	case variant.TimestampNTZ:
		b = w.times.AppendTimestampNTZ(b, v.Long())
	case variant.String, variant.Binary:
		return string(v.Text())
	}
	return string(b)
}
