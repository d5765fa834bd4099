package jsonrow

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Writer prints rows as JSON objects. It belongs to one goroutine.
type Writer struct {
	root  *printer
	opts  Options
	times *datetime.FormatPrinter
	zone  *datetime.Zone
	quote string // between a key and its value
}

// printer is a data type compiled for printing, with the vector of the batch being printed.
type printer struct {
	typ  types.DataType
	phys vec.Phys
	kids []*printer
	keys []string // of a struct: key, quotes, colon
	omit []bool   // of a struct: whether a field that is null is left out
	v    *vec.Vector
	put  func(w *Writer, b []byte, p *printer, i, depth int) []byte
}

// NewWriter returns a writer of rows of a schema.
func NewWriter(schema types.StructType, opts Options) (*Writer, error) {
	return NewValueWriter(schema, opts)
}

// NewValueWriter returns a writer of values of any type that JSON can hold: of a struct, an array, a map or a plain one.
func NewValueWriter(t types.DataType, opts Options) (*Writer, error) {
	w := &Writer{opts: opts, zone: datetime.NewZone(opts.Zone), quote: ":"}
	if opts.Pretty {
		w.quote = " : "
	}
	var err error
	if w.root, err = w.compile(t, ""); err != nil {
		return nil, err
	}
	w.times, err = opts.formats().NewPrinter(opts.Zone)
	return w, err
}

func (w *Writer) compile(t types.DataType, path string) (*printer, error) {
	p := &printer{typ: t, phys: vec.PhysOf(t), put: printScalar}
	switch t := t.(type) {
	case types.StructType:
		p.put = printStruct
		for _, f := range t.Fields {
			name := f.Name
			if path != "" {
				name = path + "." + name
			}
			k, err := w.compile(f.Type, name)
			if err != nil {
				return nil, err
			}
			p.kids = append(p.kids, k)
			p.keys = append(p.keys, string(w.appendText(nil, f.Name))+w.quote)
			_, fills := f.MetadataValue(types.ExistsDefaultKey) // what is left out would be read as that
			p.omit = append(p.omit, w.opts.IgnoreNulls && !fills)
		}
	case types.ArrayType:
		p.put = printArray
		k, err := w.compile(t.Element, path)
		if err != nil {
			return nil, err
		}
		p.kids = []*printer{k}
	case types.MapType:
		p.put = printMap
		key, err := w.compile(t.Key, path)
		if err != nil {
			return nil, err
		}
		value, err := w.compile(t.Value, path)
		if err != nil {
			return nil, err
		}
		p.kids = []*printer{key, value}
	case types.UserDefinedType:
		return w.compile(t.Storage, path)
	case types.VariantType:
		p.put = printVariant
		return p, nil
	}
	return p, nil
}

// Bind takes the vectors of the rows to be printed. Their number is the struct's fields, or one for a value of another type.
func (w *Writer) Bind(cols []*vec.Vector) {
	if _, ok := w.root.typ.(types.StructType); ok {
		for i, k := range w.root.kids {
			k.bind(cols[i].Flatten())
		}
		return
	}
	w.root.bind(cols[0].Flatten())
}

func (p *printer) bind(v *vec.Vector) {
	p.v = v
	for i, k := range p.kids {
		k.bind(v.Kids()[i])
	}
}

// BindValue takes a vector of values, for writers made by NewValueWriter.
func (w *Writer) BindValue(v *vec.Vector) { w.root.bind(v.Flatten()) }

// AppendRow prints row i, without a line break.
func (w *Writer) AppendRow(b []byte, i int) []byte { return w.root.put(w, b, w.root, i, 0) }

func (w *Writer) newline(b []byte, depth int) []byte {
	if !w.opts.Pretty {
		return b
	}
	b = append(b, '\n')
	for range depth {
		b = append(b, "  "...)
	}
	return b
}

func printStruct(w *Writer, b []byte, p *printer, i, depth int) []byte {
	b = append(b, '{')
	n := 0
	for f, k := range p.kids {
		null := k.v.IsNull(i)
		if null && p.omit[f] {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		n++
		b = w.newline(b, depth+1)
		b = append(b, p.keys[f]...)
		if null {
			b = append(b, "null"...)
		} else {
			b = k.put(w, b, k, i, depth+1)
		}
	}
	if n > 0 {
		b = w.newline(b, depth)
	} else if w.opts.Pretty {
		b = append(b, ' ')
	}
	return append(b, '}')
}

func printArray(w *Writer, b []byte, p *printer, i, depth int) []byte {
	s := p.v.Spans()[i]
	k := p.kids[0]
	b = append(b, '[')
	for at := s.Off; at < s.Off+s.Len; at++ {
		if at > s.Off {
			b = append(b, ',')
		}
		if w.opts.Pretty {
			b = append(b, ' ')
		}
		if k.v.IsNull(int(at)) {
			b = append(b, "null"...)
		} else {
			b = k.put(w, b, k, int(at), depth)
		}
	}
	if w.opts.Pretty {
		b = append(b, ' ')
	}
	return append(b, ']')
}

func printMap(w *Writer, b []byte, p *printer, i, depth int) []byte {
	s := p.v.Spans()[i]
	key, value := p.kids[0], p.kids[1]
	b = append(b, '{')
	for at := s.Off; at < s.Off+s.Len; at++ {
		if at > s.Off {
			b = append(b, ',')
		}
		b = w.newline(b, depth+1)
		b = w.appendKey(b, key, int(at))
		b = append(b, w.quote...)
		if value.v.IsNull(int(at)) {
			b = append(b, "null"...)
		} else {
			b = value.put(w, b, value, int(at), depth+1)
		}
	}
	if s.Len > 0 {
		b = w.newline(b, depth)
	} else if w.opts.Pretty {
		b = append(b, ' ')
	}
	return append(b, '}')
}

func printVariant(w *Writer, b []byte, p *printer, i, _ int) []byte {
	kids := p.v.Kids()
	b, _ = AppendVariant(b, variant.Value{Bytes: kids[0].BytesAt(i), Meta: kids[1].BytesAt(i)}, w.zone)
	return b
}

// appendKey prints a map's key. Keys that are no strings are printed as Spark holds them: days, microseconds.
func (w *Writer) appendKey(b []byte, p *printer, i int) []byte {
	var tmp [64]byte
	k := tmp[:0]
	switch p.phys {
	case vec.PhysBytes:
		if types.IsString(p.typ) {
			return w.appendText(b, p.v.StringAt(i))
		}
		k = base64.StdEncoding.AppendEncode(k, p.v.BytesAt(i))
	case vec.PhysInt32:
		k = strconv.AppendInt(k, int64(vec.Fixed[int32](p.v)[i]), 10)
	case vec.PhysInt64:
		if _, ok := p.typ.(types.DecimalType); !ok {
			k = strconv.AppendInt(k, vec.Fixed[int64](p.v)[i], 10)
			break
		}
		k = p.put(w, k, p, i, 0)
	default:
		k = p.put(w, k, p, i, 0)
		if len(k) > 1 && k[0] == '"' { // NaN
			return append(b, k...)
		}
	}
	return w.appendText(b, string(k))
}

func printScalar(w *Writer, b []byte, p *printer, i, _ int) []byte {
	switch t := p.typ.(type) {
	case types.BooleanType:
		return strconv.AppendBool(b, vec.Fixed[uint8](p.v)[i] != 0)
	case types.ByteType:
		return strconv.AppendInt(b, int64(vec.Fixed[int8](p.v)[i]), 10)
	case types.ShortType:
		return strconv.AppendInt(b, int64(vec.Fixed[int16](p.v)[i]), 10)
	case types.IntegerType:
		return strconv.AppendInt(b, int64(vec.Fixed[int32](p.v)[i]), 10)
	case types.LongType:
		return strconv.AppendInt(b, vec.Fixed[int64](p.v)[i], 10)
	case types.FloatType:
		return appendFloat(b, float64(vec.Fixed[float32](p.v)[i]), 32)
	case types.DoubleType:
		return appendFloat(b, vec.Fixed[float64](p.v)[i], 64)
	case types.DecimalType:
		if p.phys == vec.PhysInt64 {
			return numtext.AppendDecimal(b, decimal.FromInt64(vec.Fixed[int64](p.v)[i]), t.Scale)
		}
		return numtext.AppendDecimal(b, vec.Fixed[vec.Int128](p.v)[i], t.Scale)
	case types.StringType, types.CharType, types.VarcharType:
		return w.appendText(b, p.v.StringAt(i))
	case types.BinaryType:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, p.v.BytesAt(i))
		return append(b, '"')
	case types.DateType:
		b = append(b, '"')
		b = w.times.AppendDate(b, int64(vec.Fixed[int32](p.v)[i]))
		return append(b, '"')
	case types.TimestampType:
		b = append(b, '"')
		b = w.times.AppendTimestamp(b, vec.Fixed[int64](p.v)[i])
		return append(b, '"')
	case types.TimestampNTZType:
		b = append(b, '"')
		b = w.times.AppendTimestampNTZ(b, vec.Fixed[int64](p.v)[i])
		return append(b, '"')
	case types.TimeType:
		b = append(b, '"')
		b = datetime.AppendTimeNanos(b, vec.Fixed[int64](p.v)[i])
		return append(b, '"')
	case types.CalendarIntervalType:
		b = append(b, '"')
		b = append(b, interval.Interval(vec.At[vec.Interval](p.v, i)).String()...)
		return append(b, '"')
	case types.YearMonthIntervalType:
		b = append(b, '"')
		b = interval.AppendYearMonth(b, vec.Fixed[int32](p.v)[i], t.Start, t.End)
		return append(b, '"')
	case types.DayTimeIntervalType:
		b = append(b, '"')
		b = interval.AppendDayTime(b, vec.Fixed[int64](p.v)[i], t.Start, t.End)
		return append(b, '"')
	}
	return append(b, "null"...)
}

func appendFloat(b []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		b = append(b, '"')
		b = numtext.AppendFloat(b, f, bits)
		return append(b, '"')
	}
	return numtext.AppendFloat(b, f, bits)
}

const hexDigits = "0123456789ABCDEF"

func (w *Writer) appendText(b []byte, s string) []byte {
	return appendText(b, s, w.opts.WriteNonASCIICodes)
}

// appendText prints a string with its quotes. With codes all characters beyond ASCII are printed by their numbers.
func appendText(b []byte, s string, codes bool) []byte {
	if !utf8.ValidString(s) {
		s = string(textrecord.Valid([]byte(s)))
	}
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && (c < utf8.RuneSelf || !codes) {
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			r, n := rune(c), 1
			if c >= utf8.RuneSelf {
				r, n = utf8.DecodeRuneInString(s[i:])
			}
			if r > 0xFFFF {
				r -= 0x10000
				b = appendCode(b, 0xD800+r>>10)
				r = 0xDC00 + r&0x3FF
			}
			b = appendCode(b, r)
			i += n - 1
		}
		from = i + 1
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

func appendCode(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
