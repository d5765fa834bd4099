package millrace_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/milltest"
)

// each runs a test over both state providers and several numbers of partitions.
func eachState(t *testing.T, test func(t *testing.T, opts ...milltest.Option)) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		for _, partitions := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s/%d", provider, partitions), func(t *testing.T) {
				test(t, milltest.StateProvider(provider), milltest.Partitions(partitions))
			})
		}
	}
}

type purchase struct {
	User   string
	Amount int64
}

type total struct {
	User       string
	Total, Cnt int64
}

// summing keeps what each user has paid.
type summing struct {
	sum *millrace.ValueState[total]
}

func (s *summing) Init(h *millrace.StatefulProcessorHandle) (err error) {
	s.sum, err = millrace.NewValueState[total](h, "sum")
	return err
}

func (s *summing) HandleInputRows(_ context.Context, user string, rows iter.Seq[purchase], _ millrace.TimerValues, emit func(total) error) error {
	t, _, err := s.sum.Get()
	if err != nil {
		return err
	}
	t.User = user
	for r := range rows {
		t.Total += r.Amount
		t.Cnt++
	}
	if err := s.sum.Update(t); err != nil {
		return err
	}
	return emit(t)
}

// HandleInitialState takes over what was paid before.
func (s *summing) HandleInitialState(_ context.Context, user string, before purchase, _ millrace.TimerValues) error {
	return s.sum.Update(total{user, before.Amount, 0})
}

func TestTransformWithState(t *testing.T) {
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("user STRING, amount BIGINT")
		q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &summing{}, millrace.TransformOptions{}), milltest.Mode(millrace.Update))
		in.AddText("ann  10", "bob  20", "ann  5")
		q.Expect("(ann, 15, 2)", "(bob, 20, 1)")
		in.AddText("ann  1", "cid  7")
		q.Expect("(ann, 16, 3)", "(cid, 7, 1)")
		q.Restart()
		in.AddText("bob  1")
		q.Expect("(bob, 21, 2)")
		op := q.Batches()[2].Progress.StateOperators[0]
		if op.OperatorName != "transformWithStateExec" || op.NumRowsTotal != 3 || op.NumRowsUpdated != 1 || op.CustomMetrics["numValueStateVars"] < 1 {
			t.Errorf("progress: %+v", op)
		}
	})
}

func TestTransformInitialState(t *testing.T) {
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("user STRING, amount BIGINT")
		before := eng.Session.CreateDataFrame([]purchase{{"ann", 100}, {"dan", 1}})
		q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &summing{}, millrace.TransformOptions{
			InitialState: millrace.InitialStateOf[string, purchase](before.GroupBy("user")),
		}))
		in.AddText("ann  10", "bob  20")
		q.Expect("(ann, 110, 1)", "(bob, 20, 1)")
		in.AddText("dan  1")
		q.Expect("(dan, 2, 1)")
		q.Restart()
		in.AddText("ann  1")
		q.Expect("(ann, 111, 2)")
	})
}

// On a DataFrame that is no stream each group is seen once, with empty state.
func TestTransformTable(t *testing.T) {
	eng := milltest.New(t)
	df := eng.Session.CreateDataFrame([]purchase{{"ann", 1}, {"bob", 2}, {"ann", 3}})
	for range 2 {
		got, err := millrace.CollectAs[total](eng.Context(), millrace.TransformWithState(df.GroupBy("user"), &summing{}, millrace.TransformOptions{}))
		slices.SortFunc(got, func(a, b total) int { return int(b.Total - a.Total) })
		if err != nil || !slices.Equal(got, []total{{"ann", 4, 2}, {"bob", 2, 1}}) {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	_, err := millrace.TransformWithState(df.GroupBy("user"), &summing{}, millrace.TransformOptions{TimeMode: millrace.TimeModeEventTime}).Collect(eng.Context())
	expectClass(t, err, "STATEFUL_PROCESSOR_MISSING_TIME_VALUES")
}

type event struct {
	TS   time.Time `millrace:"ts"`
	User string
}

// quiet says when a user has not been seen for ten minutes: in event time or in processing time, whatever the mode is.
type quiet struct {
	h    *millrace.StatefulProcessorHandle
	last *millrace.ValueState[time.Time]
}

type notice struct {
	What  string
	User  string
	Since time.Time
}

func (p *quiet) Init(h *millrace.StatefulProcessorHandle) (err error) {
	p.h = h
	p.last, err = millrace.NewValueState[time.Time](h, "last")
	return err
}

func (p *quiet) HandleInputRows(_ context.Context, user string, rows iter.Seq[event], timers millrace.TimerValues, emit func(notice) error) error {
	last, seen, err := p.last.Get()
	if err != nil {
		return err
	}
	if seen {
		if err := p.h.DeleteTimer(last.Add(10 * time.Minute)); err != nil {
			return err
		}
	}
	for r := range rows {
		if p.h.TimeMode() == millrace.TimeModeProcessingTime {
			last = timers.Now
		} else if r.TS.After(last) {
			last = r.TS
		}
	}
	if err := p.last.Update(last); err != nil {
		return err
	}
	if err := p.h.RegisterTimer(last.Add(10 * time.Minute)); err != nil {
		return err
	}
	return emit(notice{"seen", user, last})
}

func (p *quiet) HandleExpiredTimer(_ context.Context, user string, timer millrace.ExpiredTimer, _ millrace.TimerValues, emit func(notice) error) error {
	if due, err := p.h.Timers(); err != nil || len(due) != 1 || !due[0].Equal(timer.At) {
		return fmt.Errorf("timers are %v, %v", due, err)
	}
	if err := p.last.Clear(); err != nil {
		return err
	}
	return emit(notice{"quiet", user, timer.At.Add(-10 * time.Minute)})
}

func TestTransformEventTimers(t *testing.T) {
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("ts TIMESTAMP, user STRING")
		df := in.DataFrame().WithWatermark("ts", "0 seconds")
		q := eng.Start(millrace.TransformWithState(df.GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: millrace.TimeModeEventTime}))
		in.AddText("10:00  ann", "10:01  bob")
		q.Expect("(seen, ann, 10:00)", "(seen, bob, 10:01)")
		in.AddText("10:05  ann")
		q.Expect("(seen, ann, 10:05)")
		q.Restart()
		in.AddText("10:11  cid") // the batch without data that follows finds bob's time over, not ann's
		q.Expect("(seen, cid, 10:11)", "(quiet, bob, 10:01)")
		in.AddText("10:02  dan") // late
		q.Expect()
		in.AddText("10:30  eve")
		q.Expect("(seen, eve, 10:30)", "(quiet, ann, 10:05)", "(quiet, cid, 10:11)")
		last := q.Batches()[len(q.Batches())-1].Progress.StateOperators[0]
		if last.NumRowsTotal != 1 || last.CustomMetrics["numExpiredTimers"] != 2 {
			t.Errorf("progress: %+v", last)
		}
	})
}

func TestTransformProcessingTimers(t *testing.T) {
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("ts TIMESTAMP, user STRING")
		q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &quiet{}, millrace.TransformOptions{TimeMode: millrace.TimeModeProcessingTime}))
		in.AddText("10:00  ann")
		q.Expect("(seen, ann, 12:00)")
		eng.Clock.Advance(9 * time.Minute)
		in.AddText("10:00  bob")
		q.Expect("(seen, bob, 12:09)")
		eng.Clock.Advance(time.Minute)
		q.Expect("(quiet, ann, 12:00)") // no data, but a timer is due
		q.Expect()
		q.Stop() // or else bob's timer may have a batch of its own before the restart
		eng.Clock.Advance(time.Hour)
		q.Restart()
		in.AddText("10:00  cid")
		q.Expect("(seen, cid, 13:10)", "(quiet, bob, 12:09)")
	})
}

// basket shows lists and maps, with a time to live if it has one.
type basket struct {
	ttl   time.Duration
	items *millrace.ListState[string]
	count *millrace.MapState[string, int]
}

func (b *basket) Init(h *millrace.StatefulProcessorHandle) (err error) {
	var opts []millrace.StateOption
	if b.ttl != 0 {
		opts = append(opts, millrace.TTL(b.ttl))
	}
	if b.items, err = millrace.NewListState[string](h, "items", opts...); err != nil {
		return err
	}
	b.count, err = millrace.NewMapState[string, int](h, "count", opts...)
	return err
}

type item struct{ User, Item string }

type content struct {
	User  string
	Items []string
	Count map[string]int
}

func (b *basket) HandleInputRows(_ context.Context, user string, rows iter.Seq[item], _ millrace.TimerValues, emit func(content) error) error {
	for r := range rows {
		switch r.Item {
		case "clear":
			if err := b.items.Clear(); err != nil {
				return err
			}
			if err := b.count.Clear(); err != nil {
				return err
			}
			continue
		case "show":
			continue
		}
		if err := b.items.Append(r.Item); err != nil {
			return err
		}
		n, _, err := b.count.Get(r.Item)
		if err != nil {
			return err
		}
		if err := b.count.Update(r.Item, n+1); err != nil {
			return err
		}
		if r.Item == "once" {
			if err := b.count.Remove("once"); err != nil {
				return err
			}
		}
	}
	c := content{User: user, Items: slices.Collect(b.items.All()), Count: map[string]int{}}
	for k, n := range b.count.All() {
		c.Count[k] = n
	}
	return emit(c)
}

func TestTransformListsAndMaps(t *testing.T) {
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("user STRING, item STRING")
		q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &basket{}, millrace.TransformOptions{}))
		in.AddText("ann  tea", "ann  nut", "ann  tea", "bob  once")
		q.Expect("(ann, [tea, nut, tea], {nut: 1, tea: 2})", "(bob, [once], {})")
		q.Restart()
		in.AddText("ann  fig", "bob  clear")
		q.Expect("(ann, [tea, nut, tea, fig], {fig: 1, nut: 1, tea: 2})", "(bob, null, {})")
		if n := q.Batches()[1].Progress.StateOperators[0].NumRowsTotal; n != 4 { // a list and three entries
			t.Errorf("%d rows", n)
		}
	})
}

func TestTransformTTL(t *testing.T) {
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("user STRING, item STRING")
		q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &basket{ttl: time.Minute}, millrace.TransformOptions{TimeMode: millrace.TimeModeProcessingTime}))
		in.AddText("ann  tea", "ann  nut")
		q.Expect("(ann, [tea, nut], {nut: 1, tea: 1})")
		eng.Clock.Advance(30 * time.Second)
		in.AddText("ann  tea")
		q.Expect("(ann, [tea, nut, tea], {nut: 1, tea: 2})")
		eng.Clock.Advance(30 * time.Second)
		in.AddText("ann  show")
		q.Expect("(ann, [tea], {tea: 2})")
		q.Restart()
		in.AddText("bob  show")
		q.Expect("(bob, null, {})")
		eng.Clock.Advance(30 * time.Second)
		q.Process()
		bs := q.Batches()
		if n := bs[len(bs)-1].Progress.StateOperators[0].NumRowsTotal; n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// tally counts all rows, grouped by nothing, in the order of their numbers.
type tally struct {
	n *millrace.MapState[int, time.Time]
}

func (c *tally) Init(h *millrace.StatefulProcessorHandle) (err error) {
	c.n, err = millrace.NewMapState[int, time.Time](h, "n")
	return err
}

func (c *tally) HandleInputRows(_ context.Context, _ struct{}, rows iter.Seq[millrace.Row], timers millrace.TimerValues, emit func([]int) error) error {
	for r := range rows {
		n, err := millrace.GetAs[int](r, "n")
		if err != nil {
			return err
		}
		if err := c.n.Update(n, timers.Now); err != nil {
			return err
		}
	}
	return emit(slices.Collect(c.n.Keys()))
}

func TestTransformWithoutKey(t *testing.T) {
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("n INT")
		q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy(), &tally{}, millrace.TransformOptions{}))
		in.AddText("5", "-3", "7")
		q.Expect("([-3, 5, 7])")
		q.Restart()
		in.AddText("6", "-30")
		q.Expect("([-30, -3, 5, 6, 7])")
	})
}

type place struct {
	City *string
	Day  time.Time
}

func TestTransformKeyOfColumns(t *testing.T) {
	count := func(_ context.Context, at place, rows iter.Seq[millrace.Row], state *millrace.GroupState[int]) (string, error) {
		n, _, err := state.Get()
		if err != nil {
			return "", err
		}
		for range rows {
			n++
		}
		city := "nowhere"
		if at.City != nil {
			city = *at.City
		}
		return fmt.Sprintf("%s %s %d", city, at.Day.Format(time.DateOnly), n), state.Update(n)
	}
	eachState(t, func(t *testing.T, opts ...milltest.Option) {
		eng := milltest.New(t, opts...)
		in := eng.Stream("ts TIMESTAMP, city STRING")
		df := in.DataFrame()
		q := eng.Start(millrace.MapGroupsWithState(df.GroupBy("city", millrace.Expr("to_date(ts)").As("day")), count, millrace.GroupStateOptions{}))
		in.AddText("10:00  Rome", "11:00  null", "12:00  Rome")
		q.Expect("(Rome 2026-01-01 2)", "(nowhere 2026-01-01 1)")
		q.Restart()
		in.AddText("10:30  null")
		q.Expect("(nowhere 2026-01-01 2)")
	})
}
