package filesink

import (
	"path/filepath"
	"strconv"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// keyer deals rows out to partition directories.
type keyer struct {
	s     *Sink
	zone  *datetime.Zone
	types []types.DataType
	names []string // escaped, with the equals sign
	dirs  map[string]int
	key   []byte
	out   []group
}

// group is the rows of a batch that go to one directory.
type group struct {
	dir  string
	rows []uint32
}

func newKeyer(s *Sink) *keyer {
	k := &keyer{s: s, zone: datetime.NewZone(s.req.Env.Zone), types: fieldTypes(s.req.Schema, s.parts), dirs: map[string]int{}}
	for _, p := range s.parts {
		k.names = append(k.names, files.EscapePart(s.req.Schema.Fields[p].Name)+"=")
	}
	return k
}

// group deals out the rows of a batch, in the order in which the directories come up. The result is valid until the next call.
func (k *keyer) group(b *vec.Batch) []group {
	clear(k.dirs)
	k.out = k.out[:0]
	var value []byte
	for i := range b.N {
		k.key = k.key[:0]
		for p, col := range k.s.parts {
			if p > 0 {
				k.key = append(k.key, filepath.Separator)
			}
			k.key = append(k.key, k.names[p]...)
			v := b.Cols[col]
			if v.IsNull(i) {
				k.key = append(k.key, files.DefaultPartition...)
				continue
			}
			if value = k.text(value[:0], k.types[p], v, i); len(value) == 0 {
				k.key = append(k.key, files.DefaultPartition...)
			} else {
				k.key = append(k.key, files.EscapePart(string(value))...)
			}
		}
		g, ok := k.dirs[string(k.key)]
		if !ok {
			g = len(k.out)
			dir := string(k.key)
			k.dirs[dir] = g
			k.out = append(k.out, group{dir: dir})
		}
		k.out[g].rows = append(k.out[g].rows, uint32(i))
	}
	return k.out
}

// text prints a value as a directory name holds it.
func (k *keyer) text(b []byte, t types.DataType, v *vec.Vector, i int) []byte {
	switch t := t.(type) {
	case types.BooleanType:
		return strconv.AppendBool(b, vec.At[uint8](v, i) != 0)
	case types.ByteType:
		return strconv.AppendInt(b, int64(vec.At[int8](v, i)), 10)
	case types.ShortType:
		return strconv.AppendInt(b, int64(vec.At[int16](v, i)), 10)
	case types.IntegerType:
		return strconv.AppendInt(b, int64(vec.At[int32](v, i)), 10)
	case types.LongType:
		return strconv.AppendInt(b, vec.At[int64](v, i), 10)
	case types.FloatType:
		return numtext.AppendFloat(b, float64(vec.At[float32](v, i)), 32)
	case types.DoubleType:
		return numtext.AppendFloat(b, vec.At[float64](v, i), 64)
	case types.DecimalType:
		if v.Phys() == vec.PhysInt64 {
			return decimal.Append(b, decimal.FromInt64(vec.At[int64](v, i)), t.Scale)
		}
		return decimal.Append(b, vec.At[vec.Int128](v, i), t.Scale)
	case types.StringType, types.CharType, types.VarcharType, types.BinaryType:
		return append(b, v.BytesAt(i)...)
	case types.DateType:
		return datetime.AppendDate(b, int64(vec.At[int32](v, i)))
	case types.TimestampType:
		return datetime.AppendTimestamp(b, k.zone.Local(vec.At[int64](v, i)))
	case types.TimestampNTZType:
		return datetime.AppendTimestamp(b, vec.At[int64](v, i))
	case types.TimeType:
		return datetime.AppendTimeNanos(b, vec.At[int64](v, i))
	case types.YearMonthIntervalType:
		return interval.AppendYearMonth(b, vec.At[int32](v, i), t.Start, t.End)
	case types.DayTimeIntervalType:
		return interval.AppendDayTime(b, vec.At[int64](v, i), t.Start, t.End)
	}
	return b
}
