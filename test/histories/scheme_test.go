package histories

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/types"
)

// wide is the schema of the streams e and f in random histories. The event time is the last column.
const wide = "k STRING, n INT, d DOUBLE, m DECIMAL(10,2), v BIGINT, ts TIMESTAMP"

const minute = int64(60_000_000)

// streams are their names. Queries over one read e.
var streams = [3]string{"e", "f", "g"}

// scheme is a random query, for the engine and for the model.
type scheme struct {
	t       *rapid.T
	delays  [3]int64 // of e, f and g in milliseconds, or noMark
	below   [3]*condition
	views   []view
	root    operation
	last    string // the view that is started
	mode    string
	sources []int // in the order of their first use
	uses    []int // the source of each line of the offset log
	marks   [3]*mark
	// observed is set when the query counts its own rows.
	observed bool
}

// view is a step of a query: a view made of others by a SQL text, or by do of the DataFrame of another view.
type view struct {
	name, text string
	do         func(*millrace.DataFrame) *millrace.DataFrame
	of         string // for do
}

func (s *scheme) String() string {
	var b strings.Builder
	for i, name := range streams {
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
	if s.observed {
		b.WriteString(" observed")
	}
	return b.String()
}

func (s *scheme) pick(n int, label string) int { return rapid.IntRange(0, n-1).Draw(s.t, label) }

// view adds a view by a SQL text and returns its name.
func (s *scheme) view(format string, args ...any) string {
	name := fmt.Sprintf("w%d", len(s.views)+1)
	s.views = append(s.views, view{name: name, text: fmt.Sprintf(format, args...)})
	return name
}

// source reads stream i with its watermark.
func (s *scheme) source(i int) operation {
	s.uses = append(s.uses, i)
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

// gaps are those of session windows, in microseconds; without one that is positive a row is in no session.
var gaps = []struct {
	sql string
	of  func(record) int64
}{
	{"'3 minutes'", func(record) int64 { return 3 * minute }},
	{"'10 minutes'", func(record) int64 { return 10 * minute }},
	{"CASE WHEN v > 1 THEN '10 minutes' WHEN v = 0 THEN '-1 minutes' ELSE '4 minutes' END", func(r record) int64 {
		switch v, ok := r[4].(int64); {
		case ok && v > 1:
			return 10 * minute
		case ok && v == 0:
			return -minute
		}
		return 4 * minute
	}},
}

// sessions draws an aggregation by session windows.
func (s *scheme) sessions(in operation, from string) operation {
	gap := gaps[s.pick(len(gaps), "gap")]
	k := keyColumns[s.pick(len(keyColumns), "key")]
	n := &sessions{in: in, gap: gap.of, state: map[string][]*session{}, mode: "complete"}
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
	s.last = s.view("SELECT session_window.start AS s, session_window.end AS t, %s AS g%s FROM %s GROUP BY session_window(ts, %s), %s",
		k.sql, sql, from, gap.sql, k.sql)
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
	shape := s.pick(12, "shape")
	if !mark && (shape == 4 || shape == 7 || shape > 8) {
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
		s.delays = [3]int64{noMark, noMark, noMark} // how much of a part is read, and so what a watermark sees, is not settled
		in, from := s.rows(true)
		n := 1 + s.pick(12, "limit")
		s.root = &first{in: in, n: n}
		s.last = s.view("SELECT k, n, v, ts FROM %s LIMIT %d", from, n)
		s.root = &rowwise{s.root, func(r record) []record { return []record{{r[0], r[1], r[4], r[5]}} }}
		s.mode = "append"
	default:
		s.deep()
	}
	return s
}
