package stateful

import (
	"context"
	"fmt"
	"io"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Limit passes on the first N rows over the life of the query. Its state is one row without a key: how many it has passed on.
type Limit struct {
	In       exec.Op
	N        int64
	Operator int
}

// Types implements exec.Op.
func (l *Limit) Types() []types.DataType { return l.In.Types() }

// Inputs implements exec.Op.
func (l *Limit) Inputs() []exec.Op { return []exec.Op{l.In} }

// Label implements exec.Op.
func (l *Limit) Label() string {
	return fmt.Sprintf("StreamingGlobalLimit %d, state info [operator %d]", l.N, l.Operator)
}

// Number implements Operator.
func (l *Limit) Number() int { return l.Operator }

// Spec implements Operator. The number of rows is not part of the meaning: it may be raised.
func (l *Limit) Spec(_ int, meaning string) state.Spec {
	return state.Spec{
		Operator: l.Operator, Name: "globalLimit", Partitions: 1, Meaning: meaning,
		Values: []types.Field{{Name: "count", Type: types.Long}},
		Views: []state.View{{
			Key: []state.ViewColumn{{Name: "key", Column: state.NullColumn}}, Value: []state.ViewColumn{{Name: "value", Column: 0}},
		}},
	}
}

// Attach implements Operator.
func (l *Limit) Attach(s state.Store, _ int, _ *exec.Task) []state.Values {
	v := &longs{}
	s.Attach(0, v)
	return []state.Values{v}
}

// Parts implements exec.Op. Every part is read until it has given N rows, also when the limit was reached before, as in Spark: what
// the operators below count does not depend on when that was.
func (l *Limit) Parts(ctx context.Context, t *exec.Task) (exec.Parts, error) {
	ps, err := l.In.Parts(ctx, t)
	if err != nil {
		return exec.Parts{}, err
	}
	batch := Of(t)
	table, counts := batch.Stores[l.Operator].Table(0), batch.Values[l.Operator][0].(*longs)
	row := make([]uint32, 1)
	if _, err := table.Resolve(nil, 1, false, row, nil); err != nil {
		return exec.Parts{}, err
	}
	before := int64(0)
	if row[0] != group.None {
		before = counts.xs[row[0]]
	}
	count := before
	var kept []*vec.Batch
	err = l.each(ctx, ps, func(b *vec.Batch) {
		if n := min(l.N-count, int64(b.Rows())); n > 0 {
			kept = append(kept, b.Slice(0, int(n)).Own())
			count += n
		}
	})
	if err != nil {
		return exec.Parts{}, err
	}
	if count != before {
		if _, err := table.Resolve(nil, 1, true, row, nil); err != nil {
			return exec.Parts{}, err
		}
		counts.xs[row[0]] = count
		table.Touch(row)
		batch.Ops[l.Operator].Updated++
	}
	return exec.PartsOf(kept), nil
}

func (l *Limit) each(ctx context.Context, ps exec.Parts, each func(*vec.Batch)) error {
	for i := range ps.N {
		s, err := ps.Open(ctx, i)
		if err != nil {
			return err
		}
		left := l.N
		for left > 0 {
			b, err := s.Next(ctx)
			if err == io.EOF {
				break
			}
			if err != nil {
				_ = s.Close()
				return err
			}
			n := min(left, int64(b.Rows()))
			left -= n
			each(b.Slice(0, int(n)))
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}
