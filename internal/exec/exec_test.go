package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// lists are rows cut into parts and batches, as an operator's input.
type lists struct {
	types []types.DataType
	parts [][]*vec.Batch
}

func (l *lists) Types() []types.DataType                     { return l.types }
func (l *lists) Inputs() []Op                                { return nil }
func (l *lists) Label() string                               { return "lists" }
func (l *lists) Parts(context.Context, *Task) (Parts, error) { return PartsOf(l.parts...), nil }

// cut deals rows out to parts and batches of random sizes.
func cut(t testing.TB, ts []types.DataType, rows []types.Row, parts, batch int) *lists {
	t.Helper()
	l := &lists{types: ts, parts: make([][]*vec.Batch, parts)}
	per := (len(rows) + parts - 1) / parts
	for p := range parts {
		mine := rows[min(p*per, len(rows)):min((p+1)*per, len(rows))]
		for len(mine) > 0 {
			n := min(batch, len(mine))
			l.parts[p] = append(l.parts[p], batchOf(t, ts, mine[:n]))
			mine = mine[n:]
		}
	}
	return l
}

func batchOf(t testing.TB, ts []types.DataType, rows []types.Row) *vec.Batch {
	t.Helper()
	b := &vec.Batch{N: len(rows)}
	for c, dt := range ts {
		bld := vec.NewBuilder(dt)
		for _, r := range rows {
			if err := bld.AppendValue(r[c]); err != nil {
				t.Fatal(err)
			}
		}
		b.Cols = append(b.Cols, bld.Finish())
	}
	return b
}

func task(workers int) *Task {
	return &Task{Workers: workers, Partitions: 4, Coalesce: true, Batch: &expr.BatchParams{Zone: time.UTC}}
}

func rowsOf(t testing.TB, workers int, op Op) []types.Row {
	t.Helper()
	bs, err := Collect(context.Background(), task(workers), op)
	if err != nil {
		t.Fatal(err)
	}
	var out []types.Row
	for _, b := range bs {
		for i := range b.N {
			out = append(out, vec.RowAt(b, i))
		}
	}
	return out
}

// Every operator gives the same rows in the same order however many goroutines run it and however its input is cut into batches.
func TestWorkersAndBatchSizesDoNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ts := []types.DataType{types.Long, types.String}
	var rows, dim []types.Row
	for range 150 {
		rows = append(rows, types.Row{int64(rng.IntN(20)), fmt.Sprintf("s%d", rng.IntN(7))})
	}
	for i := range 10 {
		dim = append(dim, types.Row{int64(i * 2), fmt.Sprintf("d%d", i)})
	}
	k, s := ColumnExpr(0, types.Long), ColumnExpr(1, types.String)
	ops := map[string]func(in, static Op) Op{
		"project": func(in, _ Op) Op { return &Project{In: in, Cols: []Expr{s, k}} },
		"expand": func(in, _ Op) Op {
			null := Expr{New: func() expr.Node { return expr.NewLiteral(nil, types.Long) }, Type: types.Long, Column: -1}
			return &Expand{In: in, Lists: [][]Expr{{k, s, k}, {k, s, null}, {null, s, null}}}
		},
		"distinct": func(in, _ Op) Op { return &HashAgg{In: in, Keys: []Expr{k, s}} },
		"sort":     func(in, _ Op) Op { return &Sort{In: in, Limit: -1, Keys: []SortKey{{Expr: s, Desc: true}, {Expr: k}}} },
		"top":      func(in, _ Op) Op { return &Sort{In: in, Limit: 7, Keys: []SortKey{{Expr: k}}} },
		"limit":    func(in, _ Op) Op { return &Limit{In: in, N: 63, Offset: 45} },
		"tail":     func(in, _ Op) Op { return &Tail{In: in, N: 59} },
		"union":    func(in, static Op) Op { return &Union{Ins: []Op{in, static, in}} },
		"inner":    func(in, static Op) Op { return joinOf(in, static, JoinInner) },
		"outer":    func(in, static Op) Op { return joinOf(in, static, JoinOuter) },
		"full":     func(in, static Op) Op { return joinOf(in, static, JoinFull) },
		"semi":     func(in, static Op) Op { return joinOf(in, static, JoinSemi) },
		"anti":     func(in, static Op) Op { return joinOf(in, static, JoinAnti) },
		"cross":    func(in, static Op) Op { return &HashJoin{Probe: in, Build: static, Kind: JoinInner} },
	}
	for name, op := range ops {
		t.Run(name, func(t *testing.T) {
			static := cut(t, ts, dim, 1, 3)
			want := rowsOf(t, 1, op(cut(t, ts, rows, 6, 4096), static))
			if len(want) == 0 {
				t.Fatal("no rows to compare")
			}
			for _, workers := range []int{1, 2, 5} {
				for _, batch := range []int{1, 3, 4096} {
					if d := cmp.Diff(want, rowsOf(t, workers, op(cut(t, ts, rows, 6, batch), static))); d != "" {
						t.Fatalf("%d workers, batches of %d: (-want +got)\n%s", workers, batch, d)
					}
				}
			}
		})
	}
}

func joinOf(probe, build Op, kind JoinKind) Op {
	k := []Expr{ColumnExpr(0, types.Long)}
	return &HashJoin{Probe: probe, Build: build, ProbeKeys: k, BuildKeys: k, NullSafe: []bool{false}, Kind: kind}
}

func TestJoinKinds(t *testing.T) {
	ts := []types.DataType{types.Long, types.String}
	left := []types.Row{{int64(1), "a"}, {int64(2), "b"}, {nil, "c"}, {int64(1), "d"}}
	right := []types.Row{{int64(1), "x"}, {int64(3), "y"}, {int64(1), "z"}, {nil, "n"}}
	for _, c := range []struct {
		kind JoinKind
		want []string
	}{
		{JoinInner, []string{"[1 a 1 z]", "[1 a 1 x]", "[1 d 1 z]", "[1 d 1 x]"}},
		{JoinOuter, []string{"[1 a 1 z]", "[1 a 1 x]", "[2 b <nil> <nil>]", "[<nil> c <nil> <nil>]", "[1 d 1 z]", "[1 d 1 x]"}},
		{JoinFull, []string{"[<nil> c <nil> <nil>]", "[<nil> <nil> <nil> n]", "[1 a 1 x]", "[1 a 1 z]", "[1 d 1 x]", "[1 d 1 z]", "[2 b <nil> <nil>]", "[<nil> <nil> 3 y]"}},
		{JoinSemi, []string{"[1 a]", "[1 d]"}},
		{JoinAnti, []string{"[2 b]", "[<nil> c]"}},
	} {
		var got []string
		for _, r := range rowsOf(t, 1, joinOf(cut(t, ts, left, 1, 2), cut(t, ts, right, 1, 2), c.kind)) {
			got = append(got, fmt.Sprint(r))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("kind %d: (-want +got)\n%s", c.kind, d)
		}
	}
}

// odd fails for rows whose number is 13 and passes the others on.
type failing struct{}

func (failing) Type() types.DataType { return types.Long }

func (failing) Eval(e *expr.Eval, in *vec.Batch) *vec.Vector {
	for i, x := range vec.Fixed[int64](in.Cols[0]) {
		if x == 13 {
			e.Errs.Add(i, errclass.New("DIVIDE_BY_ZERO", "config", "x"))
		}
	}
	return in.Cols[0]
}

// A row that fails is an error only for who reaches it: the rows before it come out, a limit is satisfied by them.
func TestErrorIsAPosition(t *testing.T) {
	bad := Expr{New: func() expr.Node { return failing{} }, Type: types.Long, Uses: []int{0}, Column: -1}
	op := func(n int64) Op {
		return &Limit{In: &Project{In: &Range{Start: 0, End: 100, Step: 1}, Cols: []Expr{bad}}, N: n}
	}
	if got := len(rowsOf(t, 2, op(13))); got != 13 {
		t.Errorf("%d rows before the bad one, want 13", got)
	}
	_, err := Collect(context.Background(), task(2), op(14))
	if !errclass.Has(err, "DIVIDE_BY_ZERO") {
		t.Errorf("got %v, want DIVIDE_BY_ZERO", err)
	}
	// A row's copies come out together: an error in one list does not hide the rows before it, nor is it lost at the end.
	twice := func(n int64) Op {
		x := ColumnExpr(0, types.Long)
		return &Limit{In: &Expand{In: &Range{Start: 0, End: 14, Step: 1}, Lists: [][]Expr{{x}, {bad}}}, N: n}
	}
	if got := len(rowsOf(t, 2, twice(26))); got != 26 {
		t.Errorf("%d copies before the bad row, want 26", got)
	}
	if _, err := Collect(context.Background(), task(2), twice(27)); !errclass.Has(err, "DIVIDE_BY_ZERO") {
		t.Errorf("expanded: got %v, want DIVIDE_BY_ZERO", err)
	}
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		r    Range
		want uint64
	}{
		{Range{Start: 0, End: 10, Step: 3}, 4},
		{Range{Start: 10, End: 0, Step: -3}, 4},
		{Range{Start: 0, End: 0, Step: 1}, 0},
		{Range{Start: 0, End: 10, Step: 1, Slices: 4}, 10},
		{Range{Start: 0, End: 2, Step: 1, Slices: 5}, 2},
		{Range{Start: 5, End: 0, Step: 1}, 0},
		{Range{Start: -1 << 63, End: 1<<63 - 1, Step: 1 << 62}, 4},
		{Range{Start: 1<<63 - 1, End: -1 << 63, Step: -1 << 62}, 4},
	} {
		if got := c.r.rows(); got != c.want {
			t.Errorf("%v has %d rows, want %d", c.r, got, c.want)
		}
	}
}

func TestCancelEndsAllWorkers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p, err := (&Range{Start: 0, End: 1 << 40, Step: 1}).Parts(ctx, task(4))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	err = Gather(ctx, task(4), p, func(b *vec.Batch) error {
		if rows += b.N; rows > 1<<20 {
			cancel()
		}
		return nil
	})
	if err == nil {
		t.Error("a cancelled query ended without an error")
	}
}
