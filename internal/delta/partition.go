package delta

import (
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// PartitionText prints row i of a partition column as the log has it; ok is false for null, which the empty text is, too.
func PartitionText(b []byte, v *vec.Vector, i int) (text []byte, ok bool) {
	if v.IsNull(i) {
		return b, false
	}
	switch t := v.Type().(type) {
	case types.BooleanType:
		return strconv.AppendBool(b, vec.At[uint8](v, i) != 0), true
	case types.ByteType:
		return strconv.AppendInt(b, int64(vec.At[int8](v, i)), 10), true
	case types.ShortType:
		return strconv.AppendInt(b, int64(vec.At[int16](v, i)), 10), true
	case types.IntegerType:
		return strconv.AppendInt(b, int64(vec.At[int32](v, i)), 10), true
	case types.LongType:
		return strconv.AppendInt(b, vec.At[int64](v, i), 10), true
	case types.FloatType:
		return numtext.AppendFloat(b, float64(vec.At[float32](v, i)), 32), true
	case types.DoubleType:
		return numtext.AppendFloat(b, vec.At[float64](v, i), 64), true
	case types.DecimalType:
		if v.Phys() == vec.PhysInt64 {
			return decimal.Append(b, decimal.FromInt64(vec.At[int64](v, i)), t.Scale), true
		}
		return decimal.Append(b, vec.At[vec.Int128](v, i), t.Scale), true
	case types.DateType:
		return datetime.AppendDate(b, int64(vec.At[int32](v, i))), true
	case types.TimestampType:
		return append(appendMicros(b, vec.At[int64](v, i), 'T'), 'Z'), true
	case types.TimestampNTZType:
		return appendMicros(b, vec.At[int64](v, i), ' '), true
	}
	if p := v.BytesAt(i); len(p) > 0 {
		return append(b, p...), true
	}
	return b, false
}

// appendMicros prints a time with all six digits of the fraction.
func appendMicros(b []byte, us int64, sep byte) []byte {
	days := datetime.FloorDiv(us, 86_400_000_000)
	rest := us - days*86_400_000_000
	b = append(datetime.AppendDate(b, days), sep)
	s := rest / 1_000_000
	for i, n := range []int64{s / 3600, s / 60 % 60, s % 60} {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, byte('0'+n/10), byte('0'+n%10))
	}
	frac := strconv.AppendInt(nil, 1_000_000+rest%1_000_000, 10)
	frac[0] = '.'
	return append(b, frac...)
}

// PartitionValue reads a partition value as its column's type; nil for null.
func PartitionValue(t types.DataType, text *string) (any, bool) {
	if text == nil || *text == "" {
		return nil, true
	}
	s := *text
	switch t := t.(type) {
	case types.StringType, types.CharType, types.VarcharType:
		return s, true
	case types.BinaryType:
		return []byte(s), true
	case types.BooleanType:
		b, ok := numtext.ParseBool([]byte(s))
		return b, ok
	case types.ByteType:
		n, ok := numtext.ParseInt([]byte(s), false)
		return int8(n), ok && n == int64(int8(n))
	case types.ShortType:
		n, ok := numtext.ParseInt([]byte(s), false)
		return int16(n), ok && n == int64(int16(n))
	case types.IntegerType:
		n, ok := numtext.ParseInt([]byte(s), false)
		return int32(n), ok && n == int64(int32(n))
	case types.LongType:
		n, ok := numtext.ParseInt([]byte(s), false)
		return n, ok
	case types.FloatType:
		f, ok := numtext.ParseFloat([]byte(s), 32)
		return float32(f), ok
	case types.DoubleType:
		f, ok := numtext.ParseFloat([]byte(s), 64)
		return f, ok
	case types.DecimalType:
		x, st := decimal.Parse([]byte(s), t.Precision, t.Scale)
		if st != decimal.OK {
			return nil, false
		}
		return types.ParseDecimal(decimal.String(x, t.Scale))
	case types.DateType:
		d, ok := datetime.ParseDate([]byte(s))
		return types.Days(d), ok
	case types.TimestampType:
		// A time without a zone is in that of the writer's session, which nobody knows; UTC is what delta-rs takes as well.
		x, ok := datetime.ParseText([]byte(s))
		if !ok || !x.HasDate {
			return nil, false
		}
		at := x.Local
		if x.HasZone {
			zone, ok := datetime.ParseZone(x.Zone)
			if !ok {
				return nil, false
			}
			at = datetime.NewZone(zone).Instant(x.Local)
		}
		return types.Micros(at), true
	case types.TimestampNTZType:
		x, ok := datetime.ParseText([]byte(s))
		return types.MicrosNTZ(x.Local), ok && x.HasDate
	}
	return nil, false
}

// DefaultPartition stands for null in the names of folders.
const DefaultPartition = "__HIVE_DEFAULT_PARTITION__"

// EncodePath turns the path of a data file, relative to the table, into what an action has: as in an address.
func EncodePath(rel string) string {
	return strings.TrimPrefix(fs.ShortURI("/"+strings.ReplaceAll(rel, "\\", "/")), "file:/")
}

// DataFile is the file that an action's path means.
func (l *Log) DataFile(p string) (string, error) {
	if strings.HasPrefix(p, "file:") {
		return fs.ParseURI(p)
	}
	decoded, err := url.PathUnescape(p)
	if err != nil {
		return "", err
	}
	if path.IsAbs(decoded) {
		return decoded, nil
	}
	return l.Path + "/" + decoded, nil
}
