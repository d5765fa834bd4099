package sourcetest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync"
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
	// Endless is set for sources that have something new whenever they are asked.
	Endless bool
	// Volatile is set for sources whose rows end with the stream that has received them: no second stream is asked for rows of the first.
	Volatile bool
}

// Stream checks a streaming source.
func Stream(t *testing.T, h StreamHarness) {
	t.Run("ranges", func(t *testing.T) { ranges(t, h) })
	t.Run("offsets", func(t *testing.T) { offsets(t, h) })
	t.Run("cuts", func(t *testing.T) { cuts(t, h) })
	t.Run("side by side", func(t *testing.T) { sideBySide(t, h) })
	t.Run("cancellation", func(t *testing.T) { cancellation(t, h) })
	if !h.Volatile {
		t.Run("restart", func(t *testing.T) { restart(t, h) })
	}
	t.Run("available now", func(t *testing.T) { availableNow(t, h) })
	t.Run("projection", func(t *testing.T) { projection(t, h) })
	t.Run("news", func(t *testing.T) { news(t, h) })
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

// advance asks for offsets until nothing is new and returns them, start included. Of an endless source it takes some.
func advance(t *testing.T, h StreamHarness, s source.Stream, start source.Offset) []source.Offset {
	t.Helper()
	const most, some = 1000, 5
	offs := []source.Offset{start}
	for range most {
		end := latest(t, s, offs[len(offs)-1], source.LimitDefault)
		if string(end) == string(offs[len(offs)-1]) {
			return offs
		}
		offs = append(offs, end)
		if h.Endless && len(offs) > some {
			return offs
		}
	}
	t.Fatalf("after %d batches the source still has something new", most)
	return nil
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
		for _, o := range advance(t, h, s, at)[1:] {
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

// offsets: they are JSON on one line, as the offset log has lines, and blanks in them mean nothing. Nothing new is the offset that was
// asked with.
func offsets(t *testing.T, h StreamHarness) {
	s := openStream(t, h, NewLog(t.TempDir()), source.Projection{})
	for range 2 {
		h.Add(t)
		latest(t, s, nil, source.LimitDefault)
	}
	offs := advance(t, h, s, nil)
	end := offs[len(offs)-1]
	want := plan(t, s, nil, end)
	for _, o := range offs[1:] {
		if bytes.ContainsAny(o, "\r\n") {
			t.Errorf("the offset %q is more than a line", o)
		}
	}
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, end, "", "  "); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, plan(t, s, nil, spaced.Bytes())); d != "" {
		t.Errorf("an offset with other blanks means something else (-want +got):\n%s", d)
	}
	if h.Endless {
		return
	}
	if again := latest(t, s, spaced.Bytes(), source.LimitDefault); compact(again) != compact(end) {
		t.Errorf("nothing is new after %s, but the source goes on to %s", end, again)
	}
}

func compact(o source.Offset) string {
	var b bytes.Buffer
	if err := json.Compact(&b, o); err != nil {
		return string(o)
	}
	return b.String()
}

// cuts: whichever offsets a range lies between, its rows are the same. Those behind an offset that was committed can still be read.
func cuts(t *testing.T, h StreamHarness) {
	log := NewLog(t.TempDir())
	s := openStream(t, h, log, source.Projection{})
	offs := []source.Offset{nil}
	for range 3 {
		h.Add(t)
		offs = append(offs, advance(t, h, s, offs[len(offs)-1])[1:]...)
	}
	const most = 8
	offs = offs[:min(len(offs), most)]
	parts := make([][]string, len(offs))
	for i := 1; i < len(offs); i++ {
		parts[i] = plan(t, s, offs[i-1], offs[i])
	}
	check := func(s source.Stream, from, to int) {
		t.Helper()
		var want []string
		for _, p := range parts[from+1 : to+1] {
			want = append(want, p...)
		}
		if d := cmp.Diff(want, plan(t, s, offs[from], offs[to])); d != "" {
			t.Errorf("from %s to %s (-parts +whole):\n%s", offs[from], offs[to], d)
		}
	}
	for to := range offs {
		for from := range to {
			check(s, from, to)
		}
	}
	if len(offs) < 3 {
		return
	}
	if err := s.Commit(t.Context(), offs[1]); err != nil {
		t.Fatal(err)
	}
	check(s, 1, len(offs)-1)
	if h.Volatile {
		return
	}
	check(openStream(t, h, log, source.Projection{}), 1, len(offs)-1)
}

// sideBySide: workers read the splits of a range at once, and each more than once.
func sideBySide(t *testing.T, h StreamHarness) {
	s := openStream(t, h, NewLog(t.TempDir()), source.Projection{})
	for range 2 {
		h.Add(t)
		latest(t, s, nil, source.LimitNone)
	}
	splits, err := s.Plan(t.Context(), nil, latest(t, s, nil, source.LimitNone))
	if err != nil {
		t.Fatal(err)
	}
	want := Rows(t, splits)
	const readers = 2
	rows, errs := make([][]string, readers*len(splits)), make([]error, readers*len(splits))
	var wg sync.WaitGroup
	for i := range rows {
		wg.Go(func() { rows[i], errs[i] = ReadRows(t.Context(), []source.Split{splits[i/readers]}) })
	}
	wg.Wait()
	for r := range readers {
		var got []string
		for i := r; i < len(rows); i += readers {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			got = append(got, rows[i]...)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("splits that are read side by side give other rows (-want +got):\n%s", d)
		}
	}
}

// cancellation: a call whose context has ended comes back, and what it was about can be asked again.
func cancellation(t *testing.T, h StreamHarness) {
	s := openStream(t, h, NewLog(t.TempDir()), source.Projection{})
	for range 2 {
		h.Add(t)
		latest(t, s, nil, source.LimitNone)
	}
	end := latest(t, s, nil, source.LimitNone)
	want := plan(t, s, nil, end)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o, err := s.LatestOffset(ctx, end, source.LimitDefault); err == nil && o != nil && !json.Valid(o) {
		t.Errorf("the offset %s is not JSON", o)
	}
	if splits, err := s.Plan(ctx, nil, end); err == nil {
		if rows, err := ReadRows(ctx, splits); err == nil && len(rows) != len(want) {
			t.Errorf("a read that was told to stop has no error, but %d of %d rows", len(rows), len(want))
		}
	}
	if d := cmp.Diff(want, plan(t, s, nil, end)); d != "" {
		t.Errorf("other rows after a call that was told to stop (-before +after):\n%s", d)
	}
}

// restart: a new stream on the same log gives the same rows for logged offsets and goes on behind them.
func restart(t *testing.T, h StreamHarness) {
	log := NewLog(t.TempDir())
	first := openStream(t, h, log, source.Projection{})
	h.Add(t)
	offs := advance(t, h, first, nil)
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
	if !ok || h.Endless {
		t.Skip("the source cannot fix its end, or never comes to it")
	}
	h.Add(t)
	if err := fixed.PrepareAvailableNow(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.Add(t)
	offs := advance(t, h, s, nil)
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

// news: a stream that hears of rows says so, without waiting for anybody who listens.
func news(t *testing.T, h StreamHarness) {
	s := openStream(t, h, NewLog(t.TempDir()), source.Projection{})
	n, ok := s.(source.Notifier)
	if !ok || h.Endless {
		t.Skip("the source does not hear of rows, or has some whenever it is asked")
	}
	heard := make(chan struct{}, 1)
	n.Notify(heard)
	h.Add(t)
	offs := advance(t, h, s, nil)
	at := offs[len(offs)-1]
	plan(t, s, nil, at)
	for range 2 {
		h.Add(t) // the second time with a token that nobody has taken
	}
	for end := at; string(end) == string(at); end = latest(t, s, at, source.LimitDefault) {
		select {
		case <-heard:
		case <-t.Context().Done():
			t.Fatal("rows came, and the source has not said so")
		}
	}
}
