package xmlrow

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Writer prints rows as elements. It belongs to one goroutine.
type Writer struct {
	opts  Options
	times *datetime.FormatPrinter
	typ   types.DataType
	v     *vec.Vector
	depth int // of the outermost element
}

// NewWriter returns a writer of rows of a struct, or of variants. It refuses what XML cannot hold, such as names with blanks.
func NewWriter(t types.DataType, opts Options) (*Writer, error) {
	if err := writable(t, &opts, ""); err != nil {
		return nil, err
	}
	times, err := opts.formats().NewPrinter(opts.Zone)
	return &Writer{opts: opts, times: times, typ: t}, err
}

func writable(t types.DataType, o *Options, path string) error {
	switch t := t.(type) {
	case types.StructType:
		for _, f := range t.Fields {
			name := f.Name
			if isAttribute(name, o) {
				name = name[len(o.AttributePrefix):]
			}
			if o.ValidateName && !validName(name) {
				return errclass.New("INVALID_OPTION_VALUE", "option", "validateName", "format", "xml", "value", "true",
					"requirement", "the column `"+f.Name+"` has no name for an element; rename it, or set the option to false.")
			}
			if err := writable(f.Type, o, strings.TrimPrefix(path+"."+f.Name, ".")); err != nil {
				return err
			}
		}
	case types.ArrayType:
		return writable(t.Element, o, path)
	case types.MapType:
		return writable(t.Value, o, path)
	case types.TimeType:
		return errclass.New("UNSUPPORTED_TIME_TYPE")
	case types.CalendarIntervalType, types.DayTimeIntervalType, types.YearMonthIntervalType:
		return unsupported(t, path)
	}
	return nil
}

func isAttribute(name string, o *Options) bool {
	return o.AttributePrefix != "" && strings.HasPrefix(name, o.AttributePrefix) && name != o.ValueTag && len(name) > len(o.AttributePrefix)
}

func validName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c == ':' || c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// At sets how deep the rows stand in the text around them.
func (w *Writer) At(depth int) { w.depth = depth }

// Bind takes a vector of the rows to be printed.
func (w *Writer) Bind(v *vec.Vector) { w.v = v.Flatten() }

// BindColumns takes the columns of n rows.
func (w *Writer) BindColumns(n int, cols []*vec.Vector) { w.v = vec.NewStruct(w.typ, n, cols) }

// AppendRow prints row i.
func (w *Writer) AppendRow(b []byte, i int) []byte {
	if array, ok := w.variantArray(w.typ, w.v, i); ok {
		w.eachElement(w.opts.RowTag, array, func(name string, x variant.Value) {
			c := &content{name: name, depth: w.depth}
			b = w.finish(w.variantContent(append(append(b, '<'), name...), c, x), c)
		})
	} else {
		b = w.element(b, w.opts.RowTag, w.typ, w.v, i, w.depth)
	}
	if w.opts.Indent == "" {
		b = append(b, '\n')
	}
	return b
}

func (w *Writer) newline(b []byte, depth int) []byte {
	if w.opts.Indent == "" {
		return b
	}
	b = append(b, '\n')
	for range depth {
		b = append(b, w.opts.Indent...)
	}
	return b
}

// content is an element being printed: its start is closed when there is more than attributes.
type content struct {
	name   string
	open   bool // the start has been closed
	nested bool // it has elements
	depth  int
}

func (w *Writer) more(b []byte, c *content) []byte {
	if !c.open {
		c.open = true
		b = append(b, '>')
	}
	return b
}

func (w *Writer) finish(b []byte, c *content) []byte {
	if !c.open {
		return append(b, "/>"...)
	}
	if c.nested {
		b = w.newline(b, c.depth)
	}
	return append(append(append(b, "</"...), c.name...), '>')
}

// element prints a value, which is not null, as an element.
func (w *Writer) element(b []byte, name string, t types.DataType, v *vec.Vector, i, depth int) []byte {
	b = append(append(b, '<'), name...)
	c := &content{name: name, depth: depth}
	switch t := t.(type) {
	case types.StructType:
		for k, f := range t.Fields {
			if isAttribute(f.Name, &w.opts) {
				b = w.attribute(b, f.Name, f.Type, v.Kids()[k], i)
			}
		}
		for k, f := range t.Fields {
			if !isAttribute(f.Name, &w.opts) {
				b = w.child(b, c, f.Name, f.Type, v.Kids()[k], i)
			}
		}
	case types.MapType:
		s := v.Spans()[i]
		keys, values := v.Kids()[0], v.Kids()[1]
		for k := int(s.Off); k < int(s.Off+s.Len); k++ {
			if key := w.text(keys, t.Key, k); isAttribute(key, &w.opts) {
				b = w.attribute(b, key, t.Value, values, k)
			}
		}
		for k := int(s.Off); k < int(s.Off+s.Len); k++ {
			if key := w.text(keys, t.Key, k); !isAttribute(key, &w.opts) {
				b = w.child(b, c, key, t.Value, values, k)
			}
		}
	case types.ArrayType:
		s := v.Spans()[i]
		for k := int(s.Off); k < int(s.Off+s.Len); k++ {
			b = w.child(b, c, w.opts.ArrayElement, t.Element, v.Kids()[0], k)
		}
	case types.VariantType:
		b = w.variantContent(b, c, variantAt(v, i))
	default:
		b = escape(w.more(b, c), w.text(v, t, i), false)
	}
	return w.finish(b, c)
}

func (w *Writer) attribute(b []byte, name string, t types.DataType, v *vec.Vector, i int) []byte {
	text := w.opts.NullValue
	if v.IsNull(i) && !w.opts.HasNullValue {
		return b
	}
	if !v.IsNull(i) {
		text = w.text(v, t, i)
	}
	return quoted(b, name[len(w.opts.AttributePrefix):], text)
}

func quoted(b []byte, name, text string) []byte {
	b = append(append(append(b, ' '), name...), `="`...)
	return append(escape(b, text, true), '"')
}

// child prints a part of an element: an array as several of the same name, the column for text as such.
func (w *Writer) child(b []byte, c *content, name string, t types.DataType, v *vec.Vector, i int) []byte {
	if v.IsNull(i) {
		if !w.opts.HasNullValue {
			return b
		}
		if name == w.opts.ValueTag {
			return escape(w.more(b, c), w.opts.NullValue, false)
		}
		b = w.newline(w.more(b, c), c.depth+1)
		c.nested = true
		b = append(append(append(b, '<'), name...), '>')
		b = escape(b, w.opts.NullValue, false)
		return append(append(append(b, "</"...), name...), '>')
	}
	if a, ok := t.(types.ArrayType); ok {
		s := v.Spans()[i]
		for k := int(s.Off); k < int(s.Off+s.Len); k++ {
			if _, nested := a.Element.(types.ArrayType); nested && !v.Kids()[0].IsNull(k) {
				b = w.newline(w.more(b, c), c.depth+1)
				c.nested = true
				b = w.element(b, name, a.Element, v.Kids()[0], k, c.depth+1)
				continue
			}
			b = w.child(b, c, name, a.Element, v.Kids()[0], k)
		}
		return b
	}
	if array, ok := w.variantArray(t, v, i); ok {
		return w.variantChild(b, c, name, array)
	}
	if name == w.opts.ValueTag {
		return escape(w.more(b, c), w.text(v, t, i), false)
	}
	b = w.newline(w.more(b, c), c.depth+1)
	c.nested = true
	return w.element(b, name, t, v, i, c.depth+1)
}

// text is a plain value.
func (w *Writer) text(v *vec.Vector, t types.DataType, i int) string {
	var b []byte
	switch t := t.(type) {
	case types.BooleanType:
		return strconv.FormatBool(vec.Fixed[uint8](v)[i] != 0)
	case types.ByteType:
		return strconv.Itoa(int(vec.Fixed[int8](v)[i]))
	case types.ShortType:
		return strconv.Itoa(int(vec.Fixed[int16](v)[i]))
	case types.IntegerType:
		return strconv.Itoa(int(vec.Fixed[int32](v)[i]))
	case types.LongType:
		return strconv.FormatInt(vec.Fixed[int64](v)[i], 10)
	case types.FloatType:
		b = numtext.AppendFloat(b, float64(vec.Fixed[float32](v)[i]), 32)
	case types.DoubleType:
		b = numtext.AppendFloat(b, vec.Fixed[float64](v)[i], 64)
	case types.DecimalType:
		x := decimal.Int{}
		if v.Phys() == vec.PhysInt64 {
			x = decimal.FromInt64(vec.Fixed[int64](v)[i])
		} else {
			x = vec.Fixed[decimal.Int](v)[i]
		}
		b = numtext.AppendDecimal(b, x, t.Scale)
	case types.BinaryType:
		return "[" + strings.ToUpper(spaced(v.BytesAt(i))) + "]"
	case types.DateType:
		b = w.times.AppendDate(b, int64(vec.Fixed[int32](v)[i]))
	case types.TimestampType:
		b = w.times.AppendTimestamp(b, vec.Fixed[int64](v)[i])
	case types.TimestampNTZType:
		b = w.times.AppendTimestampNTZ(b, vec.Fixed[int64](v)[i])
	default:
		if v.Phys() == vec.PhysBytes {
			return string(v.BytesAt(i))
		}
	}
	return string(b)
}

func spaced(p []byte) string {
	parts := make([]string, len(p))
	for i := range p {
		parts[i] = hex.EncodeToString(p[i : i+1])
	}
	return strings.Join(parts, " ")
}

// escape prints text with the characters that mean something written otherwise.
func escape(b []byte, s string, attribute bool) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '<':
			b = append(b, "&lt;"...)
		case c == '&':
			b = append(b, "&amp;"...)
		case c == '>' && i > 1 && s[i-1] == ']' && s[i-2] == ']':
			b = append(b, "&gt;"...)
		case c == '"' && attribute:
			b = append(b, "&quot;"...)
		case c == '\r' || attribute && (c == '\n' || c == '\t'):
			b = append(append(append(b, "&#x"...), strconv.FormatInt(int64(c), 16)...), ';')
		default:
			b = append(b, c)
		}
	}
	return b
}
