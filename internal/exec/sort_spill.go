package exec

import (
	"bytes"
	"context"
	"io"

	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// minSpill is how much a worker holds at least before it puts it into a file: many small batches cost more than they free.
func minSpill(s *spill.Scope) int64 { return min(1<<20, s.Limit()/16) }

// The number of runs that are merged at a time: each has a batch in memory.
const minFanIn, maxFanIn = 16, 256

func fanIn(s *spill.Scope) int { return int(max(minFanIn, min(maxFanIn, s.Limit()>>22))) }

// stretch is a sorted run in a file: batches from up to to.
type stretch struct {
	file     *spill.File
	from, to int
}

// spill puts the rows gathered so far into a file, sorted.
func (b *runBuilder) spill() error {
	r := b.cut()
	f, err := b.files.Take()
	if err != nil {
		return err
	}
	defer b.files.Put(f)
	x := stretch{file: f, from: f.Len()}
	if err := appendRun(f, r, 0, r.rows.N); err != nil {
		return err
	}
	x.to = f.Len()
	b.stored = append(b.stored, x)
	b.memory.Release(b.held)
	b.runs, b.n, b.held = nil, 0, 0
	return nil
}

// end sorts what is still in memory, and puts it into a file if there is no room.
func (b *runBuilder) end() error {
	r := b.cut()
	if r == nil {
		return nil
	}
	b.runs = []*run{r}
	if b.memory.Grow(0) || b.held < minSpill(b.memory)/minShare {
		return nil
	}
	return b.spill()
}

// minShare is for workers at the end of a part: no more will come, and what many parts leave is much.
const minShare = 16

// runTypes are the columns of a run in a file: rows, then keys.
func (s *Sort) runTypes() []types.DataType {
	return append(append([]types.DataType(nil), s.In.Types()...), TypesOf(s.keyExprs())...)
}

func appendRun(f *spill.File, r *run, from, to int) error {
	for ; from < to; from += vec.BatchRows {
		n := min(vec.BatchRows, to-from)
		rows, keys := r.rows.Slice(from, n), r.keys.Slice(from, n)
		if _, err := f.Append(vec.NewBatch(n, append(append([]*vec.Vector(nil), rows.Cols...), keys.Cols...)...)); err != nil {
			return err
		}
	}
	return nil
}

// merged hands out the rows of all runs in order, as one part. Runs of a part come in the order of their rows, the one in memory last.
func (s *Sort) merged(ctx context.Context, t *Task, parts []*runBuilder, files *spill.Set) (Parts, error) {
	if err := files.Seal(); err != nil {
		return Parts{}, err
	}
	var runs []*sortedRun
	for _, b := range parts {
		for _, x := range b.stored {
			runs = append(runs, &sortedRun{s: s, stretch: x})
		}
		for _, r := range b.runs {
			runs = append(runs, &sortedRun{s: s, run: r})
		}
	}
	for width := fanIn(t.Memory); len(runs) > width; {
		var fewer []*sortedRun
		next := t.Memory.NewSet(s.runTypes())
		for from := 0; from < len(runs); from += width {
			x, err := s.mergeInto(ctx, next, runs[from:min(from+width, len(runs))])
			if err != nil {
				return Parts{}, err
			}
			fewer = append(fewer, &sortedRun{s: s, stretch: x})
		}
		if err := files.Drop(); err != nil {
			return Parts{}, err
		}
		if err := next.Seal(); err != nil {
			return Parts{}, err
		}
		runs, files = fewer, next
	}
	return Parts{N: 1, Open: func(context.Context, int) (Stream, error) {
		m := &merger{runs: runs, left: s.Limit, keys: len(s.Keys)}
		return m, m.begin()
	}}, nil
}

// mergeInto makes one run of some.
func (s *Sort) mergeInto(ctx context.Context, files *spill.Set, runs []*sortedRun) (x stretch, err error) {
	if x.file, err = files.Take(); err != nil {
		return x, err
	}
	defer files.Put(x.file)
	x.from = x.file.Len()
	m := &merger{runs: runs, left: s.Limit}
	if err := m.begin(); err != nil {
		return x, err
	}
	err = Drain(ctx, m, func(b *vec.Batch) error {
		_, err := x.file.Append(b)
		return err
	})
	x.to = x.file.Len()
	return x, err
}

// sortedRun is a sorted run that is being read.
type sortedRun struct {
	s *Sort
	stretch
	run *run // instead of a stretch

	ordinal int
	next    int        // row of the run
	batch   *vec.Batch // rows and keys
	keys    vec.KeyBuffer
	row     int // next row of batch
	taken   int // first row of batch that was taken since the last batch came out
	base    int // where that row is among all that were taken
}

// load reads the next batch; io.EOF when there is none.
func (r *sortedRun) load() error {
	r.row, r.taken = 0, 0
	if r.run != nil {
		n := min(vec.BatchRows, r.run.rows.N-r.next)
		if n <= 0 {
			return io.EOF
		}
		rows, keys := r.run.rows.Slice(r.next, n), r.run.keys.Slice(r.next, n)
		r.batch = vec.NewBatch(n, append(append([]*vec.Vector(nil), rows.Cols...), keys.Cols...)...)
		r.next += n
	} else {
		if r.stretch.from == r.to {
			return io.EOF
		}
		var err error
		if r.batch, err = r.file.Read(r.stretch.from); err != nil {
			return err
		}
		r.stretch.from++
	}
	k := len(r.s.Keys)
	vec.EncodeSortKeys(r.batch.Cols[len(r.batch.Cols)-k:], r.s.orders(), r.batch.N, &r.keys)
	return nil
}

// merger merges sorted runs; of equal rows those of the earlier run come first.
type merger struct {
	runs []*sortedRun
	heap []*sortedRun // the one with the least row first
	left int64        // rows that may come out; negative is no limit
	keys int          // columns at the end that do not come out

	taken []*sortedRun // whose row comes next, for a batch
	at    []int        // how many rows of its batch were taken before
}

func (m *merger) begin() error {
	for i, r := range m.runs {
		r.ordinal = i
		switch err := r.load(); err {
		case nil:
			m.heap = append(m.heap, r)
		case io.EOF:
		default:
			return err
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return nil
}

// Close implements Stream.
func (m *merger) Close() error { return nil }

// Next implements Stream: it takes rows until a batch is full, or until a run's batch in memory is used up, whose rows must come out
// before the next is read.
func (m *merger) Next(context.Context) (*vec.Batch, error) {
	m.taken, m.at = m.taken[:0], m.at[:0]
	want := vec.BatchRows
	if m.left >= 0 {
		want = int(min(int64(want), m.left))
	}
	var used *sortedRun
	for len(m.taken) < want && len(m.heap) > 0 && used == nil {
		r := m.heap[0]
		m.taken, m.at = append(m.taken, r), append(m.at, r.row-r.taken)
		r.row++
		if r.row < r.batch.N {
			m.sink(0)
		} else {
			used = r
		}
	}
	n := len(m.taken)
	if n == 0 {
		return nil, io.EOF
	}
	out := m.gather(n)
	if m.left >= 0 {
		m.left -= int64(n)
	}
	if used != nil {
		switch err := used.load(); err {
		case nil:
			m.sink(0)
		case io.EOF:
			last := len(m.heap) - 1
			m.heap[0], m.heap = m.heap[last], m.heap[:last]
			m.sink(0)
		default:
			return nil, err
		}
	}
	return out, nil
}

// gather makes a batch of the rows that were taken: of each run they are neighbours.
func (m *merger) gather(n int) *vec.Batch {
	var spans []*vec.Batch
	rows := 0
	for _, r := range m.runs {
		if r.batch == nil || r.row == r.taken {
			continue
		}
		r.base = rows
		rows += r.row - r.taken
		span := r.batch.Slice(r.taken, r.row-r.taken)
		spans = append(spans, vec.NewBatch(span.N, span.Cols[:len(span.Cols)-m.keys]...))
	}
	idx := make([]uint32, n)
	for i, r := range m.taken {
		idx[i] = uint32(r.base + m.at[i])
	}
	for _, r := range m.runs {
		r.taken = r.row
	}
	if len(spans) == 1 {
		return spans[0]
	}
	return vec.ConcatBatches(spans).Take(idx, nil)
}

// less orders runs by their next rows.
func less(a, b *sortedRun) bool {
	c := bytes.Compare(a.keys.Key(a.row), b.keys.Key(b.row))
	return c < 0 || c == 0 && a.ordinal < b.ordinal
}

// sink restores the order of the heap below i, whose run has moved on: every run comes before its two children.
func (m *merger) sink(i int) {
	h := m.heap
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && less(h[right], h[least]) {
			least = right
		}
		if !less(h[least], h[i]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
