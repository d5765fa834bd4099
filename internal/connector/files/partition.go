package files

import (
	"iter"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/types"
)

// DefaultPartition is the directory value that stands for null.
const DefaultPartition = "__HIVE_DEFAULT_PARTITION__"

// parsePart reads a directory name of the form column=value.
func parsePart(name string) (partValue, bool) {
	column, value, ok := strings.Cut(name, "=")
	if !ok || column == "" || value == "" {
		return partValue{}, false
	}
	return partValue{unescapePart(column), unescapePart(value)}, true
}

// unescapePart replaces %41 by the character. Anything else behind a percent sign stays.
func unescapePart(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// EscapePart writes a column or a value as part of a directory name.
func EscapePart(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		if c < 0x20 || c == 0x7f || strings.IndexByte(`"#%'*/:=?\{[]^`, c) >= 0 {
			b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// partitions are those of all files, with their paths.
func (f found) partitions() iter.Seq2[string, []partValue] {
	return func(yield func(string, []partValue) bool) {
		for _, list := range [][]entry{f.entries, f.beside} {
			for _, e := range list {
				if !yield(e.path, e.part) {
					return
				}
			}
		}
	}
}

// partColumns finds the partition columns of a listing. All files must have the same, in the same order.
func partColumns(f found) ([]string, error) {
	var names []string
	first := true
	for path, part := range f.partitions() {
		if first {
			for _, p := range part {
				names = append(names, p.column)
			}
			first = false
			continue
		}
		if !slices.EqualFunc(names, part, func(n string, p partValue) bool { return n == p.column }) {
			other := make([]string, len(part))
			for i, p := range part {
				other[i] = p.column
			}
			return nil, errclass.New("CONFLICTING_PARTITION_COLUMN_NAMES",
				"distinctPartColLists", "["+strings.Join(names, ", ")+"], ["+strings.Join(other, ", ")+"]", "suspiciousPaths", path)
		}
	}
	return names, nil
}

// partSchema gives the partition columns their types: those that the user's schema has for them, or the narrowest that all values
// fit.
func partSchema(names []string, f found, user *types.StructType, opts readOptions) types.StructType {
	s := types.StructType{}
	for i, name := range names {
		field := types.NewField(name, types.String)
		if k := indexName(user, name, opts.caseSensitive); k >= 0 {
			field.Name, field.Type = user.Fields[k].Name, types.Nullable(user.Fields[k].Type)
		} else if opts.inferParts {
			field.Type = inferPart(i, f)
		}
		s.Fields = append(s.Fields, field)
	}
	return s
}

func indexName(s *types.StructType, name string, caseSensitive bool) int {
	switch {
	case s == nil:
		return -1
	case caseSensitive:
		return s.Index(name)
	}
	return s.IndexFold(name)
}

// partKind orders what a value looks like.
type partKind uint8

const (
	partNull partKind = iota
	partInt
	partLong
	partDecimal
	partDouble
	partDate
	partTimestamp
	partString
)

func inferPart(i int, f found) types.DataType {
	kind, digits := partNull, 0
	seen := map[string]bool{}
	for _, part := range f.partitions() {
		v := part[i].value
		if seen[v] {
			continue
		}
		seen[v] = true
		k, n := kindOfPart(v)
		kind, digits = widerPart(kind, k), max(digits, n)
	}
	switch kind {
	case partNull:
		return types.Null
	case partInt:
		return types.Integer
	case partLong:
		return types.Long
	case partDecimal:
		return types.DecimalType{Precision: min(max(digits, 20), types.MaxPrecision)}
	case partDouble:
		return types.Double
	case partDate:
		return types.Date
	case partTimestamp:
		return types.Timestamp
	}
	return types.String
}

func widerPart(a, b partKind) partKind {
	if a > b {
		a, b = b, a
	}
	switch {
	case a == partNull, a == b, b <= partDecimal:
		return b
	case b == partDouble && a <= partInt, a == partDate && b == partTimestamp:
		return b
	}
	return partString
}

func kindOfPart(v string) (k partKind, digits int) {
	if v == DefaultPartition {
		return partNull, 0
	}
	if _, err := strconv.ParseInt(v, 10, 32); err == nil {
		return partInt, 0
	}
	if _, err := strconv.ParseInt(v, 10, 64); err == nil {
		return partLong, 0
	}
	if n, ok := new(big.Int).SetString(v, 10); ok {
		digits := len(strings.TrimLeft(new(big.Int).Abs(n).String(), "0"))
		if digits <= types.MaxPrecision {
			return partDecimal, digits
		}
	}
	if digits, ok := wholeWithExponent(v); ok {
		return partDecimal, digits
	}
	if _, ok := numtext.ParseFloat([]byte(v), 64); ok {
		return partDouble, 0
	}
	if len(v) == 10 {
		if _, ok := datetime.ParseDate([]byte(v)); ok {
			return partDate, 0
		}
	}
	if len(v) >= 19 {
		if t, ok := datetime.ParseText([]byte(v)); ok && t.HasDate && t.HasTime && !t.HasZone {
			return partTimestamp, 0
		}
	}
	return partString, 0
}

// partValueOf reads a directory's value as its column's type.
func partValueOf(field types.Field, v string, zone *time.Location, opts readOptions) (any, error) {
	if v == DefaultPartition {
		return nil, nil
	}
	x, ok := castPart(field.Type, v, zone)
	if !ok && opts.validateParts {
		return nil, errclass.New("INVALID_PARTITION_VALUE", "value", "'"+v+"'", "columnName", errclass.Ident(field.Name), "dataType", errclass.Expr(field.Type.SQL()))
	}
	return x, nil
}

func castPart(t types.DataType, v string, zone *time.Location) (any, bool) {
	switch t := t.(type) {
	case types.StringType, types.CharType, types.VarcharType:
		return v, true
	case types.BinaryType:
		return []byte(v), true
	case types.BooleanType:
		b, ok := numtext.ParseBool([]byte(v))
		return orNil(b, ok)
	case types.ByteType:
		n, ok := numtext.ParseInt([]byte(v), false)
		return orNil(int8(n), ok && n == int64(int8(n)))
	case types.ShortType:
		n, ok := numtext.ParseInt([]byte(v), false)
		return orNil(int16(n), ok && n == int64(int16(n)))
	case types.IntegerType:
		n, ok := numtext.ParseInt([]byte(v), false)
		return orNil(int32(n), ok && n == int64(int32(n)))
	case types.LongType:
		n, ok := numtext.ParseInt([]byte(v), false)
		return orNil(n, ok)
	case types.FloatType:
		f, ok := numtext.ParseFloat([]byte(v), 32)
		return orNil(float32(f), ok)
	case types.DoubleType:
		f, ok := numtext.ParseFloat([]byte(v), 64)
		return orNil(f, ok)
	case types.DecimalType:
		x, st := decimal.Parse([]byte(v), t.Precision, t.Scale)
		if st != decimal.OK {
			return nil, false
		}
		return types.ParseDecimal(decimal.String(x, t.Scale))
	case types.DateType:
		d, ok := datetime.ParseDate([]byte(v))
		return orNil(types.Days(d), ok)
	case types.TimestampType:
		at, ok := parseMicros(v, zone)
		return orNil(types.Micros(at), ok)
	case types.TimestampNTZType:
		x, ok := datetime.ParseText([]byte(v))
		return orNil(types.MicrosNTZ(x.Local), ok && x.HasDate && !x.HasZone)
	}
	return nil, false
}

func orNil[T any](v T, ok bool) (any, bool) {
	if !ok {
		return nil, false
	}
	return v, true
}

// parseMicros reads an instant as casts do.
func parseMicros(s string, zone *time.Location) (int64, bool) {
	t, ok := datetime.ParseText([]byte(s))
	if !ok || !t.HasDate {
		return 0, false
	}
	if t.HasZone {
		if zone, ok = datetime.ParseZone(t.Zone); !ok {
			return 0, false
		}
	}
	return datetime.NewZone(zone).Instant(t.Local), true
}

func parseInstant(s string, zone *time.Location) (time.Time, bool) {
	us, ok := parseMicros(s, zone)
	return time.UnixMicro(us), ok
}

// wholeWithExponent reads a whole number with an exponent, such as 1.0E10: Spark takes it for a decimal and not for a double.
func wholeWithExponent(v string) (digits int, ok bool) {
	mantissa, exponent, found := strings.Cut(strings.ToUpper(v), "E")
	e, err := strconv.Atoi(exponent)
	if !found || err != nil {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if len(fraction) > e {
		return 0, false
	}
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return 0, false
	}
	digits = len(strings.TrimLeft(new(big.Int).Abs(n).String(), "0")) + e - len(fraction)
	return digits, digits <= types.MaxPrecision
}
