package histories

import (
	"fmt"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/types"
)

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
