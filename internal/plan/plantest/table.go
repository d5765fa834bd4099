package plantest

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Table is a table in memory as a connector offers it. It delivers the columns it is asked for and leaves filters to the engine.
type Table struct {
	schema types.StructType
	splits []*vec.Batch
}

// Schema implements source.Table.
func (t *Table) Schema() types.StructType { return t.schema }

// Scan implements source.Batch.
func (t *Table) Scan(_ context.Context, want source.Projection) ([]source.Split, error) {
	st := types.StructType{}
	var at []int
	for _, name := range want.Columns {
		i := t.schema.IndexFold(name)
		st.Fields, at = append(st.Fields, t.schema.Fields[i]), append(at, i)
	}
	schema := types.ArrowSchema(st, types.ArrowOptions{})
	var out []source.Split
	for _, b := range t.splits {
		picked := vec.NewBatch(b.N)
		for _, i := range at {
			picked.Cols = append(picked.Cols, b.Cols[i])
		}
		rec, err := vec.ToArrow(picked, schema)
		if err != nil {
			return nil, err
		}
		out = append(out, split{rec})
	}
	return out, nil
}

type split struct{ rec arrow.RecordBatch }

// Open implements source.Split.
func (s split) Open(context.Context) (source.Reader, error) { return &reader{rec: s.rec}, nil }

type reader struct {
	rec  arrow.RecordBatch
	done bool
}

// Next implements source.Reader.
func (r *reader) Next(context.Context) (arrow.RecordBatch, error) {
	if r.done {
		return nil, io.EOF
	}
	r.done = true
	return r.rec, nil
}

// Close implements source.Reader.
func (r *reader) Close() error { return nil }
