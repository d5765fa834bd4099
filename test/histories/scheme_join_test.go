package histories

import (
	"fmt"
	"strings"

	"github.com/millrace/millrace/types"
)

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
