package stateful

import (
	"errors"
	"time"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// joinShard is the work of one micro-batch on one shard of a join.
type joinShard struct {
	j      *Join
	bounds Bounds
	table  state.Table
	rows   *joinRows
	own    [2]*exec.Evaluator // of the sides' own conditions, nil for none
	cond   *exec.Evaluator
	number int64 // of the next stored row
	tracks bool  // whether matches must be remembered

	fresh []uint32
	spent []uint32 // stored left rows of a semi join that have come out
	out   []*vec.Batch

	updated, removed, late    int64
	updateNanos, removalNanos int64
}

func newJoinShard(j *Join, t *exec.Task, batch *Batch, i int) *joinShard {
	s := &joinShard{j: j, bounds: batch.Bounds[j.Operator], table: batch.Stores[j.Operator].Table(i)}
	s.rows = batch.Values[j.Operator][i].(*joinRows)
	// Numbers of different batches differ; within one they count up.
	s.number = (batch.Stores[j.Operator].Version() + 1) << 32
	s.tracks = j.Kind != InnerJoin
	for side := range s.own {
		if c := j.side(side).Own; c != nil {
			s.own[side] = exec.NewEvaluator(t, i, []exec.Expr{*c})
		}
	}
	if j.Cond != nil {
		s.cond = exec.NewEvaluator(t, i, []exec.Expr{*j.Cond})
	}
	return s
}

func (s *joinShard) run(left, right []*vec.Batch) error {
	began := time.Now()
	sides := [2][]*vec.Batch{left, right}
	order := [2]int{0, 1}
	if s.j.Kind == LeftSemiJoin {
		// As in Spark, whose figures show it: a left row that has a partner in its own batch is never stored.
		order = [2]int{1, 0}
	}
	for _, side := range order {
		for _, b := range sides[side] {
			if err := s.arrive(side, b); err != nil {
				return err
			}
		}
	}
	s.updateNanos = time.Since(began).Nanoseconds()
	began = time.Now()
	err := s.evict()
	s.removalNanos = time.Since(began).Nanoseconds()
	return err
}

// arrive brings rows of one side in: late ones are dropped, those that cannot match come out at once or never, the others meet
// the other side and are stored.
func (s *joinShard) arrive(side int, b *vec.Batch) error {
	b = b.Compact(nil)
	b = s.dropLost(side, b)
	b = s.dropLate(side, b)
	b, err := s.applyOwn(side, b)
	if err != nil || b.N == 0 {
		return err
	}
	if err := s.gather(side, b); err != nil {
		return err
	}
	matched := vec.NewBitmap(b.N)
	if err := s.match(side, b, matched); err != nil {
		return err
	}
	if len(s.spent) > 0 {
		s.table.Delete(s.spent)
		s.removed += int64(len(s.spent))
		s.spent = s.spent[:0]
	}
	return s.store(side, b, matched)
}

// gather brings in the stored rows of both sides that have the keys of new rows.
func (s *joinShard) gather(side int, b *vec.Batch) error {
	keys := s.keys(side, b)
	var rows []uint32
	for i := range b.N {
		if !s.j.nullKey(keys, i) {
			rows = append(rows, uint32(i))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	if len(rows) < b.N {
		keys = take(keys, rows)
	}
	return s.table.Gather(keys, len(rows))
}

// others are the numbers below n that are not among rows, which ascend.
func others(rows []uint32, n int) []uint32 {
	out := make([]uint32, 0, n-len(rows))
	for i := range uint32(n) {
		if len(rows) > 0 && rows[0] == i {
			rows = rows[1:]
			continue
		}
		out = append(out, i)
	}
	return out
}

// keep returns some rows of a batch that has no selection, or the batch itself if these are all.
func keep(b *vec.Batch, rows []uint32) *vec.Batch {
	if len(rows) == b.N {
		return b
	}
	return b.Take(rows, nil)
}

// dropLost removes rows whose key is null, unless their side is preserved: they never match.
func (s *joinShard) dropLost(side int, b *vec.Batch) *vec.Batch {
	if s.j.preserved(side) {
		return b
	}
	keys := s.keys(side, b)
	rows := make([]uint32, 0, b.N)
	for i := range b.N {
		if !s.j.nullKey(keys, i) {
			rows = append(rows, uint32(i))
		}
	}
	return keep(b, rows)
}

func (s *joinShard) keys(side int, b *vec.Batch) []*vec.Vector {
	keys := make([]*vec.Vector, len(s.j.NullSafe))
	for k, c := range s.j.side(side).Keys {
		keys[k] = b.Cols[c].Flatten()
	}
	return keys
}

func (s *joinShard) dropLate(side int, b *vec.Batch) *vec.Batch {
	c := s.j.side(side).TimeColumn
	if c < 0 {
		return b
	}
	rows := make([]uint32, 0, b.N)
	for i, at := range TimesOf(b.Cols[c], b.N, state.NoTime) {
		if at > s.bounds.Late {
			rows = append(rows, uint32(i))
		}
	}
	s.late += int64(b.N - len(rows))
	return keep(b, rows)
}

// applyOwn keeps the rows that meet the side's own condition. Others can never match: of a preserved side they come out padded.
func (s *joinShard) applyOwn(side int, b *vec.Batch) (*vec.Batch, error) {
	if s.own[side] == nil || b.N == 0 {
		return b, nil
	}
	cols, err := s.own[side].ComputeAll(b)
	if err != nil {
		return nil, err
	}
	pass := expr.SelectTrue(cols[0], nil)
	if len(pass) < b.N && s.j.preserved(side) {
		fail := others(pass, b.N)
		s.emitPadded(side, b.Take(fail, nil).Cols, len(fail))
	}
	return keep(b, pass), nil
}

// pairRows is how many pairs are looked at together.
const pairRows = 4 * vec.BatchRows

// match joins new rows with the stored rows of the other side and notes which of both had a match.
func (s *joinShard) match(side int, b *vec.Batch, matched vec.Bitmap) error {
	other := &s.rows.sides[1-side]
	keys := s.keys(side, b)
	ids := other.byKey.find(keys, b.N, false)
	var mine, theirs []uint32
	flush := func() error {
		err := s.pairs(side, b, mine, theirs, matched)
		mine, theirs = mine[:0], theirs[:0]
		return err
	}
	var err error
	for i := range b.N {
		if ids[i] == group.None || s.j.nullKey(keys, i) {
			continue
		}
		other.byKey.each(ids[i], func(pos uint32) bool {
			// A left row of a semi join has come out at its first match.
			if s.j.Kind == LeftSemiJoin && side == 1 && other.matched.Get(int(pos)) {
				return true
			}
			mine, theirs = append(mine, uint32(i)), append(theirs, pos)
			if len(mine) == pairRows {
				err = flush()
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	if len(mine) == 0 {
		return nil
	}
	return flush()
}

// pairs tests candidate pairs and emits those that match.
func (s *joinShard) pairs(side int, b *vec.Batch, mine, theirs []uint32, matched vec.Bitmap) error {
	mineCols := b.Take(mine, nil).Cols[:s.j.side(side).Columns]
	theirCols := s.rows.sides[1-side].take(theirs)[:s.j.side(1-side).Columns]
	left, right := mineCols, theirCols
	if side == 1 {
		left, right = theirCols, mineCols
	}
	all := &vec.Batch{N: len(mine), Cols: append(append([]*vec.Vector(nil), left...), right...)}
	pass, err := s.test(all)
	if err != nil {
		return err
	}
	other := &s.rows.sides[1-side]
	var out, touched []uint32
	for _, p := range pass {
		i, pos := mine[p], theirs[p]
		first := !matched.Get(int(i))
		matched.Set(int(i))
		firstTheirs := !other.matched.Get(int(pos))
		if s.tracks && firstTheirs {
			other.matched.Set(int(pos))
			if s.j.Kind == LeftSemiJoin && side == 1 {
				s.spent = append(s.spent, other.row[pos])
			} else {
				touched = append(touched, other.row[pos])
			}
		}
		switch {
		case s.j.Kind != LeftSemiJoin, side == 0 && first, side == 1 && firstTheirs:
			out = append(out, p)
		}
	}
	s.table.Touch(touched)
	if len(out) == 0 {
		return nil
	}
	res := all
	if s.j.Kind == LeftSemiJoin {
		res = &vec.Batch{N: all.N, Cols: left}
	}
	s.out = append(s.out, keep(res, out).Own())
	return nil
}

// test returns the pairs that meet the condition.
func (s *joinShard) test(all *vec.Batch) ([]uint32, error) {
	if s.cond == nil {
		pass := make([]uint32, all.N)
		for i := range pass {
			pass[i] = uint32(i)
		}
		return pass, nil
	}
	cols, err := s.cond.ComputeAll(all)
	if err != nil {
		return nil, err
	}
	return expr.SelectTrue(cols[0], nil), nil
}

// store keeps new rows. Left rows are kept even if they expire in this batch, because its right rows have yet to meet them; right
// rows that expire are kept only to come out unmatched.
func (s *joinShard) store(side int, b *vec.Batch, matched vec.Bitmap) error {
	expires := s.expiry(side, b)
	var rows []uint32
	for i := range b.N {
		switch {
		case side == 0 && s.j.Kind == LeftSemiJoin && matched.Get(i):
			continue
		case side == 1 && expires[i] <= s.bounds.Evict && (!s.j.preserved(1) || matched.Get(i)):
			continue
		}
		rows = append(rows, uint32(i))
	}
	if len(rows) == 0 {
		return nil
	}
	b = keep(b, rows)
	keys := []*vec.Vector{vec.NewFixed(types.Long, b.N), vec.NewFixed(types.Long, b.N), vec.NewFixed(types.Timestamp, b.N)}
	sides, numbers, times := vec.Fixed[int64](keys[0]), vec.Fixed[int64](keys[1]), vec.Fixed[int64](keys[2])
	valid := vec.NewBitmapSet(b.N)
	for i, r := range rows {
		sides[i], numbers[i], times[i] = int64(side), s.number, expires[r]
		s.number++
		if expires[r] == state.NoTime {
			valid.Clear(i)
		}
	}
	keys[2].SetValidity(valid)
	at := make([]uint32, b.N)
	var err error
	if s.fresh, err = s.table.Resolve(keys, b.N, true, at, s.fresh[:0]); err != nil {
		return err
	}
	s.rows.add(side, at, b, func(i int) bool { return matched.Get(int(rows[i])) })
	s.table.Touch(at)
	s.updated += int64(b.N)
	return nil
}

// expiry is the watermark at which each row is forgotten.
func (s *joinShard) expiry(side int, b *vec.Batch) []int64 {
	js := s.j.side(side)
	if js.Expiry < 0 {
		out := make([]int64, b.N)
		for i := range out {
			out[i] = state.NoTime
		}
		return out
	}
	times := TimesOf(b.Cols[js.Expiry], b.N, state.NoTime)
	for i, at := range times {
		if at != state.NoTime {
			times[i] = at - js.Offset
		}
	}
	return times
}

// evict forgets what has expired; rows of a preserved side that never had a match come out now. Spark does not count the rows that
// it removes while it looks for unmatched ones.
func (s *joinShard) evict() error {
	if s.j.Kind == InnerJoin || s.j.Kind == LeftSemiJoin {
		n, err := s.table.Remove(s.bounds.Evict)
		s.removed += n
		return err
	}
	c, err := s.table.Expire(s.bounds.Evict)
	if err != nil {
		return err
	}
	for {
		rows, err := c.Next()
		if err != nil || len(rows) == 0 {
			return errors.Join(err, c.Close())
		}
		s.expire(rows)
	}
}

func (s *joinShard) expire(rows []uint32) {
	for side := range 2 {
		var unmatched []uint32
		for _, r := range rows {
			at := s.rows.at[r]
			if int(at.side) != side {
				continue
			}
			if !s.j.preserved(side) {
				s.removed++
			} else if !s.rows.sides[side].matched.Get(int(at.pos)) {
				unmatched = append(unmatched, at.pos)
			}
		}
		if len(unmatched) > 0 {
			s.emitPadded(side, s.rows.sides[side].take(unmatched), len(unmatched))
		}
	}
}

// emitPadded puts out rows of one side with nulls for the other.
func (s *joinShard) emitPadded(side int, cols []*vec.Vector, n int) {
	mine := cols[:s.j.side(side).Columns]
	var nulls []*vec.Vector
	for _, t := range s.j.side(1 - side).In.Types()[:s.j.side(1-side).Columns] {
		nulls = append(nulls, vec.NewNulls(t, n))
	}
	out := &vec.Batch{N: n}
	if side == 0 {
		out.Cols = append(append(out.Cols, mine...), nulls...)
	} else {
		out.Cols = append(append(out.Cols, nulls...), mine...)
	}
	s.out = append(s.out, out.Own())
}
