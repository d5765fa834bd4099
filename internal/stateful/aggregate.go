package stateful

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	if p := a.Group.Panes; p != nil {
		late = p.Ended(keys, n, a.TimeKey, bound)
	} else {
		for _, at := range TimesOf(keys[a.TimeKey], n, state.NoTime) {
			if at <= bound {
				late++
			}
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
// lets out, which is read from the state as it is asked for.
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
	work := make([]*aggShard, shards)
	none := exec.Parts{N: shards, Open: func(context.Context, int) (exec.Stream, error) { return exec.StreamOf(nil), nil }}
	err = exec.Run(ctx, t, none, func(_ context.Context, i int, _ exec.Stream) error {
		s := &aggShard{a: a, batch: batch, bounds: batch.Bounds[a.Operator], table: batch.Stores[a.Operator].Table(i)}
		s.values = batch.Values[a.Operator][i].(*aggValues)
		work[i] = s
		err := s.update(chunks[i])
		chunks[i] = nil
		return err
	})
	stats := &batch.Ops[a.Operator]
	for _, s := range work {
		if s == nil {
			continue
		}
		stats.Updated += s.updated
		stats.DroppedLate += s.late
		stats.UpdateNanos += s.updateNanos
	}
	if err != nil {
		return exec.Parts{}, err
	}
	return exec.Parts{N: shards, Open: func(_ context.Context, i int) (exec.Stream, error) {
		return &aggStream{aggShard: work[i], stats: stats}, nil
	}}, nil
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

	updated, late, updateNanos int64
}

// update brings the rows of this batch into the state.
func (s *aggShard) update(chunks []exec.Chunk) error {
	began := time.Now()
	for _, c := range chunks {
		if err := s.merge(c); err != nil {
			return err
		}
	}
	if len(s.a.Group.Keys) == 0 {
		if err := s.touchOnly(); err != nil {
			return err
		}
	}
	s.rows = s.touchedRows(s.rows[:0])
	s.table.Touch(s.rows)
	s.updated = int64(len(s.rows))
	s.updateNanos = time.Since(began).Nanoseconds()
	return nil
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

func (s *aggShard) touchedRows(rows []uint32) []uint32 {
	for w, word := range s.touched {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, uint32(w*64+bits.TrailingZeros64(word)))
		}
	}
	s.table.Sort(rows)
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

// aggStream puts out what the output mode lets out of one shard, and removes the groups that are final. They are gone when it is at
// its end or closed.
type aggStream struct {
	*aggShard
	stats *OpStats

	cursor  state.Cursor // over all groups in complete mode, over those that are final in append mode
	evicted bool
	removed int64
	nanos   int64
	err     error
}

// Next implements exec.Stream.
func (s *aggStream) Next(context.Context) (*vec.Batch, error) {
	if s.err != nil {
		return nil, s.err
	}
	began := time.Now()
	b, err := s.next()
	s.nanos += time.Since(began).Nanoseconds()
	s.err = err
	return b, err
}

func (s *aggStream) next() (*vec.Batch, error) {
	if s.batch.Mode == Update {
		n := min(len(s.rows), vec.BatchRows)
		if n == 0 {
			return nil, s.finish()
		}
		rows := s.rows[:n]
		s.rows = s.rows[n:]
		return s.emit(rows)
	}
	rows, err := s.nextChunk()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, s.finish()
	}
	return s.emit(rows)
}

// nextChunk is the next part of all groups, or of those that are final.
func (s *aggStream) nextChunk() (rows []uint32, err error) {
	complete := s.batch.Mode == Complete
	if s.cursor == nil {
		switch {
		case complete:
			s.cursor, err = s.table.Scan()
		case s.a.TimeKey < 0:
			return nil, nil
		default:
			s.cursor, err = s.table.Expire(s.bounds.Evict)
		}
		if err != nil {
			return nil, err
		}
	}
	rows, err = s.cursor.Next()
	if !complete {
		s.removed += int64(len(rows))
	}
	return rows, err
}

// finish removes what is final and has not been put out. Its error is io.EOF.
func (s *aggStream) finish() error {
	if !s.evicted && s.batch.Mode == Update && s.a.TimeKey >= 0 {
		n, err := s.table.Remove(s.bounds.Evict)
		if err != nil {
			return err
		}
		s.removed += n
	}
	s.evicted = true
	return io.EOF
}

// Close implements exec.Stream. Whoever does not want all rows leaves groups that are removed all the same.
func (s *aggStream) Close() error {
	for s.err == nil && s.batch.Mode == Append && !s.evicted {
		rows, err := s.nextChunk()
		if err == nil && len(rows) == 0 {
			err = s.finish()
		}
		s.err = err
	}
	if s.err == nil {
		s.err = s.finish()
	}
	var err error
	if s.err != io.EOF {
		err = s.err
	}
	if s.cursor != nil {
		err = errors.Join(err, s.cursor.Close())
		s.cursor = nil
	}
	atomic.AddInt64(&s.stats.Removed, s.removed)
	atomic.AddInt64(&s.stats.RemovalNanos, s.nanos)
	return err
}

// emit computes the results of rows, at most a batch.
func (s *aggShard) emit(rows []uint32) (*vec.Batch, error) {
	results, err := s.values.acc.Emit(rows)
	if err != nil {
		return nil, err
	}
	return vec.NewBatch(len(rows), append(s.table.Keys(rows), results...)...), nil
}
