package stateful

import (
	"context"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Aggregate is a grouping whose groups live on between micro-batches. Its output columns are those of the grouping: keys, then
// results.
type Aggregate struct {
	Group *exec.HashAgg
	// Operator is the operator's number.
	Operator int
	// TimeKey is the key that carries the event time, or -1.
	TimeKey int
}

// Types implements exec.Op.
func (a *Aggregate) Types() []types.DataType { return a.Group.Types() }

// Inputs implements exec.Op.
func (a *Aggregate) Inputs() []exec.Op { return a.Group.Inputs() }

// Label implements exec.Op.
func (a *Aggregate) Label() string {
	return fmt.Sprintf("StateStoreSave [%d keys], state info [operator %d]", len(a.Group.Keys), a.Operator)
}

// Number implements Operator.
func (a *Aggregate) Number() int { return a.Operator }

// Spec implements Operator.
func (a *Aggregate) Spec(partitions int, meaning string) state.Spec {
	if len(a.Group.Keys) == 0 {
		partitions = 1
	}
	s := state.Spec{Operator: a.Operator, Name: "stateStoreSave", Partitions: partitions, Meaning: meaning, Values: a.Group.StateFields()}
	for i, k := range a.Group.Keys {
		s.Keys = append(s.Keys, types.Field{Name: fmt.Sprintf("key%d", i), Type: k.Type, Nullable: true})
	}
	if a.TimeKey >= 0 {
		s.Time = func(keys []*vec.Vector, n int) []int64 { return TimesOf(keys[a.TimeKey], n, state.NoTime) }
	}
	return s
}

// CountLate is the grouping's Look: it counts the input rows that are late, which dropLate, behind the partial aggregation, cannot.
func (a *Aggregate) CountLate(t *exec.Task, keys []*vec.Vector, n int) {
	batch := Of(t)
	if batch.Mode == Complete {
		return
	}
	bound, late := batch.Bounds[a.Operator].Late, int64(0)
	for _, at := range TimesOf(keys[a.TimeKey], n, state.NoTime) {
		if at <= bound {
			late++
		}
	}
	atomic.AddInt64(&batch.Ops[a.Operator].DroppedLateRows, late)
}

// Values makes the value columns of one shard.
func (a *Aggregate) Values(t *exec.Task) state.Values {
	return &aggValues{a: a, t: t, acc: a.Group.NewAccumulator(t)}
}

// aggValues are the aggregates' states as the value columns of a table.
type aggValues struct {
	a   *Aggregate
	t   *exec.Task
	acc *exec.Accumulator
}

func (v *aggValues) Grow(n int) { v.acc.Grow(n) }

func (v *aggValues) Load(rows []uint32, cols []*vec.Vector) error {
	v.acc.Clear(rows)
	v.acc.Merge(rows, cols)
	return v.acc.Err()
}

func (v *aggValues) Save(rows []uint32) []*vec.Vector { return v.acc.Save(rows) }
func (v *aggValues) Clear(rows []uint32)              { v.acc.Clear(rows) }
func (v *aggValues) Reset()                           { v.acc = v.a.Group.NewAccumulator(v.t) }

// Bytes estimates the memory held.
func (v *aggValues) Bytes() int64 { return v.acc.Bytes() }

// Attach implements Operator.
func (a *Aggregate) Attach(s state.Store, partitions int, t *exec.Task) []state.Values {
	if len(a.Group.Keys) == 0 {
		partitions = 1
	}
	vs := make([]state.Values, state.Shards(partitions))
	for i := range vs {
		vs[i] = a.Values(t)
		s.Attach(i, vs[i])
	}
	return vs
}

// Parts implements exec.Op: it brings this batch's rows into the state, and hands out one part a shard with what the output mode
// lets out.
func (a *Aggregate) Parts(ctx context.Context, t *exec.Task) (exec.Parts, error) {
	batch := Of(t)
	partitions := t.Partitions
	if len(a.Group.Keys) == 0 {
		partitions = 1
	}
	shards := state.Shards(partitions)
	chunks, err := a.Group.Shuffle(ctx, t, shards, func(hash uint32) int { return state.ShardOf(hash, partitions) })
	if err != nil {
		return exec.Parts{}, err
	}
	outs := make([][]*vec.Batch, shards)
	tally := &tally{}
	none := exec.Parts{N: shards, Open: func(context.Context, int) (exec.Stream, error) { return exec.StreamOf(nil), nil }}
	err = exec.Run(ctx, t, none, func(_ context.Context, i int, _ exec.Stream) error {
		s := &aggShard{a: a, batch: batch, bounds: batch.Bounds[a.Operator], table: batch.Stores[a.Operator].Table(i)}
		s.values = batch.Values[a.Operator][i].(*aggValues)
		var err error
		outs[i], err = s.run(chunks[i])
		tally.add(s)
		return err
	})
	tally.into(&batch.Ops[a.Operator])
	if err != nil {
		return exec.Parts{}, err
	}
	return exec.PartsOf(outs...), nil
}

func (t *tally) add(s *aggShard) {
	t.updated.Add(s.updated)
	t.removed.Add(s.removed)
	t.late.Add(s.late)
	t.updateNanos.Add(s.updateNanos)
	t.removalNanos.Add(s.removalNanos)
}

// aggShard is the work of one micro-batch on one shard.
type aggShard struct {
	a      *Aggregate
	batch  *Batch
	bounds Bounds
	table  state.Table
	values *aggValues

	touched vec.Bitmap // rows that this batch has touched
	rows    []uint32
	fresh   []uint32
	lateSet group.Table // late groups, to be counted once each

	updated, removed, late    int64
	updateNanos, removalNanos int64
}

func (s *aggShard) run(chunks []exec.Chunk) ([]*vec.Batch, error) {
	began := time.Now()
	for _, c := range chunks {
		if err := s.merge(c); err != nil {
			return nil, err
		}
	}
	if len(s.a.Group.Keys) == 0 {
		if err := s.touchOnly(); err != nil {
			return nil, err
		}
	}
	touched := s.touchedRows()
	s.table.Touch(touched)
	s.updated = int64(len(touched))
	s.updateNanos = time.Since(began).Nanoseconds()
	began = time.Now()
	defer func() { s.removalNanos = time.Since(began).Nanoseconds() }()
	switch s.batch.Mode {
	case Complete:
		all, err := s.table.All(nil)
		if err != nil {
			return nil, err
		}
		return s.emit(all)
	case Update:
		out, err := s.emit(touched)
		if err != nil {
			return nil, err
		}
		_, err = s.evict(false)
		return out, err
	}
	return s.evict(true)
}

// touchOnly makes a grouping without keys have its one row, which each batch emits anew.
func (s *aggShard) touchOnly() error {
	rows := s.grow(1)
	var err error
	s.fresh, err = s.table.Resolve(nil, 1, true, rows, s.fresh[:0])
	s.mark(rows)
	return err
}

func (s *aggShard) grow(n int) []uint32 {
	if cap(s.rows) < n {
		s.rows = make([]uint32, n)
	}
	return s.rows[:n]
}

func (s *aggShard) mark(rows []uint32) {
	for _, r := range rows {
		for int(r)>>6 >= len(s.touched) {
			s.touched = append(s.touched, 0)
		}
		s.touched.Set(int(r))
	}
}

func (s *aggShard) touchedRows() []uint32 {
	var rows []uint32
	for w, word := range s.touched {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint32(w*64+bits.TrailingZeros64(word)))
		}
	}
	return rows
}

// merge brings one chunk into the state, but for late groups. Complete mode knows no lateness.
func (s *aggShard) merge(c exec.Chunk) error {
	if s.a.TimeKey >= 0 && s.batch.Mode != Complete {
		c = s.dropLate(c)
		if c.N == 0 {
			return nil
		}
	}
	rows := s.grow(c.N)
	var err error
	if s.fresh, err = s.table.Resolve(c.Keys, c.N, true, rows, s.fresh[:0]); err != nil {
		return err
	}
	s.mark(rows)
	if c.Partial {
		s.values.acc.Merge(rows, c.Cols)
	} else {
		s.values.acc.Update(rows, c.Cols, c.N)
	}
	return s.values.acc.Err()
}

// dropLate removes the rows of a chunk whose group ended before the late bound, and counts their groups.
func (s *aggShard) dropLate(c exec.Chunk) exec.Chunk {
	times := TimesOf(c.Keys[s.a.TimeKey], c.N, state.NoTime)
	kept := make([]uint32, 0, c.N)
	var late []uint32
	for i, at := range times {
		if at <= s.bounds.Late {
			late = append(late, uint32(i))
		} else {
			kept = append(kept, uint32(i))
		}
	}
	if len(late) == 0 {
		return c
	}
	if s.lateSet == nil {
		s.lateSet = group.New(s.a.Group.KeyTypes())
	}
	fresh := s.lateSet.Resolve(take(c.Keys, late), len(late), true, make([]uint32, len(late)), nil)
	s.late += int64(len(fresh))
	return exec.Chunk{Partial: c.Partial, N: len(kept), Keys: take(c.Keys, kept), Cols: take(c.Cols, kept)}
}

func take(cols []*vec.Vector, rows []uint32) []*vec.Vector {
	out := make([]*vec.Vector, len(cols))
	for i, c := range cols {
		out[i] = vec.Take(c, rows, nil).Flatten()
	}
	return out
}

// emit computes the results of rows.
func (s *aggShard) emit(rows []uint32) ([]*vec.Batch, error) {
	var out []*vec.Batch
	for len(rows) > 0 {
		n := min(len(rows), vec.BatchRows)
		results, err := s.values.acc.Emit(rows[:n])
		if err != nil {
			return nil, err
		}
		out = append(out, vec.NewBatch(n, append(s.table.Keys(rows[:n]), results...)...))
		rows = rows[n:]
	}
	return out, nil
}

// evict removes the groups that are final, and returns their results when they are wanted.
func (s *aggShard) evict(wanted bool) ([]*vec.Batch, error) {
	if s.a.TimeKey < 0 {
		return nil, nil
	}
	rows, err := s.table.Expired(s.bounds.Evict, nil)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var out []*vec.Batch
	if wanted {
		if out, err = s.emit(rows); err != nil {
			return nil, err
		}
	}
	s.removed += int64(len(rows))
	s.table.Delete(rows)
	return out, nil
}
