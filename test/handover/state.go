package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/millrace/millrace"
)

// state begins a query with state on each engine and continues it on the other, which must refuse it; then a query without state whose
// settings name a provider of ours must go on in Spark.
func (e engines) state(ctx context.Context, dir string) error {
	var failed []error
	for _, turn := range []string{"SM", "MS"} {
		p := &place{dir: filepath.Join(dir, turn)}
		prog := &program{name: "state", inputs: []string{"a"}}
		count := func(s *millrace.Session) error {
			q, err := files(s, filepath.Join(p.in(), "a"), 1).GroupBy("k").Count().WriteStream().Format("noop").OutputMode(millrace.Update).
				Option("checkpointLocation", p.checkpoint()).Trigger(millrace.AvailableNow()).Start(ctx)
			if err != nil {
				return err
			}
			return q.AwaitTermination(ctx)
		}
		if err := p.feed(prog); err != nil {
			return err
		}
		if err := count(e[turn[0]]); err != nil {
			return err
		}
		if err := p.feed(prog); err != nil {
			return err
		}
		err := count(e[turn[1]])
		if err == nil {
			failed = append(failed, fmt.Errorf("state of %c: %c went on with it", turn[0], turn[1]))
			continue
		}
		fmt.Printf("state of %c, continued on %c: %v\n", turn[0], turn[1], err)
	}
	return errors.Join(append(failed, e.provider(ctx, filepath.Join(dir, "provider")))...)
}

// provider lets Spark go on with a query without state whose log names a provider of ours, as if it had had state before.
func (e engines) provider(ctx context.Context, dir string) error {
	prog, p := &programs[0], &place{dir: dir}
	if err := e.play(ctx, prog, p, "M"); err != nil {
		return err
	}
	last, err := newest(filepath.Join(p.checkpoint(), "offsets"))
	if err != nil {
		return err
	}
	for id := range last + 1 {
		name := entry(p.checkpoint(), "offsets", id)
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		const spark = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
		if err := os.WriteFile(name, bytes.ReplaceAll(text, []byte(spark), []byte("millrace.mem")), 0o644); err != nil {
			return err
		}
	}
	if err := e.play(ctx, prog, p, "SMSM"); err != nil {
		return fmt.Errorf("a query without state whose log names our provider: %w", err)
	}
	if err := e.verify(ctx, prog, p); err != nil {
		return err
	}
	fmt.Println("a query without state whose log names our provider: every row once")
	return nil
}
