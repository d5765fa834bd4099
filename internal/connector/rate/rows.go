package rate

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// rows are the values from value to end, exclusive, in steps of step. at gives a value's timestamp in microseconds.
type rows struct {
	value, end, step int64
	at               func(value int64) int64
	columns          []string
}

// cut deals the values from lo to hi out to n splits: value i goes to split i mod n.
func cut(lo, hi int64, n int, at func(int64) int64, want source.Projection) []source.Split {
	var out []source.Split
	for k := range int64(n) {
		if lo+k < hi {
			out = append(out, &rows{value: lo + k, end: hi, step: int64(n), at: at, columns: want.Columns})
		}
	}
	return out
}

// Open implements source.Split.
func (r *rows) Open(context.Context) (source.Reader, error) {
	c := *r
	return &c, nil
}

// batchRows bounds the rows of one record.
const batchRows = 4096

// Next implements source.Reader.
func (r *rows) Next(context.Context) (arrow.RecordBatch, error) {
	if r.value >= r.end {
		return nil, io.EOF
	}
	n := int(min((r.end-r.value+r.step-1)/r.step, batchRows))
	ts := array.NewTimestampBuilder(memory.NewGoAllocator(), &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"})
	vs := array.NewInt64Builder(memory.NewGoAllocator())
	ts.Reserve(n)
	vs.Reserve(n)
	for range n {
		ts.UnsafeAppend(arrow.Timestamp(r.at(r.value)))
		vs.UnsafeAppend(r.value)
		r.value += r.step
	}
	all := map[string]arrow.Array{"timestamp": ts.NewArray(), "value": vs.NewArray()}
	columns := r.columns
	if columns == nil {
		columns = []string{"timestamp", "value"}
	}
	fields, cols := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, name := range columns {
		cols[i] = all[name]
		fields[i] = arrow.Field{Name: name, Type: cols[i].DataType(), Nullable: true}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(n)), nil
}

// Close implements source.Reader.
func (r *rows) Close() error { return nil }

// table is what both sources have in common.
type table struct{}

// Schema implements source.Table.
func (table) Schema() types.StructType { return schema }
