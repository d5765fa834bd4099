package parquetfile

import (
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// mayHold tells whether a row group may hold rows that fulfil all filters, by what its footer says of the smallest and largest values.
func mayHold(r *file.Reader, g int, m *matcher, filters []source.Filter) bool {
	for _, f := range filters {
		p, ok, err := m.child(place{n: m.s.Root()}, f.Column)
		if err != nil {
			return true
		}
		if !ok { // all null
			if f.Op != source.IsNull {
				return false
			}
			continue
		}
		leaf, ok := p.n.(*schema.PrimitiveNode)
		if !ok || p.rep > 0 || m.cal.moves(leaf) {
			continue
		}
		i := m.s.ColumnIndexByNode(leaf)
		if i < 0 {
			continue
		}
		c, err := r.MetaData().RowGroup(g).ColumnChunk(i)
		if err != nil {
			continue
		}
		s, err := c.Statistics()
		if err != nil || s == nil {
			continue
		}
		if !statsMayMatch(f, c.NumValues(), s, leaf) {
			return false
		}
	}
	return true
}

func statsMayMatch(f source.Filter, rows int64, s metadata.TypedStatistics, leaf *schema.PrimitiveNode) bool {
	switch f.Op {
	case source.IsNull:
		return !s.HasNullCount() || s.NullCount() > 0
	case source.IsNotNull:
		return !s.HasNullCount() || s.NullCount() < rows
	}
	if s.HasNullCount() && s.NullCount() == rows {
		return false
	}
	if !s.HasMinMax() {
		return true
	}
	low, high, ok := bounds(s, leaf)
	if !ok {
		return true
	}
	return files.MayMatchWithin(f, low, high)
}

// bounds are the smallest and the largest value as values of the column's usual type.
func bounds(s metadata.TypedStatistics, leaf *schema.PrimitiveNode) (low, high any, ok bool) {
	t, ok := primitiveType(leaf)
	if !ok {
		return nil, nil, false
	}
	switch s := s.(type) {
	case *metadata.Int32Statistics:
		switch t.(type) {
		case types.IntegerType:
			return s.Min(), s.Max(), true
		case types.DateType:
			return types.Days(s.Min()), types.Days(s.Max()), true
		case types.ByteType:
			return int8(s.Min()), int8(s.Max()), true
		case types.ShortType:
			return int16(s.Min()), int16(s.Max()), !isUnsigned(leaf.LogicalType())
		}
	case *metadata.Int64Statistics:
		mul, div := int64(1), int64(1)
		if ts, ok := leaf.LogicalType().(schema.TimestampLogicalType); ok {
			switch ts.TimeUnit() {
			case schema.TimeUnitMillis:
				mul = 1000
			case schema.TimeUnitNanos:
				div = 1000
			}
		}
		lo, hi := s.Min(), s.Max()
		if mul != 1 && (lo < -1<<52 || hi > 1<<52) {
			return nil, nil, false
		}
		switch t.(type) {
		case types.LongType:
			return lo, hi, !isUnsigned(leaf.LogicalType())
		case types.TimestampType:
			return types.Micros(floorDiv(lo*mul, div)), types.Micros(floorDiv(hi*mul, div)), true
		case types.TimestampNTZType:
			return types.MicrosNTZ(floorDiv(lo*mul, div)), types.MicrosNTZ(floorDiv(hi*mul, div)), true
		}
	case *metadata.Float32Statistics:
		return s.Min(), s.Max(), s.Min() == s.Min() && s.Max() == s.Max()
	case *metadata.Float64Statistics:
		return s.Min(), s.Max(), s.Min() == s.Min() && s.Max() == s.Max()
	case *metadata.BooleanStatistics:
		return s.Min(), s.Max(), true
	case *metadata.ByteArrayStatistics:
		if _, ok := t.(types.StringType); ok && leaf.PhysicalType() == parquet.Types.ByteArray {
			return string(s.Min()), string(s.Max()), true
		}
	}
	return nil, nil, false
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}
