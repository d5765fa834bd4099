package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/types"
)

func attr(id ID, name string, t types.DataType) *Attr {
	return &Attr{ID: id, Name: name, T: t, Null: true}
}

func intLit(n int32) *Literal { return &Literal{Value: n, T: types.Integer} }

func call(t *testing.T, name string, args ...Expr) *Call {
	t.Helper()
	f := fn.Lookup(name)
	if f == nil {
		t.Fatalf("no function %s", name)
	}
	b := &fn.Binding{Name: name, ANSI: true}
	for _, a := range args {
		b.Args = append(b.Args, fn.Arg{Type: TypeOf(a), Nullable: NullableOf(a), SQL: a.SQL()})
	}
	bound, err := f.Bind(b)
	if err != nil {
		t.Fatal(err)
	}
	return &Call{Fn: f, Bound: bound, Name: name, Args: args}
}

func TestTexts(t *testing.T) {
	a, s := attr(1, "a", types.Long), attr(2, "s", types.String)
	window := &Attr{ID: 3, Name: "window", T: fn.WindowType(types.Timestamp), EventTime: true, Delay: 300000}
	over := &Over{
		Fn: &WindowFunc{Name: "rank", T: types.Integer}, Partition: []Expr{s}, Order: []*SortOrder{{Child: a, Desc: true}},
		Rows: true, Framed: true, Lo: FrameBound{Unbounded: true},
	}
	for _, c := range []struct {
		e            Expr
		pretty, tree string
	}{
		{a, "a", "a#1L"},
		{window, "window", "window#3-T300000ms"},
		{&Field{Child: window, Name: "start"}, "window.start", "window#3-T300000ms.start"},
		{&Literal{Value: "x", T: types.String}, "x", "x"},
		{&Literal{T: types.Null}, "NULL", "null"},
		{&Literal{Value: 1.0, T: types.Double}, "1.0", "1.0"},
		{&Literal{Value: 1.5e10, T: types.Double}, "1.5E10", "1.5E10"},
		{&Literal{Value: true, T: types.Boolean}, "true", "true"},
		{&Literal{Value: types.Days(19723), T: types.Date}, "DATE '2024-01-01'", "2024-01-01"},
		{&Literal{Value: types.Micros(0), T: types.Timestamp}, "TIMESTAMP '1970-01-01 00:00:00'", "1970-01-01 00:00:00"},
		{
			&Literal{Value: types.Interval{Months: 14, Days: 3, Micros: 3723500000}, T: types.CalendarInterval},
			"INTERVAL '1 years 2 months 3 days 1 hours 2 minutes 3.5 seconds'", "1 years 2 months 3 days 1 hours 2 minutes 3.5 seconds",
		},
		{
			&Literal{Value: types.DayTime(300e6), T: types.DayTimeIntervalType{Start: types.MinuteField, End: types.MinuteField}},
			"INTERVAL '05' MINUTE", "INTERVAL '05' MINUTE",
		},
		{&Literal{Value: types.DayTime(-93784500000), T: types.DayTimeInterval}, "INTERVAL '-1 02:03:04.5' DAY TO SECOND", "INTERVAL '-1 02:03:04.5' DAY TO SECOND"},
		{&Literal{Value: types.YearMonth(14), T: types.YearMonthInterval}, "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"},
		{&Literal{Value: []byte{0x1f}, T: types.Binary}, "X'1F'", "X'1F'"},
		{call(t, "+", a, intLit(1)), "(a + 1)", "(a#1L + 1)"},
		{call(t, "not", call(t, "==", a, intLit(1))), "(NOT (a = 1))", "NOT (a#1L = 1)"},
		{call(t, "isnotnull", a), "(a IS NOT NULL)", "isnotnull(a#1L)"},
		{call(t, "in", a, intLit(1), intLit(2)), "(a IN (1, 2))", "a#1L IN (1,2)"},
		{&Cast{Child: a, To: types.Integer}, "CAST(a AS INT)", "cast(a#1L as int)"},
		{&Cast{Child: a, To: types.Integer, Mode: CastTry}, "TRY_CAST(a AS INT)", "try_cast(a#1L as int)"},
		{&Cast{Child: a, To: types.Integer, Implicit: true}, "a", "cast(a#1L as int)"},
		{And(call(t, ">", a, intLit(1)), call(t, "isnull", s)), "((a > 1) AND (s IS NULL))", "((a#1L > 1) AND isnull(s#2))"},
		{&Cond{Op: OpCase, Args: []Expr{call(t, "isnull", s), intLit(1), intLit(2)}}, "CASE WHEN (s IS NULL) THEN 1 ELSE 2 END", "CASE WHEN isnull(s#2) THEN 1 ELSE 2 END"},
		{&Cond{Op: OpIf, Args: []Expr{call(t, "isnull", s), intLit(1), intLit(2)}, Name: "if"}, "(IF((s IS NULL), 1, 2))", "if (isnull(s#2)) 1 else 2"},
		{&Cond{Op: OpCoalesce, Args: []Expr{a, intLit(0)}, Name: "nvl"}, "nvl(a, 0)", "nvl(a#1L, 0)"},
		{&Alias{Child: a, Name: "b", ID: 9}, "a AS b", "a#1L AS b#9L"},
		{&SortOrder{Child: a, Desc: true}, "a DESC NULLS LAST", "a#1L DESC NULLS LAST"},
		{
			over, "RANK() OVER (PARTITION BY s ORDER BY a DESC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
			"rank() OVER (PARTITION BY s#2 ORDER BY a#1L DESC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
		},
		{&Column{Parts: []string{"x", "a.b"}}, "x.`a.b`", "'x.`a.b`"},
		{&Star{Target: []string{"t"}}, "t.*", "t.*"},
		{&Func{Name: []string{"sum"}, Args: []Expr{&Column{Parts: []string{"a"}}}, Distinct: true}, "sum(DISTINCT a)", "'sum(DISTINCT 'a)"},
	} {
		if got := c.e.SQL(); got != c.pretty {
			t.Errorf("SQL of %s: got %s", c.pretty, got)
		}
		if got := TreeText(c.e); got != c.tree {
			t.Errorf("tree text of %s: got %s", c.tree, got)
		}
	}
}

func TestTreeString(t *testing.T) {
	a, b := attr(1, "a", types.Integer), attr(2, "b", types.Integer)
	left := &Scan{Name: "json", Out: []*Attr{a}, Stream: true}
	right := &Local{Out: []*Attr{b}}
	n := &Limit{N: intLit(3), Child: &Join{
		Left: &Filter{Cond: &Column{Parts: []string{"a"}}, Child: left}, Right: &Tagged{PlanID: 7, Child: right}, Kind: LeftOuter,
		Cond: &Func{Name: []string{"=="}, Args: []Expr{a, b}},
	}}
	want := `
'GlobalLimit 3
+- 'LocalLimit 3
   +- 'Join LeftOuter, '==(a#1, b#2)
      :- 'Filter 'a
      :  +- ~StreamingRelationV2 json, [a#1]
      +- LocalRelation [b#2]
`
	if d := cmp.Diff(strings.TrimPrefix(want, "\n"), TreeString(n)); d != "" {
		t.Error(d)
	}
}

// Rebuilding a node or an expression from its own parts changes nothing, and giving it other parts puts them where they belong.
func TestRebuild(t *testing.T) {
	a, b := attr(1, "a", types.Integer), attr(2, "b", types.Integer)
	leaf := &Local{Out: []*Attr{a, b}}
	asc := &SortOrder{Child: a}
	nodes := []Node{
		&Project{Cols: []Expr{a}, Child: leaf},
		&Aggregate{Keys: []Expr{a}, Aggs: []Expr{a, b}, Sets: [][]Expr{{a}, {}}, PivotCol: b, PivotValues: []Expr{intLit(1)}, Child: leaf},
		&Sort{Orders: []*SortOrder{asc}, Global: true, Child: leaf},
		&Expand{Lists: [][]Expr{{a}, {b}}, Out: []*Attr{a}, Child: leaf},
		&Join{Left: leaf, Right: leaf, Kind: FullOuter, Cond: a, Using: []string{"a"}},
		&Union{Inputs: []Node{leaf, leaf}, ByName: true, Out: []*Attr{a}},
		&With{Names: []string{"x"}, Plans: []Node{leaf}, Child: leaf},
		&Watermark{Col: a, DelayText: "1 minute", Child: leaf, ID: 3},
		&Values{Rows: [][]Expr{{a, b}, {b, a}}},
		&Dedup{Keys: []Expr{b}, WithinWatermark: true, Child: leaf},
	}
	opts := cmp.Options{cmp.Comparer(func(x, y types.DataType) bool { return types.Equal(x, y) })}
	for _, n := range nodes {
		same := n.WithChildren(n.Children()).WithExprs(n.Exprs())
		if d := cmp.Diff(n, same, opts); d != "" {
			t.Errorf("%s: %s", n.Label(), d)
		}
		swapped, err := MapExprs(n, func(e Expr) (Expr, error) {
			return TransformExpr(e, func(e Expr) (Expr, error) {
				if e == Expr(a) {
					return b, nil
				}
				return e, nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range swapped.Exprs() {
			if References(e).Has(1) {
				t.Errorf("%s: still uses a", swapped.Label())
			}
		}
	}
	exprs := []Expr{
		&Func{Name: []string{"f"}, Args: []Expr{a}, Filter: b, Order: []*SortOrder{asc}},
		&Over{Fn: a, Partition: []Expr{b}, Order: []*SortOrder{asc}, Lo: FrameBound{Offset: intLit(1)}, Hi: FrameBound{Unbounded: true}},
		&Subquery{Kind: SubqueryIn, Plan: leaf, Values: []Expr{a}, Outer: []Expr{b}},
		&Lambda{Params: []*LambdaVar{{ID: 5, Name: "x", T: types.Integer}}, Body: a},
		&TimeWindow{Time: a, Duration: 1, Slide: 1},
	}
	for _, e := range exprs {
		if d := cmp.Diff(e, e.WithKids(e.Kids()), opts); d != "" {
			t.Errorf("%s: %s", e.SQL(), d)
		}
	}
}

func TestWalkStopsAtErrors(t *testing.T) {
	boom := errors.New("boom")
	n := &Filter{Cond: intLit(1), Child: &Local{}}
	if _, err := Transform(n, func(n Node) (Node, error) {
		if _, ok := n.(*Local); ok {
			return nil, boom
		}
		return n, nil
	}); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if same, err := TransformUp(n, func(n Node) (Node, error) { return n, nil }); err != nil || same != Node(n) {
		t.Errorf("an unchanged tree was rebuilt: %v %v", same, err)
	}
}

func TestSame(t *testing.T) {
	a, b := attr(1, "a", types.Integer), attr(2, "a", types.Integer)
	renamed := attr(1, "A", types.Integer)
	for _, c := range []struct {
		x, y Expr
		want bool
	}{
		{a, renamed, true},
		{a, b, false},
		{&Alias{Child: a, Name: "x", ID: 7}, a, true},
		{call(t, "+", a, intLit(1)), call(t, "+", renamed, intLit(1)), true},
		{call(t, "+", a, intLit(1)), call(t, "+", a, intLit(2)), false},
		{call(t, "+", a, intLit(1)), call(t, "-", a, intLit(1)), false},
		{&Literal{Value: int32(1), T: types.Integer}, &Literal{Value: int64(1), T: types.Long}, false},
		{&Cast{Child: a, To: types.Long}, &Cast{Child: a, To: types.Long, Implicit: true}, true},
		{&Cast{Child: a, To: types.Long}, &Cast{Child: a, To: types.Long, Mode: CastTry}, false},
	} {
		if got := Same(c.x, c.y); got != c.want {
			t.Errorf("%s and %s: got %t", c.x.SQL(), c.y.SQL(), got)
		}
	}
}

func TestMarks(t *testing.T) {
	ts := attr(1, "ts", types.Timestamp)
	w := &Watermark{Col: ts, Delay: types.Interval{Months: 1, Days: 1, Micros: 1500}, Child: &Local{Out: []*Attr{ts, attr(2, "x", types.Timestamp).Marked(7)}}}
	if got, want := w.Millis(), int64(32*24*3600*1000+1); got != want {
		t.Errorf("delay of %d ms, want %d", got, want)
	}
	out := w.Output()
	if !out[0].EventTime || out[0].Delay != w.Millis() || out[1].EventTime || out[1].Metadata != "" {
		t.Errorf("marks: %+v %+v", out[0], out[1])
	}
	if ts.EventTime {
		t.Error("the input column was changed")
	}
	inherits := NewAlias(out[0], "t").Attr()
	if !inherits.EventTime || inherits.Metadata != out[0].Metadata {
		t.Errorf("an alias loses the mark: %+v", inherits)
	}
	none := &Alias{Child: out[0], Name: "t", Metadata: NoMetadata}
	if a := none.Attr(); a.EventTime || a.Metadata != "" {
		t.Errorf("an alias without metadata keeps the mark: %+v", a)
	}
	win := &Attr{Name: "w", T: fn.WindowType(types.Timestamp), Metadata: TimeWindowMeta(out[0].Metadata)}
	if !win.IsTimeWindow() || win.IsSessionWindow() || NoWindowMeta(win.Metadata) != out[0].Metadata {
		t.Errorf("window metadata %s", win.Metadata)
	}
}

func TestTimeBounds(t *testing.T) {
	lt, rt := attr(1, "lt", types.Timestamp), attr(2, "rt", types.Timestamp)
	rt.EventTime = true
	v := attr(3, "v", types.Integer)
	minutes := func(n int64) Expr { return &Literal{Value: types.DayTime(n * 60e6), T: types.DayTimeInterval} }
	double := func(e Expr) Expr { return &Cast{Child: e, To: types.Double} }
	left := IDSet{1: {}, 3: {}}
	for _, c := range []struct {
		name  string
		cond  Expr
		shift int64 // in minutes
		found bool
	}{
		{"rt <= lt + 15m", call(t, "<=", rt, call(t, "+", lt, minutes(15))), -15, true},
		{"lt + 15m > rt", call(t, ">", call(t, "+", lt, minutes(15)), rt), -15, true},
		{"rt - 15m <= lt", call(t, "<=", call(t, "-", rt, minutes(15)), lt), -15, true},
		{"lt >= rt", call(t, ">=", lt, rt), 0, true},
		{"rt >= lt bounds the other side", call(t, ">=", rt, lt), 0, false},
		{"not rt > lt + 15m", call(t, "not", call(t, ">", rt, call(t, "+", lt, minutes(15)))), -15, true},
		{"not not rt <= lt", call(t, "not", call(t, "not", call(t, "<=", rt, lt))), 0, true},
		{"not equal", call(t, "not", call(t, "==", rt, lt)), 0, false},
		{"seconds", call(t, "<", call(t, "-", double(rt), double(lt)), &Literal{Value: 900.0, T: types.Double}), -15, true},
		{"a number", call(t, ">", v, intLit(1)), 0, false},
		{"a literal time", call(t, ">", lt, &Literal{Value: types.Micros(0), T: types.Timestamp}), 0, false},
	} {
		got := TimeBounds(And(call(t, "isnotnull", v), c.cond), left)
		if len(got) == 1 != c.found {
			t.Errorf("%s: %v", c.name, got)
			continue
		}
		if c.found && (got[0].Shift != c.shift*60e6 || got[0].State != lt || got[0].Clock != rt) {
			t.Errorf("%s: %+v", c.name, got[0])
		}
	}
	keys, rest := EquiKeys(And(call(t, "==", rt, lt), call(t, ">", v, intLit(1))), left, IDSet{2: {}})
	if len(keys) != 1 || keys[0] != (EquiKey{Left: lt, Right: rt}) || len(rest) != 1 {
		t.Errorf("keys %v, rest %v", keys, rest)
	}
}
