package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
)

// topic has JSON texts as values.
type topic struct {
	broker, name string
	cl           *kgo.Client
}

// topicName is one that no other run has: that of the pipeline's folder.
func topicName(dir string) string { return filepath.Base(dir) }

func newTopic(ctx context.Context, broker, name string, create bool) (*topic, error) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic(name), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
	if err != nil {
		return nil, err
	}
	t := &topic{broker, name, cl}
	if create {
		if err := t.create(ctx); err != nil {
			cl.Close()
			return nil, err
		}
	}
	return t, nil
}

func (t *topic) create(ctx context.Context) error {
	req := kmsg.NewPtrCreateTopicsRequest()
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = t.name, 3, 1
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, t.cl)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.Topics[0].ErrorCode)
}

func (t *topic) close() { t.cl.Close() }

func (t *topic) batch(spark *millrace.Session, ddl string) *millrace.DataFrame {
	return parsed(spark.Read().Format("kafka").Option("kafka.bootstrap.servers", t.broker).Option("subscribe", t.name).
		Option("kafka.isolation.level", "read_committed").Load(), ddl)
}

// parsed makes columns of the values.
func parsed(df *millrace.DataFrame, ddl string) *millrace.DataFrame {
	return df.Select(f.FromJSON(f.Col("value").Cast("STRING"), ddl).As("e")).SelectExpr("e.*")
}

type topicInput struct{ *topic }

func (t topicInput) stream(spark *millrace.Session) *millrace.DataFrame {
	return parsed(spark.ReadStream().Format("kafka").Option("kafka.bootstrap.servers", t.broker).Option("subscribe", t.name).
		Option("startingOffsets", "earliest").Option("maxOffsetsPerTrigger", "100").Load(), schema)
}

func (t topicInput) all(spark *millrace.Session) *millrace.DataFrame { return t.batch(spark, schema) }

func (t topicInput) put(ctx context.Context, events []string) error {
	records := make([]*kgo.Record, len(events))
	for i, e := range events {
		records[i] = kgo.StringRecord(e)
	}
	return t.cl.ProduceSync(ctx, records...).FirstErr()
}

// topicOutput is written with the sink's transactions.
type topicOutput struct {
	*topic
	ddl, checkpoint string
}

func (t topicOutput) start(ctx context.Context, rows *millrace.DataFrame, with writer) (*millrace.StreamingQuery, error) {
	return with(rows.SelectExpr("user AS key", "to_json(struct(*)) AS value")).Format("kafka").
		Option("kafka.bootstrap.servers", t.broker).Option("topic", t.name).Option("transactional", "true").
		Option("transactionalIdPrefix", "kill").Start(ctx)
}

func (t topicOutput) all(spark *millrace.Session) *millrace.DataFrame { return t.batch(spark, t.ddl) }

// last asks for the number of the batch that the sink commits with its rows, as an offset of a group that is called like its transactions.
// Batches without rows have none.
func (t topicOutput) last(ctx context.Context) int64 {
	content, err := os.ReadFile(filepath.Join(t.checkpoint, "metadata"))
	if err != nil {
		return -1
	}
	var query struct{ ID string }
	if err := json.Unmarshal(content, &query); err != nil {
		return -1
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = "kill-" + query.ID
	req.Groups = append(req.Groups, g)
	resp, err := req.RequestWith(ctx, t.cl)
	if err != nil {
		return -1
	}
	most := int64(-1)
	for _, g := range resp.Groups {
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				most = max(most, p.Offset-1)
			}
		}
	}
	return most
}

// written says that rows may be on their way: those of an open transaction are not to be seen.
func (t topicOutput) written(time.Time) bool { return true }

func (t topicOutput) reader() []string { return []string{"kafka", t.broker, t.name} }
