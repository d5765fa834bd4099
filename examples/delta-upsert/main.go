// Command delta-upsert keeps a Delta table as a stream of changes says: each batch is merged into the table by a function of the program. A
// change that comes late, after a newer one, changes nothing, so a batch that comes again does no harm.
//
//	go run ./examples/delta-upsert                               with the engine in this process
//	go run ./examples/delta-upsert -remote sc://localhost:15002  on a millrace server, which must see the same files
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // local[N]
)

func main() {
	remote := flag.String("remote", "local[2]", "address of the engine")
	dir := flag.String("dir", "", "directory for input, table and checkpoint (default: a temporary one)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *remote, *dir); err != nil {
		log.Fatal(err)
	}
}

// customer is a row of the table.
type customer struct {
	ID   int64
	City *string
	Rev  int64
}

func run(ctx context.Context, address, dir string) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "delta-upsert")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	in, table := filepath.Join(dir, "in"), filepath.Join(dir, "customers")
	if err := writeChanges(in); err != nil {
		return err
	}

	spark, err := millrace.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer spark.Close()
	if err := spark.CreateDataFrame([]customer{}).Write().Format("delta").Mode(millrace.SaveIgnore).Save(ctx, table); err != nil {
		return err
	}

	merge := fmt.Sprintf("MERGE INTO delta.`%s` t USING latest s ON t.id = s.id "+
		"WHEN MATCHED AND s.rev > t.rev AND s.gone THEN DELETE "+
		"WHEN MATCHED AND s.rev > t.rev THEN UPDATE SET city = s.city, rev = s.rev "+
		"WHEN NOT MATCHED AND NOT s.gone THEN INSERT (id, city, rev) VALUES (s.id, s.city, s.rev)", table)
	upsert := func(ctx context.Context, batch *millrace.DataFrame, _ int64) error {
		// Of several changes of a customer in a batch the newest counts.
		latest := batch.GroupBy("id").Agg(millrace.Expr("max_by(struct(city, rev, gone), rev)").As("c")).Select("id", "c.*")
		if err := latest.CreateOrReplaceTempView(ctx, "latest"); err != nil {
			return err
		}
		_, err := batch.Session().SQL(ctx, merge)
		return err
	}
	changes := spark.ReadStream().SchemaDDL("id BIGINT, city STRING, rev BIGINT, gone BOOLEAN").Option("maxFilesPerTrigger", 1).JSON(in)
	query, err := changes.WriteStream().ForeachBatch(upsert).
		Option("checkpointLocation", filepath.Join(dir, "checkpoint")).
		Trigger(millrace.AvailableNow()).
		Start(ctx)
	if err != nil {
		return err
	}
	if err := query.AwaitTermination(ctx); err != nil {
		return err
	}

	customers := spark.Read().Format("delta").Load(table).OrderBy("id")
	for c, err := range millrace.RowsAs[customer](ctx, customers) {
		if err != nil {
			return err
		}
		fmt.Println(c.ID, *c.City, c.Rev)
	}
	return nil
}

func writeChanges(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, text := range []string{
		`{"id": 1, "city": "Rome", "rev": 1, "gone": false}
{"id": 2, "city": "Oslo", "rev": 2, "gone": false}
{"id": 3, "city": "Bonn", "rev": 3, "gone": false}`,
		`{"id": 1, "city": "Pisa", "rev": 4, "gone": false}
{"id": 1, "city": "Turin", "rev": 5, "gone": false}
{"id": 2, "rev": 6, "gone": true}`,
		`{"id": 3, "city": "Kiel", "rev": 2, "gone": false}
{"id": 4, "city": "Lyon", "rev": 7, "gone": false}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("c%d.json", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
