package csvrow

import (
	"math"
	"unicode/utf8"
	"unsafe"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// kind is what is done with a field: the type of its column, or nothing.
type kind uint8

const (
	kSkip kind = iota // not wanted
	kString
	kInt64
	kInt32
	kInt16
	kInt8
	kFloat64
	kFloat32
	kBool
	kTimestamp
	kTimestampNTZ
	kDate
	kTime
	kDecimal64
	kDecimal128
	kBinary
	kYearMonth
	kDayTime
	kCalendar
	kNull
	kArray // the writer alone knows these
	kMap
	kStruct
)

// column is a column of the text and where its values go.
type column struct {
	kind kind
	out  *vec.Builder // nil when the column is not wanted
	name string
	// absent is a vector of one row with what the column holds where a record has no good value; nil is null.
	absent *vec.Vector
	typ    types.DataType
	p, s   int // of decimals
	a, b   uint8
}

func compile(f types.Field, format string) (column, error) {
	c := column{name: f.Name, typ: f.Type}
	switch t := f.Type.(type) {
	case types.StringType, types.CharType, types.VarcharType:
		c.kind = kString
	case types.LongType:
		c.kind = kInt64
	case types.IntegerType:
		c.kind = kInt32
	case types.ShortType:
		c.kind = kInt16
	case types.ByteType:
		c.kind = kInt8
	case types.DoubleType:
		c.kind = kFloat64
	case types.FloatType:
		c.kind = kFloat32
	case types.BooleanType:
		c.kind = kBool
	case types.TimestampType:
		c.kind = kTimestamp
	case types.TimestampNTZType:
		c.kind = kTimestampNTZ
	case types.DateType:
		c.kind = kDate
	case types.DecimalType:
		c.kind, c.p, c.s = kDecimal64, t.Precision, t.Scale
		if t.Precision > 18 {
			c.kind = kDecimal128
		}
	case types.BinaryType:
		c.kind = kBinary
	case types.YearMonthIntervalType:
		c.kind, c.a, c.b = kYearMonth, t.Start, t.End
	case types.DayTimeIntervalType:
		c.kind, c.a, c.b = kDayTime, t.Start, t.End
	case types.CalendarIntervalType:
		c.kind = kCalendar
	case types.NullType:
		c.kind = kNull
	case types.UserDefinedType:
		return compile(types.Field{Name: f.Name, Type: t.Storage}, format)
	case types.TimeType:
		c.kind = kTime
	default:
		return c, unsupported(f, format)
	}
	return c, nil
}

func unsupported(f types.Field, format string) error {
	return errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", format,
		"columnName", errclass.Ident(f.Name), "columnType", errclass.Expr(f.Type.SQL()))
}

// Unsupported tells whether CSV text can hold the columns of a file; err names the one that it cannot.
func Unsupported(s types.StructType, format string) error {
	for _, f := range s.Fields {
		c, err := compile(f, format)
		if err == nil && (c.kind == kCalendar || c.kind == kNull) {
			err = unsupported(f, format)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// timesOf gives a reader of times that knows the patterns of those types only that there are: a pattern that is not needed may be
// wrong.
func timesOf(o *Options, has func(kind) bool) (*datetime.FormatReader, error) {
	f := datetime.Formats{Fallback: o.Fallback, Now: o.Now}
	if has(kTimestamp) {
		f.Timestamp = o.TimestampFormat
	}
	if has(kTimestampNTZ) {
		f.TimestampNTZ = o.TimestampNTZFormat
	}
	if has(kDate) {
		f.Date = o.DateFormat
	}
	return f.NewReader(o.Zone)
}

// convert appends a value that is not null to its column. False says that it does not fit; then nothing was appended.
func (r *Reader) convert(c *column, s []byte) bool {
	switch c.kind {
	case kString:
		if !utf8.Valid(s) {
			s = textrecord.Valid(s)
		}
		c.out.AppendBytes(s)
		return true
	case kInt64, kInt32, kInt16, kInt8:
		v, ok := javaInt(s)
		if !ok {
			return false
		}
		return appendInt(c, v)
	case kFloat64, kFloat32:
		v, ok := r.float(c, s)
		if !ok {
			return false
		}
		if c.kind == kFloat64 {
			c.out.AppendFloat64(v)
		} else {
			c.out.AppendFloat32(float32(v))
		}
		return true
	case kBool:
		v, ok := parseBool(s)
		if ok {
			c.out.AppendBool(v)
		}
		return ok
	case kTimestamp:
		v, ok := r.times.Timestamp(s)
		if ok {
			c.out.AppendInt64(v)
		}
		return ok
	case kTimestampNTZ:
		v, ok := r.times.TimestampNTZ(s)
		if ok {
			c.out.AppendInt64(v)
		}
		return ok
	case kDate:
		v, ok := r.times.Date(s)
		if ok {
			c.out.AppendInt32(v)
		}
		return ok
	case kTime:
		v, ok := datetime.ParseTimeOfDay(s)
		if ok {
			c.out.AppendInt64(v * 1000)
		}
		return ok
	case kDecimal64, kDecimal128:
		return r.decimal(c, s)
	case kBinary:
		c.out.AppendBytes(textrecord.Valid(s))
		return true
	case kYearMonth:
		v, ok := interval.ParseYearMonth(string(s), c.a, c.b)
		if ok {
			c.out.AppendInt32(v)
		}
		return ok
	case kDayTime:
		v, ok := interval.ParseDayTime(string(s), c.a, c.b)
		if ok {
			c.out.AppendInt64(v)
		}
		return ok
	case kCalendar:
		if v, err := interval.ParseCalendar(string(s)); err == nil {
			c.out.AppendInterval(vec.Interval{Months: v.Months, Days: v.Days, Micros: v.Micros})
		} else {
			c.out.AppendNull() // a text that is none makes no bad record
		}
		return true
	case kNull:
		c.out.AppendNull()
		return true
	}
	return true
}

func appendInt(c *column, v int64) bool {
	switch c.kind {
	case kInt64:
		c.out.AppendInt64(v)
		return true
	case kInt32:
		if v == int64(int32(v)) {
			c.out.AppendInt32(int32(v))
			return true
		}
	case kInt16:
		if v == int64(int16(v)) {
			c.out.AppendInt16(int16(v))
			return true
		}
	case kInt8:
		if v == int64(int8(v)) {
			c.out.AppendInt8(int8(v))
			return true
		}
	}
	return false
}

// javaInt reads a whole number as Java does: no blanks.
func javaInt(s []byte) (int64, bool) {
	if len(s) == 0 || s[0] <= ' ' || s[len(s)-1] <= ' ' {
		return 0, false
	}
	return numtext.ParseInt(s, false)
}

func (r *Reader) float(c *column, s []byte) (float64, bool) {
	switch str(s) {
	case r.opts.NaN:
		return math.NaN(), true
	case r.opts.NegInf:
		return math.Inf(-1), true
	case r.opts.PosInf:
		return math.Inf(1), true
	}
	bits := 64
	if c.kind == kFloat32 {
		bits = 32
	}
	return javaFloat(s, bits)
}

// javaFloat reads a number as Java does: of the words only those that Java itself prints.
func javaFloat(s []byte, bits int) (float64, bool) {
	s = trim(s)
	if len(s) == 0 {
		return 0, false
	}
	if s[len(s)-1] > 'f' || s[len(s)-1] == 'N' {
		switch str(s) {
		case "NaN", "+NaN", "-NaN":
			return math.NaN(), true
		case "Infinity", "+Infinity":
			return math.Inf(1), true
		case "-Infinity":
			return math.Inf(-1), true
		}
		return 0, false
	}
	if s[0] == 'i' || s[0] == 'I' || len(s) > 1 && s[1]|0x20 == 'i' {
		return 0, false // inf
	}
	return numtext.ParseFloat(s, bits)
}

func parseBool(s []byte) (v, ok bool) {
	switch {
	case len(s) == 4 && s[0]|0x20 == 't' && s[1]|0x20 == 'r' && s[2]|0x20 == 'u' && s[3]|0x20 == 'e':
		return true, true
	case len(s) == 5 && s[0]|0x20 == 'f' && s[1]|0x20 == 'a' && s[2]|0x20 == 'l' && s[3]|0x20 == 's' && s[4]|0x20 == 'e':
		return false, true
	}
	return false, false
}

func (r *Reader) decimal(c *column, s []byte) bool {
	for _, b := range s {
		if b == ',' {
			s = r.withoutCommas(s)
			break
		}
	}
	if len(s) == 0 || s[0] <= ' ' || s[len(s)-1] <= ' ' {
		return false
	}
	v, st := decimal.Parse(s, c.p, c.s)
	if st != decimal.OK {
		return false
	}
	if c.kind == kDecimal64 {
		x, _ := decimal.Int64(v)
		c.out.AppendInt64(x)
	} else {
		c.out.AppendInt128(v)
	}
	return true
}

// withoutCommas takes out the commas between thousands.
func (r *Reader) withoutCommas(s []byte) []byte {
	r.scratch = r.scratch[:0]
	for _, c := range s {
		if c != ',' {
			r.scratch = append(r.scratch, c)
		}
	}
	return r.scratch
}

func trim(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// str is a string over bytes that do not change while it is used.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
