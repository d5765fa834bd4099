package kafka

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
)

// writer turns the rows of a part into records and hands them to the client, which sends them in batches. Beside sink.Writer it takes
// vectors, for callers inside the engine.
type writer struct {
	b       *sinkBatch
	promise func(*kgo.Record, error)
	topic   string // of the row before
	noted   bool   // the batch knows a topic
}

func newWriter(b *sinkBatch) *writer {
	return &writer{b: b, promise: b.wrote, topic: b.s.topic}
}

// Write implements sink.Writer.
func (w *writer) Write(ctx context.Context, rows arrow.RecordBatch) error {
	b, err := vec.FromArrow(rows, w.b.s.req.Schema)
	if err != nil {
		return err
	}
	return w.WriteBatch(ctx, b)
}

// anyPartition marks records whose partition the key decides, or nobody.
const anyPartition = math.MinInt32

// WriteBatch writes the rows of a batch that count. It keeps copies of their bytes, in one piece, until the brokers have them.
func (w *writer) WriteBatch(_ context.Context, b *vec.Batch) error {
	if err := w.b.failed(); err != nil {
		return err
	}
	b = b.Compact(nil)
	c := w.b.s.cols
	column := func(i int) *vec.Vector {
		if i < 0 {
			return nil
		}
		return b.Cols[i].Flatten()
	}
	topic, partition, headers := column(c.topic), column(c.partition), column(c.headers)
	rows := make([]kgo.Record, b.N)
	now := time.Now()
	for i := range rows {
		rows[i].Partition, rows[i].Timestamp = anyPartition, now
	}
	if partition != nil {
		for i, p := range vec.Fixed[int32](partition) {
			if !partition.IsNull(i) {
				rows[i].Partition = p
			}
		}
	}
	fill(rows, column(c.key), func(r *kgo.Record, v []byte) { r.Key = v })
	fill(rows, column(c.value), func(r *kgo.Record, v []byte) { r.Value = v })
	if headers != nil {
		if err := fillHeaders(rows, headers); err != nil {
			return err
		}
	}
	for i := range rows {
		if topic != nil {
			if topic.IsNull(i) {
				return errclass.New("KAFKA_NULL_TOPIC_IN_DATA")
			}
			if t := topic.BytesAt(i); string(t) != w.topic {
				w.topic = string(t)
			}
		}
		rows[i].Topic = w.topic
		if p := rows[i].Partition; p < 0 && p != anyPartition {
			return errclass.New("KAFKA_CLIENT", "reason", "the column partition names the partition "+strconv.Itoa(int(p))+"; partitions count from 0.")
		}
		w.b.s.cl.Produce(w.b.ctx, &rows[i], w.promise)
	}
	if !w.noted && b.N > 0 {
		w.noted = true
		w.b.mu.Lock()
		w.b.topic = w.topic
		w.b.mu.Unlock()
	}
	return nil
}

// fill sets a part of each record to a copy of a column's value; null stays nil, and what is empty does not.
func fill(rows []kgo.Record, v *vec.Vector, set func(*kgo.Record, []byte)) {
	if v == nil {
		return
	}
	spans, buf := v.Spans(), v.Bytes()
	size := 0
	for i, s := range spans {
		if !v.IsNull(i) {
			size += int(s.Len)
		}
	}
	arena := make([]byte, 0, max(1, size)) // an empty slice of it is not nil
	for i, s := range spans {
		if v.IsNull(i) {
			continue
		}
		from := len(arena)
		arena = append(arena, buf[s.Off:s.Off+s.Len]...)
		set(&rows[i], arena[from:len(arena):len(arena)])
	}
}

// fillHeaders sets the headers of the records.
func fillHeaders(rows []kgo.Record, v *vec.Vector) error {
	entries := v.Kids()[0]
	names, values := entries.Kids()[0], entries.Kids()[1]
	for i := range rows {
		if v.IsNull(i) {
			continue
		}
		s := v.Spans()[i]
		list := make([]kgo.RecordHeader, 0, s.Len)
		for j := int(s.Off); j < int(s.Off+s.Len); j++ {
			if entries.IsNull(j) || names.IsNull(j) {
				return errclass.New("KAFKA_CLIENT", "reason", "a header in the column headers is null, or has no key.")
			}
			h := kgo.RecordHeader{Key: string(names.BytesAt(j))}
			if !values.IsNull(j) {
				h.Value = append([]byte{}, values.BytesAt(j)...)
			}
			list = append(list, h)
		}
		rows[i].Headers = list
	}
	return nil
}

// Close implements sink.Writer. The batch waits for the brokers.
func (w *writer) Close(context.Context) (sink.Message, error) { return nil, w.b.failed() }

// Abort implements sink.Writer.
func (w *writer) Abort() {}

// partitioner goes by the partition that a record names, and for others does what Kafka's own clients do: by key, or one partition after
// the other, a batch each.
type partitioner struct{ rest kgo.Partitioner }

// ForTopic implements kgo.Partitioner.
func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	rest := p.rest.ForTopic(topic)
	t := topicPartitioner{TopicPartitioner: rest}
	t.next, _ = rest.(kgo.TopicPartitionerOnNewBatch)
	return t
}

type topicPartitioner struct {
	kgo.TopicPartitioner
	next kgo.TopicPartitionerOnNewBatch
}

// RequiresConsistency implements kgo.TopicPartitioner.
func (t topicPartitioner) RequiresConsistency(r *kgo.Record) bool {
	return r.Partition != anyPartition || t.TopicPartitioner.RequiresConsistency(r)
}

// Partition implements kgo.TopicPartitioner.
func (t topicPartitioner) Partition(r *kgo.Record, n int) int {
	if r.Partition != anyPartition {
		return int(r.Partition)
	}
	return t.TopicPartitioner.Partition(r, n)
}

// OnNewBatch implements kgo.TopicPartitionerOnNewBatch.
func (t topicPartitioner) OnNewBatch() {
	if t.next != nil {
		t.next.OnNewBatch()
	}
}
