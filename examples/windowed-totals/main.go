// Command windowed-totals adds up amounts in windows of ten minutes: three events in JSON files go in, the totals of two windows come
// out.
//
//	go run ./examples/windowed-totals                               with the engine in this process
//	go run ./examples/windowed-totals -remote sc://localhost:15002  on a Spark Connect server, which must see the same files
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // local[N]
	f "github.com/millrace/millrace/functions"
)

func main() {
	remote := flag.String("remote", "local[2]", "address of the engine")
	dir := flag.String("dir", "", "directory for input and checkpoint (default: a temporary one)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *remote, *dir); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address, dir string) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "windowed-totals")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	in := filepath.Join(dir, "in")
	if err := writeEvents(in); err != nil {
		return err
	}

	spark, err := millrace.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer spark.Close()

	events := spark.ReadStream().SchemaDDL("ts TIMESTAMP, user STRING, amount INT").JSON(in).
		WithWatermark("ts", "5 minutes")
	totals := events.
		GroupBy(f.Window("ts", "10 minutes")).
		Agg(f.Sum("amount").As("total"))

	query, err := totals.WriteStream().OutputMode(millrace.Update).Format("memory").QueryName("totals").
		Option("checkpointLocation", filepath.Join(dir, "checkpoint")).
		Trigger(millrace.AvailableNow()).
		Start(ctx)
	if err != nil {
		return err
	}
	if err := query.AwaitTermination(ctx); err != nil {
		return err
	}

	rows, err := spark.SQL(ctx, "SELECT window.start AS start, total FROM totals ORDER BY start")
	if err != nil {
		return err
	}
	for row, err := range millrace.RowsAs[total](ctx, rows) {
		if err != nil {
			return err
		}
		fmt.Println(row.Start.Format("15:04"), row.Total)
	}
	return nil
}

// total is a row of the result.
type total struct {
	Start time.Time
	Total int64
}

func writeEvents(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, ts := range []string{"2026-01-01 10:01:00", "2026-01-01 10:04:00", "2026-01-01 10:12:00"} {
		event, err := json.Marshal(map[string]any{"ts": ts, "user": fmt.Sprintf("u%d", i%2), "amount": 10 * (i + 1)})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("e%d.json", i)), event, 0o644); err != nil {
			return err
		}
	}
	return nil
}
