package statestore

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Metadata is the format state-metadata.
type Metadata struct{ FS fs.FS }

var metadataFields = []types.Field{
	{Name: "operatorId", Type: types.Long},
	{Name: "operatorName", Type: types.String},
	{Name: "stateStoreName", Type: types.String},
	{Name: "numPartitions", Type: types.Integer},
	{Name: "minBatchId", Type: types.Long},
	{Name: "maxBatchId", Type: types.Long},
	{Name: "operatorProperties", Type: types.String, Nullable: true},
}

var prefixField = types.Field{Name: "_numColsPrefixKey", Type: types.Integer}

// Open implements source.Format.
func (f Metadata) Open(_ context.Context, req source.Request) (source.Table, error) {
	if err := batchOnly(req); err != nil {
		return nil, err
	}
	return &metadata{fsys: f.FS, req: req}, nil
}

type metadata struct {
	fsys fs.FS
	req  source.Request
}

// Schema implements source.Table.
func (m *metadata) Schema() types.StructType { return types.StructType{Fields: metadataFields} }

// HiddenColumns implements source.Hidden.
func (m *metadata) HiddenColumns() []types.Field { return []types.Field{prefixField} }

// Scan implements source.Batch.
func (m *metadata) Scan(ctx context.Context, want source.Projection) ([]source.Split, error) {
	dir, err := location(m.req)
	if err != nil {
		return nil, err
	}
	ck, err := checkpoint.Open(ctx, m.fsys, dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	ops, err := ck.Operators()
	if err != nil {
		return nil, err
	}
	first, last := int64(-1), int64(-1)
	if ids := ck.Commits.IDs(); len(ids) > 0 {
		first, last = ids[0], ids[len(ids)-1]
	}
	all := types.StructType{Fields: append(append([]types.Field(nil), metadataFields...), prefixField)}
	columns := want.Columns
	if columns == nil {
		for _, f := range metadataFields {
			columns = append(columns, f.Name)
		}
	}
	st, pick, err := project(all, columns)
	if err != nil {
		return nil, err
	}
	builders := vec.NewBuilders(all)
	n := 0
	for _, op := range ops {
		for _, s := range op.Stores {
			row := []any{op.ID, op.Name, s.Name, int32(s.NumPartitions), first, last, nil, int32(s.NumColsPrefixKey)}
			for c, v := range row {
				if err := builders[c].AppendValue(v); err != nil {
					return nil, fmt.Errorf("state-metadata: %w", err)
				}
			}
			n++
		}
	}
	b := vec.NewBatch(n)
	for _, c := range pick {
		b.Cols = append(b.Cols, builders[c].Finish())
	}
	rec, err := vec.ToArrow(b, types.ArrowSchema(st, types.ArrowOptions{}))
	if err != nil {
		return nil, err
	}
	return []source.Split{once{rec}}, nil
}

// once is a split of one record.
type once struct{ rec arrow.RecordBatch }

// Open implements source.Split.
func (o once) Open(context.Context) (source.Reader, error) { return &onceReader{rec: o.rec}, nil }

type onceReader struct{ rec arrow.RecordBatch }

// Next implements source.Reader.
func (r *onceReader) Next(context.Context) (arrow.RecordBatch, error) {
	if r.rec == nil {
		return nil, io.EOF
	}
	rec := r.rec
	r.rec = nil
	return rec, nil
}

// Close implements source.Reader.
func (r *onceReader) Close() error { return nil }
