package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/millrace/millrace"
)

// state begins a query with state on each engine and continues it on the other, which must refuse it; then it begins a query without
// state whose settings name a provider of ours, and Spark must go on.
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
	return errors.Join(failed...)
}
