package millrace

import (
	"context"
	"iter"
	"testing"
)

type nothing struct{}

func (nothing) Init(*StatefulProcessorHandle) error { return nil }

func (nothing) HandleInputRows(context.Context, string, iter.Seq[Row], TimerValues, func(int64) error) error {
	return nil
}

// A Go function cannot be sent to a server: that is said before anything is.
func TestTransformNeedsTheEngine(t *testing.T) {
	f := &fake{}
	d := newSession(f, "", "s").Range(0, 1, 1)
	_, err := TransformWithState(d.GroupBy("id"), nothing{}, TransformOptions{}).WriteStream().Format("noop").Start(context.Background())
	e, ok := err.(*placed)
	if !ok || len(f.commands) > 0 {
		t.Fatalf("got %v after %d commands", err, len(f.commands))
	}
	if want := "[UNSUPPORTED_FEATURE.GO_FUNCTION]"; e.err.Error()[:len(want)] != want {
		t.Errorf("got %v, want %s", e.err, want)
	}
}
