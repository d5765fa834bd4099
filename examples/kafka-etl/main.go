// Command kafka-etl moves orders from one Kafka topic to another: it parses their JSON, drops what is no order, adds up amounts in windows of
// ten minutes, and writes every total exactly once, in transactions.
//
//	go run ./examples/kafka-etl -brokers localhost:9092
//
// The topics orders and totals must exist. Without -brokers it runs against a broker inside this program, on a few orders of its own.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // local[N]
	f "github.com/millrace/millrace/functions"
)

func main() {
	brokers := flag.String("brokers", "", "addresses of Kafka brokers (default: one inside this program)")
	dir := flag.String("checkpoint", "", "directory of the checkpoint (default: a temporary one)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *brokers, *dir); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, brokers, dir string) error {
	if brokers == "" {
		broker, err := sample(ctx)
		if err != nil {
			return err
		}
		defer broker.Close()
		brokers = broker.ListenAddrs()[0]
	}
	if dir == "" {
		tmp, err := os.MkdirTemp("", "kafka-etl")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	spark, err := millrace.Connect(ctx, "local[2]")
	if err != nil {
		return err
	}
	defer spark.Close()

	orders := spark.ReadStream().Format("kafka").
		Option("kafka.bootstrap.servers", brokers).
		Option("subscribe", "orders").
		Option("startingOffsets", "earliest").
		Load().
		Select(f.FromJSON(f.Col("value").Cast("STRING"), "ts TIMESTAMP, shop STRING, amount INT").As("o")).
		SelectExpr("o.*").
		Where("ts IS NOT NULL AND amount > 0")
	totals := orders.WithWatermark("ts", "5 minutes").
		GroupBy(f.Window("ts", "10 minutes"), f.Col("shop")).
		Agg(f.Sum("amount").As("total"))

	// A window is written when no more of its orders can come. In transactions it is written once, whatever happens to this program.
	query, err := totals.SelectExpr("shop AS key", "to_json(struct(window.start AS start, shop, total)) AS value").
		WriteStream().Format("kafka").
		Option("kafka.bootstrap.servers", brokers).
		Option("topic", "totals").
		Option("transactional", "true").
		Option("checkpointLocation", filepath.Join(dir, "checkpoint")).
		Trigger(millrace.AvailableNow()). // without it the query goes on
		Start(ctx)
	if err != nil {
		return err
	}
	if err := query.AwaitTermination(ctx); err != nil {
		return err
	}

	written := spark.Read().Format("kafka").
		Option("kafka.bootstrap.servers", brokers).
		Option("subscribe", "totals").
		Option("kafka.isolation.level", "read_committed").
		Load()
	for row, err := range written.Select(f.Col("value").Cast("STRING").As("value")).OrderBy("value").Rows(ctx) {
		if err != nil {
			return err
		}
		fmt.Println(row.Values()[0])
	}
	return nil
}

// sample is a broker with some orders.
func sample(ctx context.Context) (*kfake.Cluster, error) {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "orders", "totals"))
	if err != nil {
		return nil, err
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for _, order := range []string{
		`{"ts":"2026-01-01 10:01:00","shop":"Oslo","amount":10}`,
		`{"ts":"2026-01-01 10:04:00","shop":"Rome","amount":5}`,
		`not an order`,
		`{"ts":"2026-01-01 10:08:00","shop":"Oslo","amount":7}`,
		`{"ts":"2026-01-01 10:12:00","shop":"Rome","amount":1}`,
		`{"ts":"2026-01-01 10:31:00","shop":"Oslo","amount":2}`,
	} {
		if err := client.ProduceSync(ctx, kgo.StringRecord(order)).FirstErr(); err != nil {
			return nil, err
		}
	}
	return broker, nil
}
