package records

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/millrace/millrace/internal/vec"
)

var all = Fields{Key: true, Value: true, Time: true, TimeType: true, Headers: true}

// texts are the rows of segments: offset, key, value, time, headers.
func texts(segments []*Segment) []string {
	var out []string
	for _, s := range segments {
		for i, offset := range s.Offsets {
			out = append(out, fmt.Sprintf("%d %v %v %v %v %v", offset, vec.ValueAt(s.Key, i), vec.ValueAt(s.Value, i), vec.At[int64](s.Time, i),
				vec.At[int32](s.TimeType, i), vec.ValueAt(s.Headers, i)))
		}
	}
	return out
}

// model decodes a response with the library's own decoder, record by record.
func model(raw []byte, from int64, committed bool, aborted []Aborted) ([]string, int64) {
	level := kgo.ReadUncommitted()
	if committed {
		level = kgo.ReadCommitted()
	}
	rp := kmsg.NewFetchResponseTopicPartition()
	rp.RecordBatches = raw
	for _, a := range aborted {
		t := kmsg.NewFetchResponseTopicPartitionAbortedTransaction()
		t.ProducerID, t.FirstOffset = a.Producer, a.First
		rp.AbortedTransactions = append(rp.AbortedTransactions, t)
	}
	fp, next := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Offset: from, IsolationLevel: level, Topic: "t"}, &rp, kgo.DefaultDecompressor(), nil)
	orNil := func(b []byte) any {
		if b == nil {
			return nil
		}
		return b
	}
	var out []string
	for _, r := range fp.Records {
		var headers any
		if len(r.Headers) > 0 {
			var list []any
			for _, h := range r.Headers {
				list = append(list, []any{h.Key, orNil(h.Value)})
			}
			headers = list
		}
		out = append(out, fmt.Sprintf("%d %v %v %v %v %v", r.Offset, orNil(r.Key), orNil(r.Value), r.Timestamp.UnixMilli()*1000, int32(r.Attrs.TimestampType()), headers))
	}
	return out, next
}

func respell(ss []string) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = strings.NewReplacer("{", "[", "}", "]").Replace(s)
	}
	return out
}

// broker is a fake one with a topic of one partition.
func broker(t testing.TB) (addrs []string) {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "t"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()
}

func dial(t testing.TB, addrs []string, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(addrs...), kgo.DefaultProduceTopic("t"), kgo.MaxBufferedRecords(1 << 20)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// fetch returns what the broker has from an offset on.
func fetch(t testing.TB, addrs []string, from int64) ([]byte, []Aborted) {
	t.Helper()
	cl := dial(t, addrs)
	md, err := kmsg.NewPtrMetadataRequest().RequestWith(t.Context(), cl)
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrFetchRequest()
	req.MaxBytes, req.MinBytes, req.IsolationLevel = 1<<30, 1, 1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.TopicID = "t", md.Topics[0].TopicID
	part := kmsg.NewFetchRequestTopicPartition()
	part.FetchOffset, part.PartitionMaxBytes = from, 1<<30
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	resp, err := cl.Broker(int(md.Topics[0].Partitions[0].Leader)).Request(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	p := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
	var aborted []Aborted
	for _, a := range p.AbortedTransactions {
		aborted = append(aborted, Aborted{a.ProducerID, a.FirstOffset})
	}
	return p.RecordBatches, aborted
}

func sample(n int) []*kgo.Record {
	out := make([]*kgo.Record, n)
	for i := range out {
		r := &kgo.Record{Value: fmt.Appendf(nil, `{"n":%d,"text":"%s"}`, i, strings.Repeat("x", i%50))}
		if i%3 > 0 {
			r.Key = fmt.Appendf(nil, "k%d", i%17)
		}
		if i%7 == 0 {
			r.Value = nil
		}
		if i%11 == 0 {
			r.Key = []byte{}
		}
		if i%5 == 0 {
			r.Headers = []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "a", Value: nil}, {Key: "", Value: []byte{}}}
		}
		out[i] = r
	}
	return out
}

// Whatever codec and size of batches, the columns hold what the library's records hold, from every offset on.
func TestDecodeLikeTheLibrary(t *testing.T) {
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		t.Run(name, func(t *testing.T) {
			addrs := broker(t)
			for _, size := range []int32{512, 2000, 1 << 20} {
				cl := dial(t, addrs, kgo.ProducerBatchCompression(codec), kgo.ProducerBatchMaxBytes(size))
				if err := cl.ProduceSync(t.Context(), sample(700)...).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
			raw, _ := fetch(t, addrs, 0)
			for _, from := range []int64{0, 1, 699, 700, 701, 1500, 2099, 2100} {
				want, wantNext := model(raw, from, false, nil)
				segments, next, err := Decode(raw, Options{Fields: all, From: from, CheckCRC: true})
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(respell(want), respell(texts(segments))); d != "" {
					t.Fatalf("from %d (-library +ours):\n%s", from, d)
				}
				if next != max(wantNext, from) {
					t.Errorf("from %d: goes on at %d, the library at %d", from, next, wantNext)
				}
			}
			if got, _, err := Decode(raw, Options{From: 5}); err != nil || len(got) == 0 || got[0].Value != nil || got[0].Offsets[0] != 5 {
				t.Errorf("without fields: %v, %v", got, err)
			}
		})
	}
}

// Transactions side by side, some aborted, with and without read_committed.
func TestTransactions(t *testing.T) {
	addrs := broker(t)
	ctx := t.Context()
	one, two := dial(t, addrs, kgo.TransactionalID("one")), dial(t, addrs, kgo.TransactionalID("two"))
	put := func(cl *kgo.Client, text string) {
		t.Helper()
		if err := cl.ProduceSync(ctx, kgo.StringRecord(text)).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(cl *kgo.Client) {
		t.Helper()
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
	}
	end := func(cl *kgo.Client, how kgo.TransactionEndTry) {
		t.Helper()
		if err := cl.EndTransaction(ctx, how); err != nil {
			t.Fatal(err)
		}
	}
	begin(one)
	put(one, "c0")
	begin(two)
	put(two, "a0")
	put(one, "c1")
	put(two, "a1")
	end(two, kgo.TryAbort)
	begin(two)
	put(two, "c2")
	end(one, kgo.TryCommit)
	begin(one)
	put(one, "a2")
	end(two, kgo.TryCommit)
	end(one, kgo.TryAbort)
	rows := map[bool]int{}
	for from := range int64(10) { // also from the mark of an end on
		raw, aborted := fetch(t, addrs, from)
		for _, committed := range []bool{false, true} {
			want, wantNext := model(raw, from, committed, aborted)
			segments, next, err := Decode(raw, Options{Fields: all, From: from, Committed: committed, Aborted: aborted, CheckCRC: true})
			if err != nil || next != max(wantNext, from) {
				t.Fatalf("from %d: next %d, %v; the library %d", from, next, err, wantNext)
			}
			if d := cmp.Diff(respell(want), respell(texts(segments))); d != "" {
				t.Errorf("from %d, committed %t (-library +ours):\n%s", from, committed, d)
			}
			if from == 0 {
				rows[committed] = len(texts(segments))
			}
		}
	}
	if rows[true] != 3 || rows[false] != 6 {
		t.Errorf("rows: %v", rows)
	}
}

// Brokers cut responses anywhere: whole batches count, the rest comes again.
func TestCutOff(t *testing.T) {
	raw := someBytes(t, kgo.NoCompression())
	whole, _, err := Decode(raw, Options{Fields: all, CheckCRC: true})
	if err != nil {
		t.Fatal(err)
	}
	rows := texts(whole)
	for cut := range len(raw) {
		segments, next, err := Decode(raw[:cut], Options{Fields: all, CheckCRC: true})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		got := texts(segments)
		if !slices.Equal(got, rows[:len(got)]) || next != int64(len(got)) {
			t.Fatalf("cut at %d: %d rows, next %d", cut, len(got), next)
		}
	}
}

func TestDamage(t *testing.T) {
	raw := slices.Clone(someBytes(t, kgo.NoCompression()))
	raw[len(raw)-1] ^= 1
	if _, _, err := Decode(raw, Options{Fields: all, CheckCRC: true}); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("a changed byte: %v", err)
	}
	raw[atMagic] = 1
	if _, _, err := Decode(raw, Options{}); err == nil || !strings.Contains(err.Error(), "format 1") {
		t.Errorf("another format: %v", err)
	}
}

func someBytes(t testing.TB, codec kgo.CompressionCodec) []byte {
	addrs := broker(t)
	cl := dial(t, addrs, kgo.ProducerBatchCompression(codec), kgo.ProducerBatchMaxBytes(512))
	if err := cl.ProduceSync(context.Background(), sample(30)...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	raw, _ := fetch(t, addrs, 0)
	return raw
}

// Whatever a broker says, decoding ends with rows or with an error.
func FuzzDecode(f *testing.F) {
	for _, c := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.SnappyCompression()} {
		f.Add(someBytes(f, c), int64(0), false)
		f.Add(someBytes(f, c), int64(7), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, from int64, committed bool) {
		if len(raw) > atAttributes && raw[atMagic] == 2 && raw[atAttributes+1]&attrCodec > 2 {
			return // the codecs are not ours
		}
		o := Options{Fields: all, From: max(0, from), Committed: committed, Aborted: []Aborted{{1, 0}}}
		segments, next, err := Decode(raw, o)
		if err != nil {
			return
		}
		last := o.From - 1
		for _, s := range segments {
			for _, offset := range s.Offsets {
				if offset <= last {
					t.Fatalf("offset %d behind %d", offset, last)
				}
				last = offset
			}
		}
		if next < o.From {
			t.Fatalf("goes back to %d", next)
		}
		_ = texts(segments)
	})
}

func BenchmarkDecode(b *testing.B) {
	for name, codec := range map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()} {
		b.Run(name, func(b *testing.B) {
			addrs := broker(b)
			cl := dial(b, addrs, kgo.ProducerBatchCompression(codec), kgo.ProducerLinger(50e6))
			if err := cl.ProduceSync(context.Background(), sample(20_000)...).FirstErr(); err != nil {
				b.Fatal(err)
			}
			raw, _ := fetch(b, addrs, 0)
			rows := 0
			for b.Loop() {
				segments, _, err := Decode(raw, Options{Fields: Fields{Value: true}, CheckCRC: true})
				if err != nil {
					b.Fatal(err)
				}
				for _, s := range segments {
					rows += len(s.Offsets)
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			b.SetBytes(int64(len(raw)))
		})
	}
}
