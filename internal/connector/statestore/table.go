package statestore

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/stateful/transform"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Format is the format statestore.
type Format struct{ FS fs.FS }

// Open implements source.Format.
func (f Format) Open(ctx context.Context, req source.Request) (source.Table, error) {
	if err := batchOnly(req); err != nil {
		return nil, err
	}
	o, err := parseOptions(req)
	if err != nil {
		return nil, err
	}
	last, ck, err := committed(ctx, f.FS, o.dir)
	if err != nil {
		return nil, err
	}
	if err := o.settle(last); err != nil {
		return nil, err
	}
	if !ck.Offsets.Has(o.batch) {
		return nil, errclass.New("STDS_OFFSET_LOG_UNAVAILABLE", "batchId", fmt.Sprint(o.batch), "checkpointLocation", o.dir)
	}
	t := &table{o: o, state: &operatorState{f.FS, ck, o}}
	h, err := t.state.header(o.batch)
	if err != nil {
		return nil, err
	}
	return t, t.describe(ctx, h)
}

// batchOnly refuses streams and schemas.
func batchOnly(req source.Request) error {
	switch {
	case req.Stream:
		return errclass.New("UNSUPPORTED_STREAMING_OPERATION.SOURCE", "provider", req.Format)
	case req.Schema != nil:
		return errclass.New("UNSUPPORTED_STREAMING_OPERATION.USER_SCHEMA", "provider", req.Format)
	}
	return nil
}

// settle fills in the batch and checks batches against the last one that was committed.
func (o *options) settle(last int64) error {
	if o.feed {
		if o.end < 0 {
			o.end = last
		}
		if o.end < o.start {
			return invalid("changeEndBatchId", fmt.Sprintf("batch %d is before changeStartBatchId, %d", o.end, o.start))
		}
		o.batch = o.end
	}
	if o.batch < 0 {
		o.batch = last
	}
	switch {
	case o.batch > last:
		return errclass.New("STDS_COMMITTED_BATCH_UNAVAILABLE", "checkpointLocation", o.dir)
	case o.snapshot > o.batch:
		return invalid("snapshotStartBatchId", fmt.Sprintf("it must be at most %d", o.batch))
	}
	return nil
}

// table is the state of an operator, or its changes.
type table struct {
	o          options
	state      *operatorState
	view       state.View
	cols       []types.DataType // of the state: keys, then values
	keys       int
	partitions int
	schema     types.StructType
	custom     *custom // of a stateful processor; view, cols and keys are for others
}

// describe finds the view that the options ask for, and its schema.
func (t *table) describe(ctx context.Context, h state.Header) error {
	switch custom := h.Operator == transform.OperatorName; {
	case custom:
		return t.describeCustom(ctx, h)
	case t.o.variable != "":
		return invalid("stateVarName", "the operator "+h.Operator+" has no state variables")
	case t.o.timers:
		return invalid("readRegisteredTimers", "the operator "+h.Operator+" has no timers")
	case !h.Tables():
		return invalid("operatorId", "the state of "+h.Operator+" cannot be read")
	}
	spec, err := h.Spec()
	if err != nil {
		return t.o.noSchema(err)
	}
	t.partitions, t.keys, t.cols = h.Partitions, len(spec.Keys), append(spec.KeyTypes(), spec.ValueTypes()...)
	if t.o.partition >= int64(h.Partitions) {
		return errclass.New("CANNOT_LOAD_STATE_STORE.SNAPSHOT_PARTITION_ID_NOT_FOUND", "operatorId", fmt.Sprint(t.o.operator),
			"checkpointLocation", t.o.dir, "snapshotPartitionId", fmt.Sprint(t.o.partition))
	}
	if t.o.storeName != defaultStore {
		return invalid("storeName", fmt.Sprintf("the operator %s has no store %s that can be read", h.Operator, t.o.storeName))
	}
	for _, v := range h.Views {
		if v.Name != t.o.side {
			continue
		}
		t.view = v
		key, err := t.structOf(v.Key)
		if err != nil {
			return t.o.noSchema(err)
		}
		value, err := t.structOf(v.Value)
		if err != nil {
			return t.o.noSchema(err)
		}
		if t.o.feed {
			t.schema.Fields = append(t.schema.Fields, types.Field{Name: "batch_id", Type: types.Long, Nullable: true},
				types.Field{Name: "change_type", Type: types.String, Nullable: true})
		}
		t.schema.Fields = append(t.schema.Fields, types.Field{Name: "key", Type: key, Nullable: true},
			types.Field{Name: "value", Type: value, Nullable: true}, types.Field{Name: "partition_id", Type: types.Integer, Nullable: true})
		return nil
	}
	return t.o.noSchema(fmt.Errorf("the state has no such part"))
}

func (t *table) structOf(cols []state.ViewColumn) (st types.StructType, err error) {
	for _, c := range cols {
		f := types.Field{Name: c.Name, Nullable: true}
		switch {
		case c.Fields != nil:
			if f.Type, err = t.structOf(c.Fields); err != nil {
				return st, err
			}
		case c.Column == state.NullColumn:
			f.Type = types.Null
		case c.Column < 0 || c.Column >= len(t.cols):
			return st, fmt.Errorf("the state has no column %d", c.Column)
		default:
			f.Type = t.cols[c.Column]
		}
		st.Fields = append(st.Fields, f)
	}
	return st, nil
}

// Schema implements source.Table.
func (t *table) Schema() types.StructType { return t.schema }

// Scan implements source.Batch: one split a batch of the feed, or one.
func (t *table) Scan(_ context.Context, want source.Projection) ([]source.Split, error) {
	schema, pick, err := project(t.schema, want.Columns)
	if err != nil {
		return nil, err
	}
	var splits []source.Split
	first := t.o.batch
	if t.o.feed {
		first = t.o.start
	}
	for b := first; b <= t.o.batch; b++ {
		splits = append(splits, &split{t: t, batch: b, schema: types.ArrowSchema(schema, types.ArrowOptions{}), pick: pick})
	}
	return splits, nil
}

// project is the part of a schema that columns name; nil names all.
func project(st types.StructType, columns []string) (out types.StructType, pick []int, err error) {
	if columns == nil {
		for i := range st.Fields {
			pick = append(pick, i)
		}
		return st, pick, nil
	}
	for _, name := range columns {
		found := false
		for i, f := range st.Fields {
			if f.Name == name {
				out.Fields, pick, found = append(out.Fields, f), append(pick, i), true
				break
			}
		}
		if !found {
			return out, nil, fmt.Errorf("statestore: there is no column %s", name)
		}
	}
	return out, pick, nil
}

// split reads the state behind a batch, or what the batch has changed.
type split struct {
	t      *table
	batch  int64
	schema *arrow.Schema
	pick   []int
	rows   []*vec.Batch
	opened bool
}

// Open implements source.Split.
func (s *split) Open(context.Context) (source.Reader, error) {
	return &split{t: s.t, batch: s.batch, schema: s.schema, pick: s.pick}, nil
}

// Close implements source.Reader.
func (s *split) Close() error { return nil }

// Next implements source.Reader.
func (s *split) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if !s.opened {
		s.opened = true
		if err := s.read(ctx); err != nil {
			return nil, err
		}
	}
	if len(s.rows) == 0 {
		return nil, io.EOF
	}
	b := s.rows[0]
	s.rows = s.rows[1:]
	cols := make([]*vec.Vector, len(s.pick))
	for i, c := range s.pick {
		cols[i] = b.Cols[c]
	}
	return vec.ToArrow(vec.NewBatch(b.N, cols...), s.schema)
}

func (s *split) read(ctx context.Context) error {
	t := s.t
	if t.custom != nil {
		return t.readCustom(ctx, s.batch, s.add)
	}
	if !t.o.feed {
		c, err := t.state.content(ctx, s.batch)
		if err != nil {
			return err
		}
		for _, b := range c.Rows {
			s.add(t.rows(b))
		}
		return nil
	}
	c, err := t.state.changes(ctx, s.batch)
	if err != nil {
		return err
	}
	for _, b := range c.Rows {
		s.addChange(t.rows(b), "update")
	}
	for _, b := range c.Gone {
		s.addChange(t.gone(b), "delete")
	}
	return nil
}

func (s *split) add(b *vec.Batch) {
	if b.N > 0 {
		s.rows = append(s.rows, b)
	}
}

func (s *split) addChange(b *vec.Batch, change string) {
	id, kind := vec.NewFixed(types.Long, b.N), vec.NewBuilder(types.String)
	for i := range b.N {
		vec.Fixed[int64](id)[i] = s.batch
		kind.AppendString(change)
	}
	s.add(vec.NewBatch(b.N, append([]*vec.Vector{id, kind.Finish()}, b.Cols...)...))
}
