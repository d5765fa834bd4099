package window

import "github.com/millrace/millrace/internal/vec"

// tree holds the partial results of all stretches of 16, 256, 4096, ... rows, so that a frame of any length is made of a few of them.
type tree struct {
	levels [][]*vec.Vector // of each level, the State columns; row i of level 0 is rows 16*i to 16*i+15
}

const (
	fanBits = 4
	fan     = 1 << fanBits
)

// planted makes the tree, or tells that there is none: where a partial result fails, only the frames that have its rows do.
func (a *aggregate) planted() bool {
	if a.tree != nil || a.broken {
		return !a.broken
	}
	t := &tree{}
	groups := make([]uint32, 0, vec.BatchRows)
	for n := a.n; n > 1; n = (n + fan - 1) / fan {
		var parts [][]*vec.Vector
		for from := 0; from < n; from += vec.BatchRows {
			to := min(from+vec.BatchRows, n)
			groups = groups[:0]
			for i := from; i < to; i++ {
				groups = append(groups, uint32((i-from)>>fanBits))
			}
			nodes := (to - from + fan - 1) / fan
			a.begin(nodes)
			if len(t.levels) == 0 {
				a.updateRange(groups, uint32(from))
			} else {
				below := t.levels[len(t.levels)-1]
				partial := make([]*vec.Vector, len(below))
				for i, v := range below {
					partial[i] = v.Slice(from, to-from)
				}
				a.states.Merge(&a.eval, groups, partial)
			}
			parts = append(parts, a.states.Save(a.counting(nodes)))
		}
		if !a.eval.Errs.Empty() {
			a.eval.Errs.Reset()
			a.broken = true
			return false
		}
		t.levels = append(t.levels, concatColumns(parts))
	}
	a.tree = t
	return true
}

func concatColumns(parts [][]*vec.Vector) []*vec.Vector {
	out := make([]*vec.Vector, len(parts[0]))
	column := make([]*vec.Vector, len(parts))
	for c := range out {
		for i, p := range parts {
			column[i] = p[c]
		}
		out[c] = vec.Concat(column).Flatten()
	}
	return out
}

// step are pairs of a frame and a node, or a row, that is added to it.
type step struct{ groups, nodes []uint32 }

func (s *step) add(group, from, to uint32) {
	for n := from; n < to; n++ {
		s.groups, s.nodes = append(s.groups, group), append(s.nodes, n)
	}
}

// climb computes frames from the tree: up its left side, then down the right one, so that rows are added in their order.
func (a *aggregate) climb(f frames) *vec.Vector {
	const atATime = 512
	var out []*vec.Vector
	left, right := make([]step, len(a.tree.levels)+1), make([]step, len(a.tree.levels)+1)
	for from := 0; from < len(f.lo); from += atATime {
		to := min(from+atATime, len(f.lo))
		for i := range left {
			left[i] = step{left[i].groups[:0], left[i].nodes[:0]}
			right[i] = step{right[i].groups[:0], right[i].nodes[:0]}
		}
		for g := range uint32(to - from) {
			cut(left, right, g, f.lo[from+int(g)], f.hi[from+int(g)])
		}
		a.begin(to - from)
		for level := range left {
			a.addNodes(level, left[level], from)
		}
		for level := len(right) - 1; level >= 0; level-- {
			a.addNodes(level, right[level], from)
		}
		mark := a.eval.Errs.Len()
		out = append(out, a.states.Emit(&a.eval, a.counting(to-from)))
		a.shiftErrs(mark, from)
	}
	return vec.Concat(out)
}

// cut finds the nodes that make up rows lo to hi-1.
func cut(left, right []step, g, lo, hi uint32) {
	for level := range left {
		up, down := (lo+fan-1)&^(fan-1), hi&^(fan-1)
		if up >= down || level == len(left)-1 {
			left[level].add(g, lo, hi)
			return
		}
		left[level].add(g, lo, up)
		right[level].add(g, down, hi)
		lo, hi = up>>fanBits, down>>fanBits
	}
}

func (a *aggregate) addNodes(level int, s step, from int) {
	if len(s.groups) == 0 {
		return
	}
	mark := a.eval.Errs.Len()
	if level == 0 {
		a.update(s.groups, s.nodes)
	} else {
		a.states.Merge(&a.eval, s.groups, flat(vec.TakeAll(a.tree.levels[level-1], s.nodes)))
	}
	for i := range a.eval.Errs.Since(mark) {
		e := &a.eval.Errs.Since(mark)[i]
		e.Row = from + int(s.groups[e.Row])
	}
}
