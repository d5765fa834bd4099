package kafka

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/millrace/millrace/internal/connector/kafka/client"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// Options of the sink; those without a counterpart in Spark are below.
const (
	optTopic = "topic"
	// optTransactional makes every batch one transaction, which is committed once.
	optTransactional = "transactional"
	// optIDPrefix begins the names of the sink's transactions.
	optIDPrefix     = "transactionalIdPrefix"
	defaultIDPrefix = "millrace"
)

// sinkRefuses are settings that the sink keeps to itself, with the reason.
var sinkRefuses = []struct{ name, reason string }{
	{"key.serializer", "keys are written as they are; make the column key binary or a string."},
	{"value.serializer", "values are written as they are; make the column value binary or a string."},
}

// SinkFormat is the Kafka sink.
type SinkFormat struct{}

// Open implements sink.Format. A stream reports mistakes when it runs, as in Spark.
func (SinkFormat) Open(_ context.Context, req sink.Request) (sink.Sink, error) {
	s := &kafkaSink{req: req}
	if req.Stream {
		return s, nil
	}
	if err := s.settle(); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

type kafkaSink struct {
	req     sink.Request
	settled bool
	cols    sinkColumns
	topic   string // of the option, or ""
	cl      *kgo.Client
	txn     *transactions // nil without
}

// settle checks the request and makes the client.
func (s *kafkaSink) settle() (err error) {
	if s.settled {
		return nil
	}
	if m := s.req.Mode; !s.req.Stream && (m == sink.Overwrite || m == sink.Ignore) {
		return errclass.New("_LEGACY_ERROR_TEMP_3081", "mode", map[sink.Mode]string{sink.Overwrite: "overwrite", sink.Ignore: "ignore"}[m])
	}
	s.topic, _ = s.req.Options.Get(optTopic)
	s.topic = strings.TrimSpace(s.topic)
	settings := client.Cut(s.req.Options)
	for _, r := range sinkRefuses {
		if _, ok := settings[r.name]; ok {
			return errclass.New("KAFKA_INVALID_OPTION.UNSUPPORTED", "option", client.Prefix+r.name, "reason", r.reason)
		}
	}
	if s.cols, err = findColumns(s.req.Schema, s.topic != ""); err != nil {
		return err
	}
	if _, ok := settings["bootstrap.servers"]; !ok {
		return errclass.New("MISSING_KAFKA_OPTION", "option", optBootstrap)
	}
	opts, err := settings.Options(s.req.Env.Log)
	if err != nil {
		return err
	}
	more, err := settings.Producer()
	if err != nil {
		return err
	}
	opts = append(append(opts, more...), kgo.RecordPartitioner(partitioner{kgo.StickyKeyPartitioner(nil)}))
	transactional, err := s.flag(optTransactional)
	if err != nil {
		return err
	}
	if transactional {
		if s.txn, err = s.transactions(settings); err != nil {
			return err
		}
		opts = append(opts, s.txn.options()...)
	}
	if s.cl, err = kgo.NewClient(opts...); err != nil {
		return clientError(err)
	}
	s.settled = true
	return nil
}

func (s *kafkaSink) flag(option string) (bool, error) {
	v, ok := s.req.Options.Get(option)
	if !ok {
		return false, nil
	}
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, badValue(option, v, "it must be true or false.")
}

// Info implements sink.Sink.
func (s *kafkaSink) Info() sink.Info {
	// Spark shows the object's name; who reads progress may look for it.
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.req.QueryID))
	return sink.Info{
		Description: fmt.Sprintf("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@%x", h.Sum32()),
		CountsRows:  true, NeedsCheckpoint: true, Recovers: true,
	}
}

// Begin implements sink.Sink. Without transactions a batch that comes again is written again.
func (s *kafkaSink) Begin(ctx context.Context, id int64) (sink.Batch, bool, error) {
	if err := s.settle(); err != nil {
		return nil, false, err
	}
	b := &sinkBatch{s: s, id: id, ctx: ctx}
	if s.txn == nil {
		return b, false, nil
	}
	done, err := s.txn.begin(ctx, s.cl, id)
	return b, done, err
}

// Close implements sink.Sink.
func (s *kafkaSink) Close() error {
	if s.cl != nil {
		s.cl.Close()
		s.cl = nil
	}
	return nil
}

// sinkBatch is one batch being written.
type sinkBatch struct {
	s   *kafkaSink
	id  int64
	ctx context.Context // of the batch: records are sent after their part has ended

	mu    sync.Mutex
	first error
	topic string // of some row
}

// Writer implements sink.Batch.
func (b *sinkBatch) Writer(context.Context, int) (sink.Writer, error) { return newWriter(b), nil }

// wrote is called for every record that is written or is not.
func (b *sinkBatch) wrote(_ *kgo.Record, err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == nil {
		b.first = err
	}
}

func (b *sinkBatch) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return clientError(b.first)
}

// Commit implements sink.Batch: the brokers have all rows when it returns.
func (b *sinkBatch) Commit(ctx context.Context, _ []sink.Message) error {
	if err := b.s.cl.Flush(ctx); err != nil {
		return err
	}
	if err := b.failed(); err != nil {
		return err
	}
	if b.s.txn == nil {
		return nil
	}
	return b.s.txn.commit(ctx, b.s.cl, b.id, b.topic)
}

// Abort implements sink.Batch. What the brokers have already stays there, unless it is in a transaction.
func (b *sinkBatch) Abort(ctx context.Context) {
	if b.s.txn != nil {
		b.s.txn.abort(ctx, b.s.cl)
		return
	}
	_ = b.s.cl.AbortBufferedRecords(ctx)
}

// sinkColumns are the places of the columns; -1 for those that are not there.
type sinkColumns struct{ topic, key, value, headers, partition int }

// findColumns finds the columns that make a record, as Spark does: others are left out.
func findColumns(s types.StructType, topicGiven bool) (c sinkColumns, err error) {
	wrong := func(format string, args ...any) error {
		return errclass.New("_LEGACY_ERROR_TEMP_3080", "msg", fmt.Sprintf(format, args...))
	}
	find := func(name, want string, fits func(types.DataType) bool) int {
		i := slices.IndexFunc(s.Fields, func(f types.Field) bool { return f.Name == name }) // in this case, as in Spark
		if i >= 0 && !fits(s.Fields[i].Type) && err == nil {
			err = wrong("the column %s must be of type %s, not %s.", name, want, s.Fields[i].Type.SimpleString())
		}
		return i
	}
	if c.topic = -1; !topicGiven {
		if c.topic = find("topic", "string", isText); c.topic < 0 && err == nil {
			return c, wrong("there is no column topic; add one, or set the option topic.")
		}
	}
	c.key = find("key", "string or binary", isBytes)
	if c.value = find("value", "string or binary", isBytes); c.value < 0 && err == nil {
		return c, wrong("there is no column value.")
	}
	c.headers = find("headers", "array<struct<key:string,value:binary>>", isHeaders)
	c.partition = find("partition", "int", func(t types.DataType) bool { return t == types.Integer })
	return c, err
}

func isText(t types.DataType) bool {
	switch t.(type) {
	case types.StringType, types.CharType, types.VarcharType:
		return true
	}
	return false
}

func isBytes(t types.DataType) bool {
	_, binary := t.(types.BinaryType)
	return binary || isText(t)
}

func isHeaders(t types.DataType) bool {
	a, ok := t.(types.ArrayType)
	if !ok {
		return false
	}
	s, ok := a.Element.(types.StructType)
	if !ok || len(s.Fields) != 2 || s.Fields[0].Name != "key" || s.Fields[1].Name != "value" || !isText(s.Fields[0].Type) {
		return false
	}
	_, ok = s.Fields[1].Type.(types.BinaryType)
	return ok
}

// transactionalID names the transactions of a query, or of one write.
func (s *kafkaSink) transactionalID() string {
	prefix, ok := s.req.Options.Get(optIDPrefix)
	if !ok {
		prefix = defaultIDPrefix
	}
	id := s.req.QueryID
	if id == "" {
		id = uuid.NewString()
	}
	return prefix + "-" + id
}
