package sourcetest

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/source"
)

// StreamHarness lets Stream work a streaming source.
type StreamHarness struct {
	// Open opens the table again, as a restarted program does. It must refer to the same data every time.
	Open func(t *testing.T) source.Streamer
	// Add makes some new rows available to the next LatestOffset. It is called several times.
	Add func(t *testing.T)
}

// Stream checks a streaming source.
func Stream(t *testing.T, h StreamHarness) {
	t.Run("ranges", func(t *testing.T) { ranges(t, h) })
	t.Run("restart", func(t *testing.T) { restart(t, h) })
	t.Run("available now", func(t *testing.T) { availableNow(t, h) })
	t.Run("projection", func(t *testing.T) { projection(t, h) })
}

func openStream(t *testing.T, h StreamHarness, log source.Log, want source.Projection) source.Stream {
	t.Helper()
	s, err := h.Open(t).Stream(t.Context(), source.StreamEnv{Log: log, Want: want})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func latest(t *testing.T, s source.Stream, start source.Offset, limit source.Limit) source.Offset {
	t.Helper()
	end, err := s.LatestOffset(t.Context(), start, limit)
	if err != nil {
		t.Fatal(err)
	}
	if end != nil && !json.Valid(end) {
		t.Fatalf("the offset %s is not JSON", end)
	}
	return end
}

// advance asks for offsets until nothing is new and returns them, start included.
func advance(t *testing.T, s source.Stream, start source.Offset) []source.Offset {
	t.Helper()
	offs := []source.Offset{start}
	for range 1000 {
		end := latest(t, s, offs[len(offs)-1], source.LimitDefault)
		if string(end) == string(offs[len(offs)-1]) || len(offs) > 5 && selfMoving(s) {
			return offs
		}
		offs = append(offs, end)
	}
	return offs
}

// selfMoving is for sources that always have something new.
func selfMoving(s source.Stream) bool {
	_, fixed := s.(source.AvailableNow)
	return !fixed
}

func plan(t *testing.T, s source.Stream, start, end source.Offset) []string {
	t.Helper()
	splits, err := s.Plan(t.Context(), start, end)
	if err != nil {
		t.Fatal(err)
	}
	return Rows(t, splits)
}

// ranges: the rows of a range are those of its parts, in order, and do not change.
func ranges(t *testing.T, h StreamHarness) {
	s := openStream(t, h, NewLog(t.TempDir()), source.Projection{})
	var offs []source.Offset
	var parts []string
	at := source.Offset(nil)
	for range 3 {
		h.Add(t)
		for _, o := range advance(t, s, at)[1:] {
			parts = append(parts, plan(t, s, at, o)...)
			at = o
			offs = append(offs, o)
		}
	}
	if len(offs) == 0 || len(parts) == 0 {
		t.Fatal("the source has no data after Add")
	}
	for range 2 {
		if d := cmp.Diff(parts, plan(t, s, nil, at)); d != "" {
			t.Errorf("the whole range differs from its parts (-parts +whole):\n%s", d)
		}
	}
	if s.Description() == "" {
		t.Error("the source has no description")
	}
	if err := s.Commit(t.Context(), at); err != nil {
		t.Error(err)
	}
}

// restart: a new stream on the same log gives the same rows for logged offsets and goes on behind them.
func restart(t *testing.T, h StreamHarness) {
	log := NewLog(t.TempDir())
	first := openStream(t, h, log, source.Projection{})
	h.Add(t)
	offs := advance(t, first, nil)
	end := offs[len(offs)-1]
	want := plan(t, first, nil, end)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := openStream(t, h, log, source.Projection{})
	if d := cmp.Diff(want, plan(t, second, nil, end)); d != "" {
		t.Errorf("other rows after a restart (-before +after):\n%s", d)
	}
	h.Add(t)
	more := latest(t, second, end, source.LimitDefault)
	if string(more) == string(end) {
		t.Fatal("nothing new after Add")
	}
	if rows := plan(t, second, end, more); len(rows) == 0 {
		t.Error("no rows after Add")
	}
}

// availableNow: the end does not move once it is fixed.
func availableNow(t *testing.T, h StreamHarness) {
	s := openStream(t, h, NewLog(t.TempDir()), source.Projection{})
	fixed, ok := s.(source.AvailableNow)
	if !ok {
		t.Skip("the source cannot fix its end")
	}
	h.Add(t)
	if err := fixed.PrepareAvailableNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Add(t)
	offs := advance(t, s, nil)
	got := plan(t, s, nil, offs[len(offs)-1])
	later := openStream(t, h, NewLog(t.TempDir()), source.Projection{})
	all := plan(t, later, nil, latest(t, later, nil, source.LimitNone))
	if len(got) == 0 || len(got) >= len(all) || !slices.Equal(got, all[:len(got)]) {
		t.Errorf("%d rows until the end that was fixed, %d in all", len(got), len(all))
	}
}

// projection: splits deliver the columns that are asked for, in that order.
func projection(t *testing.T, h StreamHarness) {
	names := h.Open(t).Schema().Names()
	slices.Reverse(names)
	for _, cols := range [][]string{names, names[:1], {}} {
		s := openStream(t, h, NewLog(t.TempDir()), source.Projection{Columns: cols})
		h.Add(t)
		splits, err := s.Plan(t.Context(), nil, latest(t, s, nil, source.LimitDefault))
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range splits {
			r, err := split.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			rec, err := r.Next(t.Context())
			if err == nil {
				got := []string{}
				for _, f := range rec.Schema().Fields() {
					got = append(got, f.Name)
				}
				if d := cmp.Diff(cols, got); d != "" {
					t.Errorf("columns (-want +got):\n%s", d)
				}
				if rec.NumRows() == 0 {
					t.Error("a record without rows")
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
