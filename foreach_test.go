package millrace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/milltest"
)

// ours runs a test on the engine in this process, there again in the form of the wire, and on a server.
func ours(t *testing.T, test func(t *testing.T, spark *millrace.Session)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, connect(t, "local[2]", warehouse(t))) })
	t.Run("exact", func(t *testing.T) { test(t, connect(t, "local[2]", warehouse(t), millrace.WithExact())) })
	t.Run("loopback", func(t *testing.T) { test(t, connect(t, serve(t))) })
}

// counts are rows 0 to 5 in two batches, each in two parts, as a stream.
func counts(t *testing.T, spark *millrace.Session) *millrace.DataFrame {
	dir := t.TempDir()
	for i := range 4 {
		write(t, dir, fmt.Sprintf("n%d.json", i), fmt.Sprintf("{\"n\": %d, \"k\": \"a\"}\n{\"n\": %d, \"k\": \"b\"}", 2*i, 2*i+1))
	}
	return spark.ReadStream().SchemaDDL("n INT, k STRING").Option("maxFilesPerTrigger", 2).JSON(dir)
}

func numbers(ctx context.Context, d *millrace.DataFrame) (ns []int, err error) {
	return millrace.CollectAs[int](ctx, d.Select("n"))
}

// A batch can be used as often as one likes, joined with what the program has, and written anywhere.
func TestForeachBatch(t *testing.T) {
	ours(t, func(t *testing.T, spark *millrace.Session) {
		names := spark.CreateDataFrame([]struct{ K, Name string }{{"a", "ann"}, {"b", "bob"}})
		out := t.TempDir() + "/out"
		var mu sync.Mutex
		var seen []string
		w := counts(t, spark).WriteStream().Trigger(millrace.AvailableNow()).Option("checkpointLocation", t.TempDir())
		finish(t, w.ForeachBatch(func(ctx context.Context, d *millrace.DataFrame, id int64) error {
			first, err := numbers(ctx, d)
			if err != nil {
				return err
			}
			again, err := numbers(ctx, d)
			if err != nil {
				return err
			}
			if !slices.Equal(first, again) {
				return fmt.Errorf("rows %v, then %v", first, again)
			}
			n, err := d.Join(d.Select(f.Col("n").As("m")), f.Col("n").Eq(f.Col("m")), millrace.InnerJoin).Count(ctx)
			if err != nil {
				return err
			}
			joined, err := names.Join(d, []string{"k"}, millrace.InnerJoin).OrderBy("n").Collect(ctx)
			if err != nil {
				return err
			}
			if err := d.CreateOrReplaceTempView(ctx, "updates"); err != nil {
				return err
			}
			viewed, err := d.Session().SQL(ctx, "SELECT max(n) FROM updates")
			if err != nil {
				return err
			}
			top, err := viewed.First(ctx)
			if err != nil {
				return err
			}
			mu.Lock()
			seen = append(seen, fmt.Sprint(id, first, n, joined[0], top))
			mu.Unlock()
			return d.Write().Mode(millrace.SaveAppend).JSON(ctx, out)
		}))
		want := []string{`0 [0 1 2 3] 4 [k: "a", name: "ann", n: 0] [max(n): 3]`, `1 [4 5 6 7] 4 [k: "a", name: "ann", n: 4] [max(n): 7]`}
		if d := cmp.Diff(want, seen); d != "" {
			t.Errorf("batches (-want +got):\n%s", d)
		}
		all, err := numbers(ctx(t), spark.Read().SchemaDDL("n INT").JSON(out).OrderBy("n"))
		if err != nil || len(all) != 8 {
			t.Errorf("written: %v, %v", all, err)
		}
		if _, err := spark.Table("updates").Collect(ctx(t)); err == nil {
			t.Error("a view of the query is seen outside")
		}
	})
}

var errNoGood = errors.New("no good")

// What the function says is the cause of what the query says.
func TestForeachBatchFails(t *testing.T) {
	ours(t, func(t *testing.T, spark *millrace.Session) {
		for name, function := range map[string]millrace.BatchFunc{
			"error": func(context.Context, *millrace.DataFrame, int64) error { return fmt.Errorf("write: %w", errNoGood) },
			"panic": func(context.Context, *millrace.DataFrame, int64) error { panic(errNoGood) },
		} {
			q, err := counts(t, spark).WriteStream().Trigger(millrace.AvailableNow()).ForeachBatch(function).Start(ctx(t))
			if err != nil {
				t.Fatal(err)
			}
			err = q.AwaitTermination(ctx(t))
			e := expectClass(t, err, "STREAM_FAILED")
			e = expectClass(t, e.Cause, "FOREACH_BATCH_USER_FUNCTION_ERROR")
			if e.SQLState != "39000" || !strings.Contains(e.Message, "no good") {
				t.Errorf("%s: %v", name, e)
			}
			if !errors.Is(err, errNoGood) {
				t.Errorf("%s: the function's own error is lost in %v", name, err)
			}
			failure, err := q.Exception(ctx(t))
			if err != nil || !errors.Is(failure, errNoGood) {
				t.Errorf("%s: exception %v, %v", name, failure, err)
			}
			if err := spark.Streams().AwaitAnyTermination(ctx(t)); !errors.Is(err, errNoGood) {
				t.Errorf("%s: any termination: %v", name, err)
			}
			spark.Streams().ResetTerminated(ctx(t))
		}
		q, err := counts(t, spark).WriteStream().ForeachBatch(func(ctx context.Context, d *millrace.DataFrame, _ int64) error {
			_, err := d.SelectExpr("n DIV 0").Collect(ctx)
			return err
		}).Start(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		e := expectClass(t, q.AwaitTermination(ctx(t)), "STREAM_FAILED")
		e = expectClass(t, e.Cause, "FOREACH_BATCH_USER_FUNCTION_ERROR")
		expectClass(t, e.Cause, "DIVIDE_BY_ZERO")
	})
}

// A batch that has failed comes again with the same number and rows.
func TestForeachBatchAgain(t *testing.T) {
	ours(t, func(t *testing.T, spark *millrace.Session) {
		in, checkpoint := counts(t, spark), t.TempDir()
		var seen []string
		fail := true
		run := func() error {
			q, err := in.WriteStream().Trigger(millrace.AvailableNow()).Option("checkpointLocation", checkpoint).ForeachBatch(
				func(ctx context.Context, d *millrace.DataFrame, id int64) error {
					ns, err := numbers(ctx, d)
					seen = append(seen, fmt.Sprint(id, ns))
					if fail && id == 1 {
						return errNoGood
					}
					return err
				}).Start(ctx(t))
			if err != nil {
				t.Fatal(err)
			}
			return q.AwaitTermination(ctx(t))
		}
		if err := run(); !errors.Is(err, errNoGood) {
			t.Fatal(err)
		}
		fail = false
		if err := run(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"0 [0 1 2 3]", "1 [4 5 6 7]", "1 [4 5 6 7]"}, seen); d != "" {
			t.Errorf("batches (-want +got):\n%s", d)
		}
	})
}

// Stop ends the context of the function and waits for it; the function itself may stop its query.
func TestForeachBatchStops(t *testing.T) {
	ours(t, func(t *testing.T, spark *millrace.Session) {
		entered, left := make(chan struct{}), make(chan error, 1)
		q, err := counts(t, spark).WriteStream().ForeachBatch(func(ctx context.Context, _ *millrace.DataFrame, _ int64) error {
			close(entered)
			<-ctx.Done()
			left <- context.Cause(ctx)
			return ctx.Err()
		}).Start(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		<-entered
		if err := q.Stop(ctx(t)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-left:
			if err == nil {
				t.Error("the context has no cause")
			}
		default:
			t.Error("Stop did not wait for the function")
		}
		if e, err := q.Exception(ctx(t)); e != nil || err != nil {
			t.Errorf("a query that was stopped has failed: %v, %v", e, err)
		}

		var self *millrace.StreamingQuery
		begin, stopped := make(chan struct{}), make(chan error, 1)
		self, err = counts(t, spark).WriteStream().ForeachBatch(func(ctx context.Context, _ *millrace.DataFrame, _ int64) error {
			<-begin
			stopped <- self.Stop(ctx)
			return nil
		}).Start(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		close(begin)
		if err := self.AwaitTermination(ctx(t)); err != nil {
			t.Error(err)
		}
		if err := <-stopped; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("stopped by the function: %v", err)
		}
	})
}

// Each mode hands over what it writes; a batch without data is called too.
func TestForeachBatchModes(t *testing.T) {
	for mode, want := range map[millrace.OutputMode]string{
		millrace.Update:   "0 [(10:00, 1)]|1 []|2 [(10:10, 1), (10:20, 1)]|3 []",
		millrace.Append:   "0 []|1 []|2 []|3 [(10:00, 1)]",
		millrace.Complete: "0 [(10:00, 1)]|1 [(10:00, 1), (10:10, 1), (10:20, 1)]",
	} {
		t.Run(string(mode), func(t *testing.T) {
			eng := milltest.New(t)
			in := eng.Stream("ts TIMESTAMP")
			var seen []string
			q, err := in.DataFrame().WithWatermark("ts", "5 minutes").GroupBy(f.Window("ts", "10 minutes")).Count().
				SelectExpr("date_format(window.start, 'HH:mm') AS w", "count").WriteStream().OutputMode(mode).
				ForeachBatch(func(ctx context.Context, d *millrace.DataFrame, id int64) error {
					rows, err := d.OrderBy("w").Collect(ctx)
					parts := make([]string, len(rows))
					for i, r := range rows {
						parts[i] = fmt.Sprintf("(%v, %v)", r.At(0), r.At(1))
					}
					seen = append(seen, fmt.Sprintf("%d [%s]", id, strings.Join(parts, ", ")))
					return err
				}).Start(eng.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range []string{"10:01", "10:12\n10:21"} {
				in.AddText(rows)
				if err := q.ProcessAllAvailable(eng.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(seen, "|"); got != want {
				t.Errorf("batches\n%s\nwant\n%s", got, want)
			}
			if err := q.Stop(eng.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a batch does not fit into memory lies in files, and is the same rows.
func TestForeachBatchSpills(t *testing.T) {
	spark := connect(t, "local[2]", warehouse(t), millrace.WithConf("spark.millrace.memoryLimit", "1k"))
	in := spark.ReadStream().Format("rate-micro-batch").Option("rowsPerBatch", 50_000).Option("numPartitions", 3).Load()
	done := make(chan error, 1)
	q, err := in.WriteStream().ForeachBatch(func(ctx context.Context, d *millrace.DataFrame, id int64) error {
		if id > 0 {
			return nil
		}
		defer close(done)
		for range 2 {
			r, err := d.SelectExpr("value", "spark_partition_id() AS p").SelectExpr("count(*)", "sum(value)", "count(distinct p)").First(ctx)
			if err == nil && fmt.Sprint(r.Values()) != "[50000 1249975000 3]" {
				err = fmt.Errorf("rows %v", r)
			}
			if err != nil {
				done <- err
				return err
			}
		}
		return nil
	}).Start(ctx(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := q.Stop(ctx(t)); err != nil {
		t.Error(err)
	}
}

func TestForeachBatchRefused(t *testing.T) {
	ours(t, func(t *testing.T, spark *millrace.Session) {
		nothing := func(context.Context, *millrace.DataFrame, int64) error { return nil }
		_, err := counts(t, spark).WriteStream().PartitionBy("k").ForeachBatch(nothing).Start(ctx(t))
		expectClass(t, err, "UNSUPPORTED_STREAMING_OPERATION.PARTITION_BY")
		_, err = spark.ReadStream().Format("rate").Load().WriteStream().Trigger(millrace.Continuous("1 second")).ForeachBatch(nothing).Start(ctx(t))
		expectClass(t, err, "UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS_FOREACH_BATCH")
		_, err = spark.Range(0, 3, 1).WriteStream().ForeachBatch(nothing).Start(ctx(t))
		expectClass(t, err, "WRITE_STREAM_NOT_ALLOWED")
		_, err = counts(t, spark).WriteStream().ForeachBatch(nil).Start(ctx(t))
		expectClass(t, err, "CANNOT_BE_EMPTY")
		_, err = counts(t, spark).GroupBy("k").Count().WriteStream().ForeachBatch(nothing).Start(ctx(t))
		if err == nil {
			t.Error("append mode takes a grouping without a watermark")
		}
	})
}

// ledger is a writer that notes what it is told.
type ledger struct {
	*notes
	refuse, fail bool
	sum          int
}

type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

type count struct{ N int }

func (l *ledger) Open(_ context.Context, partition int, batch int64) (bool, error) {
	if l.sum != 0 {
		return false, errors.New("the copy was used before")
	}
	l.add("open %d.%d", batch, partition)
	return !l.refuse, nil
}

func (l *ledger) Process(_ context.Context, c count) error {
	if l.fail && c.N == 2 {
		return errNoGood
	}
	l.sum += c.N
	return nil
}

func (l *ledger) Close(_ context.Context, failure error) error {
	l.add("close %d %v", l.sum, failure)
	return nil
}

func TestForeach(t *testing.T) {
	ours(t, func(t *testing.T, spark *millrace.Session) {
		run := func(l *ledger) (*millrace.StreamingQuery, []string, error) {
			l.notes = &notes{}
			w := spark.ReadStream().Format("rate-micro-batch").Option("rowsPerBatch", 4).Option("numPartitions", 2).Load().
				WithColumnRenamed("value", "n").WriteStream().Trigger(millrace.Once())
			q, err := millrace.Foreach(w, l).Start(ctx(t))
			if err != nil {
				t.Fatal(err)
			}
			err = q.AwaitTermination(ctx(t))
			slices.Sort(l.lines)
			return q, l.lines, err
		}
		q, got, err := run(&ledger{})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"close 2 <nil>", "close 4 <nil>", "open 0.0", "open 0.1"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("calls (-want +got):\n%s", d)
		}
		if p, err := q.LastProgress(ctx(t)); err != nil || p.Sink.Description != "ForeachWriterTable" || p.Sink.NumOutputRows != 4 {
			t.Errorf("progress %v, %v", p, err)
		}
		if _, got, err = run(&ledger{refuse: true}); err != nil || strings.Count(strings.Join(got, "|"), "close 0 <nil>") != 2 {
			t.Errorf("refused partitions: %v, %v", got, err)
		}
		_, got, err = run(&ledger{fail: true})
		e := expectClass(t, err, "STREAM_FAILED")
		expectClass(t, e.Cause, "FOREACH_USER_FUNCTION_ERROR")
		if !errors.Is(err, errNoGood) || !slices.Contains(got, "close 0 no good") {
			t.Errorf("calls %v, error %v", got, err)
		}
	})
}

// texts takes rows as they are.
type texts struct{ *notes }

func (l texts) Open(context.Context, int, int64) (bool, error) { return true, nil }
func (l texts) Process(_ context.Context, r millrace.Row) error {
	if r.At(0).(int32) == 7 {
		panic("seven")
	}
	l.add("%v", r.Values())
	return nil
}

func (l texts) Close(_ context.Context, failure error) error {
	if failure != nil {
		l.add("closed: %v", failure)
	}
	return nil
}

func TestForeachRows(t *testing.T) {
	ours(t, func(t *testing.T, spark *millrace.Session) {
		w := texts{&notes{}}
		q, err := counts(t, spark).WriteStream().Trigger(millrace.AvailableNow()).Foreach(w).Start(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		err = q.AwaitTermination(ctx(t))
		if !slices.Contains(w.lines, "[0 a]") || !slices.Contains(w.lines, "closed: the writer has panicked") {
			t.Errorf("rows %v", w.lines)
		}
		e := expectClass(t, expectClass(t, err, "STREAM_FAILED").Cause, "FOREACH_USER_FUNCTION_ERROR")
		if !strings.Contains(e.Message, "panic: seven") {
			t.Errorf("error %v", e)
		}
	})
}

func TestForeachRefused(t *testing.T) {
	ours(t, func(t *testing.T, spark *millrace.Session) {
		_, err := millrace.Foreach(counts(t, spark).Select("k").WriteStream(), &ledger{notes: &notes{}}).Start(ctx(t))
		expectClass(t, err, "RESULT_CONVERSION.NO_COLUMN")
		_, err = counts(t, spark).WriteStream().PartitionBy("k").Foreach(texts{&notes{}}).Start(ctx(t))
		expectClass(t, err, "UNSUPPORTED_STREAMING_OPERATION.PARTITION_BY")
		_, err = counts(t, spark).WriteStream().Foreach(nil).Start(ctx(t))
		expectClass(t, err, "CANNOT_BE_EMPTY")
	})
}

// Spark is not sent what it cannot run.
func TestForeachBatchOnSpark(t *testing.T) {
	address := os.Getenv(remoteVar)
	if address == "" {
		t.Skip(remoteVar + " names no Spark Connect server")
	}
	spark := connect(t, address)
	_, err := counts(t, spark).WriteStream().ForeachBatch(func(context.Context, *millrace.DataFrame, int64) error { return nil }).Start(ctx(t))
	expectClass(t, err, "UNSUPPORTED_FEATURE.GO_FUNCTION_ON_SPARK")
}

// The console of a server prints where the program runs.
func TestConsoleOfAProgram(t *testing.T) {
	var out lockedBuffer
	for name, address := range map[string]func() string{"embedded": func() string { return "local[2]" }, "loopback": func() string { return serve(t) }} {
		t.Run(name, func(t *testing.T) {
			out.Reset()
			spark := connect(t, address(), millrace.WithConsole(&out))
			finish(t, counts(t, spark).GroupBy().Count().WriteStream().Format("console").OutputMode(millrace.Complete).Trigger(millrace.AvailableNow()))
			want := ""
			for i, n := range []int{4, 8} {
				want += fmt.Sprintf("-------------------------------------------\nBatch: %d\n-------------------------------------------\n", i) +
					fmt.Sprintf("+-----+\n|count|\n+-----+\n|    %d|\n+-----+\n\n", n)
			}
			if d := cmp.Diff(want, out.String()); d != "" {
				t.Errorf("console (-want +got):\n%s", d)
			}
		})
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
func (l *lockedBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }
func (l *lockedBuffer) Reset()         { l.mu.Lock(); defer l.mu.Unlock(); l.b.Reset() }

// cutter is a way to a server that can be cut.
type cutter struct {
	l     net.Listener
	to    string
	mu    sync.Mutex
	conns []net.Conn
	wg    sync.WaitGroup
}

func newCutter(t *testing.T, to string) *cutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{l: l, to: strings.TrimPrefix(to, "sc://")}
	c.wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", c.to)
			if err != nil {
				in.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, in, out)
			c.mu.Unlock()
			c.wg.Go(func() { io.Copy(in, out); in.Close() })
			c.wg.Go(func() { io.Copy(out, in); out.Close() })
		}
	})
	t.Cleanup(func() { l.Close(); c.cut(); c.wg.Wait() })
	return c
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.conns {
		x.Close()
	}
	c.conns = nil
}

// Connections break in the middle of a batch, and streams of responses are cut all the time: no batch is lost or comes twice.
func TestForeachBatchOverABadLine(t *testing.T) {
	way := newCutter(t, serveWith(t, map[string]string{"spark.connect.execute.reattachable.senderMaxStreamSize": "1b"}))
	spark := connect(t, "sc://"+way.l.Addr().String())
	var seen []string
	finish(t, counts(t, spark).WriteStream().Trigger(millrace.AvailableNow()).ForeachBatch(func(ctx context.Context, d *millrace.DataFrame, id int64) error {
		way.cut()
		ns, err := numbers(ctx, d)
		seen = append(seen, fmt.Sprint(id, ns))
		way.cut()
		return err
	}))
	if d := cmp.Diff([]string{"0 [0 1 2 3]", "1 [4 5 6 7]"}, seen); d != "" {
		t.Errorf("batches (-want +got):\n%s", d)
	}
}
