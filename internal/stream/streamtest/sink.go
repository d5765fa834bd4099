package streamtest

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// Sink keeps the batches that it has committed. Like a file sink it outlives queries and accepts a batch id once; a batch that
// comes again is compared with what the first attempt has given.
type Sink struct {
	// Info is what queries are told; NewSink makes one that counts rows and recovers.
	Info sink.Info
	// Again makes the sink take batches again that it has: what is not exactly once.
	Again bool
	// Hides makes a sink that says that nothing of a batch can be seen before Commit.
	Hides bool
	// Fail, when set, is asked before Begin, Write and Commit.
	Fail func(call string, batch int64) error

	mu      sync.Mutex
	schema  types.StructType
	batches map[int64][]string // rows in order
	order   []int64
	// Differences are batches that came twice with different rows.
	differences []string
	// reruns are batches that came again.
	reruns []int64
}

// NewSink returns an empty sink.
func NewSink() *Sink {
	return &Sink{Info: sink.Info{Description: "MemorySink", CountsRows: true, Recovers: true}, batches: map[int64][]string{}}
}

// Open implements sink.Format.
func (s *Sink) Open(_ context.Context, req sink.Request) (sink.Sink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.schema = req.Schema
	if s.Hides {
		return hiding{&opened{s}}, nil
	}
	return &opened{s}, nil
}

// Batches are the ids that were committed, in order.
func (s *Sink) Batches() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int64(nil), s.order...)
}

// Rows are the rows of one batch, sorted.
func (s *Sink) Rows(batch int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := append([]string(nil), s.batches[batch]...)
	sort.Strings(rows)
	return rows
}

// Ordered are the rows of one batch as they came.
func (s *Sink) Ordered(batch int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.batches[batch]...)
}

// All are the rows of all batches, sorted.
func (s *Sink) All() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows []string
	for _, id := range s.order {
		rows = append(rows, s.batches[id]...)
	}
	sort.Strings(rows)
	return rows
}

// Differences tells of batches that came twice with different rows.
func (s *Sink) Differences() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.differences
}

type opened struct{ s *Sink }

func (o *opened) Info() sink.Info { return o.s.Info }
func (o *opened) Close() error    { return nil }

func (o *opened) Begin(_ context.Context, id int64) (sink.Batch, bool, error) {
	if err := o.s.fail("Begin", id); err != nil {
		return nil, false, err
	}
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if _, ok := o.s.batches[id]; ok && !o.s.Again {
		o.s.reruns = append(o.s.reruns, id)
		return nil, true, nil
	}
	return &memoryBatch{s: o.s, id: id}, false, nil
}

type hiding struct{ *opened }

// Stage adds nothing to a round: nothing is kept in files.
func (hiding) Stage(context.Context, sink.Batch, []sink.Message, *fs.Round) error { return nil }

func (s *Sink) fail(call string, id int64) error {
	if s.Fail == nil {
		return nil
	}
	return s.Fail(call, id)
}

type memoryBatch struct {
	s  *Sink
	id int64
}

func (b *memoryBatch) Writer(_ context.Context, _ int) (sink.Writer, error) {
	return &memoryWriter{b: b}, nil
}

func (b *memoryBatch) Commit(_ context.Context, messages []sink.Message) error {
	if err := b.s.fail("Commit", b.id); err != nil {
		return err
	}
	rows := []string{}
	for _, m := range messages {
		rows = append(rows, m.([]string)...)
	}
	b.s.mu.Lock()
	defer b.s.mu.Unlock()
	if old, ok := b.s.batches[b.id]; ok {
		if was, is := strings.Join(old, "\n"), strings.Join(rows, "\n"); was != is {
			b.s.differences = append(b.s.differences, fmt.Sprintf("batch %d: first\n%s\nthen\n%s", b.id, was, is))
		}
		return nil
	}
	b.s.batches[b.id] = rows
	b.s.order = append(b.s.order, b.id)
	return nil
}

func (b *memoryBatch) Abort(context.Context) {}

type memoryWriter struct {
	b    *memoryBatch
	rows []string
}

func (w *memoryWriter) Write(_ context.Context, rec arrow.RecordBatch) error {
	if err := w.b.s.fail("Write", w.b.id); err != nil {
		return err
	}
	rows, err := vec.FromArrow(rec, w.b.s.schema)
	if err != nil {
		return err
	}
	for i := range rows.N {
		cells := make([]string, len(rows.Cols))
		for c, v := range rows.Cols {
			cells[c] = Cell(vec.ValueAt(v, i))
		}
		w.rows = append(w.rows, strings.Join(cells, " "))
	}
	return nil
}

func (w *memoryWriter) Close(context.Context) (sink.Message, error) { return w.rows, nil }
func (w *memoryWriter) Abort()                                      {}

// Day is the day of times without a date.
var Day = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Time reads 15:04, 15:04:05 or a full date and time, all in UTC; times without a date are on Day.
func Time(text string) time.Time {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return Day.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second)
		}
	}
	t, err := time.Parse(time.DateTime, text)
	if err != nil {
		panic(err)
	}
	return t
}

// Clock prints a time as Time reads it.
func Clock(t time.Time) string {
	t = t.UTC()
	switch {
	case t.Before(Day) || !t.Before(Day.Add(24*time.Hour)):
		return t.Format(time.DateTime)
	case t.Second() == 0 && t.Nanosecond() == 0:
		return t.Format("15:04")
	case t.Nanosecond() == 0:
		return t.Format("15:04:05")
	}
	return t.Format("15:04:05.999999")
}

// Cell prints one value.
func Cell(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case types.Micros:
		return Clock(x.Time())
	case []any:
		return Cell(types.Row(x))
	case types.Row:
		cells := make([]string, len(x))
		for i, v := range x {
			cells[i] = Cell(v)
		}
		return "[" + strings.Join(cells, ",") + "]"
	}
	return fmt.Sprint(v)
}
