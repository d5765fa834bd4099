package kafka

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
	"github.com/millrace/millrace/types"
)

// broker is an in-process one, with a client that fills its topics.
type broker struct {
	t  testing.TB
	c  *kfake.Cluster
	cl *kgo.Client
}

func newBroker(t testing.TB, opts ...kfake.Opt) *broker {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	b := &broker{t: t, c: c}
	b.dial()
	return b
}

// dial makes the client.
func (b *broker) dial() {
	b.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(cl.Close)
	b.cl = cl
}

// put writes values to a partition.
func (b *broker) put(topic string, partition int32, values ...string) {
	b.t.Helper()
	for _, v := range values {
		r := &kgo.Record{Topic: topic, Partition: partition, Value: []byte(v), Timestamp: time.UnixMilli(1767261600000)}
		if err := b.cl.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			b.t.Fatal(err)
		}
	}
}

// read gives the committed values of a topic, partition by partition, with the partition before each.
func (b *broker) read(topic string) []string {
	b.t.Helper()
	table := b.open(false, "subscribe", topic, "kafka.isolation.level", "read_committed")
	splits, err := table.(source.Batch).Scan(context.Background(), source.Projection{Columns: []string{"partition", "value"}})
	if err != nil {
		b.t.Fatal(err)
	}
	return values(b.t, splits)
}

// values are the rows of splits whose last column is a value.
func values(t testing.TB, splits []source.Split) []string {
	t.Helper()
	var out []string
	for _, s := range splits {
		r, err := s.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for {
			b, err := r.(*reader).NextBatch(context.Background())
			if err != nil {
				if err == io.EOF {
					break
				}
				t.Fatal(err)
			}
			for i := range b.N {
				var cells []string
				for _, c := range b.Cols {
					switch c.Type() {
					case types.Integer:
						cells = append(cells, fmt.Sprint(vec.At[int32](c, i)))
					case types.Long:
						cells = append(cells, fmt.Sprint(vec.At[int64](c, i)))
					default:
						if c.IsNull(i) {
							cells = append(cells, "null")
						} else {
							cells = append(cells, string(c.BytesAt(i)))
						}
					}
				}
				out = append(out, strings.Join(cells, " "))
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// options adds the broker's address to names and values.
func (b *broker) options(kv ...string) map[string]string {
	o := map[string]string{optBootstrap: strings.Join(b.c.ListenAddrs(), ","), optRetryInterval: "5"}
	for i := 0; i < len(kv); i += 2 {
		o[kv[i]] = kv[i+1]
	}
	return o
}

func (b *broker) open(stream bool, kv ...string) source.Table {
	b.t.Helper()
	table, err := b.tryOpen(stream, kv...)
	if err != nil {
		b.t.Fatal(err)
	}
	return table
}

func (b *broker) tryOpen(stream bool, kv ...string) (source.Table, error) {
	return Format{FS: fs.Local()}.Open(context.Background(), source.Request{
		Format: "kafka", Stream: stream, Options: b.options(kv...), Env: sourcetest.Env(),
	})
}

// start opens a stream on a log.
func (b *broker) start(log source.Log, kv ...string) source.Stream {
	b.t.Helper()
	s, err := b.open(true, kv...).(source.Streamer).Stream(context.Background(), source.StreamEnv{Log: log, Want: source.Projection{Columns: []string{"partition", "offset", "value"}}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	return s
}

func TestStreamContract(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(1, "one"))
	n := 0
	// The suite holds the rows of a range against those of its parts, in order: that is for one partition.
	sourcetest.Stream(t, sourcetest.StreamHarness{
		Open: func(*testing.T) source.Streamer {
			return b.open(true, "subscribe", "one", "startingOffsets", "earliest", "maxOffsetsPerTrigger", "7").(source.Streamer)
		},
		Add: func(*testing.T) {
			for range 5 {
				b.put("one", 0, strconv.Itoa(n))
				n++
			}
		},
	})
}

func TestBatchContract(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(3, "t"))
	for i := range 30 {
		b.put("t", int32(i%3), strconv.Itoa(i))
	}
	sourcetest.Batch(t, func(*testing.T) source.Batch {
		return b.open(false, "subscribe", "t", "minPartitions", "7", "includeHeaders", "true").(source.Batch)
	})
}

// step takes one batch of a stream.
func step(t *testing.T, s source.Stream, start source.Offset) (source.Offset, []string) {
	t.Helper()
	end, err := s.LatestOffset(t.Context(), start, source.LimitDefault)
	if err != nil {
		t.Fatal(err)
	}
	splits, err := s.Plan(t.Context(), start, end)
	if err != nil {
		t.Fatal(err)
	}
	return end, values(t, splits)
}

// A stream reads batch after batch while others write; what was read ahead belongs to the next one.
func TestStreamGoesOn(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(2, "t"))
	s := b.start(sourcetest.NewLog(t.TempDir()), "subscribe", "t", "startingOffsets", "earliest")
	var at source.Offset
	var got, want []string
	for round := range 20 {
		for p := range int32(2) {
			v := fmt.Sprintf("%d-%d", round, p)
			b.put("t", p, v)
			want = append(want, fmt.Sprintf("%d %d %s", p, round, v))
		}
		for deadline := time.Now().Add(5 * time.Minute); len(got) < len(want) && time.Now().Before(deadline); {
			var rows []string
			at, rows = step(t, s, at)
			got = append(got, rows...)
		}
	}
	if d := cmp.Diff(asSet(want), asSet(got)); d != "" {
		t.Errorf("-written +read:\n%s", d)
	}
	if string(at) != `{"t":{"0":20,"1":20}}` {
		t.Errorf("ends at %s", at)
	}
}

func asSet(ss []string) map[string]int {
	m := map[string]int{}
	for _, s := range ss {
		m[s]++
	}
	return m
}

// One split may be opened again, or by two at a time: the rows are the same.
func TestSplitsOpenTwice(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(1, "t"))
	b.put("t", 0, "a", "b", "c")
	s := b.start(sourcetest.NewLog(t.TempDir()), "subscribe", "t", "startingOffsets", "earliest")
	end, err := s.LatestOffset(t.Context(), nil, source.LimitDefault)
	if err != nil {
		t.Fatal(err)
	}
	splits, err := s.Plan(t.Context(), nil, end)
	if err != nil {
		t.Fatal(err)
	}
	first, err := splits[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	want := []string{"0 0 a", "0 1 b", "0 2 c"}
	for range 2 {
		if d := cmp.Diff(want, values(t, splits)); d != "" {
			t.Error(d)
		}
	}
}

func TestMetrics(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(2, "t"))
	b.put("t", 0, "a", "b", "c", "d", "e")
	b.put("t", 1, "f")
	s := b.start(sourcetest.NewLog(t.TempDir()), "subscribe", "t", "startingOffsets", "earliest", "maxOffsetsPerTrigger", "3")
	end, _ := step(t, s, nil)
	if string(end) != `{"t":{"0":2,"1":1}}` {
		t.Errorf("end %s", end)
	}
	r := s.(source.Reporter)
	want := map[string]string{"minOffsetsBehindLatest": "0", "maxOffsetsBehindLatest": "3", "avgOffsetsBehindLatest": "1.5"}
	if d := cmp.Diff(want, r.Metrics()); d != "" || string(r.ReportLatest()) != `{"t":{"0":5,"1":1}}` {
		t.Errorf("%s latest %s", d, r.ReportLatest())
	}
	if s.Description() != "KafkaV2[Subscribe[t]]" {
		t.Error(s.Description())
	}
}

// minOffsetsPerTrigger holds batches back, but for the first of a run and after maxTriggerDelay.
func TestMinOffsets(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(1, "t"))
	b.put("t", 0, "a")
	now := time.UnixMilli(1767261600000)
	table := b.open(true, "subscribe", "t", "startingOffsets", "earliest", "minOffsetsPerTrigger", "3", "maxTriggerDelay", "10s").(*table)
	table.req.Env.Now = func() time.Time { return now }
	s, err := table.Stream(t.Context(), source.StreamEnv{Log: sourcetest.NewLog(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := source.Offset(nil)
	for _, c := range []struct {
		put  string
		wait time.Duration
		want string
	}{{"", 0, `{"t":{"0":1}}`}, {"b", 0, `{"t":{"0":1}}`}, {"c", time.Second, `{"t":{"0":1}}`}, {"d", 0, `{"t":{"0":4}}`}, {"e", 0, `{"t":{"0":4}}`}, {"", 10 * time.Second, `{"t":{"0":5}}`}} {
		if c.put != "" {
			b.put("t", 0, c.put)
		}
		now = now.Add(c.wait)
		if at, err = s.LatestOffset(t.Context(), at, source.LimitDefault); err != nil || string(at) != c.want {
			t.Fatalf("after %q and %s: %s, %v; want %s", c.put, c.wait, at, err, c.want)
		}
	}
}

// A topic of which the query has read more than there is now: it fails, or goes on at the end.
func TestLostRecords(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(1, "t"))
	b.put("t", 0, "a", "b")
	for _, fail := range []string{"true", "false"} {
		s := b.start(sourcetest.NewLog(t.TempDir()), "subscribe", "t", "failOnDataLoss", fail)
		_, err := s.Plan(t.Context(), source.Offset(`{"t":{"0":9}}`), source.Offset(`{"t":{"0":2}}`))
		if lost := errclass.Has(err, "KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED"); lost != (fail == "true") {
			t.Errorf("failOnDataLoss %s, the end went back: %v", fail, err)
		}
		_, err = s.Plan(t.Context(), source.Offset(`{"t":{"0":0},"u":{"0":0}}`), source.Offset(`{"t":{"0":2}}`))
		if lost := errclass.Has(err, "KAFKA_DATA_LOSS.PARTITIONS_DELETED"); lost != (fail == "true") {
			t.Errorf("failOnDataLoss %s, a partition is gone: %v", fail, err)
		}
		splits, err := s.Plan(t.Context(), source.Offset(`{"t":{"0":1}}`), source.Offset(`{"t":{"0":7}}`))
		if err != nil {
			t.Fatal(err)
		}
		r, err := splits[0].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for err == nil {
			var rec interface{ NumRows() int64 }
			if rec, err = r.Next(t.Context()); err == nil {
				rows += int(rec.NumRows())
			}
		}
		if rows != 1 || errclass.Has(err, "KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE") != (fail == "true") {
			t.Errorf("failOnDataLoss %s, the end is missing: %d rows, %v", fail, rows, err)
		}
		r.Close()
	}
}

// The consumer group that is named is told how far the query has got.
func TestCommitToGroup(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(1, "t"))
	b.put("t", 0, "a", "b", "c")
	s := b.start(sourcetest.NewLog(t.TempDir()), "subscribe", "t", "startingOffsets", "earliest", "commitOffsetsToGroup", "lag")
	end, _ := step(t, s, nil)
	if err := s.(*stream).k.commit(t.Context(), "lag", must(parseOffset(end)), s.(*stream).layout); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	last, err := (&transactions{id: "lag"}).committed(t.Context(), b.cl, true)
	if err != nil || last+1 != 3 {
		t.Errorf("the group is at %d, %v", last+1, err)
	}
}

func sinkSchema(ddl string) types.StructType {
	s, err := types.ParseDDL(ddl)
	if err != nil {
		panic(err)
	}
	return s
}

func (b *broker) sink(query string, stream bool, ddl string, kv ...string) (sink.Sink, error) {
	return SinkFormat{}.Open(context.Background(), sink.Request{
		Format: "kafka", Schema: sinkSchema(ddl), Options: b.options(kv...), Stream: stream, QueryID: query, Mode: sink.Append, Env: sinktest.Env(),
	})
}

func TestSinkRefuses(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(1, "t"))
	for _, c := range []struct{ ddl, topic, class, text string }{
		{"key STRING", "t", "_LEGACY_ERROR_TEMP_3080", "value"},
		{"value STRING", "", "_LEGACY_ERROR_TEMP_3080", "topic"},
		{"value INT", "t", "_LEGACY_ERROR_TEMP_3080", "value"},
		{"value STRING, key INT", "t", "_LEGACY_ERROR_TEMP_3080", "key"},
		{"value STRING, topic BINARY", "", "_LEGACY_ERROR_TEMP_3080", "topic"},
		{"value STRING, partition BIGINT", "t", "_LEGACY_ERROR_TEMP_3080", "partition"},
		{"value STRING, headers ARRAY<STRING>", "t", "_LEGACY_ERROR_TEMP_3080", "headers"},
	} {
		kv := []string{}
		if c.topic != "" {
			kv = []string{"topic", c.topic}
		}
		_, err := b.sink("", false, c.ddl, kv...)
		if !errclass.Has(err, c.class) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.ddl, err)
		}
		s, err := b.sink("q", true, c.ddl, kv...)
		if err != nil {
			t.Errorf("%s: a stream is refused before it runs: %v", c.ddl, err)
			continue
		}
		if _, _, err := s.Begin(t.Context(), 0); !errclass.Has(err, c.class) {
			t.Errorf("%s: a stream begins with %v", c.ddl, err)
		}
	}
	for option, value := range map[string]string{
		"kafka.key.serializer": "x", "kafka.transactional.id": "x", "kafka.acks": "2", "kafka.compression.type": "rar", "kafka.retries": "few",
	} {
		if _, err := b.sink("", false, "value STRING", "topic", "t", option, value); err == nil || !strings.Contains(err.Error(), option) {
			t.Errorf("%s: %v", option, err)
		}
	}
}

// With transactions a batch is there once, however often it comes, and nothing is seen of one that was aborted.
func TestTransactionalSinkContract(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(2, "t"))
	sinktest.Stream(t, sinktest.Harness{
		Open: func(*testing.T) sink.Sink {
			s, err := b.sink("query", true, "partition INT, value STRING", "topic", "t", "transactional", "true")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		},
		Read: func(*testing.T) []string {
			var out []string
			for _, v := range b.read("t") {
				out = append(out, strings.Replace(v, " ", " | ", 1))
			}
			return out
		},
		Unordered: true,
	})
}

// Without transactions a batch that comes again is written again.
func TestSinkWritesAgain(t *testing.T) {
	b := newBroker(t, kfake.SeedTopics(2, "t"))
	s, err := b.sink("query", true, "partition INT, value STRING", "topic", "t")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		out, skip, err := s.Begin(t.Context(), 0)
		if err != nil || skip {
			t.Fatal(skip, err)
		}
		w, err := out.Writer(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(t.Context(), sinktest.Rows(1, "a", "b")); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := out.Commit(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"1 a", "1 b", "1 a", "1 b"}, b.read("t")); d != "" {
		t.Error(d)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
