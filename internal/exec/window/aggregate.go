package window

import (
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/vec"
)

// aggregate computes an aggregate over frames. Equal frames of neighbouring rows are computed once, and rows that the filter leaves out are
// taken away before. Then the frames of a batch of rows go one of these ways:
//
//   - sums, counts and averages that are exact: differences of running totals (prefix.go);
//   - frames that begin with the partition: each goes on from the one before (grow);
//   - short frames: their rows are added, a few thousand pairs of frame and row at a time (add);
//   - others: from the nodes of a tree over the rows (tree.go).
//
// All but the last add the rows of a frame in their order, as Spark does, so that even sums of doubles have the same digits.
type aggregate struct {
	f       Func
	bounds  *bounds
	counted counted
	args    []*vec.Vector // of the rows that count
	n       int           // of them

	states agg.States
	spread agg.Spreader // states, or nil: the carry is then held in group carryGroup
	eval   expr.Eval
	room   int // groups in states
	totals totals
	tree   *tree
	broken bool // a node of the tree cannot be computed

	carry carry
	last  struct { // the last frame of the batch before, and its result
		lo, hi uint32
		result *vec.Vector
	}

	lo, hi  []uint32 // frames of rows
	frames  frames   // different ones
	of      []uint32 // the frame of each row
	groups  []uint32
	pairs   []uint32
	scratch []*vec.Vector
	ids     []uint32 // 0, 1, 2, ...
}

// frames are stretches of rows that count: frame i is rows lo[i] to hi[i]-1.
type frames struct{ lo, hi []uint32 }

func (f frames) slice(from, to int) frames { return frames{f.lo[from:to], f.hi[from:to]} }

// rows is the number of rows in all frames.
func (f frames) rows() int {
	n := 0
	for i, lo := range f.lo {
		n += int(f.hi[i] - lo)
	}
	return n
}

func newAggregate(t *exec.Task, r *rows, f Func) *aggregate {
	a := &aggregate{f: f, bounds: newBounds(r, f.Frame), n: r.n, states: f.Agg.New()}
	a.eval.Batch = t.Batch
	if a.spread, _ = a.states.(agg.Spreader); a.spread != nil {
		a.states.Grow(carryGroup + 1)
	}
	for _, c := range f.Args {
		a.args = append(a.args, r.cols[c])
	}
	if f.Filter >= 0 {
		a.counted = countRows(r.n, r.cols[f.Filter], nil)
		a.n = len(a.counted.at)
		for i, v := range a.args {
			a.args[i] = vec.Take(v, a.counted.at, nil)
		}
	}
	for i, v := range a.args {
		if v.Encoding() == vec.Dict {
			a.args[i] = v.Flatten()
		}
	}
	a.scratch = make([]*vec.Vector, len(a.args))
	for i := range a.scratch {
		a.scratch[i] = &vec.Vector{}
	}
	a.totals = newTotals(f, a.args, a.n)
	return a
}

func (a *aggregate) compute(from, to int, errs *expr.RowErrs) *vec.Vector {
	n := to - from
	a.lo, a.hi, a.of = sized(a.lo, n), sized(a.hi, n), sized(a.of, n)
	a.bounds.find(from, to, a.lo, a.hi)
	if a.counted.before != nil {
		for i, lo := range a.lo {
			a.lo[i], a.hi[i] = a.counted.before[lo], a.counted.before[a.hi[i]]
		}
	}
	known := a.last.result != nil && a.lo[0] == a.last.lo && a.hi[0] == a.last.hi
	a.distinct(known)
	result := a.results(errs, known)
	if known {
		if result == nil {
			result = a.last.result
		} else {
			result = vec.Concat([]*vec.Vector{a.last.result, result})
		}
	}
	a.last.lo, a.last.hi = a.lo[n-1], a.hi[n-1]
	a.last.result = vec.Take(result, []uint32{uint32(result.Len() - 1)}, nil).Flatten().Own()
	if result.Len() == n {
		return result
	}
	return vec.Take(result, a.of, nil).Flatten().Own()
}

// distinct finds the different frames of the rows; known tells that the first one has its result already.
func (a *aggregate) distinct(known bool) {
	a.frames.lo, a.frames.hi = a.frames.lo[:0], a.frames.hi[:0]
	f := ^uint32(0)
	if known {
		f = 0
	}
	for i, lo := range a.lo {
		hi := a.hi[i]
		same := i > 0 && lo == a.lo[i-1] && hi == a.hi[i-1] || i == 0 && known
		if !same {
			a.frames.lo, a.frames.hi = append(a.frames.lo, lo), append(a.frames.hi, hi)
			f++
		}
		a.of[i] = f
	}
}

// results computes the frames found by distinct, nil when there is none. Errors are noted by row.
func (a *aggregate) results(errs *expr.RowErrs, known bool) *vec.Vector {
	if len(a.frames.lo) == 0 {
		return nil
	}
	var v *vec.Vector
	switch {
	case a.totals != nil:
		v = a.fromTotals(a.frames)
	case a.f.Frame.Lo.Unbounded:
		v = a.grow(a.frames)
	case a.short(a.frames) || !a.planted():
		v = a.add(a.frames)
	default:
		v = a.climb(a.frames)
	}
	if a.eval.Errs.Empty() {
		return v
	}
	for _, e := range a.eval.Errs.All() {
		frame := uint32(e.Row)
		if known { // rows of frame 0 have the result of the batch before
			frame++
		}
		for i, f := range a.of {
			if f == frame {
				errs.Add(i, e.Err)
				break
			}
		}
	}
	a.eval.Errs.Reset()
	return v
}

// Frames are short when adding their rows one by one is cheap. Where the order of additions shows in the result, it is worth more.
const (
	shortRows    = 48 // on average
	inOrder      = 1 << 12
	pairsAtATime = 4096
)

func (a *aggregate) short(f frames) bool {
	limit := shortRows
	if !a.f.Agg.Orderless {
		limit = inOrder
	}
	return f.rows() <= limit*len(f.lo)
}

// add computes frames from their rows.
func (a *aggregate) add(f frames) *vec.Vector { return a.blocks(f, nil) }

// carry is a partial result: that of the rows lo to hi-1.
type carry struct {
	held    bool
	lo, hi  uint32
	partial []*vec.Vector // one row
}

// carryGroup is behind the groups of frames.
const carryGroup = vec.BatchRows

// goesInto tells whether the rows are those that a frame begins with.
func (c *carry) goesInto(lo, hi uint32) bool { return c != nil && c.held && c.lo == lo && c.hi <= hi }

// grow computes frames of which many begin with the same row and go on from one another.
func (a *aggregate) grow(f frames) *vec.Vector { return a.blocks(f, &a.carry) }

// growAtATime bounds the pairs of frame and row that are added beside a carry: with it, a block of frames that grow by one row has about
// forty of them, and each row is added twenty times, by a loop over columns, rather than once by a call of its own.
const growAtATime = 1024

// blocks computes frames a block at a time. A frame begins with the rows of c, if it holds them.
func (a *aggregate) blocks(f frames, c *carry) *vec.Vector {
	var out []*vec.Vector
	limit := pairsAtATime
	if c != nil {
		limit = growAtATime
	}
	for from := 0; from < len(f.lo); {
		a.groups, a.pairs = a.groups[:0], a.pairs[:0]
		to := from
		for to < len(f.lo) && to-from < vec.BatchRows {
			lo, hi := f.lo[to], f.hi[to]
			if c.goesInto(lo, hi) {
				lo = c.hi
			}
			if to > from && len(a.pairs)+int(hi-lo) > limit {
				break
			}
			if to == from && int(hi-lo) > limit {
				to++
				break // alone, without a list of pairs
			}
			g := uint32(to - from)
			for row := lo; row < hi; row++ {
				a.groups, a.pairs = append(a.groups, g), append(a.pairs, row)
			}
			to++
		}
		a.begin(to - from)
		mark := a.eval.Errs.Len()
		a.resume(f.slice(from, to), c)
		if len(a.pairs) > 0 {
			a.update(a.groups, a.pairs)
		} else {
			a.addLong(f.lo[from], f.hi[from], c)
		}
		a.noteFrames(mark, from)
		mark = a.eval.Errs.Len()
		out = append(out, a.states.Emit(&a.eval, a.counting(to-from)))
		a.shiftErrs(mark, from)
		if c != nil && !a.f.Frame.Hi.Unbounded {
			a.hold(c, uint32(to-from-1), f.lo[to-1], f.hi[to-1])
		}
		from = to
	}
	return vec.Concat(out)
}

// begin makes n empty groups.
func (a *aggregate) begin(n int) {
	if a.room > 0 {
		a.states.Clear(a.counting(a.room))
	}
	if n > a.room && a.spread == nil {
		a.states.Grow(n)
	}
	a.room = max(a.room, n)
}

// resume gives the carry to the groups of all frames that begin with its rows.
func (a *aggregate) resume(f frames, c *carry) {
	var groups []uint32
	for i, lo := range f.lo {
		if c.goesInto(lo, f.hi[i]) {
			groups = append(groups, uint32(i))
		}
	}
	if len(groups) == 0 {
		return
	}
	if a.spread != nil {
		a.spread.Spread(carryGroup, groups)
		return
	}
	zeros := make([]uint32, len(groups))
	a.states.Merge(&a.eval, groups, flat(vec.TakeAll(c.partial, zeros)))
}

// hold keeps what a group has, that of rows lo to hi-1.
func (a *aggregate) hold(c *carry, group, lo, hi uint32) {
	*c = carry{held: true, lo: lo, hi: hi}
	if a.spread != nil {
		a.spread.Spread(group, []uint32{carryGroup})
	} else {
		c.partial = a.states.Save([]uint32{group})
	}
}

// addLong adds a frame of many rows to group 0.
func (a *aggregate) addLong(lo, hi uint32, c *carry) {
	if c.goesInto(lo, hi) {
		lo = c.hi
	}
	a.groups = sized(a.groups, min(int(hi-lo), vec.BatchRows))
	clear(a.groups)
	for ; lo < hi; lo += vec.BatchRows {
		a.updateRange(a.groups[:min(int(hi-lo), vec.BatchRows)], lo)
	}
}

// update adds row rows[i] to group groups[i].
func (a *aggregate) update(groups, rows []uint32) {
	if first := rows[0]; rows[len(rows)-1]-first == uint32(len(rows)-1) && ascending(rows) {
		a.updateRange(groups, first)
		return
	}
	args := make([]*vec.Vector, len(a.args))
	for i, v := range a.args {
		args[i] = vec.Take(v, rows, a.scratch[i])
	}
	a.states.Update(&a.eval, groups, args)
}

func ascending(rows []uint32) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i] != rows[i-1]+1 {
			return false
		}
	}
	return true
}

// updateRange adds row first+i to group groups[i].
func (a *aggregate) updateRange(groups []uint32, first uint32) {
	args := make([]*vec.Vector, len(a.args))
	for i, v := range a.args {
		args[i] = v.Slice(int(first), len(groups))
	}
	a.states.Update(&a.eval, groups, args)
}

// counting is 0, 1, 2, ... n-1.
func (a *aggregate) counting(n int) []uint32 {
	for len(a.ids) < n {
		a.ids = append(a.ids, uint32(len(a.ids)))
	}
	return a.ids[:n]
}

// noteFrames turns errors noted since mark by place in groups into errors by frame.
func (a *aggregate) noteFrames(mark, from int) {
	for i := range a.eval.Errs.Since(mark) {
		e := &a.eval.Errs.Since(mark)[i]
		group := uint32(0)
		if e.Row < len(a.groups) {
			group = a.groups[e.Row]
		}
		e.Row = from + int(group)
	}
}

// shiftErrs turns errors noted since mark by group into errors by frame.
func (a *aggregate) shiftErrs(mark, from int) {
	for i := range a.eval.Errs.Since(mark) {
		a.eval.Errs.Since(mark)[i].Row += from
	}
}

func flat(vs []*vec.Vector) []*vec.Vector {
	for i, v := range vs {
		vs[i] = v.Flatten()
	}
	return vs
}
