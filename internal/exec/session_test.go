package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

var windowType = types.StructType{Fields: []types.Field{
	{Name: "start", Type: types.Timestamp, Nullable: true}, {Name: "end", Type: types.Timestamp, Nullable: true},
}}

// sessionRows are columns window, key, value.
var sessionTypes = []types.DataType{windowType, types.String, types.Long}

func sessionRow(start, gap int64, key any, value int64) types.Row {
	return types.Row{types.Row{types.Micros(start), types.Micros(start + gap)}, key, value}
}

func aggregate(t testing.TB, name string, args ...Expr) AggExpr {
	t.Helper()
	bd := &agg.Binding{Name: name, ANSI: true}
	for _, a := range args {
		bd.Args = append(bd.Args, fn.Arg{Type: a.Type, Nullable: true})
	}
	bound, err := agg.Lookup(name).Bind(bd)
	if err != nil {
		t.Fatal(err)
	}
	return AggExpr{Bound: bound, Args: args}
}

// sessionsOf groups by key and window, in either order, or by the window alone.
func sessionsOf(t testing.TB, in Op, keys string) *SessionAgg {
	window, key, value := ColumnExpr(0, windowType), ColumnExpr(1, types.String), ColumnExpr(2, types.Long)
	a := &SessionAgg{Group: &HashAgg{In: in, Aggs: []AggExpr{aggregate(t, "count", value), aggregate(t, "collect_list", value)}}}
	for _, k := range keys {
		if k == 'k' {
			a.Group.Keys = append(a.Group.Keys, key)
			continue
		}
		a.Session = len(a.Group.Keys)
		a.Group.Keys = append(a.Group.Keys, window)
	}
	return a
}

// naive makes sessions one row after the other; the result is the rows as texts, sorted.
func naive(rows []types.Row, keys string) []string {
	type session struct {
		start, end types.Micros
		values     []any
	}
	byKey := map[string][]types.Row{}
	for _, r := range rows {
		key := ""
		if strings.Contains(keys, "k") {
			key = fmt.Sprint(r[1])
		}
		byKey[key] = append(byKey[key], r)
	}
	var out []string
	for key, rs := range byKey {
		slices.SortStableFunc(rs, func(a, b types.Row) int {
			x, y := a[0].(types.Row), b[0].(types.Row)
			if x[0] != y[0] {
				return int(x[0].(types.Micros) - y[0].(types.Micros))
			}
			return int(x[1].(types.Micros) - y[1].(types.Micros))
		})
		var list []*session
		for _, r := range rs {
			w := r[0].(types.Row)
			start, end := w[0].(types.Micros), w[1].(types.Micros)
			if n := len(list); n > 0 && start <= list[n-1].end {
				list[n-1].end = max(list[n-1].end, end)
			} else {
				list = append(list, &session{start: start, end: end})
			}
			s := list[len(list)-1]
			s.values = append(s.values, r[2])
		}
		for _, s := range list {
			out = append(out, fmt.Sprint(key, s.start, s.end, len(s.values), s.values))
		}
	}
	slices.Sort(out)
	return out
}

func sessionTexts(rows []types.Row, keys string) []string {
	var out []string
	for _, r := range rows {
		key, w := "", strings.Index(keys, "w")
		if k := strings.Index(keys, "k"); k >= 0 {
			key = fmt.Sprint(r[k])
		}
		window, n := r[w].(types.Row), len(keys)
		out = append(out, fmt.Sprint(key, window[0], window[1], r[n], r[n+1]))
	}
	slices.Sort(out)
	return out
}

// Sessions are those of a program that goes through sorted rows one by one, however many workers make them of however many pieces.
func TestSessionsAgainstModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		keys := rapid.SampledFrom([]string{"wk", "kw", "w"}).Draw(r, "keys")
		span := rapid.SampledFrom([]int64{20, 300, 100_000}).Draw(r, "span")
		names := []any{"a", "b", "c", nil, ""}
		rows := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) types.Row {
			return sessionRow(rapid.Int64Range(-span, span).Draw(r, "start"), rapid.SampledFrom([]int64{1, 5, 5, 5, 30}).Draw(r, "gap"),
				rapid.SampledFrom(names).Draw(r, "key"), rapid.Int64Range(0, 9).Draw(r, "value"))
		}), 0, 120).Draw(r, "rows")
		want := naive(rows, keys)
		var first []types.Row
		for _, workers := range []int{1, 3} {
			in := cut(t, sessionTypes, rows, rapid.IntRange(1, 5).Draw(r, "parts"), rapid.IntRange(1, 20).Draw(r, "batch"))
			got := rowsOf(t, workers, sessionsOf(t, in, keys))
			if d := cmp.Diff(want, sessionTexts(got, keys)); d != "" {
				r.Fatalf("(-want +got)\n%s", d)
			}
			if first == nil {
				first = got
			}
			if d := cmp.Diff(first, got); d != "" {
				r.Fatalf("%d workers: %s", workers, d)
			}
		}
	})
}

func TestRowsWithoutWindow(t *testing.T) {
	rows := []types.Row{
		{nil, "a", int64(1)},
		{types.Row{nil, types.Micros(9)}, "a", int64(2)},
		{types.Row{types.Micros(1), nil}, "a", int64(3)},
		sessionRow(5, 5, "a", 4),
	}
	got := rowsOf(t, 1, sessionsOf(t, cut(t, sessionTypes, rows, 1, 10), "wk"))
	if d := cmp.Diff([]types.Row{{types.Row{types.Micros(5), types.Micros(10)}, "a", int64(1), []any{int64(4)}}}, got); d != "" {
		t.Error(d)
	}
	if got := rowsOf(t, 1, sessionsOf(t, cut(t, sessionTypes, rows[:3], 1, 10), "w")); len(got) != 0 {
		t.Errorf("sessions of nothing: %v", got)
	}
}

func TestSessionAggregates(t *testing.T) {
	rows := []types.Row{
		sessionRow(30, 10, "a", 3), sessionRow(10, 10, "a", 1), sessionRow(20, 10, "a", 1), sessionRow(41, 10, "a", 3), sessionRow(41, 10, "a", 3),
	}
	op := sessionsOf(t, cut(t, sessionTypes, rows, 2, 2), "wk")
	value := ColumnExpr(2, types.Long)
	distinct := aggregate(t, "count", value)
	distinct.Distinct = true
	op.Group.Aggs = []AggExpr{aggregate(t, "first", value), aggregate(t, "last", value), distinct}
	want := []types.Row{
		{types.Row{types.Micros(10), types.Micros(40)}, "a", int64(1), int64(3), int64(2)},
		{types.Row{types.Micros(41), types.Micros(51)}, "a", int64(3), int64(3), int64(1)},
	}
	if d := cmp.Diff(want, rowsOf(t, 2, op)); d != "" {
		t.Error(d)
	}
}

// A sort goes on by another method when insertion moves too much.
func TestSortOfRowsInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 5000
	for name, start := range map[string]func(i int) int64{
		"ascending": func(i int) int64 { return int64(i) }, "descending": func(i int) int64 { return int64(-i) },
		"near": func(i int) int64 { return int64(i) - rng.Int64N(20) }, "random": func(int) int64 { return rng.Int64N(n) },
		"equal": func(int) int64 { return 7 },
	} {
		keys, starts, ends := make([]uint32, n), make([]int64, n), make([]int64, n)
		for i := range starts {
			keys[i] = uint32(rng.IntN(3)) + 5
			starts[i] = start(i)
			ends[i] = starts[i] + rng.Int64N(3)
		}
		var s SessionSorter
		for range 2 { // the second time with used memory
			s.Sort(keys, starts, ends, 9)
		}
		if len(s.Keys) != 3 || len(s.Order()) != n || s.Upto[2] != n {
			t.Fatalf("%s: %d keys, rows up to %v", name, len(s.Keys), s.Upto)
		}
		from := 0
		for k, to := range s.Upto {
			for i := from; i < to; i++ {
				r := s.Rows[i]
				if keys[r.Row] != s.Keys[k] || starts[r.Row] != r.Start || ends[r.Row] != r.End {
					t.Fatalf("%s: row %d is not what it was", name, r.Row)
				}
				if i == from {
					continue
				}
				if p := s.Rows[i-1]; p.Start > r.Start || p.Start == r.Start && (p.End > r.End || p.End == r.End && p.Row > r.Row) {
					t.Fatalf("%s: %v before %v", name, p, r)
				}
			}
			from = to
		}
	}
}

// BenchmarkSessions is a million rows of 2000 users in near time order, 30 s apart on average, as in bench/bench.py.
func BenchmarkSessions(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	ts := []types.DataType{windowType, types.Long, types.Long}
	in := &lists{types: ts, parts: make([][]*vec.Batch, 4)}
	for at := 0; at < benchRows; at += vec.BatchRows {
		start, end, k, a := vec.NewFixed(types.Timestamp, vec.BatchRows), vec.NewFixed(types.Timestamp, vec.BatchRows), vec.NewFixed(types.Long, vec.BatchRows), vec.NewFixed(types.Long, vec.BatchRows)
		for i := range vec.BatchRows {
			x := int64(at+i)*14_400_000_000/benchRows - rng.Int64N(60)*1_000_000
			vec.Fixed[int64](start)[i], vec.Fixed[int64](end)[i] = x, x+30_000_000
			vec.Fixed[int64](k)[i], vec.Fixed[int64](a)[i] = rng.Int64N(2000), rng.Int64N(1000)
		}
		p := at / (benchRows / 4)
		in.parts[p] = append(in.parts[p], vec.NewBatch(vec.BatchRows, vec.NewStruct(windowType, vec.BatchRows, []*vec.Vector{start, end}), k, a))
	}
	amount := ColumnExpr(2, types.Long)
	b.ReportAllocs()
	runBench(b, &SessionAgg{Group: &HashAgg{
		In: in, Keys: []Expr{ColumnExpr(0, windowType), ColumnExpr(1, types.Long)},
		Aggs: []AggExpr{aggregate(b, "count", amount), aggregate(b, "sum", amount)},
	}})
}
