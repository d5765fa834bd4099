package histories

import (
	"fmt"
	"strings"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/types"
)

// stage is a part of a query of any depth. Its view has the columns k, v and ts, which stand in rows where the wide schema has them; k
// and ts are never null.
type stage struct {
	op   operation
	view string
	// delay is that of the only watermark below, in milliseconds, or noMark when there are several.
	delay int64
}

// present is below every stream of a deep query, so that no condition that the engine finds out by itself drops rows.
var present = condition{"k IS NOT NULL AND ts IS NOT NULL", func(r record) bool { return r[0] != nil && r[5] != nil }, true}

// narrow is a row of a stage.
func narrow(k, v any, at int64) record { return record{k, nil, nil, nil, v, types.Micros(at)} }

// deep draws a query of several stateful operators, one over the other, with its inputs mixed by unions and joins.
func (s *scheme) deep() {
	s.mode = "append"
	for i := range s.below {
		s.below[i] = &present
	}
	in := s.stage(1 + s.pick(3, "depth"))
	if s.pick(2, "top") == 0 {
		s.root = s.group(in.op, in.view, []keyColumn{keyColumns[0], keyColumns[4]}, afterChain)
		return
	}
	s.root = &rowwise{in.op, func(r record) []record { return []record{{r[0], r[4], r[5]}} }}
	s.last = s.view("SELECT k, v, ts FROM %s", in.view)
}

func (s *scheme) stage(depth int) stage {
	if depth == 0 {
		i := s.pick(len(streams), "stream")
		in := s.source(i)
		return stage{in, s.view("SELECT k, v, ts FROM %s", streams[i]), s.delays[i]}
	}
	switch s.pick(9, "operator") {
	case 0, 1:
		return s.windowed(s.stage(depth - 1))
	case 2:
		return s.session(s.stage(depth - 1))
	case 3:
		return s.distinct(s.stage(depth - 1))
	case 4:
		l := s.stage(depth - 1)
		r := s.stage(s.pick(depth, "other"))
		return stage{&both{l.op, r.op}, s.view("SELECT * FROM %s UNION ALL SELECT * FROM %s", l.view, r.view), noMark}
	case 6:
		return s.processed(s.stage(depth - 1))
	case 5:
		l := s.stage(s.pick(depth, "other"))
		return s.joinWindows(l, s.stage(depth-1))
	}
	l := s.stage(depth - 1)
	return s.joinTimes(l, s.stage(s.pick(depth, "other")))
}

// totals is a grouping by windows and k. Its rows have the end of the window at 1.
func totals(in operation, w windows) operation {
	g := &grouped{in: in, mode: "append", state: map[string]*groupRows{}, aggs: []aggregate{aggregates[1]}}
	g.keys = func(r record) (out []groupRows) {
		for _, start := range w.of(int64(r[5].(types.Micros))) {
			out = append(out, groupRows{keys: []any{types.Micros(start), r[0]}, time: start + w.size})
		}
		return out
	}
	return &rowwise{g, func(r record) []record {
		end := int64(r[0].(types.Micros)) + w.size
		out := narrow(r[1], r[2], end-1)
		out[1] = types.Micros(end)
		return []record{out}
	}}
}

func (s *scheme) windowed(in stage) stage {
	size := windowSizes[s.pick(3, "window")]
	inner := s.view("SELECT window, k, sum(v) AS v FROM %s GROUP BY window(ts, %s), k", in.view, size.sql)
	return stage{totals(in.op, size.w), s.view("SELECT k, v, window_time(window) AS ts FROM %s", inner), in.delay}
}

func (s *scheme) session(in stage) stage {
	gap := gaps[s.pick(len(gaps), "gap")]
	n := &sessions{in: in.op, gap: gap.of, state: map[string][]*session{}, mode: "append", aggs: []aggregate{aggregates[1]}}
	n.keys = func(r record) []any { return []any{r[0]} }
	inner := s.view("SELECT session_window, k, sum(v) AS v FROM %s GROUP BY session_window(ts, %s), k", in.view, gap.sql)
	return stage{&rowwise{n, func(r record) []record {
		return []record{narrow(r[2], r[3], int64(r[1].(types.Micros))-1)}
	}}, s.view("SELECT k, v, window_time(session_window) AS ts FROM %s", inner), in.delay}
}

// distinct draws a deduplication by all columns.
func (s *scheme) distinct(in stage) stage {
	u := &unique{in: in.op, timed: true, state: map[string]int64{}, keys: func(r record) []any { return []any{r[0], r[4], r[5]} }}
	v := view{of: in.view, text: "dropDuplicates of " + in.view}
	v.do = func(df *millrace.DataFrame) *millrace.DataFrame { return df.DropDuplicates("k", "v", "ts") }
	if in.delay != noMark && s.pick(2, "within") == 0 {
		u.within, u.delay = true, in.delay*1000
		v.text = "dropDuplicatesWithinWatermark of " + in.view
		v.do = func(df *millrace.DataFrame) *millrace.DataFrame {
			return df.DropDuplicatesWithinWatermark("k", "v", "ts")
		}
	}
	v.name = fmt.Sprintf("w%d", len(s.views)+1)
	s.views = append(s.views, v)
	return stage{&rowwise{u, func(r record) []record {
		return []record{narrow(r[0], r[1], int64(r[2].(types.Micros)))}
	}}, v.name, in.delay}
}

// joinTimes draws a join of rows that are not far from each other.
func (s *scheme) joinTimes(l, r stage) stage {
	p := &pairing{left: l.op, right: r.op, marked: true, time: [2]int{5, 5}, leftKey: column(0), rightKey: column(0)}
	p.kind = []string{"inner", "left", "right", "semi"}[s.pick(4, "kind")]
	span := []int64{15, 5, 0}[s.pick(3, "span")]
	p.matches = func(l, r record) bool {
		a, b := int64(l[5].(types.Micros)), int64(r[5].(types.Micros))
		return b >= a && b <= a+span*minute
	}
	p.bound, p.shift = [2]bool{true, true}, [2]int64{-span*60_000 - 1, -1}
	until := func(more int64) func(record) int64 {
		return func(r record) int64 { return int64(r[5].(types.Micros)) + more }
	}
	p.expires = [2]func(record) int64{until(span*minute + 1000), until(1000)}
	out, at := "l", 0
	if p.kind == "right" {
		out, at = "r", 6
	}
	text := map[string]string{"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "semi": "LEFT SEMI JOIN"}[p.kind]
	return stage{
		&rowwise{p, func(r record) []record { return []record{narrow(r[at], r[at+4], int64(r[at+5].(types.Micros)))} }},
		s.view("SELECT "+strings.ReplaceAll("%.k AS k, %.v AS v, %.ts AS ts", "%", out)+" FROM %s l %s %s r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL %d MINUTES",
			l.view, text, r.view, span), noMark,
	}
}

// joinWindows draws a join of two groupings by the same windows.
func (s *scheme) joinWindows(l, r stage) stage {
	size := windowSizes[s.pick(3, "window")]
	p := &pairing{left: totals(l.op, size.w), right: totals(r.op, size.w), marked: true, time: [2]int{1, 1}, leftKey: column(0), rightKey: column(0)}
	p.kind = []string{"inner", "left"}[s.pick(2, "kind")]
	p.matches = func(l, r record) bool { return l[1] == r[1] }
	p.bound = [2]bool{true, true}
	end := func(r record) int64 { return int64(r[1].(types.Micros)) }
	p.expires = [2]func(record) int64{end, end}
	var names [2]string
	for i, in := range []stage{l, r} {
		names[i] = s.view("SELECT window, k, sum(v) AS v FROM %s GROUP BY window(ts, %s), k", in.view, size.sql)
	}
	inner := s.view("SELECT l.window, l.k AS k, l.v + coalesce(r.v, 0) AS v FROM %s l %s %s r ON l.window = r.window AND l.k = r.k",
		names[0], map[string]string{"inner": "JOIN", "left": "LEFT JOIN"}[p.kind], names[1])
	return stage{&rowwise{p, func(r record) []record {
		v, ok := r[4].(int64)
		if !ok {
			return []record{narrow(r[0], nil, int64(r[5].(types.Micros)))}
		}
		more, _ := r[10].(int64)
		return []record{narrow(r[0], v+more, int64(r[5].(types.Micros)))}
	}}, s.view("SELECT k, v, window_time(window) AS ts FROM %s", inner), noMark}
}
