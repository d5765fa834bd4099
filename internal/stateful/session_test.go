package stateful

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/lsm"
	"github.com/millrace/millrace/internal/state/mem"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

var windowType = types.StructType{Fields: []types.Field{
	{Name: "start", Type: types.Timestamp, Nullable: true}, {Name: "end", Type: types.Timestamp, Nullable: true},
}}

// event is a row: the window that it makes alone, its key, and a number by which it is recognised.
type event struct {
	start, end int64
	key        string
	value      int64
}

// feed is the operator's input; a test sets what it gives.
type feed struct{ parts [][]*vec.Batch }

func (f *feed) Types() []types.DataType {
	return []types.DataType{windowType, types.String, types.Long}
}
func (f *feed) Inputs() []exec.Op { return nil }
func (f *feed) Label() string     { return "feed" }
func (f *feed) Parts(context.Context, *exec.Task) (exec.Parts, error) {
	return exec.PartsOf(f.parts...), nil
}

// set gives the feed rows, cut into parts.
func (f *feed) set(rows []event, parts int) {
	f.parts = make([][]*vec.Batch, parts)
	per := (len(rows) + parts - 1) / parts
	for p := range parts {
		mine := rows[min(p*per, len(rows)):min((p+1)*per, len(rows))]
		if len(mine) == 0 {
			continue
		}
		start, end, value := vec.NewFixed(types.Timestamp, len(mine)), vec.NewFixed(types.Timestamp, len(mine)), vec.NewFixed(types.Long, len(mine))
		key := vec.NewBuilder(types.String)
		for i, r := range mine {
			vec.Fixed[int64](start)[i], vec.Fixed[int64](end)[i], vec.Fixed[int64](value)[i] = r.start, r.end, r.value
			if r.key == "null" {
				key.AppendNull()
			} else {
				key.AppendString(r.key)
			}
		}
		window := vec.NewStruct(windowType, len(mine), []*vec.Vector{start, end})
		f.parts[p] = []*vec.Batch{vec.NewBatch(len(mine), window, key.Finish(), value)}
	}
}

// sessions runs the operator over batch after batch on a file system in memory.
type sessions struct {
	t       fatal
	mem     *errfs.Mem
	in      *feed
	op      *Session
	store   state.Store
	values  []state.Values
	task    exec.Task
	version int64
	memory  *lsm.Memory // when the state lies on disk
}

type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

func newSessions(t fatal, partitions, workers int) *sessions {
	t.Helper()
	in, value := &feed{}, exec.ColumnExpr(2, types.Long)
	group := &exec.HashAgg{In: in, Keys: []exec.Expr{exec.ColumnExpr(0, windowType), exec.ColumnExpr(1, types.String)}}
	for _, name := range []string{"count", "collect_list"} {
		bound, err := agg.Lookup(name).Bind(&agg.Binding{Name: name, Args: []fn.Arg{{Type: types.Long, Nullable: true}}})
		if err != nil {
			t.Fatalf("%v", err)
		}
		group.Aggs = append(group.Aggs, exec.AggExpr{Bound: bound, Args: []exec.Expr{value}})
	}
	s := &sessions{t: t, mem: errfs.NewMem(), in: in, op: &Session{Group: &exec.SessionAgg{Group: group}, Timed: true}}
	s.task = exec.Task{Workers: workers, Partitions: partitions, Batch: &expr.BatchParams{Zone: time.UTC}}
	s.open()
	return s
}

// open is a start of the query: nothing but files is left of what was before.
func (s *sessions) open() {
	s.close()
	var p state.Provider = mem.Provider{FS: s.mem}
	if s.memory != nil {
		p = lsm.Provider{FS: s.mem, Memory: s.memory, Limit: 1}
	}
	store, err := p.Open("/state", s.op.Spec(s.task.Partitions, "m"))
	if err != nil {
		s.t.Fatalf("%v", err)
	}
	s.store, s.values = store, s.op.Attach(store, s.task.Partitions, &s.task)
	s.load()
}

func (s *sessions) close() {
	if s.store == nil {
		return
	}
	if err := s.store.Close(); err != nil {
		s.t.Fatalf("%v", err)
	}
}

func (s *sessions) load() {
	if err := s.store.Load(context.Background(), s.version); err != nil {
		s.t.Fatalf("%v", err)
	}
}

// run runs a batch without making it durable. Rows are texts, in order.
func (s *sessions) run(rows []event, parts int, mode Mode, b Bounds) ([]string, OpStats) {
	s.t.Helper()
	s.in.set(rows, parts)
	batch := &Batch{Mode: mode, Bounds: []Bounds{b}, Stores: []state.Store{s.store}, Values: [][]state.Values{s.values}, Ops: make([]OpStats, 1)}
	t := s.task
	t.Streaming = batch
	bs, err := exec.Collect(context.Background(), &t, s.op)
	if err != nil {
		s.t.Fatalf("%v", err)
	}
	var out []string
	for _, b := range bs {
		for i := range b.N {
			r := vec.RowAt(b, i)
			key := "null"
			if r[1] != nil {
				key = r[1].(string)
			}
			w := r[0].(types.Row)
			out = append(out, text(key, int64(w[0].(types.Micros)), int64(w[1].(types.Micros)), int(r[2].(int64)), r[3]))
		}
	}
	stats := batch.Ops[0]
	stats.UpdateNanos, stats.RemovalNanos = 0, 0
	return out, stats
}

func text(key string, start, end int64, n int, values any) string {
	return fmt.Sprintf("%s [%d,%d) %d %v", key, start, end, n, values)
}

func (s *sessions) commit() {
	s.t.Helper()
	staged, err := s.store.Prepare(context.Background())
	if err != nil {
		s.t.Fatalf("%v", err)
	}
	var r fs.Round
	r.Publish(staged)
	if err := r.Commit(context.Background()); err != nil {
		s.t.Fatalf("%v", err)
	}
	s.version++
	if err := s.store.Maintain(context.Background(), s.version-1); err != nil {
		s.t.Fatalf("%v", err)
	}
}

// onDisk moves the state to where it may be larger than memory.
func (s *sessions) onDisk() *sessions {
	s.memory = &lsm.Memory{}
	s.open()
	return s
}

func (s *sessions) total() int64 { return s.store.Stats().Rows }

// oracle keeps sessions as lists.
type oracle struct{ byKey map[string][]kept }

type kept struct {
	start, end int64
	values     []any
}

// add does what a batch should do. Rows that come out are sorted.
func (o *oracle) add(rows []event, mode Mode, b Bounds) ([]string, OpStats) {
	var stats OpStats
	late := map[event]bool{}
	fresh := map[string][]kept{}
	for _, r := range rows {
		if r.end <= b.Late {
			stats.DroppedLateRows++
			late[event{r.start, r.end, r.key, 0}] = true
			continue
		}
		fresh[r.key] = append(fresh[r.key], kept{r.start, r.end, []any{r.value}})
	}
	stats.DroppedLate = int64(len(late))
	for key, list := range fresh {
		old := o.byKey[key]
		// What is stored comes first where starts are equal; rows are by start, end and arrival.
		slices.SortStableFunc(list, func(a, b kept) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
		all := append(slices.Clone(old), list...)
		slices.SortStableFunc(all, func(a, b kept) int { return cmp.Compare(a.start, b.start) })
		var made []kept
		for _, s := range all {
			if n := len(made); n > 0 && s.start <= made[n-1].end {
				made[n-1].end = max(made[n-1].end, s.end)
				made[n-1].values = append(slices.Clone(made[n-1].values), s.values...)
				continue
			}
			made = append(made, s)
		}
		for _, s := range old {
			if !slices.ContainsFunc(made, func(m kept) bool { return m.start == s.start }) {
				stats.Removed++
			}
		}
		stats.Updated += int64(len(made))
		o.byKey[key] = made
	}
	var out []string
	for key, list := range o.byKey {
		var stay []kept
		for _, s := range list {
			final := mode != Complete && s.end <= b.Evict
			if final || mode == Complete {
				out = append(out, text(key, s.start, s.end, len(s.values), s.values))
			}
			if final {
				stats.Removed++
			} else {
				stay = append(stay, s)
			}
		}
		o.byKey[key] = stay
	}
	slices.Sort(out)
	return out, stats
}

func (o *oracle) total() (n int64) {
	for _, list := range o.byKey {
		n += int64(len(list))
	}
	return n
}

// Batches of random rows give what the oracle gives, in the same order with any number of workers, and after restarts and failed
// attempts.
func TestSessionsAgainstOracle(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		mode := rapid.SampledFrom([]Mode{Append, Complete}).Draw(r, "mode")
		partitions := rapid.SampledFrom([]int{1, 3, 20}).Draw(r, "partitions")
		one, many, o := newSessions(r, partitions, 1), newSessions(r, partitions, 3), &oracle{byKey: map[string][]kept{}}
		if rapid.IntRange(0, 9).Draw(r, "disk") == 0 {
			many.onDisk()
		}
		defer many.close()
		var b Bounds
		b.Late, b.Evict = -1000, -1000
		at := int64(0)
		for batch := range rapid.IntRange(1, 8).Draw(r, "batches") {
			rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) event {
				start := at + rapid.Int64Range(-60, 40).Draw(r, "start")
				return event{start, start + rapid.SampledFrom([]int64{4, 4, 4, 4, 1, 30}).Draw(r, "gap"), rapid.SampledFrom([]string{"a", "b", "", "null"}).Draw(r, "key"), int64(batch)*100 + rapid.Int64Range(0, 99).Draw(r, "value")}
			}), 0, 30).Draw(r, "rows")
			want, figures := o.add(rows, mode, b)
			parts := rapid.IntRange(1, 4).Draw(r, "parts")
			switch rapid.IntRange(0, 3).Draw(r, "before") {
			case 0:
				many.open()
			case 1:
				many.run(rows, parts, mode, b)
				many.store.Abort()
				many.load()
			}
			got, stats := one.run(rows, parts, mode, b)
			same, same2 := many.run(rows, parts, mode, b)
			if d := gocmp.Diff(got, same); d != "" {
				r.Fatalf("batch %d depends on workers or restarts: %s", batch, d)
			}
			slices.Sort(got)
			if d := gocmp.Diff(want, got); d != "" {
				r.Fatalf("batch %d (-want +got)\n%s", batch, d)
			}
			if d := gocmp.Diff([]OpStats{figures, figures}, []OpStats{stats, same2}); d != "" {
				r.Fatalf("batch %d: figures (-want +got)\n%s", batch, d)
			}
			one.commit()
			many.commit()
			if n := one.total(); n != o.total() {
				r.Fatalf("batch %d: %d sessions stored, want %d", batch, n, o.total())
			}
			at += rapid.Int64Range(0, 40).Draw(r, "passed")
			b.Late, b.Evict = b.Evict, max(b.Evict, at-rapid.Int64Range(10, 60).Draw(r, "delay"))
		}
	})
}

// Tables and indexes whose rows come and go are made anew, and rows on disk are brought in when they are needed, which does not show.
func TestManySessions(t *testing.T) {
	for _, disk := range []bool{false, true} {
		t.Run(fmt.Sprintf("disk=%t", disk), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			one, many, o := newSessions(t, 2, 1), newSessions(t, 2, 2), &oracle{byKey: map[string][]kept{}}
			keep, rows := int64(1), 4000
			if disk {
				many.onDisk()
				keep, rows = 4, 5000 // more than stays in memory
			}
			defer many.close()
			for batch := range int64(7) {
				var list []event
				for range rows {
					start := batch*10_000 + rng.Int64N(12_000) - rng.Int64N(keep*10_000)
					list = append(list, event{start, start + 3, fmt.Sprintf("k%d", rng.IntN(3)+int(start/10_000)*2000+rng.IntN(2000)), rng.Int64N(100)})
				}
				b := Bounds{Late: (batch - keep - 1) * 10_000, Evict: (batch - keep) * 10_000}
				want, figures := o.add(list, Append, b)
				if batch == 5 {
					many.open()
				}
				got, stats := one.run(list, 3, Append, b)
				same, _ := many.run(list, 3, Append, b)
				if d := gocmp.Diff(got, same); d != "" {
					t.Fatalf("batch %d depends on workers or restarts: %s", batch, d)
				}
				slices.Sort(got)
				if d := gocmp.Diff(want, got); d != "" {
					t.Fatalf("batch %d (-want +got)\n%s", batch, d)
				}
				if d := gocmp.Diff(figures, stats); d != "" {
					t.Fatalf("batch %d: figures %s", batch, d)
				}
				one.commit()
				many.commit()
			}
			for i, v := range one.values {
				x := v.(*sessionValues).index
				if x.keys.Cap() > 2*x.rows+2*minIndexed {
					t.Errorf("shard %d: %d keys for %d sessions", i, x.keys.Cap(), x.rows)
				}
			}
		})
	}
}

// One row may join thousands of sessions; rows between them go where they belong.
func TestOneRowJoinsMany(t *testing.T) {
	s, o := newSessions(t, 1, 1), &oracle{byKey: map[string][]kept{}}
	var rows []event
	for i := range int64(5000) {
		rows = append(rows, event{i * 10, i*10 + 2, "a", i % 7})
	}
	bridge := []event{{0, 25_000, "a", 8}, {25_005, 25_006, "a", 9}, {24_999, 50_000, "a", 10}, {30_003, 30_004, "a", 11}}
	for i, rows := range [][]event{rows, bridge, nil} {
		b := Bounds{Late: -1, Evict: -1}
		if i == 2 {
			b.Evict = 1 << 40
		}
		want, figures := o.add(rows, Append, b)
		got, stats := s.run(rows, 1, Append, b)
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("batch %d (-want +got)\n%s", i, d)
		}
		if d := gocmp.Diff(figures, stats); d != "" {
			t.Fatalf("batch %d: figures %s", i, d)
		}
		s.commit()
	}
}

// chained is a table that knows the keys of rows and nothing else.
type chained struct {
	state.Table
	rows map[uint32]event
}

func (c *chained) Keys(rows []uint32) []*vec.Vector {
	key, start := vec.NewBuilder(types.String), vec.NewFixed(types.Timestamp, len(rows))
	for i, r := range rows {
		key.AppendString(c.rows[r].key)
		vec.Fixed[int64](start)[i] = c.rows[r].start
	}
	return []*vec.Vector{key.Finish(), start}
}

// The index follows a provider that loads rows, drops them and gives their numbers to others.
func TestIndexFollowsRows(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x, table := newSessionIndex([]types.DataType{types.String}), &chained{rows: map[uint32]event{}}
		const rows = 12
		x.grow(rows)
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			row := rapid.Uint32Range(0, rows-1).Draw(r, "row")
			switch rapid.IntRange(0, 3).Draw(r, "step") {
			case 0, 1:
				if _, there := table.rows[row]; !there {
					table.rows[row] = event{start: rapid.Int64Range(0, 50).Draw(r, "start"), key: rapid.SampledFrom([]string{"a", "b"}).Draw(r, "key")}
				}
				x.await([]uint32{row})
			case 2:
				x.remove([]uint32{row})
				delete(table.rows, row)
			case 3:
				if rapid.Bool().Draw(r, "restart") {
					x.restart()
				}
				x.update(table, make([]int64, rows))
				for _, key := range []string{"a", "b"} {
					want, got := 0, 0
					for _, e := range table.rows {
						if e.key == key {
							want++
						}
					}
					b := vec.NewBuilder(types.String)
					b.AppendString(key)
					id := make([]uint32, 1)
					if x.keys.Resolve([]*vec.Vector{b.Finish()}, 1, false, id, nil); int(id[0]) < len(x.head) {
						for at, last := x.head[id[0]], int64(-1); at >= 0; at = x.next[at] {
							e := table.rows[uint32(at)]
							if e.key != key || e.start < last || x.start[at] != e.start {
								r.Fatalf("row %d of %q at %d comes after %d; the index has %d", at, e.key, e.start, last, x.start[at])
							}
							last = e.start
							got++
						}
					}
					if got != want {
						r.Fatalf("%d sessions of %s, want %d", got, key, want)
					}
				}
				if x.rows != len(table.rows) || x.waits != 0 {
					r.Fatalf("%d linked and %d waiting, want %d", x.rows, x.waits, len(table.rows))
				}
			}
		}
	})
}

// BenchmarkSession is a quarter of a million rows of 2000 users a batch, as in bench/bench.py.
func BenchmarkSession(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, batches = 1 << 18, 4
	feeds := make([][][]*vec.Batch, batches)
	f := &feed{}
	for n := range feeds {
		list := make([]event, rows)
		for i := range list {
			start := int64(n*rows+i)*14_400_000_000/(rows*batches) - rng.Int64N(60)*1_000_000
			list[i] = event{start, start + 30_000_000, fmt.Sprintf("user-%d", rng.Int64N(2000)), rng.Int64N(1000)}
		}
		f.set(list, 32)
		feeds[n] = f.parts
	}
	b.ReportAllocs()
	for b.Loop() {
		s := newSessions(b, 2, 2)
		s.op.Group.Group.Aggs = s.op.Group.Group.Aggs[:1]
		s.open()
		for n, parts := range feeds {
			s.in.parts = parts
			batch := &Batch{
				Bounds: []Bounds{{Late: int64(n-1) * 3_600_000_000, Evict: int64(n) * 3_600_000_000}},
				Stores: []state.Store{s.store}, Values: [][]state.Values{s.values}, Ops: make([]OpStats, 1),
			}
			t := s.task
			t.Streaming = batch
			if _, err := exec.Collect(context.Background(), &t, s.op); err != nil {
				b.Fatal(err)
			}
			s.commit()
		}
	}
	b.ReportMetric(rows*batches*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
