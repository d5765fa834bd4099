package stateful

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/types"
)

// Session is a grouping by session windows whose sessions live on between micro-batches: rows of a batch open new ones, extend those
// that are stored, and join several into one. Its output columns are those of the grouping.
//
// A stored session is one row: its key is the other keys and the session's start, its values are the session's end and the
// aggregates' states. A session whose start moves is another row.
type Session struct {
	Group    *exec.SessionAgg
	Operator int
	// Timed is set when the session carries event time: then rows can be late, and sessions become final.
	Timed bool
}

// Types implements exec.Op.
func (s *Session) Types() []types.DataType { return s.Group.Types() }

// Inputs implements exec.Op.
func (s *Session) Inputs() []exec.Op { return s.Group.Inputs() }

// Label implements exec.Op.
func (s *Session) Label() string {
	return fmt.Sprintf("SessionWindowStateStoreSave [%d keys], state info [operator %d]", len(s.Group.Group.Keys), s.Operator)
}

// Number implements Operator.
func (s *Session) Number() int { return s.Operator }

// Spec implements Operator. Sessions expire by their end, which is no key: the operator looks for them itself.
func (s *Session) Spec(partitions int, meaning string) state.Spec {
	spec := state.Spec{Operator: s.Operator, Name: "sessionWindowStateStoreSaveExec", Partitions: partitions, Meaning: meaning}
	for i, t := range s.Group.KeyTypes() {
		spec.Keys = append(spec.Keys, types.Field{Name: fmt.Sprintf("key%d", i), Type: t, Nullable: true})
	}
	spec.Keys = append(spec.Keys, types.Field{Name: "start", Type: s.Group.TimeType()})
	spec.Values = append([]types.Field{{Name: "end", Type: types.Long}}, s.Group.Group.StateFields()...)
	return spec
}

// Attach implements Operator.
func (s *Session) Attach(store state.Store, partitions int, t *exec.Task) []state.Values {
	vs := make([]state.Values, state.Shards(partitions))
	for i := range vs {
		v := &sessionValues{s: s, t: t}
		v.Reset()
		vs[i] = v
		store.Attach(i, v)
	}
	return vs
}

// Parts implements exec.Op: it brings this batch's rows into the state, and hands out one part a shard with what the output mode
// lets out.
func (s *Session) Parts(ctx context.Context, t *exec.Task) (exec.Parts, error) {
	batch := Of(t)
	shards := state.Shards(t.Partitions)
	chunks, err := s.Group.Shuffle(ctx, t, shards, func(hash uint32) int { return state.ShardOf(hash, t.Partitions) })
	if err != nil {
		return exec.Parts{}, err
	}
	work := make([]*sessionShard, shards)
	none := exec.Parts{N: shards, Open: func(context.Context, int) (exec.Stream, error) { return exec.StreamOf(nil), nil }}
	err = exec.Run(ctx, t, none, func(ctx context.Context, i int, _ exec.Stream) error {
		work[i] = &sessionShard{
			s: s, batch: batch, bounds: batch.Bounds[s.Operator], table: batch.Stores[s.Operator].Table(i),
			values: batch.Values[s.Operator][i].(*sessionValues),
		}
		err := work[i].run(ctx, chunks[i])
		chunks[i] = nil
		return err
	})
	parts, stats := exec.Parts{N: shards}, &batch.Ops[s.Operator]
	for _, w := range work {
		if w == nil {
			continue
		}
		stats.Updated += w.updated
		stats.Removed += w.removed
		stats.DroppedLate += w.late
		stats.DroppedLateRows += w.lateRows
		stats.UpdateNanos += w.updateNanos
		stats.RemovalNanos += w.removalNanos
	}
	if err != nil {
		return exec.Parts{}, err
	}
	parts.Open = func(_ context.Context, i int) (exec.Stream, error) { return exec.StreamOf(work[i].out), nil }
	return parts, nil
}
