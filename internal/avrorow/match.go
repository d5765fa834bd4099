package avrorow

import (
	"errors"
	"strings"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Match says how the columns that are wanted of files are found among the fields of their schema.
type Match struct {
	// Position has the first column be the first field, and so on; otherwise names count.
	Position      bool
	CaseSensitive bool
}

// matching gives fields of schemas to columns by the rules of Spark's source of Avro files, and keeps the first reason why that cannot be.
type matching struct {
	Match
	reason string
}

func (m *matching) refuse(reason string) bool {
	if m.reason == "" {
		m.reason = reason
	}
	return false
}

func (m *matching) columns(fields []*avro.Field, t types.StructType) (at, missing []int, ok bool) {
	at = make([]int, len(fields))
	for k := range at {
		at[k] = -1
	}
	for i, column := range t.Fields {
		k := -1
		switch {
		case m.Position && i < len(fields):
			k = i
		case m.Position: // null
		default:
			for j, f := range fields {
				if f.Name() != column.Name && (m.CaseSensitive || !strings.EqualFold(f.Name(), column.Name)) {
					continue
				}
				if k >= 0 {
					return at, nil, m.refuse("there are several fields that may be the column " + column.Name)
				}
				k = j
			}
		}
		switch {
		case k < 0:
			missing = append(missing, i)
		case !m.takes(fields[k].Type(), column.Type):
			return at, nil, m.refuse("the field " + fields[k].Name() + " cannot be read as " + column.Type.SQL())
		default:
			at[k] = i
		}
	}
	return at, missing, true
}

// takes tells whether values of a schema can be had as values of a type. For records it leaves the fields to columns.
func (m *matching) takes(s avro.Schema, t types.DataType) bool {
	if !m.convertible(deref(s), t) {
		return m.refuse("values of the schema " + s.String() + " cannot be read as " + t.SQL())
	}
	return true
}

func (m *matching) convertible(s avro.Schema, t types.DataType) bool {
	logical := logicalOf(s)
	if p, ok := s.(*avro.PrimitiveSchema); ok {
		if own, ok := ownType(p); ok && own != t { // an interval is no number
			return false
		}
	}
	switch s.Type() {
	case avro.Null:
		return t == types.DataType(types.Null)
	case avro.Boolean:
		return t == types.DataType(types.Boolean)
	case avro.Int:
		switch t.(type) {
		case types.IntegerType, types.LongType, types.DoubleType, types.DateType, types.YearMonthIntervalType:
			return true
		}
	case avro.Long:
		switch t.(type) {
		case types.LongType, types.DayTimeIntervalType:
			return true
		case types.TimestampType:
			return logical == "" || logical == avro.TimestampMillis || logical == avro.TimestampMicros
		case types.TimestampNTZType:
			return logical == "" || logical == avro.LocalTimestampMillis || logical == avro.LocalTimestampMicros
		case types.TimeType:
			return logical == avro.TimeMicros
		}
	case avro.Float:
		return t == types.DataType(types.Float) || t == types.DataType(types.Double)
	case avro.Double:
		return t == types.DataType(types.Double)
	case avro.String, avro.Enum:
		return types.IsString(t)
	case avro.Bytes, avro.Fixed:
		d, isDecimal := t.(types.DecimalType)
		if !isDecimal {
			return t == types.DataType(types.Binary)
		}
		own, ok := s.(avro.LogicalTypeSchema).Logical().(*avro.DecimalLogicalSchema)
		return ok && own.Precision()-own.Scale() <= d.Precision-d.Scale
	case avro.Array:
		_, ok := t.(types.ArrayType)
		return ok
	case avro.Map:
		mt, ok := t.(types.MapType)
		return ok && types.IsString(mt.Key)
	case avro.Record:
		_, ok := t.(types.StructType)
		return ok
	case avro.Union:
		return m.union(s.(*avro.UnionSchema), t)
	}
	return false
}

func (m *matching) union(s *avro.UnionSchema, t types.DataType) bool {
	branches, _ := branchesOf(s)
	switch {
	case len(branches) == 0:
		return t == types.DataType(types.Null)
	case len(branches) == 1:
		return m.convertible(branches[0], t)
	case plainPair(branches, avro.Int, avro.Long):
		return t == types.DataType(types.Long)
	case plainPair(branches, avro.Float, avro.Double):
		return t == types.DataType(types.Double)
	}
	st, ok := t.(types.StructType)
	ok = ok && len(st.Fields) == len(branches)
	for i := 0; ok && i < len(branches); i++ {
		ok = m.convertible(branches[i], st.Fields[i].Type)
	}
	return ok
}

// Rows reads the records of files into columns. It belongs to one goroutine.
type Rows struct {
	root *conv
	out  *vec.Builder
}

// NewRows returns a reader of records that were written by one schema and are read by another, of which these columns are wanted.
// reason tells why that cannot be.
func NewRows(written, reader avro.Schema, want types.StructType, m Match, cal *Calendar) (r *Rows, reason string) {
	rs := resolver{match: &matching{Match: m}, calendar: cal}
	root := rs.resolve(written, reader, want)
	if rs.match.reason == "" && root.wire != wireRecord {
		rs.match.reason = "the records of the files are not those of the schema"
	}
	return &Rows{root, vec.NewBuilder(want)}, rs.match.reason
}

var errUnfit = errors.New("a record does not fit the schema")

// Read reads one record and gives what is behind it. When it cannot be read, what was read of it is dropped.
func (r *Rows) Read(b []byte) (rest []byte, err error) {
	n := r.out.Len()
	in := cursor{b: b}
	if !r.root.read(&in, r.out) || in.bad {
		r.out.Truncate(n)
		if in.ancient {
			return b, ErrAncient
		}
		return b, errUnfit
	}
	return in.b, nil
}

// Len is the number of rows read since the last Take, Size about how many bytes they have.
func (r *Rows) Len() int { return r.out.Len() }

// Size is about how many bytes the rows have that were read since the last Take.
func (r *Rows) Size() int { return r.out.Size() }

// Take hands the rows out.
func (r *Rows) Take() *vec.Batch {
	v := r.out.Finish()
	return &vec.Batch{N: v.Len(), Cols: v.Kids()}
}
