package jsonrow

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
)

// VariantReader reads texts of one value each into variants, as strictly as JSON is defined. It belongs to one goroutine.
type VariantReader struct {
	scanner
	text []byte
}

// NewVariantReader returns a reader. With lastWins the last of an object's fields of one name counts; otherwise such an object is
// an error.
func NewVariantReader(lastWins bool) *VariantReader {
	r := &VariantReader{}
	r.scanner.opts = Options{MaxDepth: DefaultOptions().MaxDepth}
	r.blanks, r.strict = &documentBlanks, true
	r.variants.LastWins = lastWins
	return r
}

// Read reads a text. The builder holds the variant until the next call. Text behind the value is not looked at.
func (r *VariantReader) Read(text []byte) (*variant.Builder, error) {
	r.text = append(append(r.text[:0], textrecord.Valid(text)...), padding[:]...)
	r.variants.Reset()
	r.twice = nil
	i := r.skip(r.text, 0)
	next := r.variant(r.text, i, &r.variants, 0)
	if next < 0 || isAlnum(r.text[next-1]) && r.text[next] > ' ' { // a word or a number must end where it ends
		e := errclass.New("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "badRecord", textrecord.Clip(text), "failFastMode", textrecord.FailFast.String())
		if r.twice != nil {
			e.Cause = errclass.New("VARIANT_DUPLICATE_KEY", "key", *r.twice)
		}
		return nil, e
	}
	return &r.variants, nil
}

// variantColumn reads a value of any kind and appends it to a column.
func (s *scanner) variantColumn(text []byte, i int, out *vec.Builder, depth int) (next int, ok bool) {
	s.variants.Reset()
	if next = s.variant(text, i, &s.variants, depth); next < 0 {
		return -1, false
	}
	out.Child(0).AppendBytes(s.variants.Value())
	meta := out.Child(1)
	meta.CommitBytes(s.variants.AppendMeta(meta.Buffer()))
	out.AppendStruct(true)
	return next, true
}

// variant reads a value of any kind into b. The result is the position behind it, or -1.
func (s *scanner) variant(text []byte, i int, b *variant.Builder, depth int) int {
	switch text[i] {
	case '"', '\'':
		if text[i] == '\'' && !s.opts.SingleQuotes {
			return -1
		}
		str, next, ok := s.str(text, i)
		if !ok {
			return -1
		}
		b.Text(str)
		return next
	case '{':
		return s.variantObject(text, i+1, b, depth+1)
	case '[':
		return s.variantArray(text, i+1, b, depth+1)
	case 't':
		b.Bool(true)
		return word(text, i, "true")
	case 'f':
		b.Bool(false)
		return word(text, i, "false")
	case 'n':
		b.Null()
		return word(text, i, "null")
	}
	next, whole := s.number(text, i)
	if next < 0 || next-i > maxNumber && tooLong(text[i:next]) {
		return -1
	}
	variantNumber(unsafeString(text[i:next]), whole, b)
	return next
}

const (
	maxNumber = 1000   // digits before the point of a number, or behind it
	maxName   = 50_000 // characters of a name
)

// tooLong tells whether a number has too many digits on one side of its point.
func tooLong(number []byte) bool {
	run := 0
	for _, c := range number {
		if run++; c-'0' > 9 {
			run = 0
		}
		if run > maxNumber {
			return true
		}
	}
	return false
}

// variantNumber appends a number: a whole one that fits as such, one without exponent as a decimal if it fits, any other as a double.
func variantNumber(s string, whole bool, b *variant.Builder) {
	if whole {
		if v, err := strconv.ParseInt(s, 10, 64); err == nil {
			b.Long(v)
			return
		}
	}
	if x, scale, ok := plainDecimal(s); ok {
		b.Decimal(x, scale)
		return
	}
	switch s {
	case "+INF", "+Infinity":
		b.Double(math.Inf(1))
	case "-INF":
		b.Double(math.Inf(-1))
	default:
		f, _ := strconv.ParseFloat(s, 64) // out of range gives an infinity, as it should
		b.Double(f)
	}
}

// plainDecimal reads digits with at most one point among them.
func plainDecimal(s string) (x decimal.Int, scale int, ok bool) {
	digits, point := 0, -1
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			point = i
		case c-'0' <= 9:
			if c != '0' || digits > 0 {
				digits++
			}
		case c != '-' || i > 0:
			return x, 0, false
		}
	}
	if point >= 0 {
		scale = len(s) - point - 1
	}
	if digits > decimal.MaxPrecision || scale > decimal.MaxPrecision {
		return x, 0, false
	}
	x, st := decimal.Parse([]byte(s), decimal.MaxPrecision, scale)
	return x, scale, st == decimal.OK
}

func (s *scanner) variantArray(text []byte, i int, b *variant.Builder, depth int) int {
	if depth > s.opts.MaxDepth {
		return -1
	}
	m := b.StartArray()
	if i = s.skip(text, i); text[i] == ']' {
		b.EndArray(m)
		return i + 1
	}
	for {
		b.Element()
		if i = s.variant(text, i, b, depth); i < 0 {
			return -1
		}
		switch i = s.skip(text, i); text[i] {
		case ',':
			i = s.skip(text, i+1)
		case ']':
			b.EndArray(m)
			return i + 1
		default:
			return -1
		}
	}
}

func (s *scanner) variantObject(text []byte, i int, b *variant.Builder, depth int) int {
	if depth > s.opts.MaxDepth {
		return -1
	}
	m := b.StartObject()
	end := func(i int) int {
		if twice, ok := b.EndObject(m); !ok {
			s.twice = &twice
			return -1
		}
		return i + 1
	}
	if i = s.skip(text, i); text[i] == '}' {
		return end(i)
	}
	for {
		name, next := s.name(text, i)
		if next < 0 || len(name) > maxName {
			return -1
		}
		b.Field(name)
		if i = s.skip(text, next); text[i] != ':' {
			return -1
		}
		if i = s.variant(text, s.skip(text, i+1), b, depth); i < 0 {
			return -1
		}
		switch i = s.skip(text, i); text[i] {
		case ',':
			i = s.skip(text, i+1)
		case '}':
			return end(i)
		default:
			return -1
		}
	}
}

// AppendVariant prints a variant as JSON, times in a zone. Ok is false for one that is not whole.
func AppendVariant(b []byte, v variant.Value, zone *datetime.Zone) (out []byte, ok bool) {
	return appendVariant(b, v, zone, 0)
}

func appendVariant(b []byte, v variant.Value, zone *datetime.Zone, depth int) ([]byte, bool) {
	switch v.Kind() {
	case variant.Null:
		return append(b, "null"...), true
	case variant.Object:
		f, _ := v.Fields()
		b = append(b, '{')
		for i := range f.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			name, x := f.At(i)
			if name == nil || depth >= maxVariantDepth {
				return b, false
			}
			b = append(appendText(b, unsafeString(name), false), ':')
			var ok bool
			if b, ok = appendVariant(b, x, zone, depth+1); !ok {
				return b, false
			}
		}
		return append(b, '}'), true
	case variant.Array:
		e, _ := v.Elements()
		b = append(b, '[')
		for i := range e.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			var ok bool
			if depth >= maxVariantDepth {
				return b, false
			}
			if b, ok = appendVariant(b, e.At(i), zone, depth+1); !ok {
				return b, false
			}
		}
		return append(b, ']'), true
	case variant.Bool:
		return strconv.AppendBool(b, v.Bool()), true
	case variant.Long:
		return strconv.AppendInt(b, v.Long(), 10), true
	case variant.Double:
		return appendFloat(b, v.Double(), 64), true
	case variant.Float:
		return appendFloat(b, float64(v.Float()), 32), true
	case variant.Decimal:
		x, scale := v.Stripped()
		return decimal.Append(b, x, scale), true
	case variant.String:
		return appendText(b, unsafeString(v.Text()), false), true
	case variant.Malformed:
		return b, false
	}
	b = append(b, '"')
	switch v.Kind() {
	case variant.Binary:
		b = base64.StdEncoding.AppendEncode(b, v.Text())
	case variant.Date:
		b = datetime.AppendDate(b, v.Long())
	case variant.Timestamp:
		offset := zone.Offset(v.Long())
		b = datetime.AppendOffset(datetime.AppendTimestamp(b, v.Long()+offset), offset)
	case variant.TimestampNTZ:
		b = datetime.AppendTimestamp(b, v.Long())
	case variant.UUID:
		b = AppendUUID(b, v.Text())
	}
	return append(b, '"'), true
}

// maxVariantDepth is how deep a variant may be nested to be printed.
const maxVariantDepth = 2000

// AppendUUID prints the 16 bytes of a UUID.
func AppendUUID(b, id []byte) []byte {
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return b
}
