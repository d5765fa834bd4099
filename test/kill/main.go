package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine"
)

// flags are those of the command and of the processes that it starts.
type flags struct {
	kills          int
	seed           uint64
	broker, python string
	child          string
}

func main() {
	var fl flags
	flag.IntVar(&fl.kills, "n", 5, "how many times the process of each pipeline is killed")
	flag.Uint64Var(&fl.seed, "seed", uint64(time.Now().UnixNano()), "seed of data and moments")
	flag.StringVar(&fl.broker, "broker", "", "address of a Kafka broker")
	flag.StringVar(&fl.python, "python", "", "a Python with the packages of scripts/requirements.txt, which reads the output as well")
	flag.StringVar(&fl.child, "child", "", "run the query in this folder until it is killed or the input is complete")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, fl, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, fl flags, names []string) error {
	if fl.child != "" {
		p, err := open(ctx, names[0], fl.child, fl.broker, false)
		if err != nil {
			return err
		}
		defer p.close()
		return p.run(ctx)
	}
	if len(names) == 0 {
		names = []string{"files-windows-parquet"}
	}
	fmt.Println("seed", fl.seed)
	for _, name := range names {
		if err := runPipeline(ctx, fl, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// runPipeline kills the process of one pipeline and looks at what it has written.
func runPipeline(ctx context.Context, fl flags, name string) (err error) {
	dir, err := os.MkdirTemp("", "millrace-kill-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nthe files are kept in %s", err, dir)
			return
		}
		err = os.RemoveAll(dir)
	}()
	p, err := open(ctx, name, dir, fl.broker, true)
	if err != nil {
		return err
	}
	defer p.close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	k := &killer{
		p: p, rng: rand.New(rand.NewPCG(fl.seed, 1)), feed: &feeder{rng: rand.New(rand.NewPCG(fl.seed, 2)), p: p},
		command: func() *exec.Cmd { return exec.CommandContext(ctx, self, "-child", dir, "-broker", fl.broker, name) },
	}
	for i := range fl.kills {
		if err := k.once(ctx); err != nil {
			return fmt.Errorf("kill %d: %w", i+1, err)
		}
	}
	// The closing event pushes the watermark past every window; its own stays open. The last run is left alone.
	if err := p.put(ctx, []string{`{"id":-1,"ts":"2027-01-01 00:00:00","user":"end","amount":0}`}); err != nil {
		return err
	}
	if err := os.WriteFile(p.path(done), nil, 0o644); err != nil {
		return err
	}
	if out, err := k.command().CombinedOutput(); err != nil {
		return fmt.Errorf("the last run: %w\n%s", err, out)
	}
	rows, err := compare(ctx, p)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d kills (%s); %d events, %d rows, each exactly once\n", name, fl.kills, k.summary(), k.feed.events, rows)
	return p.check(ctx, fl.python)
}

// Files that the two processes talk by.
const (
	started = "started" // the process has a session and begins with the query
	done    = "done"    // no more input comes
)

// run drains the input again and again, until it is complete.
func (p *pipeline) run(ctx context.Context) error {
	spark, err := millrace.Connect(ctx, "local[2]")
	if err != nil {
		return err
	}
	defer spark.Close()
	if err := os.WriteFile(p.path(started), nil, 0o644); err != nil {
		return err
	}
	for last := false; !last; {
		_, err := os.Stat(p.path(done))
		last = err == nil
		q, err := p.out.start(ctx, p.query.rows(p.in.stream(spark)), func(rows *millrace.DataFrame) *millrace.DataStreamWriter {
			return rows.WriteStream().OutputMode(millrace.Append).
				Option("checkpointLocation", p.path("checkpoint")).Trigger(millrace.AvailableNow())
		})
		if err != nil {
			return err
		}
		if err := q.AwaitTermination(ctx); err != nil {
			return err
		}
	}
	return nil
}

// check has another reader count what was written.
func (p *pipeline) check(ctx context.Context, python string) error {
	if python == "" {
		fmt.Println("  read by millrace alone (-python)")
		return nil
	}
	cmd := exec.CommandContext(ctx, python, append([]string{"-", p.query.name, p.path("events")}, p.out.reader()...)...)
	cmd.Stdin = strings.NewReader(checker)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("check.py: %w\n%s", err, out)
	}
	fmt.Printf("  %s", out)
	return nil
}

// last is the highest number that names a file of a folder; other parts of the name, behind the first dot, do not count.
func last(folder string) int64 {
	most := int64(-1)
	entries, _ := os.ReadDir(folder) // none: nothing is there yet
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		if n, err := strconv.ParseInt(name, 10, 64); err == nil {
			most = max(most, n)
		}
	}
	return most
}

func (p *pipeline) path(name string) string { return filepath.Join(p.dir, name) }
