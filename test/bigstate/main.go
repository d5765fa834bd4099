package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine"
)

type options struct {
	rows, perBatch   int64
	limit            string
	query, provider  string
	dir              string
	workers, hours   int
	residentMegabyte int64
	profile          string
}

func main() {
	var o options
	flag.Int64Var(&o.rows, "rows", 10_000_000, "rows, each with a key of its own")
	flag.Int64Var(&o.perBatch, "batch", 200_000, "rows of a batch")
	flag.StringVar(&o.limit, "limit", "1g", "spark.millrace.state.memoryLimit")
	flag.StringVar(&o.query, "query", "dedup", "dedup, window or total")
	flag.StringVar(&o.provider, "provider", "millrace.lsm", "state provider")
	flag.StringVar(&o.dir, "dir", "", "checkpoint; a temporary one by default")
	flag.IntVar(&o.workers, "workers", 2, "workers")
	flag.IntVar(&o.hours, "hours", 6, "delay of the watermark; an hour is a window of 2 million keys")
	flag.Int64Var(&o.residentMegabyte, "resident", 0, "fail when more megabytes are resident at any time")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a profile to this file")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "bigstate:", err)
		os.Exit(1)
	}
}

// perWindow is how many rows have the event time of one window.
const perWindow = 2_000_000

// queries are by name. A row's key is spread over the whole range, so that no two rows in succession lie together in the state.
var queries = map[string]struct {
	sql, mode string
}{
	// All keys stay: there is no watermark.
	"dedup": {"SELECT hex(xxhash64(value)) AS k FROM numbers", "append"},
	// Keys of a window stay until the watermark has passed it.
	"window": {"SELECT window(timestamp, '1 hour').start AS w, hex(xxhash64(value)) AS k, count(*) AS n, sum(value) AS s " +
		"FROM numbers GROUP BY window(timestamp, '1 hour'), hex(xxhash64(value))", "append"},
	// Every key comes many times, anywhere among the others.
	"total": {"SELECT xxhash64(value % 1000000) AS k, count(*) AS n, sum(value) AS s FROM numbers GROUP BY xxhash64(value % 1000000)", "update"},
}

func run(ctx context.Context, o options) error {
	q, ok := queries[o.query]
	if !ok {
		return fmt.Errorf("there is no query %q", o.query)
	}
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "bigstate-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	spark, err := millrace.Connect(ctx, "local["+strconv.Itoa(o.workers)+"]",
		millrace.WithConf("spark.sql.streaming.stateStore.providerClass", o.provider),
		millrace.WithConf("spark.millrace.state.memoryLimit", o.limit),
		millrace.WithConf("spark.sql.streaming.minBatchesToRetain", "2"))
	if err != nil {
		return err
	}
	defer spark.Close()
	// The event time moves on by an hour with every perWindow rows.
	numbers := spark.ReadStream().Format("rate-micro-batch").Option("rowsPerBatch", o.perBatch).
		Option("advanceMillisPerBatch", time.Hour.Milliseconds()*o.perBatch/perWindow).Option("numPartitions", o.workers).Load()
	if err := numbers.WithWatermark("timestamp", strconv.Itoa(o.hours)+" hours").CreateOrReplaceTempView(ctx, "numbers"); err != nil {
		return err
	}
	df, err := spark.SQL(ctx, q.sql)
	if err != nil {
		return err
	}
	if o.query == "dedup" {
		df = df.DropDuplicates("k")
	}
	query, err := df.WriteStream().Format("noop").OutputMode(millrace.OutputMode(q.mode)).Option("checkpointLocation", o.dir).Start(ctx)
	if err != nil {
		return err
	}
	err = watch(ctx, o, query)
	return errors.Join(err, query.Stop(ctx))
}

// watch prints what the query reports until it has all rows.
func watch(ctx context.Context, o options, q *millrace.StreamingQuery) error {
	began, last, seen := time.Now(), int64(-1), int64(0)
	for {
		reports, err := q.RecentProgress(ctx)
		if err != nil {
			return err
		}
		for _, p := range reports {
			if p.BatchID <= last || p.NumInputRows() == 0 {
				continue
			}
			last = p.BatchID
			before := seen
			seen += p.NumInputRows()
			if seen*10/o.rows > before*10/o.rows && len(p.StateOperators) > 0 {
				s := p.StateOperators[0]
				fmt.Printf("%11d rows  %9.0f rows/s  state %9d rows, %4d MB in memory, %5d MB on disk  batch %5d ms, commit %4d ms  resident %s\n",
					seen, float64(seen)/time.Since(began).Seconds(), s.NumRowsTotal, s.MemoryUsedBytes>>20, s.CustomMetrics["millrace.stateDiskBytes"]>>20,
					p.BatchDuration, s.CommitTimeMs, resident())
			}
		}
		if seen >= o.rows {
			took := time.Since(began)
			fmt.Printf("%s, %s, limit %s: %.0f rows/s, resident %s\n", o.query, o.provider, o.limit, float64(seen)/took.Seconds(), resident())
			if peak := memory("VmHWM"); o.residentMegabyte > 0 && peak > o.residentMegabyte<<10 {
				return fmt.Errorf("%d MB were resident, which is more than %d", peak>>10, o.residentMegabyte)
			}
			return nil
		}
		if active, err := q.IsActive(ctx); err != nil || !active {
			failed, ferr := q.Exception(ctx)
			return errors.Join(err, ferr, fmt.Errorf("the query has ended: %v", failed))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func resident() string {
	return fmt.Sprintf("%d MB, at most %d MB", memory("VmRSS")>>10, memory("VmHWM")>>10)
}

// memory reads a figure of the process in kilobytes, where the system tells.
func memory(name string) int64 {
	content, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(content), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n
		}
	}
	return 0
}
