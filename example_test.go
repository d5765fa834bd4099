package millrace_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // adds local[N]
	f "github.com/millrace/millrace/functions"
)

// A stream of JSON files is added up in windows of event time.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	check(err)
	defer os.RemoveAll(dir)
	in := filepath.Join(dir, "in")
	check(os.Mkdir(in, 0o755))
	check(os.WriteFile(filepath.Join(in, "events.json"), []byte(`{"ts": "2026-01-01 10:01:00", "amount": 10}
{"ts": "2026-01-01 10:04:00", "amount": 20}
{"ts": "2026-01-01 10:12:00", "amount": 30}
`), 0o644))

	spark, err := millrace.Connect(ctx, "local[2]")
	check(err)
	defer spark.Close()

	totals := spark.ReadStream().SchemaDDL("ts TIMESTAMP, amount INT").JSON(in).
		WithWatermark("ts", "5 minutes").
		GroupBy(f.Window("ts", "10 minutes")).
		Agg(f.Sum("amount").As("total"))
	query, err := totals.WriteStream().OutputMode(millrace.Update).Format("memory").QueryName("totals").
		Option("checkpointLocation", filepath.Join(dir, "checkpoint")).
		Trigger(millrace.AvailableNow()).Start(ctx)
	check(err)
	check(query.AwaitTermination(ctx))

	type total struct {
		Start time.Time
		Total int64
	}
	rows := spark.Table("totals").Select(f.Col("window.start").As("start"), "total").OrderBy("start")
	for row, err := range millrace.RowsAs[total](ctx, rows) {
		check(err)
		fmt.Println(row.Start.Format("15:04"), row.Total)
	}
	// Output:
	// 10:00 30
	// 10:10 30
}

func ExampleSession_CreateDataFrame() {
	ctx := context.Background()
	spark, err := millrace.Connect(ctx, "local")
	check(err)
	defer spark.Close()

	type person struct {
		Name string
		Age  int
	}
	people := spark.CreateDataFrame([]person{{"Ann", 31}, {"Bob", 25}})
	adults, err := millrace.CollectAs[person](ctx, people.Where(f.Col("age").Gt(30)))
	check(err)
	fmt.Println(adults)
	// Output: [{Ann 31}]
}

func ExampleError() {
	ctx := context.Background()
	spark, err := millrace.Connect(ctx, "local")
	check(err)
	defer spark.Close()

	_, err = spark.Table("nothing").Collect(ctx)
	if e, ok := asError(err); ok {
		fmt.Println(e.Class, e.SQLState)
	}
	// Output: TABLE_OR_VIEW_NOT_FOUND 42P01
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
