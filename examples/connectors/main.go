// Command connectors reads a stream from a source of its own and writes it to a sink of its own: package journal, a file of lines in, a folder
// with a file for each batch out.
//
//	go run ./examples/connectors
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // local[N]
	"github.com/millrace/millrace/examples/connectors/journal"
	f "github.com/millrace/millrace/functions"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "connectors")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(ctx, dir); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string) error {
	journal.Register()
	spark, err := millrace.Connect(ctx, "local[2]")
	if err != nil {
		return err
	}
	defer spark.Close()

	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	errors := spark.ReadStream().Format("journal").Option("maxLines", 2).Load(in).
		Where(f.Col("line").StartsWith("error")).Select("at", f.Upper("line"))
	for _, lines := range []string{"started\nerror: disk\n", "error: net\nstopped\nerror: di"} {
		if err := add(in, lines); err != nil {
			return err
		}
		query, err := errors.WriteStream().Format("journal").Option("checkpointLocation", filepath.Join(dir, "checkpoint")).
			Trigger(millrace.AvailableNow()).Start(ctx, out)
		if err != nil {
			return err
		}
		if err := query.AwaitTermination(ctx); err != nil {
			return err
		}
	}

	written, err := filepath.Glob(filepath.Join(out, "[0-9]*"))
	if err != nil {
		return err
	}
	for _, name := range written {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s", filepath.Base(name), text)
	}
	lines, err := spark.Read().Format("journal").Load(in).Count(ctx)
	if err != nil {
		return err
	}
	fmt.Println(lines, "lines")
	return nil
}

// add appends to a file. The last line may be unfinished: it counts when its end is there.
func add(name, text string) error {
	out, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := out.WriteString(text); err != nil {
		return err
	}
	return out.Close()
}
