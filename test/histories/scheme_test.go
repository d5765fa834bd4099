package histories

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

// wide is the schema of the streams e and f in random histories. The event time is the last column.
const wide = "k STRING, n INT, d DOUBLE, m DECIMAL(10,2), v BIGINT, ts TIMESTAMP"

const minute = int64(60_000_000)

// scheme is a random query, for the engine and for the model.
type scheme struct {
	t       *rapid.T
	delays  [2]int64 // of e and f in milliseconds, or noMark
	below   [2]*condition
	views   []view
	root    operation
	last    string // the view that is started
	mode    string
	sources []int // in the order of the offset log
	marks   [2]*mark
}

// view is a step of a query: a view made of others by a SQL text, or by do of the DataFrame of another view.
type view struct {
	name, text string
	do         func(*millrace.DataFrame) *millrace.DataFrame
	of         string // for do
}

func (s *scheme) String() string {
	var b strings.Builder
	for i, name := range []string{"e", "f"} {
		fmt.Fprintf(&b, "stream %s (%s)", name, wide)
		if c := s.below[i]; c != nil {
			fmt.Fprintf(&b, " where='%s'", c.sql)
		}
		if s.delays[i] != noMark {
			fmt.Fprintf(&b, " watermark='ts, %d milliseconds'", s.delays[i])
		}
		b.WriteString("\n")
	}
	for _, v := range s.views {
		fmt.Fprintf(&b, "view %s: %s\n", v.name, v.text)
	}
	fmt.Fprintf(&b, "query mode=%s of %s", s.mode, s.last)
	return b.String()
}

func (s *scheme) pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(s.t, label) }

// view adds a view by a SQL text and returns its name.
func (s *scheme) view(format string, args ...any) string {
	name := fmt.Sprintf("w%d", len(s.views)+1)
	s.views = append(s.views, view{name: name, text: fmt.Sprintf(format, args...)})
	return name
}

// condition is a predicate on rows of the wide schema.
type condition struct {
	sql   string
	holds func(record) bool
	timed bool // it looks at the event time
}

var conditions = []condition{
	{"v % 3 <> 0", func(r record) bool { v, ok := r[4].(int64); return ok && v%3 != 0 }, false},
	{"n IS NOT NULL", func(r record) bool { return r[1] != nil }, false},
	{"k <> 'b'", func(r record) bool { k, ok := r[0].(string); return ok && k != "b" }, false},
	{"n > 0 OR k IS NULL", func(r record) bool { n, ok := r[1].(int32); return ok && n > 0 || r[0] == nil }, false},
	{"ts >= TIMESTAMP'2026-01-01 11:30:00'", func(r record) bool { at, ok := r[5].(types.Micros); return ok && at >= noon-types.Micros(30*minute) }, true},
}

var noon = types.MicrosOf(milltest.Day) + types.Micros(12*60*minute)

// keyColumn is an expression to group by.
type keyColumn struct {
	sql string
	of  func(record) any
}

func column(i int) func(record) any { return func(r record) any { return r[i] } }

var keyColumns = []keyColumn{
	{"k", column(0)},
	{"n", column(1)},
	{"d", column(2)},
	{"m", column(3)},
	{"v % 3", func(r record) any {
		if v, ok := r[4].(int64); ok {
			return v % 3
		}
		return nil
	}},
}

// ofValues makes an aggregate of the values of a column that are not null.
func ofValues(col int, f func([]any) any) func([]record) any {
	return func(rows []record) any {
		var vs []any
		for _, r := range rows {
			if r[col] != nil {
				vs = append(vs, r[col])
			}
		}
		return f(vs)
	}
}

func orNull(f func([]any) any) func([]any) any {
	return func(vs []any) any {
		if len(vs) == 0 {
			return nil
		}
		return f(vs)
	}
}

// before is the order of values: NaN is the largest number, and the zeros are equal.
func before(a, b any) bool {
	switch a := a.(type) {
	case string:
		return a < b.(string)
	case int64:
		return a < b.(int64)
	case float64:
		b := b.(float64)
		return a < b || b != b && a == a
	}
	panic(fmt.Sprintf("no order of %T", a))
}

func highest(vs []any) any {
	return slices.MaxFunc(vs, func(a, b any) int {
		switch {
		case before(a, b):
			return -1
		case before(b, a):
			return 1
		}
		return 0
	})
}

func lowest(vs []any) any {
	low := vs[0]
	for _, v := range vs {
		if before(v, low) {
			low = v
		}
	}
	return low
}

func total(vs []any) int64 {
	var n int64
	for _, v := range vs {
		n += v.(int64)
	}
	return n
}

var aggregates = []aggregate{
	{"count(*)", func(rows []record) any { return int64(len(rows)) }},
	{"sum(v)", ofValues(4, orNull(func(vs []any) any { return total(vs) }))},
	{"avg(v)", ofValues(4, orNull(func(vs []any) any { return float64(total(vs)) / float64(len(vs)) }))},
	{"max(v)", ofValues(4, orNull(highest))},
	{"min(k)", ofValues(0, orNull(lowest))},
	{"max(k)", ofValues(0, orNull(highest))},
	{"sort_array(collect_list(v))", ofValues(4, func(vs []any) any {
		slices.SortFunc(vs, func(a, b any) int { return int(a.(int64) - b.(int64)) })
		return append([]any{}, vs...)
	})},
	{"count(d)", ofValues(2, func(vs []any) any { return int64(len(vs)) })},
	{"max(d)", ofValues(2, orNull(highest))},
	{"min(d)", ofValues(2, orNull(lowest))},
	{"sum(m)", ofValues(3, orNull(func(vs []any) any {
		var n int64
		for _, v := range vs {
			u, _ := v.(types.Decimal).Int64()
			n += u
		}
		return types.DecimalFromInt64(n, 2)
	}))},
}

// afterChain are the aggregates over columns that are there behind another operator.
var afterChain = []aggregate{aggregates[0], aggregates[1], aggregates[3], aggregates[6]}

func (s *scheme) aggregates(from []aggregate) (list []aggregate, sql string) {
	for i := range 1 + s.pick(3, "aggregates") {
		a := from[s.pick(len(from), "aggregate")]
		list = append(list, a)
		sql += fmt.Sprintf(", %s AS a%d", a.sql, i)
	}
	return list, sql
}

var windowSizes = []struct {
	sql string
	w   windows
}{
	{"'10 minutes'", windows{10 * minute, 10 * minute, 0}},
	{"'10 minutes', '5 minutes'", windows{10 * minute, 5 * minute, 0}},
	{"'10 minutes', '4 minutes'", windows{10 * minute, 4 * minute, 0}},
	{"'1 hour', '1 hour', '25 minutes'", windows{60 * minute, 60 * minute, 25 * minute}},
	{"'90 seconds', '60 seconds', '15 seconds'", windows{90_000_000, 60_000_000, 15_000_000}},
}

// source reads stream i with its watermark.
func (s *scheme) source(i int) operation {
	if !slices.Contains(s.sources, i) {
		s.sources = append(s.sources, i)
	}
	var in operation = &input{i}
	if c := s.below[i]; c != nil {
		in = where(in, c.holds)
	}
	return s.marked(i, in)
}

// marked puts the watermark of stream i on what is read of it. What is known of no other row of the stream goes below it.
func (s *scheme) marked(i int, in operation) operation {
	if s.delays[i] == noMark {
		return in
	}
	if s.marks[i] == nil {
		s.marks[i] = &mark{in, s.delays[i]}
	}
	return s.marks[i]
}

// rows draws what a stateful operator is over: columns of the wide schema.
func (s *scheme) rows(single bool) (operation, string) {
	n := 6
	if single {
		n = 3
	}
	switch s.pick(n, "rows") {
	case 1:
		c := conditions[s.pick(len(conditions), "where")]
		in := s.source(0)
		if s.delays[0] == noMark || c.timed {
			in = where(in, c.holds)
		} else { // it overtakes the watermark
			m := in.(*mark)
			m.in = where(m.in, c.holds)
		}
		return in, s.view("SELECT * FROM e WHERE %s", c.sql)
	case 3:
		l := s.source(0)
		return &both{l, s.source(1)}, s.view("SELECT * FROM e UNION ALL SELECT * FROM f")
	case 4:
		return &both{s.source(0), s.source(0)}, s.view("SELECT * FROM e UNION ALL SELECT * FROM e")
	case 5:
		kind := []string{"JOIN", "LEFT JOIN"}[s.pick(2, "static join")]
		in := s.source(0)
		if m, ok := in.(*mark); ok && kind == "JOIN" { // rows without a key cannot match and are not looked at
			m.in = where(m.in, func(r record) bool { return r[1] != nil })
		}
		out := &rowwise{in, func(r record) (out []record) {
			n, _ := r[1].(int32)
			for _, u := range []string{"1one", "2two", "2deux"} {
				if r[1] != nil && int32(u[0]-'0') == n {
					out = append(out, append(record{u[1:]}, r[1:]...))
				}
			}
			if out == nil && kind != "JOIN" {
				out = append(out, append(record{nil}, r[1:]...))
			}
			return out
		}}
		return out, s.view("SELECT us AS k, n, d, m, v, ts FROM e %s u ON n = ua", kind)
	}
	return s.source(0), "e"
}

// group draws an aggregation over a view.
func (s *scheme) group(in operation, from string, columns []keyColumn, aggs []aggregate) operation {
	g := &grouped{in: in, state: map[string]*groupRows{}}
	var w *windows
	bareTime := false
	var group, list []string
	times := 4
	if s.mode != "" { // append needs a time
		times = 3
	}
	switch s.pick(times, "time") {
	case 0, 1:
		size := windowSizes[s.pick(len(windowSizes), "window")]
		w = &size.w
		group, list = append(group, "window(ts, "+size.sql+")"), append(list, "window.start AS ws")
	case 2:
		bareTime = true
		group, list = append(group, "ts"), append(list, "ts")
	}
	var keys []keyColumn
	for range s.pick(3, "keys") {
		k := columns[s.pick(len(columns), "key")]
		if slices.ContainsFunc(keys, func(o keyColumn) bool { return o.sql == k.sql }) {
			continue
		}
		keys, group = append(keys, k), append(group, k.sql)
		list = append(list, fmt.Sprintf("%s AS g%d", k.sql, len(keys)))
	}
	timed := (w != nil || bareTime) && s.delays[0] != noMark
	modes := []string{"complete", "update"}
	if timed {
		modes = append(modes, "append")
	}
	g.mode = modes[s.pick(len(modes), "mode")]
	if s.mode != "" {
		g.mode = s.mode
	}
	s.mode = g.mode
	g.bare = len(group) == 0
	var sql string
	g.aggs, sql = s.aggregates(aggs)
	g.keys = func(r record) []groupRows {
		var rest []any
		for _, k := range keys {
			v := k.of(r)
			if f, ok := v.(float64); ok && f == 0 {
				v = 0.0
			}
			rest = append(rest, v)
		}
		at, ok := r[len(r)-1].(types.Micros)
		switch {
		case w != nil && !ok:
			return nil
		case w != nil:
			var out []groupRows
			for _, start := range w.of(int64(at)) {
				out = append(out, groupRows{keys: append([]any{types.Micros(start)}, rest...), time: start + w.size})
			}
			return out
		case bareTime && !ok:
			return []groupRows{{keys: append([]any{nil}, rest...), time: noTime}}
		case bareTime:
			return []groupRows{{keys: append([]any{at}, rest...), time: int64(at)}}
		}
		return []groupRows{{keys: rest, time: noTime}}
	}
	if !timed {
		inner := g.keys
		g.keys = func(r record) []groupRows {
			out := inner(r)
			for i := range out {
				out[i].time = noTime
			}
			return out
		}
	}
	text := "SELECT " + strings.TrimPrefix(strings.Join(list, ", ")+sql, ", ") + " FROM " + from
	if !g.bare {
		text += " GROUP BY " + strings.Join(group, ", ")
	}
	s.last = s.view("%s", text)
	return g
}

// sessions draws an aggregation by session windows.
func (s *scheme) sessions(in operation, from string) operation {
	gap := []int64{3, 10}[s.pick(2, "gap")]
	k := keyColumns[s.pick(len(keyColumns), "key")]
	n := &sessions{in: in, gap: gap * minute, state: map[string][]*session{}, mode: "complete"}
	if s.delays[0] != noMark && s.pick(4, "mode") > 0 {
		n.mode = "append"
	}
	s.mode = n.mode
	n.keys = func(r record) []any {
		v := k.of(r)
		if f, ok := v.(float64); ok && f == 0 {
			v = 0.0
		}
		return []any{v}
	}
	var sql string
	n.aggs, sql = s.aggregates(aggregates)
	s.last = s.view("SELECT session_window.start AS s, session_window.end AS t, %s AS g%s FROM %s GROUP BY session_window(ts, '%d minutes'), %s",
		k.sql, sql, from, gap, k.sql)
	return n
}

// dedup draws dropDuplicates. Its rows are the key columns, k and v behind them when they are among them.
func (s *scheme) dedup(in operation, from string, within bool) (operation, []string) {
	names := []string{"k", "n", "d", "m", "v", "ts"}
	sets := [][]int{{0}, {2}, {0, 4}, {3, 1}, {0, 5}, {2, 4, 5}, {0, 1, 2, 3, 4, 5}}
	set := sets[s.pick(len(sets), "columns")]
	u := &unique{in: in, within: within, delay: s.delays[0] * 1000, state: map[string]int64{}}
	u.timed = slices.Contains(set, 5) && s.delays[0] != noMark
	u.keys = func(r record) []any {
		out := make([]any, len(set))
		for i, c := range set {
			out[i] = r[c]
		}
		return out
	}
	cols := make([]string, len(set))
	list := make([]any, len(set))
	for i, c := range set {
		cols[i], list[i] = names[c], names[c]
	}
	name := fmt.Sprintf("w%d", len(s.views)+1)
	v := view{name: name, of: from, text: "dropDuplicates of " + from + " by " + strings.Join(cols, ", ")}
	v.do = func(df *millrace.DataFrame) *millrace.DataFrame { return df.DropDuplicates(cols...).Select(list...) }
	if within {
		v.text = "dropDuplicatesWithinWatermark" + strings.TrimPrefix(v.text, "dropDuplicates")
		v.do = func(df *millrace.DataFrame) *millrace.DataFrame {
			return df.DropDuplicatesWithinWatermark(cols...).Select(list...)
		}
	}
	s.views = append(s.views, v)
	s.last = name
	return u, cols
}

// join draws a join of e and f.
func (s *scheme) join(kinds []string) (*pairing, string) {
	p := &pairing{kind: kinds[s.pick(len(kinds), "kind")], time: [2]int{5, 5}, matches: func(record, record) bool { return true }}
	p.marked = s.delays[0] != noMark
	if !p.marked {
		p.kind = "inner"
		p.time = [2]int{}
	}
	key := []struct {
		sql   string
		l, r  func(record) any
		safe  bool
		names [2]int
	}{
		{"e.k = f.k", column(0), column(0), false, [2]int{0, 0}},
		{"e.d = f.d", column(2), column(2), false, [2]int{2, 2}},
		{"e.k <=> f.k", column(0), column(0), true, [2]int{0, 0}},
		{"e.m = f.m", column(3), column(3), false, [2]int{3, 3}},
	}[s.pick(4, "key")]
	p.leftKey, p.rightKey, p.nullSafe = key.l, key.r, key.safe
	for i, c := range s.below { // a condition on a key alone would count for the other side, too
		if c != nil && !strings.Contains(c.sql, "n") && !strings.Contains(c.sql, "v") && !c.timed {
			s.below[i] = nil
		}
	}
	on := key.sql
	timed := p.marked && (p.kind != "inner" || s.pick(3, "bounded") > 0)
	span := []int64{15, 5, 0}[s.pick(3, "span")]
	if timed {
		on += fmt.Sprintf(" AND f.ts BETWEEN e.ts AND e.ts + INTERVAL %d MINUTES", span)
		p.matches = func(l, r record) bool {
			a, ok := l[5].(types.Micros)
			b, too := r[5].(types.Micros)
			return ok && too && b >= a && int64(b) <= int64(a)+span*minute
		}
		p.bound = [2]bool{true, true}
		p.shift = [2]int64{-span*60_000 - 1, -1}
		until := func(more int64) func(record) int64 {
			return func(r record) int64 {
				if at, ok := r[5].(types.Micros); ok {
					return int64(at) + more
				}
				return noTime
			}
		}
		p.expires = [2]func(record) int64{until(span*minute + 1000), until(1000)}
	}
	if s.pick(3, "more") == 0 {
		on += " AND e.v <> f.v"
		old := p.matches
		p.matches = func(l, r record) bool {
			a, ok := l[4].(int64)
			b, too := r[4].(int64)
			return ok && too && a != b && old(l, r)
		}
	}
	moreV := strings.Contains(on, "e.v")
	// Rows that cannot meet the condition because a column is null are dropped where their side need not come out, and do not move
	// the watermark; those without a time do in any case.
	side := func(i int) operation {
		in := s.source(i)
		drops := p.kind == "inner" || p.kind == "semi" || p.kind == "left" && i == 1 || p.kind == "right" && i == 0
		lacks := func(r record) bool {
			return !key.safe && r[key.names[i]] == nil || moreV && r[4] == nil
		}
		if !drops {
			return in
		}
		keep := func(r record) bool { return !lacks(r) }
		if m, ok := in.(*mark); ok {
			m.in = where(m.in, keep)
		} else {
			in = where(in, keep)
		}
		if timed {
			in = where(in, func(r record) bool { return r[5] != nil })
		}
		return in
	}
	p.left, p.right = side(0), side(1)
	text := map[string]string{"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "full": "FULL JOIN", "semi": "LEFT SEMI JOIN"}[p.kind]
	cols := func(t, prefix string) string {
		var out []string
		for _, c := range []string{"k", "n", "d", "m", "v", "ts"} {
			out = append(out, fmt.Sprintf("%s.%s AS %s%s", t, c, prefix, c))
		}
		return strings.Join(out, ", ")
	}
	list := cols("e", "l") + ", " + cols("f", "r")
	if p.kind == "semi" {
		list = cols("e", "l")
	}
	s.last = s.view("SELECT %s FROM e %s f ON %s", list, text, on)
	return p, text
}

// draw draws a query.
func drawScheme(t *rapid.T) *scheme {
	s := &scheme{t: t}
	mark := rapid.IntRange(0, 4).Draw(t, "marked") > 0
	for i := range s.delays {
		s.delays[i] = noMark
		if mark {
			s.delays[i] = rapid.SampledFrom([]int64{0, 5 * 60_000, 20 * 60_000, 1500}).Draw(t, "delay")
		}
		if rapid.IntRange(0, 4).Draw(t, "below") == 0 {
			c := conditions[s.pick(len(conditions), "condition")]
			s.below[i] = &c
		}
	}
	shape := s.pick(9, "shape")
	if !mark && (shape == 4 || shape == 7) {
		shape = 1
	}
	switch shape {
	case 0: // rows one by one
		in, from := s.rows(false)
		s.mode = []string{"append", "update"}[s.pick(2, "mode")]
		s.last = s.view("SELECT k, v + 1 AS v1, window(ts, '10 minutes', '5 minutes').start AS ws FROM %s", from)
		s.root = &rowwise{in, func(r record) (out []record) {
			at, ok := r[5].(types.Micros)
			if !ok {
				return nil
			}
			v, ok := r[4].(int64)
			var v1 any
			if ok {
				v1 = v + 1
			}
			for _, ws := range windowSizes[1].w.of(int64(at)) {
				out = append(out, record{r[0], v1, types.Micros(ws)})
			}
			return out
		}}
	case 1, 2:
		in, from := s.rows(false)
		s.root = s.group(in, from, keyColumns, aggregates)
	case 3:
		in, from := s.rows(false)
		s.root = s.sessions(in, from)
	case 4:
		in, from := s.rows(true)
		s.root, _ = s.dedup(in, from, true)
		s.mode = "append"
	case 5:
		in, from := s.rows(false)
		s.root, _ = s.dedup(in, from, false)
		s.mode = []string{"append", "update"}[s.pick(2, "mode")]
	case 6:
		s.root, _ = s.join([]string{"inner", "left", "right", "full", "semi"})
		s.mode = "append"
	case 7:
		s.chain()
	case 8:
		s.delays = [2]int64{noMark, noMark} // how much of a part is read, and so what a watermark sees, is not settled
		in, from := s.rows(true)
		n := 1 + s.pick(12, "limit")
		s.root = &first{in: in, n: n}
		s.last = s.view("SELECT k, n, v, ts FROM %s LIMIT %d", from, n)
		s.root = &rowwise{s.root, func(r record) []record { return []record{{r[0], r[1], r[4], r[5]}} }}
		s.mode = "append"
	}
	return s
}

// chain draws a query with two stateful operators.
func (s *scheme) chain() {
	s.mode = "append"
	var in operation
	var from string
	switch s.pick(3, "first") {
	case 0: // windows of windows
		size := windowSizes[s.pick(3, "window")]
		w := size.w
		src, view := s.rows(false)
		g := &grouped{in: src, mode: "append", state: map[string]*groupRows{}, aggs: []aggregate{aggregates[0], aggregates[1]}}
		g.keys = func(r record) (out []groupRows) {
			if at, ok := r[5].(types.Micros); ok {
				for _, start := range w.of(int64(at)) {
					out = append(out, groupRows{keys: []any{types.Micros(start), r[0]}, time: start + w.size})
				}
			}
			return out
		}
		inner := s.view("SELECT window, k, count(*) AS c, sum(v) AS total FROM %s GROUP BY window(ts, %s), k", view, size.sql)
		from = s.view("SELECT k, total AS v, window_time(window) AS ts FROM %s", inner)
		in = &rowwise{g, func(r record) []record {
			return []record{{r[1], nil, nil, nil, r[3], r[0].(types.Micros) + types.Micros(w.size-1)}}
		}}
	case 1: // duplicates
		src, view := s.rows(false)
		u := &unique{in: src, timed: true, state: map[string]int64{}, keys: func(r record) []any { return []any{r[0], r[4], r[5]} }}
		name := fmt.Sprintf("w%d", len(s.views)+1)
		s.views = append(s.views, viewOf(name, view))
		from = name
		in = &rowwise{u, func(r record) []record { return []record{{r[0], nil, nil, nil, r[1], r[2]}} }}
	case 2:
		p, _ := s.join([]string{"inner", "left"})
		if !p.bound[1] {
			p.time[1] = -1
		}
		from = s.view("SELECT lk AS k, lv AS v, lts AS ts FROM %s", s.last)
		in = &rowwise{p, func(r record) []record { return []record{{r[0], nil, nil, nil, r[4], r[5]}} }}
	}
	n := s.group(in, from, []keyColumn{keyColumns[0], keyColumns[4]}, afterChain).(*grouped)
	s.root = n
}

func viewOf(name, from string) view {
	return view{name: name, of: from, text: "dropDuplicates of " + from + " by k, v, ts", do: func(df *millrace.DataFrame) *millrace.DataFrame {
		return df.DropDuplicates("k", "v", "ts").Select("k", "v", "ts")
	}}
}
