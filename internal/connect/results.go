package connect

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/millrace/millrace/internal/connect/convert"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// query runs a relation and sends its schema, rows and metrics.
func (op *operation) query(root *connectpb.Relation) error {
	c := convert.New(op.ctx, op.h.Session)
	n, err := c.Relation(root)
	if err != nil {
		return err
	}
	return op.rows(n, c.Observed())
}

// rows runs a plan and sends what it gives.
func (op *operation) rows(n plan.Node, observed map[string]int64) error {
	q, err := op.h.Prepare(op.ctx, n, "collect")
	if err != nil {
		return err
	}
	if err := op.emit(op.ctx, &connectpb.ExecutePlanResponse{Schema: typepb.Message(q.Schema)}, nil, 100); err != nil {
		return err
	}
	w := newRowWriter(op, q.Schema)
	if err := q.Run(op.ctx, w.write); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	return op.metrics(q.Observed(), observed)
}

// metrics sends what closes a result: counters, which we leave out, and observed metrics. planIDs are the relations of the latter.
func (op *operation) metrics(observed []query.Observation, planIDs map[string]int64) error {
	m := &connectpb.ExecutePlanResponse{Metrics: &connectpb.ExecutePlanResponse_Metrics{}}
	m.ObservedMetrics = observedMessages(observed, planIDs)
	return op.emit(op.ctx, m, nil, 0)
}

func observedMessages(observed []query.Observation, planIDs map[string]int64) []*connectpb.ExecutePlanResponse_ObservedMetrics {
	var out []*connectpb.ExecutePlanResponse_ObservedMetrics
	for _, o := range observed {
		m := &connectpb.ExecutePlanResponse_ObservedMetrics{Name: o.Name, PlanId: planIDs[o.Name]}
		for i, f := range o.Schema.Fields {
			m.Keys = append(m.Keys, f.Name)
			m.Values = append(m.Values, convert.LiteralMessage(o.Row[i], f.Type))
		}
		out = append(out, m)
	}
	return out
}

// rowWriter turns batches of the engine into responses. Small batches are put together: a client pays for each message.
type rowWriter struct {
	op      *operation
	schema  *arrow.Schema
	maxRows int64
	pending []*vec.Batch
	rows    int64 // pending
	bytes   int64 // pending, about
	sent    int64 // rows
	some    bool
	chunk   int64 // size of chunks, 0 when the client allows none
}

// chunkBytes is the size of the chunks of a large batch when the client does not name one.
const chunkBytes = 4 << 20

// maxBatchRows bounds the rows of a batch unless the session sets a number.
const maxBatchRows = 1 << 16

func newRowWriter(op *operation, st types.StructType) *rowWriter {
	conf := op.h.Conf
	w := &rowWriter{op: op, maxRows: maxBatchRows, schema: types.ArrowSchema(st, types.ArrowOptions{
		TimeZone: conf.Value(setting.TimeZone), LargeVarTypes: conf.Bool(setting.LargeVarTypes), DistinctNames: true,
	})}
	if _, set := conf.Explicit(setting.ArrowMaxRecords); set && conf.Int(setting.ArrowMaxRecords) > 0 {
		w.maxRows = conf.Int(setting.ArrowMaxRecords)
	}
	for _, r := range op.req.GetRequestOptions() {
		if c := r.GetResultChunkingOptions(); c.GetAllowArrowBatchChunking() {
			w.chunk = chunkBytes
			if c.GetPreferredArrowChunkSize() > 0 {
				w.chunk = max(c.GetPreferredArrowChunkSize(), 1024)
			}
		}
	}
	return w
}

func (w *rowWriter) write(b *vec.Batch) error {
	for int64(b.N) > w.maxRows {
		if err := w.write(b.Slice(0, int(w.maxRows))); err != nil {
			return err
		}
		b = b.Slice(int(w.maxRows), b.N-int(w.maxRows))
	}
	size := batchBytes(b)
	limit := w.op.h.svc.settings.BatchBytes
	if size > 4*limit && b.N > 1 { // long texts: smaller messages instead of one that no client takes
		half := b.N / 2
		if err := w.write(b.Slice(0, half)); err != nil {
			return err
		}
		return w.write(b.Slice(half, b.N-half))
	}
	if w.rows > 0 && (w.rows+int64(b.N) > w.maxRows || w.bytes+size > limit) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.pending = append(w.pending, b)
	w.rows += int64(b.N)
	w.bytes += size
	if w.rows >= w.maxRows || w.bytes >= limit {
		return w.flush()
	}
	return nil
}

// finish sends what is left; an empty result is one empty batch.
func (w *rowWriter) finish() error {
	if w.rows > 0 || !w.some {
		return w.flush()
	}
	return nil
}

func (w *rowWriter) flush() error {
	b := vec.EmptyBatch(schemaTypes(w.schema, w.pending))
	switch len(w.pending) {
	case 0:
	case 1:
		b = w.pending[0]
	default:
		b = vec.ConcatBatches(w.pending)
	}
	start := w.sent
	w.sent += w.rows
	w.pending, w.rows, w.bytes, w.some = w.pending[:0], 0, 0, true
	var rec arrow.RecordBatch
	var err error
	if len(b.Cols) == 0 && len(w.schema.Fields()) == 0 {
		rec = array.NewRecordBatch(w.schema, nil, int64(b.N))
	} else if rec, err = vec.ToArrow(b, w.schema); err != nil {
		return err
	}
	rows := rec.NumRows()
	batch := &connectpb.ExecutePlanResponse_ArrowBatch{RowCount: rows, StartOffset: &start}
	msg := func(a *connectpb.ExecutePlanResponse_ArrowBatch) *connectpb.ExecutePlanResponse {
		return &connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_ArrowBatch_{ArrowBatch: a}}
	}
	one, zero := int64(1), int64(0)
	if w.op.records {
		batch.ChunkIndex, batch.NumChunksInBatch = &zero, &one
		return w.op.emit(w.op.ctx, msg(batch), rec, batchBytes(b))
	}
	data, err := encodeIPC(w.schema, rec)
	if err != nil {
		return err
	}
	if w.chunk == 0 || int64(len(data)) <= w.chunk {
		batch.Data, batch.ChunkIndex, batch.NumChunksInBatch = data, &zero, &one
		return w.op.emit(w.op.ctx, msg(batch), nil, int64(len(data)))
	}
	n := (int64(len(data)) + w.chunk - 1) / w.chunk
	for i := range n {
		part := data[i*w.chunk : min((i+1)*w.chunk, int64(len(data)))]
		a := &connectpb.ExecutePlanResponse_ArrowBatch{
			RowCount: rows, StartOffset: &start, Data: part, ChunkIndex: &i, NumChunksInBatch: &n,
		}
		if err := w.op.emit(w.op.ctx, msg(a), nil, int64(len(part))); err != nil {
			return err
		}
	}
	return nil
}

// schemaTypes are the types of an empty batch's columns. They are asked for only when nothing is pending.
func schemaTypes(s *arrow.Schema, pending []*vec.Batch) []types.DataType {
	if len(pending) > 0 {
		return nil
	}
	st, err := types.FromArrowSchema(s)
	if err != nil {
		return nil
	}
	ts := make([]types.DataType, len(st.Fields))
	for i, f := range st.Fields {
		ts[i] = f.Type
	}
	return ts
}

// encodeIPC writes a record as a stream of its own: schema, record, end. A record without rows is written, too: clients take the columns from it.
func encodeIPC(schema *arrow.Schema, rec arrow.RecordBatch) ([]byte, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	if err := w.Write(rec); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// batchBytes is about how many bytes a batch takes on the wire.
func batchBytes(b *vec.Batch) int64 {
	size := int64(0)
	for _, c := range b.Cols {
		size += vectorBytes(c)
	}
	return size
}

func vectorBytes(v *vec.Vector) int64 {
	n := int64(v.Len())
	if v.Encoding() != vec.Flat {
		base := v
		if v.Encoding() == vec.Dict {
			base = v.Base()
		}
		if l := int64(base.Len()); v.Encoding() == vec.Dict && l > 0 {
			return vectorBytes(base) * n / l
		}
		return n * 16
	}
	if w := v.Phys().Width(); w > 0 {
		return n * int64(w)
	}
	size := n * 4
	switch {
	case v.Phys() == vec.PhysBytes:
		for _, s := range v.Spans() {
			size += int64(s.Len)
		}
	default:
		for _, k := range v.Kids() {
			if k.Len() > 0 && v.Spans() != nil {
				size += vectorBytes(k) * spansLen(v) / int64(k.Len())
			} else {
				size += vectorBytes(k)
			}
		}
	}
	return size
}

func spansLen(v *vec.Vector) int64 {
	n := int64(0)
	for _, s := range v.Spans() {
		n += int64(s.Len)
	}
	return n
}

// collectIPC runs a plan and gives all its rows as one stream.
func (op *operation) collectIPC(ctx context.Context, n plan.Node) ([]byte, error) {
	batches, st, err := op.h.Batches(ctx, n, "collect")
	if err != nil {
		return nil, err
	}
	schema := types.ArrowSchema(st, types.ArrowOptions{TimeZone: op.h.Conf.Value(setting.TimeZone)})
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	for _, batch := range batches {
		rec, err := vec.ToArrow(batch, schema)
		if err != nil {
			return nil, err
		}
		if err := w.Write(rec); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return b.Bytes(), err
}
