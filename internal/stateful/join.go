package stateful

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// JoinKind is the kind of a join of two streams.
type JoinKind uint8

// The kinds.
const (
	InnerJoin JoinKind = iota
	LeftOuterJoin
	RightOuterJoin
	FullOuterJoin
	LeftSemiJoin
)

// JoinSide is one input of a Join.
type JoinSide struct {
	In exec.Op
	// Columns is how many of the input's columns are the side's; the ones behind are computed keys.
	Columns int
	// Names are those columns' names, for those who look at the state.
	Names []string
	// Keys are the input columns with the join keys.
	Keys []int
	// TimeColumn is the input column by which rows are late, or -1.
	TimeColumn int
	// Expiry is the input column by which stored rows are forgotten, or -1: once it is at most Offset microseconds behind the
	// watermark.
	Expiry int
	Offset int64
	// Own is the part of the join condition that looks at this side only, over the input's columns; nil for none.
	Own *exec.Expr
}

// Join joins two streams: rows of either side are kept until no row that may still come can match them. In every batch the left
// rows meet the stored right ones, then the right rows meet the stored left ones, this batch's among them.
type Join struct {
	Left, Right JoinSide
	Kind        JoinKind
	// NullSafe tells for each key whether nulls are equal (<=>).
	NullSafe []bool
	// Cond is the rest of the condition, over the columns of the left side and then of the right, without computed keys; nil for
	// none.
	Cond     *exec.Expr
	Operator int
}

// Types implements exec.Op.
func (j *Join) Types() []types.DataType {
	ts := append([]types.DataType(nil), j.Left.In.Types()[:j.Left.Columns]...)
	if j.Kind == LeftSemiJoin {
		return ts
	}
	return append(ts, j.Right.In.Types()[:j.Right.Columns]...)
}

// Inputs implements exec.Op.
func (j *Join) Inputs() []exec.Op { return []exec.Op{j.Left.In, j.Right.In} }

// Label implements exec.Op.
func (j *Join) Label() string {
	kind := [...]string{"Inner", "LeftOuter", "RightOuter", "FullOuter", "LeftSemi"}[j.Kind]
	return fmt.Sprintf("StreamingSymmetricHashJoin [%d keys], %s, state info [operator %d]", len(j.NullSafe), kind, j.Operator)
}

// Number implements Operator.
func (j *Join) Number() int { return j.Operator }

func (j *Join) side(i int) *JoinSide {
	if i == 0 {
		return &j.Left
	}
	return &j.Right
}

// preserved tells whether a side's rows come out without a match.
func (j *Join) preserved(side int) bool {
	return j.Kind == FullOuterJoin || side == 0 && j.Kind == LeftOuterJoin || side == 1 && j.Kind == RightOuterJoin
}

// Spec implements Operator. Both sides are in one table: a row's key is a number that no other row has; its values are its side,
// whether it had a match, and its columns, in slots that both sides use.
func (j *Join) Spec(partitions int, meaning string) state.Spec {
	s := state.Spec{Operator: j.Operator, Name: "symmetricHashJoin", Partitions: partitions, Meaning: meaning, Serial: true}
	s.Keys = []types.Field{{Name: "number", Type: types.Long}}
	s.Values = []types.Field{{Name: "side", Type: types.Byte}, {Name: "matched", Type: types.Boolean}}
	l := j.slots()
	for i, t := range l.types {
		s.Values = append(s.Values, types.Field{Name: fmt.Sprintf("slot%d", i), Type: t, Nullable: true})
	}
	s.Group = func(_, values []*vec.Vector, n int) []*vec.Vector { return l.keys(values[0], values[2:], n) }
	s.Views = j.views(l)
	return s
}

// views are the stored rows as people see them: by side.
func (j *Join) views(l *joinSlots) []state.View {
	const first = 3 // column behind number, side and match
	views := make([]state.View, 2)
	for side := range views {
		n := int8(side)
		v := state.View{Name: [...]string{"left", "right"}[side], Side: &n}
		for k, slot := range l.byKey[side] {
			v.Key = append(v.Key, state.ViewColumn{Name: fmt.Sprintf("field%d", k), Column: first + slot})
			v.Hash = append(v.Hash, first+slot)
		}
		for c, name := range j.side(side).Names {
			v.Value = append(v.Value, state.ViewColumn{Name: name, Column: first + l.of[side][c]})
		}
		views[side] = v
	}
	return views
}

// Attach implements Operator.
func (j *Join) Attach(s state.Store, partitions int, _ *exec.Task) []state.Values {
	vs := make([]state.Values, state.Shards(partitions))
	for i := range vs {
		rows := &joinRows{j: j, slots: j.slots()}
		rows.Reset()
		vs[i] = rows
		s.Attach(i, rows)
	}
	return vs
}

// Parts implements exec.Op.
func (j *Join) Parts(ctx context.Context, t *exec.Task) (exec.Parts, error) {
	batch := Of(t)
	shards := state.Shards(t.Partitions)
	sides := []exec.Dealt{{In: j.Left.In, Keys: j.Left.Keys}, {In: j.Right.In, Keys: j.Right.Keys}}
	in, err := exec.DealAll(ctx, t, sides, shards, func(hash uint32) int { return state.ShardOf(hash, t.Partitions) })
	if err != nil {
		return exec.Parts{}, err
	}
	outs := make([][]*vec.Batch, shards)
	tally := &tally{}
	none := exec.Parts{N: shards, Open: func(context.Context, int) (exec.Stream, error) { return exec.StreamOf(nil), nil }}
	err = exec.Run(ctx, t, none, func(_ context.Context, i int, _ exec.Stream) error {
		s := newJoinShard(j, t, batch, i)
		err := s.run(in[0][i], in[1][i])
		outs[i] = s.out
		tally.updated.Add(s.updated)
		tally.removed.Add(s.removed)
		tally.late.Add(s.late)
		tally.updateNanos.Add(s.updateNanos)
		tally.removalNanos.Add(s.removalNanos)
		return err
	})
	stats := &batch.Ops[j.Operator]
	tally.into(stats)
	stats.DroppedLateRows += tally.late.Load()
	if err != nil {
		return exec.Parts{}, err
	}
	return exec.PartsOf(outs...), nil
}
