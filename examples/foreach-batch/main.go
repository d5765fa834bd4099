// Command foreach-batch keeps the account of every user up to date with what a stream of payments brings. The accounts are a map of this
// program, in place of a database; a function of the program brings each batch into it, and into an archive of files as well.
//
//	go run ./examples/foreach-batch                               with the engine in this process
//	go run ./examples/foreach-batch -remote sc://localhost:15002  on a millrace server, which must see the same files; the function runs here
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // local[N]
	f "github.com/millrace/millrace/functions"
)

func main() {
	remote := flag.String("remote", "local[2]", "address of the engine")
	dir := flag.String("dir", "", "directory for input, archive and checkpoint (default: a temporary one)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *remote, *dir); err != nil {
		log.Fatal(err)
	}
}

// accounts stands for a database that can change several rows at once.
type accounts struct {
	mu      sync.Mutex
	balance map[string]int64
	batch   int64 // the last one that is in the balances
}

type payment struct {
	User  string
	Total int64
}

// apply adds the totals of a batch, once: a batch that comes again, because the program crashed before the query could commit it, has
// the same number and the same rows.
func (a *accounts) apply(batch int64, totals []payment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if batch <= a.batch {
		return
	}
	for _, p := range totals {
		a.balance[p.User] += p.Total
	}
	a.batch = batch
}

func run(ctx context.Context, address, dir string) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "foreach-batch")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	in := filepath.Join(dir, "in")
	if err := writePayments(in); err != nil {
		return err
	}

	spark, err := millrace.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer spark.Close()

	db := &accounts{balance: map[string]int64{}, batch: -1}
	bring := func(ctx context.Context, batch *millrace.DataFrame, id int64) error {
		totals, err := millrace.CollectAs[payment](ctx, batch.GroupBy("user").Agg(f.Sum("amount").As("total")))
		if err != nil {
			return err
		}
		db.apply(id, totals)
		return batch.Write().Mode(millrace.SaveOverwrite).Parquet(ctx, filepath.Join(dir, "archive", fmt.Sprintf("batch=%d", id)))
	}

	payments := spark.ReadStream().SchemaDDL("user STRING, amount BIGINT").Option("maxFilesPerTrigger", 1).JSON(in)
	query, err := payments.WriteStream().ForeachBatch(bring).
		Option("checkpointLocation", filepath.Join(dir, "checkpoint")).
		Trigger(millrace.AvailableNow()).
		Start(ctx)
	if err != nil {
		return err
	}
	if err := query.AwaitTermination(ctx); err != nil {
		return err
	}

	users := make([]string, 0, len(db.balance))
	for user := range db.balance {
		users = append(users, user)
	}
	slices.Sort(users)
	for _, user := range users {
		fmt.Println(user, db.balance[user])
	}
	archived, err := spark.Read().Parquet(filepath.Join(dir, "archive")).Count(ctx)
	if err != nil {
		return err
	}
	fmt.Println("archived", archived)
	return nil
}

func writePayments(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, text := range []string{`{"user": "ann", "amount": 10}`, `{"user": "bob", "amount": 5}`, `{"user": "ann", "amount": -3}`} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("p%d.json", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
