package main

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// phase is what the process was doing when it was killed.
type phase int

const (
	starting  phase = iota // the query had not begun
	between                // no batch was open
	opened                 // a batch was open and had written nothing yet
	writing                // rows of the open batch were in files, or may have been on their way to Kafka
	committed              // the sink had committed the batch and the checkpoint had not
	phases
)

func (p phase) String() string {
	return [phases]string{"before the query", "between batches", "in a batch before its rows", "in a batch with rows", "behind the sink's commit"}[p]
}

// killer starts the process of a pipeline, feeds and kills it.
type killer struct {
	p       *pipeline
	rng     *rand.Rand
	feed    *feeder
	command func() *exec.Cmd
	hit     [phases]int
}

func (k *killer) summary() string {
	var parts []string
	for p, n := range k.hit {
		parts = append(parts, fmt.Sprintf("%d %s", n, phase(p)))
	}
	return strings.Join(parts, ", ")
}

// once starts the process, feeds it, and kills it.
func (k *killer) once(ctx context.Context) error {
	if err := os.RemoveAll(k.p.path(started)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	fed := make(chan error, 1)
	go func() { fed <- k.feed.run(ctx) }()
	err := k.kill(ctx)
	cancel()
	if ferr := <-fed; err == nil {
		err = ferr
	}
	return err
}

func (k *killer) kill(ctx context.Context) error {
	cmd := k.command()
	cmd.Stderr = os.Stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	k.wait(ctx)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	err := cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() {
		return fmt.Errorf("the query ended by itself: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	k.hit[k.phase(ctx, begin)]++
	return nil
}

// wait is over when the process is to be killed: after up to a second and a half, rather sooner than later, and for two of three kills when
// the next batch begins after that, or the sink's next commit is there. A process that does neither for a while is killed all the same.
func (k *killer) wait(ctx context.Context) {
	const most = float64(1500 * time.Millisecond)
	aim, delay := k.rng.IntN(3), time.Duration(most*math.Pow(k.rng.Float64(), 2))
	after := time.Duration(k.rng.IntN(20)) * time.Millisecond
	pause(ctx, delay)
	count := func() int64 { return last(k.p.path("checkpoint/offsets")) }
	switch aim {
	case 0:
		return
	case 1:
		count, after = func() int64 { return k.p.out.last(ctx) }, after/10
	}
	const patience = 5 * time.Second
	for was, until := count(), time.Now().Add(patience); count() == was && time.Now().Before(until) && ctx.Err() == nil; {
		pause(ctx, 100*time.Microsecond)
	}
	pause(ctx, after)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// phase tells from what lies on the disk what the dead process, which was started at begin, had been doing.
func (k *killer) phase(ctx context.Context, begin time.Time) phase {
	if _, err := os.Stat(k.p.path(started)); err != nil {
		return starting
	}
	batch := last(k.p.path("checkpoint/offsets"))
	switch {
	case batch == last(k.p.path("checkpoint/commits")):
		return between
	case k.p.out.last(ctx) >= batch:
		return committed
	}
	if info, err := os.Stat(filepath.Join(k.p.path("checkpoint/offsets"), fmt.Sprint(batch))); err == nil && info.ModTime().After(begin) {
		begin = info.ModTime()
	}
	if k.p.out.written(begin) {
		return writing
	}
	return opened
}

// newer tells if a folder holds a file that was written after a moment.
func newer(folder string, than time.Time) (found bool) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // a folder that is not there holds nothing
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(than) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// feeder makes the input.
type feeder struct {
	rng    *rand.Rand
	p      *pipeline
	n      int
	events int
}

// first is the first event's time.
var first = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)

// run adds events now and then until the context ends.
func (d *feeder) run(ctx context.Context) error {
	for ctx.Err() == nil {
		var events []string
		for range 1 + d.rng.IntN(30) {
			// Time goes on by a minute each time; events are up to half an hour old, well within the watermark's delay.
			at := first.Add(time.Duration(d.n)*time.Minute - time.Duration(d.rng.IntN(1800))*time.Second)
			events = append(events, fmt.Sprintf(`{"id":%d,"ts":%q,"user":"u%d","amount":%d}`,
				d.events, at.Format(time.DateTime), d.rng.IntN(5), d.rng.IntN(100)))
			d.events++
		}
		d.n++
		// Events that were begun with are put, whole, although the kill is over.
		if err := d.p.put(context.WithoutCancel(ctx), events); err != nil {
			return err
		}
		pause(ctx, time.Duration(d.rng.IntN(60))*time.Millisecond)
	}
	return nil
}
