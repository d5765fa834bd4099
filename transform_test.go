package millrace_test

import (
	"context"
	"iter"
	"testing"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/milltest"
)

type purchase struct {
	User   string
	Amount int64
}

type total struct {
	User       string
	Total, Cnt int64
}

// summing keeps what each user has paid.
type summing struct {
	sum *millrace.ValueState[total]
}

func (s *summing) Init(h *millrace.StatefulProcessorHandle) (err error) {
	s.sum, err = millrace.NewValueState[total](h, "sum")
	return err
}

func (s *summing) HandleInputRows(_ context.Context, user string, rows iter.Seq[purchase], _ millrace.TimerValues, emit func(total) error) error {
	t, _, err := s.sum.Get()
	if err != nil {
		return err
	}
	t.User = user
	for r := range rows {
		t.Total += r.Amount
		t.Cnt++
	}
	if err := s.sum.Update(t); err != nil {
		return err
	}
	return emit(t)
}

func TestTransformWithState(t *testing.T) {
	eng := milltest.New(t)
	in := eng.Stream("user STRING, amount BIGINT")
	q := eng.Start(millrace.TransformWithState(in.DataFrame().GroupBy("user"), &summing{}, millrace.TransformOptions{}), milltest.Mode(millrace.Update))
	in.AddText("ann  10", "bob  20", "ann  5")
	q.Expect("(ann, 15, 2)", "(bob, 20, 1)")
	in.AddText("ann  1", "cid  7")
	q.Expect("(ann, 16, 3)", "(cid, 7, 1)")
	q.Restart()
	in.AddText("bob  1")
	q.Expect("(bob, 21, 2)")
}
