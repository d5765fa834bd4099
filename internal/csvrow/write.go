package csvrow

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// defaultComment begins a comment for readers that have no other option: a line must not begin with it.
const defaultComment = '#'

// Writer prints rows as CSV. It belongs to one goroutine.
type Writer struct {
	opts    Options
	cols    []printed
	times   *datetime.FormatPrinter
	sep     []byte
	quote   []byte
	escape  []byte
	escape2 []byte // put before an escape; empty for nothing
	comment rune
	breaks  string // the characters of a line break
	newline []byte // what a line feed inside quotes is written as
	odd     [256]bool
	value   []byte
}

// printed is a column with the vector of the batch being printed.
type printed struct {
	column
	v     *vec.Vector
	kids  []printed // of an array, a map or a struct
	plain bool      // no value of the type needs quotes
}

// NewWriter returns a writer of rows of a schema.
func NewWriter(schema types.StructType, opts Options) (*Writer, error) {
	return newWriter(schema, opts, false)
}

func newWriter(schema types.StructType, opts Options, nested bool) (*Writer, error) {
	w := &Writer{opts: opts, sep: []byte(opts.Sep), comment: opts.Comment, breaks: "\n\r", newline: []byte{'\n'}}
	w.quote, w.escape = utf8.AppendRune(nil, opts.Quote), utf8.AppendRune(nil, opts.Escape)
	second := opts.EscapeEscape
	if second == 0 && opts.Escape != opts.Quote {
		second = opts.Escape
	}
	if second != 0 {
		w.escape2 = utf8.AppendRune(nil, second)
	}
	if w.comment == 0 {
		w.comment = defaultComment
	}
	if opts.LineSep != "" {
		w.breaks += opts.LineSep
		if utf8.RuneCountInString(opts.LineSep) == 2 {
			w.newline = []byte(opts.LineSep)
		}
	}
	for _, s := range [][]byte{w.sep[:1], w.quote[:1], w.escape[:1], []byte(w.breaks)} {
		for _, c := range s {
			w.odd[c] = true
		}
	}
	marks := string(w.sep) + string(w.quote) + string(w.escape) + string(w.comment) + opts.LineSep
	plain := !opts.QuoteAll && !strings.ContainsAny(marks, "0123456789+-.EINTFadefilnrstuy")
	has := map[kind]bool{}
	for _, f := range schema.Fields {
		switch c, err := compile(f, "CSV"); {
		case nested:
		case err != nil:
			return nil, err
		case c.kind == kCalendar: // only functions print one
			return nil, unsupported(f, "CSV")
		}
		c, err := compileNested(f, has)
		if err != nil {
			return nil, err
		}
		c.plain = plain && (c.kind >= kInt64 && c.kind <= kBool || c.kind == kDecimal64 || c.kind == kDecimal128)
		w.cols = append(w.cols, c)
	}
	formats := datetime.Formats{}
	if has[kTimestamp] {
		formats.Timestamp = opts.TimestampFormat
	}
	if has[kTimestampNTZ] {
		formats.TimestampNTZ = opts.TimestampNTZFormat
	}
	if has[kDate] {
		formats.Date = opts.DateFormat
	}
	var err error
	w.times, err = formats.NewPrinter(opts.Zone)
	return w, err
}

// Bind takes the vectors of the rows to be printed.
func (w *Writer) Bind(cols []*vec.Vector) {
	for i := range w.cols {
		w.cols[i].bind(cols[i])
	}
}

// AppendHeader prints the names of the columns, without a line break.
func (w *Writer) AppendHeader(b []byte) []byte {
	for i := range w.cols {
		if i > 0 {
			b = append(b, w.sep...)
		}
		b = w.element(b, i, []byte(w.cols[i].name), false)
	}
	return b
}

// AppendRow prints row i, without a line break. It may print nothing; then the row is not to be written at all, as a reader would
// pass over it.
func (w *Writer) AppendRow(b []byte, i int) []byte {
	for k := range w.cols {
		c := &w.cols[k]
		if k > 0 {
			b = append(b, w.sep...)
		}
		switch {
		case c.v.IsNull(i):
			if w.opts.NullValue != "" || w.opts.QuoteAll {
				b = w.element(b, k, nil, true)
			}
		case c.plain:
			b = w.append(b, c, i)
		case c.kind == kString:
			b = w.text(b, k, c.v.BytesAt(i))
		default:
			w.value = w.append(w.value[:0], c, i)
			b = w.text(b, k, w.value)
		}
	}
	return b
}

// append prints a value as it is.
func (w *Writer) append(b []byte, c *printed, i int) []byte {
	switch c.kind {
	case kString:
		return append(b, c.v.BytesAt(i)...)
	case kInt64:
		return strconv.AppendInt(b, vec.Fixed[int64](c.v)[i], 10)
	case kInt32:
		return strconv.AppendInt(b, int64(vec.Fixed[int32](c.v)[i]), 10)
	case kInt16:
		return strconv.AppendInt(b, int64(vec.Fixed[int16](c.v)[i]), 10)
	case kInt8:
		return strconv.AppendInt(b, int64(vec.Fixed[int8](c.v)[i]), 10)
	case kFloat64:
		return numtext.AppendFloat(b, vec.Fixed[float64](c.v)[i], 64)
	case kFloat32:
		return numtext.AppendFloat(b, float64(vec.Fixed[float32](c.v)[i]), 32)
	case kBool:
		return strconv.AppendBool(b, vec.Fixed[uint8](c.v)[i] != 0)
	case kTimestamp:
		return w.times.AppendTimestamp(b, vec.Fixed[int64](c.v)[i])
	case kTimestampNTZ:
		return w.times.AppendTimestampNTZ(b, vec.Fixed[int64](c.v)[i])
	case kDate:
		return w.times.AppendDate(b, int64(vec.Fixed[int32](c.v)[i]))
	case kTime:
		return datetime.AppendTimeNanos(b, vec.Fixed[int64](c.v)[i])
	case kDecimal64:
		return numtext.AppendDecimal(b, decimal.FromInt64(vec.Fixed[int64](c.v)[i]), c.s)
	case kDecimal128:
		return numtext.AppendDecimal(b, vec.Fixed[vec.Int128](c.v)[i], c.s)
	case kArray, kMap, kStruct:
		return w.nested(b, c, i)
	case kBinary:
		return appendHex(b, c.v.BytesAt(i))
	case kYearMonth:
		return interval.AppendYearMonth(b, vec.Fixed[int32](c.v)[i], c.a, c.b)
	case kCalendar:
		return append(b, interval.Interval(vec.At[vec.Interval](c.v, i)).String()...)
	case kDayTime:
		return interval.AppendDayTime(b, vec.Fixed[int64](c.v)[i], c.a, c.b)
	}
	return b
}

// appendHex prints bytes as [61 62 FF].
func appendHex(b, s []byte) []byte {
	const digits = "0123456789ABCDEF"
	b = append(b, '[')
	for i, c := range s {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, digits[c>>4], digits[c&15])
	}
	return append(b, ']')
}

// text prints a value that may need quotes.
func (w *Writer) text(b []byte, col int, s []byte) []byte {
	n := len(s)
	if n == 0 || w.opts.QuoteAll || s[0] <= ' ' || s[n-1] <= ' ' || col == 0 && s[0] == byte(w.comment) {
		return w.element(b, col, s, false)
	}
	for _, c := range s {
		if w.odd[c] {
			return w.element(b, col, s, false)
		}
	}
	return append(b, s...)
}

// element prints a value with all that may be special about it.
func (w *Writer) element(b []byte, col int, s []byte, null bool) []byte {
	o := &w.opts
	filled := true // the text stands for null or for an empty value
	switch {
	case null:
		s = append(w.value[:0], o.NullValue...)
		w.value = s
	case len(s) == 0 || o.TrimLeftWrite && len(trim(s)) == 0:
		s = append(w.value[:0], o.EmptyWritten...)
		w.value = s
	default:
		filled = false
	}
	rest := s
	for o.TrimLeftWrite && len(rest) > 0 && rest[0] <= ' ' {
		rest = rest[1:]
	}
	first, _ := utf8.DecodeRune(s)
	quoted := o.QuoteAll || len(rest) > 0 && (bytes.HasPrefix(rest, w.quote) || col == 0 && first == w.comment)
	if quoted && filled && utf8.RuneCount(s) >= 2 && bytes.HasPrefix(s, w.quote) && bytes.HasSuffix(s, w.quote) {
		return append(b, s...)
	}
	quoted = quoted || w.needsQuotes(rest)
	for o.TrimRightWrite && len(rest) > 0 && rest[len(rest)-1] <= ' ' {
		rest = rest[:len(rest)-1]
	}
	if len(rest) == 0 && !filled {
		return append(b, o.EmptyWritten...)
	}
	if !quoted {
		return append(b, rest...)
	}
	b = append(b, w.quote...)
	for len(rest) > 0 {
		switch {
		case bytes.HasPrefix(rest, w.quote):
			b = append(append(b, w.escape...), w.quote...)
			rest = rest[len(w.quote):]
		case bytes.HasPrefix(rest, w.escape):
			b = append(append(b, w.escape2...), w.escape...)
			rest = rest[len(w.escape):]
		case rest[0] == '\n':
			b = append(b, w.newline...)
			rest = rest[1:]
		default:
			b = append(b, rest[0])
			rest = rest[1:]
		}
	}
	return append(b, w.quote...)
}

// needsQuotes tells whether a text holds what would end a value or a line. A text that ends like a longer separator begins gets
// quotes too: the two would be read as a separator that comes earlier.
func (w *Writer) needsQuotes(s []byte) bool {
	for n := len(w.sep) - 1; n > 0; n-- {
		if bytes.HasSuffix(s, w.sep[:n]) {
			return true
		}
	}
	return bytes.Contains(s, w.sep) || bytes.ContainsAny(s, w.breaks) || w.opts.EscapeQuotes && bytes.Contains(s, w.quote)
}
