package milltest_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/engine"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// windows is the query of these tests: sums over windows of 10 minutes, rows up to 5 minutes late.
func windows(t testing.TB, eng *milltest.Engine, events *milltest.Stream) *millrace.DataFrame {
	t.Helper()
	if err := events.DataFrame().WithWatermark("ts", "5 minutes").CreateOrReplaceTempView(t.Context(), "events"); err != nil {
		t.Fatal(err)
	}
	df, err := eng.Session.SQL(t.Context(), "SELECT window.start AS start, sum(amount) AS total FROM events GROUP BY window(ts, '10 minutes')")
	if err != nil {
		t.Fatal(err)
	}
	return df
}

// The example of the package comment, and what a restart and a power failure do to it.
func TestWindows(t *testing.T) {
	eng := milltest.New(t)
	events := eng.Stream("ts TIMESTAMP, user STRING, amount INT")
	q := eng.Start(windows(t, eng, events), milltest.Mode(millrace.Append))

	events.AddText("10:01  u0  10", "10:04  u1  20")
	q.ExpectBatches(`
batch 0     rows: none                     watermark 1970-01-01 -> 09:59   state 1
batch 1     rows: none                     watermark 09:59                 state 1   (no data)`)
	events.Add([]any{milltest.Day.Add(10*time.Hour + 16*time.Minute), "u0", 30})
	q.ExpectBatches(`
batch 2     rows: none                     watermark 09:59 -> 10:11        state 2
batch 3     rows: (10:00, 30)              watermark 10:11                 state 1   (no data)`)
	events.AddText("10:02  u1  99")
	q.ExpectBatches(`
batch 4     rows: none   dropped 1         watermark 10:11                 state 1`)
	if d := cmp.Diff([]string{"({10:10, 10:20}, 30)"}, q.State(0)); d != "" {
		t.Errorf("state (-want +got):\n%s", d)
	}

	events.AddText("10:31  u0  1")
	if bs := q.CrashAfter(milltest.AfterOffsets); len(bs) > 0 {
		t.Errorf("a batch was finished without power:\n%s", milltest.FormatBatches(bs))
	}
	if offsets, commits := q.Log(); offsets != 5 || commits != 4 {
		t.Errorf("offsets %d, commits %d\n%s", offsets, commits, milltest.FormatBatches(q.Batches()))
	}
	q.Restart()
	q.ExpectBatches(`
batch 5     rows: none                     watermark 10:11 -> 10:26        state 2   (re-run)
batch 6     rows: (10:10, 30)              watermark 10:26                 state 1   (no data)`)
}

// Wherever power fails, the batches that follow give what they would have given.
func TestPoints(t *testing.T) {
	for _, c := range []struct {
		at               milltest.Point
		offsets, commits int64
	}{
		{milltest.AfterOffsets, 1, 0}, {milltest.AfterState, 1, 0}, {milltest.AfterSink, 1, 0}, {milltest.AfterCommits, 1, 1},
	} {
		t.Run(string(c.at), func(t *testing.T) {
			eng := milltest.New(t, milltest.Conf("spark.sql.streaming.noDataMicroBatches.enabled", "false"))
			events := eng.Stream("ts TIMESTAMP, user STRING, amount INT")
			q := eng.Start(windows(t, eng, events), milltest.Mode(millrace.Update))
			events.AddText("10:01  u0  10")
			q.Expect("(10:00, 10)")
			events.AddText("10:02  u0  1")
			q.CrashAfter(c.at)
			if offsets, commits := q.Log(); offsets != c.offsets || commits != c.commits {
				t.Errorf("offsets %d, commits %d\n%s", offsets, commits, milltest.FormatBatches(q.Batches()))
			}
			q.Restart()
			events.AddText("10:03  u0  100")
			q.Process()
			if d := cmp.Diff([]string{"(10:00, 10)", "(10:00, 11)", "(10:00, 111)"}, q.Written()); d != "" {
				t.Errorf("rows (-want +got):\n%s", d)
			}
		})
	}
}

func TestEveryWrite(t *testing.T) {
	for k := 1; ; k++ {
		eng := milltest.New(t)
		events := eng.Stream("ts TIMESTAMP, user STRING, amount INT")
		q := eng.Start(windows(t, eng, events), milltest.Mode(millrace.Complete))
		events.AddText("10:01  u0  10", "10:11  u0  5")
		_, crashed := q.CrashAtWrite(k)
		if crashed {
			q.Restart()
			q.Process()
		}
		if d := cmp.Diff([]string{"(10:00, 10)", "(10:10, 5)"}, q.Written()); d != "" {
			t.Errorf("power failed at write %d (-want +got):\n%s", k, d)
		}
		if !crashed {
			if k < 10 {
				t.Errorf("a batch has only %d writes", k)
			}
			return
		}
	}
}

func TestTriggers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eng := milltest.New(t, milltest.At(milltest.Day))
		events := eng.Stream("n INT")
		q := eng.Start(events.DataFrame(), milltest.Trigger(millrace.ProcessingTime("10 seconds")))
		q.Advance(0) // the first trigger, which comes at once
		events.AddText("1")
		if bs := q.Advance(9 * time.Second); len(bs) > 0 {
			t.Errorf("a batch too early:\n%s", milltest.FormatBatches(bs))
		}
		if got := milltest.FormatBatches(q.Advance(time.Second)); got != "batch 0     rows: (1)" {
			t.Error(got)
		}
	})
}

func TestAvailableNow(t *testing.T) {
	eng := milltest.New(t)
	events := eng.Stream("n INT").LimitPerBatch(1)
	events.AddText("1")
	events.AddText("2", "3")
	q := eng.Start(events.DataFrame(), milltest.Trigger(millrace.AvailableNow()))
	bs, err := q.Await()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("batch 0     rows: (1)\nbatch 1     rows: (2)  (3)", milltest.FormatBatches(bs)); d != "" {
		t.Error(d)
	}
}

func TestFailures(t *testing.T) {
	eng := milltest.New(t)
	events := eng.Stream("n INT")
	q := eng.Start(events.DataFrame())
	broken := errors.New("the broker is gone")
	events.Fail(broken)
	events.AddText("1")
	if _, err := q.TryProcess(); err == nil || !strings.Contains(err.Error(), broken.Error()) {
		t.Errorf("got %v", err)
	}
	events.Fail(nil)
	q.Restart()
	q.Expect("(1)")
}

// A stream that cannot fix its end gives a query that should end by itself a single batch.
func TestWithoutEnd(t *testing.T) {
	eng := milltest.New(t)
	events := eng.Stream("n INT").LimitPerBatch(1).WithoutEnd()
	events.AddText("1")
	events.AddText("2")
	bs, err := eng.Start(events.DataFrame(), milltest.Trigger(millrace.AvailableNow())).Await()
	if err != nil {
		t.Fatal(err)
	}
	if got := milltest.FormatBatches(bs); got != "batch 0     rows: (1)  (2)" {
		t.Error(got)
	}
}

// A server in the same process reads a test's streams by their names.
func TestServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- engine.Serve(ctx, l, engine.Options{Workers: 2}) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	session, err := millrace.Connect(ctx, "sc://"+l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()

	events := milltest.New(t).Stream("n INT, s STRING")
	events.AddText("1  a", "2  null")
	q, err := events.In(session).WriteStream().Format("memory").QueryName("out").Trigger(millrace.AvailableNow()).Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.AwaitTermination(ctx); err != nil {
		t.Fatal(err)
	}
	rows, err := session.Table("out").Collect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var got []types.Row
	for _, r := range rows {
		got = append(got, milltest.PlainRow(r))
	}
	if d := cmp.Diff([]string{"(1, a)", "(2, null)"}, milltest.FormatRows(got)); d != "" {
		t.Error(d)
	}
}

func TestCells(t *testing.T) {
	schema, err := types.ParseDDL("ts TIMESTAMP, s STRING, d DOUBLE, n BIGINT, m DECIMAL(10,2), day DATE, b BOOLEAN, t TIMESTAMP_NTZ")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"10:01  a b  1.5  7  1.50  2026-01-02  true  10:01:30.25":                       "(10:01, a b, 1.5, 7, 1.50, 2026-01-02, true, 10:01:30.25)",
		"null  null  null  null  null  null  null  null":                                "(null, null, null, null, null, null, null, null)",
		"1969-12-31 23:59  \" x  y \"  NaN  -1  -0.01  1970-01-01  false  2026-01-02":   "(1969-12-31 23:59,  x  y , NaN, -1, -0.01, 1970-01-01, false, 2026-01-02)",
		"2026-01-01 00:00\t\"null\"\t-0.0\t0\t0.00\t2026-01-01\ttrue\t1969-12-31 00:00": "(00:00, null, -0.0, 0, 0.00, 2026-01-01, true, 1969-12-31)",
	} {
		row, err := milltest.ParseRow(text, schema)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := milltest.FormatRow(row); got != want {
			t.Errorf("%s:\n\t%s, want\n\t%s", text, got, want)
		}
	}
	for _, text := range []string{"10:01", "x  a  1  1  1  2026-01-01  true  10:00", "10:01  a  x  1  1  2026-01-01  true  10:00"} {
		if row, err := milltest.ParseRow(text, schema); err == nil {
			t.Errorf("%s: read as %s", text, milltest.FormatRow(row))
		}
	}
}
