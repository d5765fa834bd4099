package millrace_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/milltest"
)

// odd is a processor made of functions, for the ways in which one can go wrong.
type odd struct {
	h    *millrace.StatefulProcessorHandle
	init func(h *millrace.StatefulProcessorHandle) error
	rows func(p *odd, emit func(notice) error) error
}

func (o *odd) Init(h *millrace.StatefulProcessorHandle) error {
	o.h = h
	if o.init != nil {
		return o.init(h)
	}
	return nil
}

func (o *odd) HandleInputRows(_ context.Context, _ string, _ iter.Seq[event], _ millrace.TimerValues, emit func(notice) error) error {
	if o.rows != nil {
		return o.rows(o, emit)
	}
	return nil
}

func TestTransformErrors(t *testing.T) {
	twice := func(h *millrace.StatefulProcessorHandle) error {
		_, err := millrace.NewValueState[int](h, "n")
		if err == nil {
			_, err = millrace.NewListState[int](h, "n")
		}
		return err
	}
	for _, c := range []struct {
		name  string
		mode  millrace.TimeMode
		p     *odd
		class string
	}{
		{"error", "", &odd{rows: func(*odd, func(notice) error) error { return errors.New("no good") }}, "TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR"},
		{"panic", "", &odd{rows: func(*odd, func(notice) error) error { panic("no good") }}, "TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR"},
		{"init", "", &odd{init: func(*millrace.StatefulProcessorHandle) error { return errors.New("no good") }}, "TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR"},
		{"twice", "", &odd{init: twice}, "STATEFUL_PROCESSOR_DUPLICATE_STATE_VARIABLE_DEFINED"},
		{"ttl", "", &odd{init: func(h *millrace.StatefulProcessorHandle) error {
			_, err := millrace.NewValueState[int](h, "n", millrace.TTL(time.Minute))
			return err
		}}, "STATEFUL_PROCESSOR_INCORRECT_TIME_MODE_TO_ASSIGN_TTL"},
		{"no ttl", millrace.TimeModeProcessingTime, &odd{init: func(h *millrace.StatefulProcessorHandle) error {
			_, err := millrace.NewValueState[int](h, "n", millrace.TTL(0))
			return err
		}}, "STATEFUL_PROCESSOR_TTL_DURATION_MUST_BE_POSITIVE"},
		{"timers", "", &odd{rows: func(p *odd, _ func(notice) error) error { return p.h.RegisterTimer(time.Now()) }}, "STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_TIME_MODE"},
		{"early", millrace.TimeModeProcessingTime, &odd{init: func(h *millrace.StatefulProcessorHandle) error { return h.RegisterTimer(time.Now()) }}, "STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE"},
		{"late", "", &odd{rows: func(p *odd, _ func(notice) error) error {
			_, err := millrace.NewValueState[int](p.h, "n")
			return err
		}}, "STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE"},
		{"watermark", millrace.TimeModeEventTime, &odd{}, "STATEFUL_PROCESSOR_MISSING_TIME_VALUES"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eng := milltest.New(t)
			in := eng.Stream("ts TIMESTAMP, user STRING")
			q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), c.p, millrace.TransformOptions{TimeMode: c.mode}))
			in.AddText("10:00  ann")
			_, err := q.TryProcess()
			e := expectClass(t, err, "STREAM_FAILED")
			expectClass(t, e.Cause, c.class)
		})
	}
}

func TestTransformRefused(t *testing.T) {
	eng := milltest.New(t)
	in := eng.Stream("ts TIMESTAMP, user STRING")
	df := in.DataFrame()
	try := func(df *millrace.DataFrame, class string) {
		t.Helper()
		_, err := eng.TryStart(df)
		expectClass(t, err, class)
	}
	try(millrace.TransformWithState(df.GroupBy("user"), &quiet{}, millrace.TransformOptions{EventTimeColumn: "since"}), "CANNOT_ASSIGN_EVENT_TIME_COLUMN_WITHOUT_WATERMARK")
	try(millrace.TransformWithState(df.GroupBy("nobody"), &quiet{}, millrace.TransformOptions{}), "UNRESOLVED_COLUMN.WITH_SUGGESTION")
	try(millrace.TransformWithState(df.Select("user").GroupBy("user"), &quiet{}, millrace.TransformOptions{}), "RESULT_CONVERSION.NO_COLUMN")
	try(millrace.TransformWithState(df.GroupBy("user", "ts"), &quiet{}, millrace.TransformOptions{}), "RESULT_CONVERSION.COLUMNS")
	try(millrace.TransformWithState(df.Rollup("user"), &quiet{}, millrace.TransformOptions{}), "NOT_EXPECTED_TYPE")
	try(millrace.TransformWithState(df.GroupBy("user"), &quiet{}, millrace.TransformOptions{
		InitialState: millrace.InitialStateOf[string, purchase](eng.Session.CreateDataFrame([]purchase{}).GroupBy("user")),
	}), "NOT_EXPECTED_TYPE")
	try(millrace.TransformWithState(df.GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: "sometimes"}), "VALUE_NOT_ALLOWED")
}

// Rows are event time for whoever comes next, unless they lie behind the watermark.
func TestTransformOutputTime(t *testing.T) {
	eng := milltest.New(t)
	in := eng.Stream("ts TIMESTAMP, user STRING")
	df := in.DataFrame().WithWatermark("ts", "0 seconds")
	seen := millrace.TransformWithState(df.GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: millrace.TimeModeEventTime, EventTimeColumn: "since"})
	counts := seen.GroupBy(f.Window("since", "10 minutes")).Count().Select("window.start", "count")
	q := eng.Start(counts)
	in.AddText("10:01  ann", "10:02  bob")
	q.Expect()
	in.AddText("10:10  cid")
	q.Expect("(10:00, 2)")
	in.AddText("10:11  dan") // ann's timer fires with this watermark, for a row of 10:01
	_, err := q.TryProcess()
	e := expectClass(t, err, "STREAM_FAILED")
	expectClass(t, e.Cause, "EMITTING_ROWS_OLDER_THAN_WATERMARK_NOT_ALLOWED")
}

func TestTransformChanged(t *testing.T) {
	value := func(h *millrace.StatefulProcessorHandle) error {
		_, err := millrace.NewValueState[total](h, "sum")
		return err
	}
	for _, c := range []struct {
		name  string
		init  func(h *millrace.StatefulProcessorHandle) error
		mode  millrace.TimeMode
		class string // "" when it may go on
		state []string
	}{
		{"same", value, "", "", []string{"sum (ann): {ann, 10, 1}"}},
		{"more", func(h *millrace.StatefulProcessorHandle) error {
			_, err := millrace.NewMapState[int, string](h, "more")
			return errors.Join(value(h), err)
		}, "", "", []string{"sum (ann): {ann, 10, 1}"}},
		{"fewer", nil, "", "", []string{"sum (ann): {ann, 10, 1}"}},
		{"dropped", func(h *millrace.StatefulProcessorHandle) error { return h.DeleteIfExists("sum") }, "", "", []string{}},
		{"kind", func(h *millrace.StatefulProcessorHandle) error {
			_, err := millrace.NewListState[total](h, "sum")
			return err
		}, "", "STATE_STORE_INVALID_VARIABLE_TYPE_CHANGE", nil},
		{"type", func(h *millrace.StatefulProcessorHandle) error {
			_, err := millrace.NewValueState[purchase](h, "sum")
			return err
		}, "", "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE", nil},
		{"mode", value, millrace.TimeModeProcessingTime, "STATE_STORE_INVALID_CONFIG_AFTER_RESTART", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			eng := milltest.New(t)
			in := eng.Stream("user STRING, amount BIGINT, ts TIMESTAMP")
			df := in.DataFrame()
			q := eng.Start(millrace.TransformWithState(df.GroupBy("user"), &summing{}, millrace.TransformOptions{}))
			in.AddText("ann  10  10:00")
			q.Expect("(ann, 10, 1)")
			q.Stop()
			q.Change(millrace.TransformWithState(df.GroupBy("user"), &renamed{odd{init: c.init}}, millrace.TransformOptions{TimeMode: c.mode}))
			err := q.TryRestart()
			in.AddText("bob  1  10:00")
			if err == nil {
				_, err = q.TryProcess()
			}
			if c.class == "" {
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c.state, q.State(0)); d != "" {
					t.Error(d)
				}
				return
			}
			expectClass(t, expectClass(t, err, "STREAM_FAILED").Cause, c.class)
		})
	}
}

// renamed is an odd with the output of summing.
type renamed struct{ odd }

func (r *renamed) HandleInputRows(_ context.Context, _ string, _ iter.Seq[event], _ millrace.TimerValues, _ func(total) error) error {
	return nil
}

func TestTransformLook(t *testing.T) {
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("user STRING, item STRING, ts TIMESTAMP")
		baskets := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &basket{ttl: time.Minute}, millrace.TransformOptions{TimeMode: millrace.TimeModeProcessingTime}))
		users := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: millrace.TimeModeProcessingTime}))
		in.AddText("ann  tea  10:00", "ann  nut  10:00")
		baskets.Process()
		users.Process()
		want := []string{
			"count (ann)[nut]: 1 until 12:01", "count (ann)[tea]: 1 until 12:01", "items (ann): nut until 12:01", "items (ann): tea until 12:01",
		}
		if d := cmp.Diff(want, baskets.State(0)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"last (ann): 12:00", "timer (ann) at 12:10"}, users.State(0)); d != "" {
			t.Error(d)
		}
	})
}

func TestGroupState(t *testing.T) {
	visits := func(_ context.Context, user string, rows iter.Seq[event], state *millrace.GroupState[int]) (string, error) {
		n, _, err := state.Get()
		if err != nil {
			return "", err
		}
		if state.HasTimedOut() {
			return user + " left", state.Remove()
		}
		n += len(slices.Collect(rows))
		if err := state.Update(n); err != nil {
			return "", err
		}
		return user + " came", state.SetTimeout(time.Minute)
	}
	eng := milltest.New(t)
	in := eng.Stream("ts TIMESTAMP, user STRING")
	q := eng.Start(millrace.MapGroupsWithState(in.DataFrame().GroupBy("user"), visits, millrace.GroupStateOptions{Timeout: millrace.TimeModeProcessingTime}),
		milltest.Mode(millrace.Update))
	in.AddText("10:00  ann", "10:00  bob", "10:01  ann")
	q.Expect("(ann came)", "(bob came)")
	eng.Clock.Advance(40 * time.Second)
	in.AddText("10:00  ann")
	q.Expect("(ann came)")
	eng.Clock.Advance(40 * time.Second)
	q.Expect("(bob left)")
	if d := cmp.Diff([]string{"groupState (ann): 3", "timer (ann) at 12:01:40"}, q.State(0)); d != "" {
		t.Error(d)
	}
}

// Power fails at every write of a query with timers and lists; what comes out is always the same.
func TestTransformCrashes(t *testing.T) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		for k := 1; ; k++ {
			eng := milltest.New(t, milltest.StateProvider(provider))
			in := eng.Stream("ts TIMESTAMP, user STRING")
			df := in.DataFrame().WithWatermark("ts", "0 seconds")
			q := eng.Start(millrace.TransformWithState(df.GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: millrace.TimeModeEventTime}))
			in.AddText("10:00  ann", "10:01  bob")
			q.Process()
			in.AddText("10:05  ann", "10:11  cid")
			_, crashed := q.CrashAtWrite(k)
			if crashed {
				q.Restart()
			}
			in.AddText("10:30  eve")
			q.Process()
			want := []string{
				"(quiet, ann, 10:05)", "(quiet, bob, 10:01)", "(quiet, cid, 10:11)", "(seen, ann, 10:00)", "(seen, ann, 10:05)",
				"(seen, bob, 10:01)", "(seen, cid, 10:11)", "(seen, eve, 10:30)",
			}
			got := q.Written()
			slices.Sort(got)
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("crash at write %d: %s", k, d)
			}
			if !crashed {
				if k < 3 {
					t.Fatalf("there were %d writes", k)
				}
				break
			}
		}
	}
}

// The state goes over to another number of partitions, timers and all.
func TestTransformRepartition(t *testing.T) {
	for _, to := range []int{1, 2, 7} {
		eng := milltest.New(t, milltest.Partitions(3))
		in := eng.Stream("ts TIMESTAMP, user STRING")
		df := in.DataFrame().WithWatermark("ts", "0 seconds")
		q := eng.Start(millrace.TransformWithState(df.GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: millrace.TimeModeEventTime}))
		for _, u := range []string{"ann", "bob", "cid", "dan", "eve"} {
			in.AddText("10:00  " + u)
		}
		q.Process()
		q.Stop()
		if err := eng.Session.Conf().Set(eng.Context(), "spark.sql.shuffle.partitions", strconv.Itoa(to)); err != nil {
			t.Fatal(err)
		}
		q.Restart(milltest.WriterOption("stateRepartition", "true"))
		in.AddText("10:30  fay")
		q.Expect("(quiet, ann, 10:00)", "(quiet, bob, 10:00)", "(quiet, cid, 10:00)", "(quiet, dan, 10:00)", "(quiet, eve, 10:00)", "(seen, fay, 10:30)")
		bs := q.Batches()
		if n := bs[len(bs)-1].Progress.StateOperators[0].NumRowsTotal; n != 1 {
			t.Errorf("%d partitions: %d rows", to, n)
		}
	}
}

// A trigger with an interval runs a batch each time while there is processing time to keep, and whoever waits for the data gets away.
func TestTransformOnGrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eng := milltest.New(t)
		in := eng.Stream("ts TIMESTAMP, user STRING")
		q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: millrace.TimeModeProcessingTime}),
			milltest.Trigger(millrace.ProcessingTime(5*time.Minute)))
		in.AddText("10:00  ann")
		var got []string
		for range 4 {
			for _, b := range q.Advance(5 * time.Minute) {
				got = append(got, strconv.Itoa(int(b.ID))+strings.Join(milltest.FormatRows(b.Rows), " "))
			}
		}
		if d := cmp.Diff([]string{"0(seen, ann, 12:05)", "1", "2(quiet, ann, 12:05)", "3"}, got); d != "" {
			t.Error(d)
		}
		q.Stop()
	})
}

// A run with availableNow ends, although there is always processing time to keep.
func TestTransformAvailableNow(t *testing.T) {
	eng := milltest.New(t)
	in := eng.Stream("ts TIMESTAMP, user STRING")
	in.AddText("10:00  ann")
	q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: millrace.TimeModeProcessingTime}),
		milltest.Trigger(millrace.AvailableNow()))
	if bs, err := q.Await(); err != nil || len(bs) != 1 {
		t.Fatalf("%d batches, %v", len(bs), err)
	}
}
