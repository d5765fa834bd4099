package stateful

import (
	"context"
	"fmt"
	"time"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

var (
	longType    = types.Long
	byteType    = types.Byte
	booleanType = types.Boolean
)

// Dedup passes on the first row of each key that it ever sees. A key is forgotten when its event time, if it has one, is final.
//
// Within makes it dropDuplicatesWithinWatermark: a key is forgotten when the watermark has come past the event time of its first
// row by the watermark's delay; later rows do not keep it.
type Dedup struct {
	In exec.Op
	// Keys are columns of the input.
	Keys     []int
	Operator int
	// TimeColumn is the input column with the event time, by which rows are late, or -1; TimeKey is its place among Keys, or -1.
	TimeColumn, TimeKey int
	Within              bool
	// Delay is the watermark's delay in microseconds.
	Delay int64
}

// Types implements exec.Op.
func (d *Dedup) Types() []types.DataType { return d.In.Types() }

// Inputs implements exec.Op.
func (d *Dedup) Inputs() []exec.Op { return []exec.Op{d.In} }

// Label implements exec.Op.
func (d *Dedup) Label() string {
	name := "StreamingDeduplicate"
	if d.Within {
		name = "StreamingDeduplicateWithinWatermark"
	}
	return fmt.Sprintf("%s [%d keys], state info [operator %d]", name, len(d.Keys), d.Operator)
}

// Number implements Operator.
func (d *Dedup) Number() int { return d.Operator }

// Spec implements Operator.
func (d *Dedup) Spec(partitions int, meaning string) state.Spec {
	s := state.Spec{Operator: d.Operator, Name: "dedupe", Partitions: partitions, Meaning: meaning}
	in := d.In.Types()
	for i, k := range d.Keys {
		s.Keys = append(s.Keys, types.Field{Name: fmt.Sprintf("key%d", i), Type: in[k], Nullable: true})
	}
	switch {
	case d.Within:
		s.Name = "dedupeWithinWatermark"
		s.Values = []types.Field{{Name: "expiresAtMicros", Type: types.Long}}
	case d.TimeKey >= 0:
		s.Time = func(keys []*vec.Vector, n int) []int64 { return TimesOf(keys[d.TimeKey], n, state.NoTime) }
	}
	return s
}

// Attach implements Operator.
func (d *Dedup) Attach(s state.Store, partitions int, _ *exec.Task) []state.Values {
	vs := make([]state.Values, state.Shards(partitions))
	for i := range vs {
		vs[i] = noValues{}
		if d.Within {
			vs[i] = &expiries{longs{empty: state.NoTime}}
		}
		s.Attach(i, vs[i])
	}
	return vs
}

// Parts implements exec.Op: it deals the rows out to the shards of the state and hands out one part a shard.
func (d *Dedup) Parts(ctx context.Context, t *exec.Task) (exec.Parts, error) {
	batch := Of(t)
	shards := state.Shards(t.Partitions)
	rows, err := exec.Deal(ctx, t, d.In, d.Keys, shards, func(hash uint32) int { return state.ShardOf(hash, t.Partitions) })
	if err != nil {
		return exec.Parts{}, err
	}
	work := make([]*dedupShard, shards)
	none := exec.Parts{N: shards, Open: func(context.Context, int) (exec.Stream, error) { return exec.StreamOf(nil), nil }}
	err = exec.Run(ctx, t, none, func(_ context.Context, i int, _ exec.Stream) error {
		s := &dedupShard{d: d, bounds: batch.Bounds[d.Operator], table: batch.Stores[d.Operator].Table(i)}
		s.expires, _ = batch.Values[d.Operator][i].(*expiries)
		work[i] = s
		return s.run(rows[i])
	})
	stats := &batch.Ops[d.Operator]
	if stats.Custom == nil {
		stats.Custom = map[string]int64{}
	}
	outs := make([][]*vec.Batch, shards)
	for i, s := range work {
		if s == nil {
			continue
		}
		outs[i] = s.out
		stats.Updated += s.fresh
		stats.Removed += s.removed
		stats.DroppedLate += s.late
		stats.DroppedLateRows += s.late
		stats.UpdateNanos += s.updateNanos
		stats.RemovalNanos += s.removalNanos
		stats.Custom["numDroppedDuplicateRows"] += s.duplicates
	}
	if err != nil {
		return exec.Parts{}, err
	}
	return exec.PartsOf(outs...), nil
}

// dedupShard is the work of one micro-batch on one shard.
type dedupShard struct {
	d       *Dedup
	bounds  Bounds
	table   state.Table
	expires *expiries // Within only

	rows, first []uint32
	keys        []*vec.Vector
	out         []*vec.Batch

	fresh, late, duplicates, removed int64
	updateNanos, removalNanos        int64
}

func (s *dedupShard) run(batches []*vec.Batch) error {
	began := time.Now()
	for _, b := range batches {
		if err := s.add(b); err != nil {
			return err
		}
	}
	s.updateNanos = time.Since(began).Nanoseconds()
	began = time.Now()
	err := s.evict()
	s.removalNanos = time.Since(began).Nanoseconds()
	return err
}

// add passes on the rows of b whose key is new. Late rows are gone before anybody looks for duplicates.
func (s *dedupShard) add(b *vec.Batch) error {
	if s.d.TimeColumn >= 0 {
		n := int64(b.N)
		b = s.onTime(b)
		s.late += n - int64(b.N)
	}
	if b.N == 0 {
		return nil
	}
	s.keys = s.keys[:0]
	for _, k := range s.d.Keys {
		s.keys = append(s.keys, b.Cols[k].Flatten())
	}
	if cap(s.rows) < b.N {
		s.rows = make([]uint32, b.N)
	}
	rows := s.rows[:b.N]
	fresh, err := s.table.Resolve(s.keys, b.N, true, rows, nil)
	if err != nil {
		return err
	}
	s.fresh += int64(len(fresh))
	s.duplicates += int64(b.N - len(fresh))
	if len(fresh) == 0 {
		return nil
	}
	s.first = s.first[:0]
	for i, r := range rows {
		if next := len(s.first); next < len(fresh) && r == fresh[next] {
			s.first = append(s.first, uint32(i))
		}
	}
	if s.expires != nil {
		at := b.Cols[s.d.TimeColumn].Flatten()
		if at.Phys() == vec.PhysStruct {
			at = placesOf(at, len(s.d.In.Types()))
		}
		times := TimesOf(at, b.N, 0) // as in Spark, a row without a time counts as one of 1970
		for k, i := range s.first {
			s.expires.xs[fresh[k]] = times[i] + s.d.Delay
		}
	}
	s.table.Touch(fresh)
	s.out = append(s.out, b.WithSelection(append([]uint32(nil), s.first...)).Own())
	return nil
}

// onTime leaves out the rows that are late.
func (s *dedupShard) onTime(b *vec.Batch) *vec.Batch {
	times := TimesOf(b.Cols[s.d.TimeColumn], b.N, state.NoTime)
	kept := make([]uint32, 0, b.N)
	for i, at := range times {
		if at > s.bounds.Late {
			kept = append(kept, uint32(i))
		}
	}
	if len(kept) == b.N {
		return b
	}
	return b.WithSelection(kept).Own()
}

func (s *dedupShard) evict() (err error) {
	if s.d.Within || s.d.TimeKey >= 0 {
		s.removed, err = s.table.Remove(s.bounds.Evict)
	}
	return err
}

// expiries are the event times by which the keys of Within are forgotten.
type expiries struct{ longs }

// Times implements state.Timed.
func (v *expiries) Times(rows []uint32) []int64 {
	out := make([]int64, len(rows))
	for i, r := range rows {
		out[i] = v.xs[r]
	}
	return out
}
