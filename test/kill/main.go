package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine"
	f "github.com/millrace/millrace/functions"
)

func main() {
	kills := flag.Int("n", 5, "how many times the process is killed")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of data and moments")
	dir := flag.String("dir", "", "folder for data, checkpoint and output; a temporary one by default")
	child := flag.Bool("child", false, "run the query until it is killed or the input is complete")
	flag.Parse()
	var err error
	if *child {
		err = runQuery(context.Background(), *dir)
	} else {
		err = run(*kills, *seed, *dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
}

const schema = "ts TIMESTAMP, user STRING, amount INT"

// totals is the query: late rows cannot occur in the data, so every event counts.
func totals(events *millrace.DataFrame) *millrace.DataFrame {
	return events.
		WithWatermark("ts", "1 hour").
		GroupBy(f.Window(f.Col("ts"), "10 minutes"), f.Col("user")).
		Agg(f.Sum(f.Col("amount")).As("total"), f.Count(f.Lit(1)).As("n"))
}

// done is the file that tells the query that no more input comes.
const done = "done"

// runQuery drains the input again and again, until it is complete.
func runQuery(ctx context.Context, dir string) error {
	spark, err := millrace.Connect(ctx, "local[2]")
	if err != nil {
		return err
	}
	defer spark.Close()
	for last := false; !last; {
		_, err := os.Stat(filepath.Join(dir, done))
		last = err == nil
		events := spark.ReadStream().Format("json").SchemaDDL(schema).Option("maxFilesPerTrigger", "2").Load(filepath.Join(dir, "in"))
		q, err := totals(events).WriteStream().Format("parquet").OutputMode(millrace.Append).
			Option("checkpointLocation", filepath.Join(dir, "checkpoint")).
			Trigger(millrace.AvailableNow()).Start(ctx, filepath.Join(dir, "out"))
		if err != nil {
			return err
		}
		if err := q.AwaitTermination(ctx); err != nil {
			return err
		}
	}
	return nil
}

func run(kills int, seed uint64, dir string) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "millrace-kill-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	fmt.Printf("seed %d\n", seed)
	if err := os.MkdirAll(filepath.Join(dir, "in"), 0o755); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	feed := &feeder{rng: rng, dir: dir}
	for i := range kills {
		if err := killOnce(self, feed, rng); err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
	}
	// The closing events push the watermark past every window; the last run is left alone.
	if err := feed.finish(); err != nil {
		return err
	}
	out, err := exec.Command(self, "-child", "-dir", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the last run: %w\n%s", err, out)
	}
	return compare(dir, kills)
}

// killOnce starts the query, feeds it, and kills it after a moment between a few milliseconds and two seconds.
func killOnce(self string, feed *feeder, rng *rand.Rand) error {
	cmd := exec.Command(self, "-child", "-dir", feed.dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	until := time.Now().Add(time.Duration(5+rng.IntN(2000)) * time.Millisecond)
	for time.Now().Before(until) {
		if err := feed.file(); err != nil {
			return err
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	err := cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return nil
	}
	return fmt.Errorf("the query ended by itself: %v", err)
}

// feeder writes input files, each whole or not at all.
type feeder struct {
	rng   *rand.Rand
	dir   string
	files int
	rows  int
}

// begin is the first event's time.
var begin = time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)

func (d *feeder) file() error {
	var b strings.Builder
	for range 1 + d.rng.IntN(30) {
		// Time goes on by a minute a file; events are up to half an hour old, well within the watermark's delay.
		at := begin.Add(time.Duration(d.files)*time.Minute - time.Duration(d.rng.IntN(1800))*time.Second)
		fmt.Fprintf(&b, "{\"ts\":%q,\"user\":\"u%d\",\"amount\":%d}\n", at.Format("2006-01-02 15:04:05"), d.rng.IntN(5), d.rng.IntN(100))
		d.rows++
	}
	return d.write(b.String())
}

func (d *feeder) write(text string) error {
	name := filepath.Join(d.dir, "in", fmt.Sprintf("%06d.json", d.files))
	hidden := filepath.Join(d.dir, "in", "."+filepath.Base(name))
	d.files++
	if err := os.WriteFile(hidden, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(hidden, name)
}

// finish writes an event far in the future, whose own window stays open, and the mark that nothing more comes.
func (d *feeder) finish() error {
	if err := d.write(`{"ts":"2027-01-01 00:00:00","user":"end","amount":0}` + "\n"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.dir, done), nil, 0o644)
}

// compare holds the output against the batch query over all input.
func compare(dir string, kills int) error {
	ctx := context.Background()
	spark, err := millrace.Connect(ctx, "local[2]")
	if err != nil {
		return err
	}
	defer spark.Close()
	want, err := texts(ctx, totals(spark.Read().Format("json").SchemaDDL(schema).Load(filepath.Join(dir, "in"))).Where("user <> 'end'"))
	if err != nil {
		return err
	}
	got, err := texts(ctx, spark.Read().Parquet(filepath.Join(dir, "out")))
	if err != nil {
		return err
	}
	if !slices.Equal(want, got) {
		return fmt.Errorf("after %d kills the output has %d rows and the batch query %d:\n%s", kills, len(got), len(want), difference(want, got))
	}
	fmt.Printf("%d kills: %d windows, each exactly as the batch query has it\n", kills, len(got))
	return nil
}

func texts(ctx context.Context, df *millrace.DataFrame) ([]string, error) {
	var out []string
	for row, err := range df.SelectExpr("window.start AS start", "user", "total", "n").Rows(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, row.String())
	}
	slices.Sort(out)
	return out, nil
}

// difference lists the rows that only one side has.
func difference(want, got []string) string {
	var b strings.Builder
	for _, w := range want {
		if !slices.Contains(got, w) {
			fmt.Fprintln(&b, "missing:", w)
		}
	}
	for i, g := range got {
		if !slices.Contains(want, g) || i > 0 && got[i-1] == g {
			fmt.Fprintln(&b, "surplus:", g)
		}
	}
	return b.String()
}
