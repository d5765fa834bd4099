package kafka

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

// addPartition gives a topic one more.
func (b *broker) addPartition(topic string, total int32) {
	b.t.Helper()
	req := kmsg.NewPtrCreatePartitionsRequest()
	t := kmsg.NewCreatePartitionsRequestTopic()
	t.Topic, t.Count = topic, total
	req.Topics, req.TimeoutMillis = append(req.Topics, t), 5000
	resp, err := req.RequestWith(context.Background(), b.cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].ErrorCode)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.dial() // the client does not know the partition yet
}

// Whatever is written in whatever transactions, however batches are limited and cut, and wherever a run ends: every record that may be
// seen is in one batch, a batch that is planned again has the same rows, and partitions stay in order.
func TestRandomStreams(t *testing.T) {
	b := newBroker(t)
	topics := 0
	// A few of them in every run; -rapid.checks=500 tries more.
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := flag.Set("rapid.checks", "4"); err != nil {
			t.Fatal(err)
		}
		defer flag.Set("rapid.checks", checks.DefValue)
	}
	rapid.Check(t, func(rt *rapid.T) {
		topics++
		topic := "t" + strconv.Itoa(topics)
		if err := createTopic(b.cl, topic); err != nil {
			t.Fatal(err)
		}
		kv := []string{"subscribe", topic, "startingOffsets", "earliest", "kafkaConsumer.pollTimeoutMs", "3000"}
		committed := rapid.Bool().Draw(rt, "committed")
		if committed {
			kv = append(kv, "kafka.isolation.level", "read_committed")
		}
		most := rapid.IntRange(0, 6).Draw(rt, "most")
		if most > 0 {
			kv = append(kv, "maxOffsetsPerTrigger", strconv.Itoa(most))
		}
		switch rapid.IntRange(0, 3).Draw(rt, "cut") {
		case 0:
			kv = append(kv, "minPartitions", "5")
		case 1:
			kv = append(kv, "maxRecordsPerPartition", "2")
		}
		log := sourcetest.NewLog(t.TempDir())
		s := b.start(log, kv...)
		parts, n := int32(1), 0
		var want, got []string
		var at, before source.Offset
		var last []string
		batch := func() bool {
			end, err := s.LatestOffset(t.Context(), at, source.LimitDefault)
			if err != nil {
				rt.Fatal(err)
			}
			if string(end) == string(at) {
				return false
			}
			splits, err := s.Plan(t.Context(), at, end)
			if err != nil {
				rt.Fatal(err)
			}
			last = values(t, splits)
			if most > 0 && len(last) > most+int(parts) {
				rt.Fatalf("%d rows in a batch of %d", len(last), most)
			}
			got = append(got, last...)
			before, at = at, end
			return true
		}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				p := rapid.Int32Range(0, parts-1).Draw(rt, "partition")
				for range rapid.IntRange(1, 5).Draw(rt, "n") {
					b.put(topic, p, strconv.Itoa(n))
					want = append(want, fmt.Sprintf("%d %d", p, n))
					n++
				}
			},
			"transaction": func(rt *rapid.T) {
				p, commit := rapid.Int32Range(0, parts-1).Draw(rt, "partition"), rapid.Bool().Draw(rt, "commit")
				cl, err := kgo.NewClient(kgo.SeedBrokers(b.c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.TransactionalID("x"))
				if err != nil {
					rt.Fatal(err)
				}
				defer cl.Close()
				if err := cl.BeginTransaction(); err != nil {
					rt.Fatal(err)
				}
				for range rapid.IntRange(1, 3).Draw(rt, "n") {
					r := &kgo.Record{Topic: topic, Partition: p, Value: []byte(strconv.Itoa(n))}
					if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
						rt.Fatal(err)
					}
					if commit || !committed {
						want = append(want, fmt.Sprintf("%d %d", p, n))
					}
					n++
				}
				if err := cl.EndTransaction(t.Context(), kgo.TransactionEndTry(commit)); err != nil {
					rt.Fatal(err)
				}
			},
			"partition": func(rt *rapid.T) {
				if parts >= 4 {
					rt.Skip()
				}
				parts++
				b.addPartition(topic, parts)
			},
			"batch": func(*rapid.T) { batch() },
			"restart": func(rt *rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = b.start(log, kv...)
				if at == nil {
					return
				}
				splits, err := s.Plan(t.Context(), before, at)
				if err != nil {
					rt.Fatal(err)
				}
				if d := cmp.Diff(last, values(t, splits)); d != "" {
					rt.Fatalf("the batch again (-before +now):\n%s", d)
				}
			},
		})
		for s.(*stream).discovered = s.(*stream).discovered.Add(-discoverEvery); batch(); {
		}
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		seen := map[string]int{}
		var rows []string
		for _, row := range got { // partition offset value
			f := strings.Fields(row)
			offset, _ := strconv.Atoi(f[1])
			if prev, ok := seen[f[0]]; ok && offset <= prev {
				rt.Fatalf("partition %s: offset %d behind %d", f[0], offset, prev)
			}
			seen[f[0]] = offset
			rows = append(rows, f[0]+" "+f[2])
		}
		slices.Sort(rows)
		slices.Sort(want)
		if d := cmp.Diff(want, rows); d != "" {
			rt.Fatalf("-written +read:\n%s", d)
		}
	})
}

func createTopic(cl *kgo.Client, topic string) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = topic, 1, 1
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(context.Background(), cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}
