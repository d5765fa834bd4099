package stateful

import (
	"errors"
	"time"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
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

	fresh  []uint32
	ids    []uint32      // join keys of the batch at hand
	test   []*vec.Vector // scratch: the columns that the condition reads
	mine   []uint32      // scratch: candidate pairs
	theirs []uint32
	pass   []uint32
	spent  []uint32 // stored left rows of a semi join that have come out
	out    []*vec.Batch

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
	keys := s.keys(side, b)
	if err := s.gather(keys, b.N); err != nil {
		return err
	}
	expires := s.expiry(side, b)
	stays := s.stays(side, expires)
	s.ids = append(s.ids[:0], s.rows.find(keys, b.N, stays)...)
	matched := vec.NewBitmap(b.N)
	if err := s.match(side, b, matched); err != nil {
		return err
	}
	if len(s.spent) > 0 {
		s.table.Delete(s.spent)
		s.removed += int64(len(s.spent))
		s.spent = s.spent[:0]
	}
	return s.store(side, b, expires, matched, stays)
}

// stays tells whether all rows of a batch will be stored, as far as that is known before they are matched.
func (s *joinShard) stays(side int, expires []int64) bool {
	if side == 0 {
		return s.j.Kind != LeftSemiJoin
	}
	for _, at := range expires {
		if at <= s.bounds.Evict {
			return false
		}
	}
	return true
}

// gather brings in the stored rows of both sides that have the keys of new rows.
func (s *joinShard) gather(keys []*vec.Vector, n int) error {
	if !s.j.nullKeys(keys) {
		return s.table.Gather(keys, n)
	}
	var rows []uint32
	for i := range n {
		if !s.j.nullKey(keys, i) {
			rows = append(rows, uint32(i))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return s.table.Gather(take(keys, rows), len(rows))
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
	if !s.j.nullKeys(keys) {
		return b
	}
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
	if s.mine == nil {
		s.mine, s.theirs = make([]uint32, 0, pairRows), make([]uint32, 0, pairRows)
	}
	var skip vec.Bitmap
	if s.j.Kind == LeftSemiJoin && side == 1 {
		skip = s.rows.matched // a left row of a semi join has come out at its first match
	}
	for at, more := (spot{}), true; more; {
		var mine, theirs []uint32
		mine, theirs, more = s.rows.links.pairs(1-side, s.ids, skip, &at, s.mine[:0], s.theirs[:0])
		if err := s.pairs(side, b, mine, theirs, matched); err != nil {
			return err
		}
	}
	return nil
}

// pairs tests candidate pairs and emits those that match. The lists are its own to change.
func (s *joinShard) pairs(side int, b *vec.Batch, mine, theirs []uint32, matched vec.Bitmap) error {
	n, err := s.passing(side, b, mine, theirs)
	if err != nil || n == 0 {
		return err
	}
	mine, theirs = mine[:n], theirs[:n]
	if s.tracks {
		mine, theirs = s.track(side, mine, theirs, matched)
	}
	if len(mine) == 0 {
		return nil
	}
	if s.j.Kind == LeftSemiJoin && side == 1 {
		s.out = append(s.out, vec.NewBatch(len(theirs), s.rows.takeSide(0, theirs)...))
		return nil
	}
	out := vec.TakeAll(b.Cols[:s.j.side(side).Columns], mine)
	for i, c := range out {
		out[i] = c.Own()
	}
	if s.j.Kind != LeftSemiJoin {
		other := s.rows.takeSide(1-side, theirs)
		if side == 0 {
			out = append(out, other...)
		} else {
			out = append(other, out...)
		}
	}
	s.out = append(s.out, vec.NewBatch(len(mine), out...))
	return nil
}

// track notes which rows had a match, and keeps the pairs that come out: all, and of a semi join the first of each left row.
func (s *joinShard) track(side int, mine, theirs []uint32, matched vec.Bitmap) (m, t []uint32) {
	n := 0
	var touched []uint32
	for k, i := range mine {
		pos := theirs[k]
		first := !matched.Get(int(i))
		matched.Set(int(i))
		firstTheirs := !s.rows.matched.Get(int(pos))
		if firstTheirs {
			s.rows.matched.Set(int(pos))
			if s.j.Kind == LeftSemiJoin && side == 1 {
				s.spent = append(s.spent, s.rows.row[pos])
			} else {
				touched = append(touched, s.rows.row[pos])
			}
		}
		if s.j.Kind != LeftSemiJoin || side == 0 && first || side == 1 && firstTheirs {
			mine[n], theirs[n] = i, pos
			n++
		}
	}
	s.table.Touch(touched)
	return mine[:n], theirs[:n]
}

// passing moves the pairs that meet the condition to the front and counts them. Only the columns that the condition reads are
// gathered for it.
func (s *joinShard) passing(side int, b *vec.Batch, mine, theirs []uint32) (int, error) {
	if s.cond == nil || len(mine) == 0 {
		return len(mine), nil
	}
	left := s.j.Left.Columns
	if s.test == nil {
		s.test = make([]*vec.Vector, left+s.j.Right.Columns)
	}
	all := &vec.Batch{N: len(mine), Cols: make([]*vec.Vector, len(s.test))}
	for _, c := range s.j.Cond.Uses {
		if s.test[c] == nil {
			s.test[c] = &vec.Vector{}
		}
		of, col := 0, c
		if c >= left {
			of, col = 1, c-left
		}
		if of == side {
			all.Cols[c] = vec.Take(b.Cols[col], mine, s.test[c])
		} else {
			all.Cols[c] = vec.Take(s.rows.cols[s.rows.slots.of[of][col]].Borrow(), theirs, s.test[c])
		}
	}
	cols, err := s.cond.ComputeAll(all)
	if err != nil {
		return 0, err
	}
	pass := expr.SelectTrue(cols[0], s.pass[:0])
	s.pass = pass
	for k, p := range pass {
		mine[k], theirs[k] = mine[p], theirs[p]
	}
	return len(pass), nil
}

// store keeps new rows. Left rows are kept even if they expire in this batch, because its right rows have yet to meet them; right
// rows that expire are kept only to come out unmatched. The rows' join keys are known already if all stay.
func (s *joinShard) store(side int, b *vec.Batch, expires []int64, matched vec.Bitmap, stays bool) error {
	ids := s.ids
	if !stays {
		var rows []uint32
		for i := range b.N {
			switch {
			case side == 0 && matched.Get(i): // of a semi join
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
		if len(rows) < len(expires) {
			expires = takeLongs(expires, rows)
			kept := vec.NewBitmap(len(rows))
			for i, r := range rows {
				kept.SetTo(i, matched.Get(int(r)))
			}
			matched = kept
		}
		ids = s.rows.find(s.keys(side, b), b.N, true)
	}
	numbers := vec.NewFixed(longType, b.N)
	for i := range vec.Fixed[int64](numbers) {
		vec.Fixed[int64](numbers)[i] = s.number
		s.number++
	}
	at := make([]uint32, b.N)
	var err error
	if s.fresh, err = s.table.Resolve([]*vec.Vector{numbers}, b.N, true, at, s.fresh[:0]); err != nil {
		return err
	}
	x := newcomers{rows: at, side: make([]uint8, b.N), expires: expires, keys: ids, cols: make([]*vec.Vector, len(s.rows.cols))}
	for i := range x.side {
		x.side[i] = uint8(side)
	}
	for c, col := range b.Cols {
		x.cols[s.rows.slots.of[side][c]] = col
	}
	s.rows.add(x)
	if s.tracks {
		for i, r := range at {
			if matched.Get(i) {
				s.rows.matched.Set(int(s.rows.at[r]))
			}
		}
	}
	s.table.Touch(at)
	s.updated += int64(b.N)
	return nil
}

// expiry is the watermark at which each row is forgotten.
func (s *joinShard) expiry(side int, b *vec.Batch) []int64 {
	js := s.j.side(side)
	if js.Expiry >= 0 {
		return js.expiries(b.Cols[js.Expiry], b.N)
	}
	out := make([]int64, b.N)
	for i := range out {
		out[i] = state.NoTime
	}
	return out
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
			if int(s.rows.side[at]) != side {
				continue
			}
			if !s.j.preserved(side) {
				s.removed++
			} else if !s.rows.matched.Get(int(at)) {
				unmatched = append(unmatched, at)
			}
		}
		if len(unmatched) > 0 {
			s.emitPadded(side, s.rows.takeSide(side, unmatched), len(unmatched))
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
