package stateful

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
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
	// MergeFirst is set when the rows of a batch make sessions before anybody asks what is late: a late row that touches one that is
	// not late is kept, and sessions are counted, not rows.
	MergeFirst bool
	// Names are the keys' names, for those who look at the state.
	Names []string
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

// Spec implements Operator.
func (s *Session) Spec(partitions int, meaning string) state.Spec {
	spec := state.Spec{Operator: s.Operator, Name: "sessionWindowStateStoreSaveExec", Partitions: partitions, Meaning: meaning}
	for i, t := range s.Group.KeyTypes() {
		spec.Keys = append(spec.Keys, types.Field{Name: fmt.Sprintf("key%d", i), Type: t, Nullable: true})
	}
	spec.Keys = append(spec.Keys, types.Field{Name: "start", Type: s.Group.TimeType()})
	spec.Values = append([]types.Field{{Name: "end", Type: s.Group.TimeType()}}, s.Group.Group.StateFields()...)
	spec.Views = s.views(len(spec.Keys))
	spec.Group = func(keys, _ []*vec.Vector, _ int) []*vec.Vector { return keys[:len(keys)-1] }
	return spec
}

// views are the sessions as people see them.
func (s *Session) views(keys int) []state.View {
	start := keys - 1
	v := state.View{}
	next := 0
	for i, name := range s.Names {
		if i == s.Group.Session {
			v.Value = append(v.Value, state.ViewColumn{Name: name, Fields: []state.ViewColumn{
				{Name: "start", Column: start}, {Name: "end", Column: keys},
			}})
			continue
		}
		c := state.ViewColumn{Name: name, Column: next}
		v.Key, v.Value, v.Hash = append(v.Key, c), append(v.Value, c), append(v.Hash, next)
		next++
	}
	v.Key = append(v.Key, state.ViewColumn{Name: "sessionStartTime", Column: start})
	for i, f := range s.Group.Group.StateFields() {
		v.Value = append(v.Value, state.ViewColumn{Name: f.Name, Column: keys + 1 + i})
	}
	return []state.View{v}
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
// lets out, which is read from the state as it is asked for.
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
		err := work[i].update(ctx, chunks[i])
		chunks[i] = nil
		return err
	})
	stats := &batch.Ops[s.Operator]
	for _, w := range work {
		if w == nil {
			continue
		}
		stats.Updated += w.updated
		stats.Removed += w.joined
		stats.DroppedLate += w.late
		stats.DroppedLateRows += w.lateRows
		stats.UpdateNanos += w.updateNanos
	}
	if err != nil {
		return exec.Parts{}, err
	}
	return exec.Parts{N: shards, Open: func(_ context.Context, i int) (exec.Stream, error) {
		return &sessionStream{sessionShard: work[i], stats: stats}, nil
	}}, nil
}

// sessionStream puts out the sessions of one shard that are final, and removes them; in complete mode it puts out all and removes
// none. Final sessions are gone when it is at its end or closed.
type sessionStream struct {
	*sessionShard
	stats *OpStats

	cursor  state.Cursor
	removed int64
	nanos   int64
	err     error
}

// Next implements exec.Stream.
func (s *sessionStream) Next(context.Context) (*vec.Batch, error) {
	began := time.Now()
	defer func() { s.nanos += time.Since(began).Nanoseconds() }()
	rows := s.chunk()
	if s.err != nil {
		return nil, s.err
	}
	b, err := s.emit(rows)
	s.err = err
	return b, err
}

// chunk is the next part of what comes out. Without one err is set.
func (s *sessionStream) chunk() (rows []uint32) {
	complete := s.batch.Mode == Complete
	if s.err == nil && s.cursor == nil {
		switch {
		case complete:
			s.cursor, s.err = s.table.Scan()
		case s.s.Timed:
			s.cursor, s.err = s.table.Expire(s.bounds.Evict)
		default:
			s.err = io.EOF
		}
	}
	if s.err != nil {
		return nil
	}
	if rows, s.err = s.cursor.Next(); s.err == nil && len(rows) == 0 {
		s.err = io.EOF
	}
	if !complete {
		s.removed += int64(len(rows))
	}
	return rows
}

// Close implements exec.Stream.
func (s *sessionStream) Close() error {
	for s.err == nil && s.batch.Mode != Complete {
		s.chunk()
	}
	var err error
	if s.err != nil && s.err != io.EOF {
		err = s.err
	}
	if s.cursor != nil {
		err = errors.Join(err, s.cursor.Close())
	}
	atomic.AddInt64(&s.stats.Removed, s.removed)
	atomic.AddInt64(&s.stats.RemovalNanos, s.nanos)
	return err
}
