package stateful

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// EventTime passes rows on and notes the event times in column Column: a timestamp, or a window, of which Spark notes its place (placesOf).
type EventTime struct {
	In     exec.Op
	ID     uint64 // of the watermark
	Column int
	Text   string
}

// Types implements exec.Op.
func (w *EventTime) Types() []types.DataType { return w.In.Types() }

// Inputs implements exec.Op.
func (w *EventTime) Inputs() []exec.Op { return []exec.Op{w.In} }

// Label implements exec.Op.
func (w *EventTime) Label() string { return fmt.Sprintf("EventTimeWatermark %s", w.Text) }

// Parts implements exec.Op.
func (w *EventTime) Parts(ctx context.Context, t *exec.Task) (exec.Parts, error) {
	ps, err := w.In.Parts(ctx, t)
	if err != nil {
		return exec.Parts{}, err
	}
	return exec.Parts{N: ps.N, Open: func(ctx context.Context, i int) (exec.Stream, error) {
		s, err := ps.Open(ctx, i)
		if err != nil {
			return nil, err
		}
		return &eventTimeStream{in: s, w: w, batch: Of(t), part: i}, nil
	}}, nil
}

type eventTimeStream struct {
	in    exec.Stream
	w     *EventTime
	batch *Batch
	part  int
	seen  EventTimes
}

// Next implements exec.Stream.
func (s *eventTimeStream) Next(ctx context.Context) (*vec.Batch, error) {
	b, err := s.in.Next(ctx)
	if err != nil {
		return nil, err
	}
	s.note(b)
	return b, nil
}

// Close implements exec.Stream.
func (s *eventTimeStream) Close() error {
	s.batch.noteEventTimes(s.w.ID, s.part, s.seen)
	return s.in.Close()
}

func (s *eventTimeStream) note(b *vec.Batch) {
	v := b.Cols[s.w.Column].Flatten()
	if v.Phys() == vec.PhysStruct {
		v = placesOf(v, 1)
	}
	xs, valid := vec.Fixed[int64](v), v.Validity()
	// A row without a time counts as one of 1970, as in Spark: it can't move the watermark, which starts there, but the progress
	// shows it.
	if b.Sel == nil {
		for i, x := range xs[:b.N] {
			if !valid.Get(i) {
				x = 0
			}
			s.seen.note(floorDiv(x, 1000))
		}
		return
	}
	for _, i := range b.Sel {
		x := xs[i]
		if !valid.Get(int(i)) {
			x = 0
		}
		s.seen.note(floorDiv(x, 1000))
	}
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}

// TimeOf is the column of microseconds by which a vector counts as event time: itself, or a window's end.
func TimeOf(v *vec.Vector) *vec.Vector {
	if v.Phys() != vec.PhysStruct {
		return v
	}
	f := v.Flatten()
	end := f.Kids()[1].Flatten()
	if f.Validity() == nil {
		return end
	}
	out := end.WithType(end.Type())
	out.SetValidity(vec.AndInto(nil, end.Validity(), f.Validity(), f.Len()))
	return out
}

// placesOf gives what Spark takes for the microseconds of a struct, a window for instance, in a row of so many columns, where it
// forgets that the time is the window's end: the word that says where in the row the struct begins and how long it is. So a watermark
// on a window stands still in the first days of 1970. What is late and what is final goes by the end (TimesOf).
func placesOf(v *vec.Vector, columns int) *vec.Vector {
	place := rowWidth(columns)<<32 | rowWidth(len(v.Kids()))
	out := vec.NewFixed(types.Long, v.Len())
	xs := vec.Fixed[int64](out)
	for i := range xs {
		xs[i] = place
	}
	out.SetValidity(v.Validity())
	return out
}

// rowWidth is the length of the fixed part of a row in Spark's memory: a bit for each column in whole words, and a word for each.
func rowWidth(columns int) int64 { return int64((columns+63)/64*8 + columns*8) }

// TimesOf reads the event times of a key column for state.Spec.Time.
func TimesOf(v *vec.Vector, n int, noTime int64) []int64 {
	v = TimeOf(v).Flatten()
	valid := v.Validity()
	out := make([]int64, n)
	copy(out, vec.Fixed[int64](v))
	if valid != nil {
		for i := range out {
			if !valid.Get(i) {
				out[i] = noTime
			}
		}
	}
	return out
}
