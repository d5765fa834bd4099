package exec

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// DeadLetter is a row, or a record that is none, that could not be computed with.
type DeadLetter struct {
	// Site tells places apart, Part the part of the input and Order the letters of one part.
	Site, Part, Order int
	// Input is the number of the source, or -1 where it is not one alone.
	Input int
	File  string // address of the file that the row comes from, or ""
	Row   string // columns as JSON
	Err   error
}

// DeadLetters collects the rows of a micro-batch that could not be computed with. Parts add side by side.
type DeadLetters struct {
	// Max is how many a micro-batch may have; more are an error.
	Max int

	mu   sync.Mutex
	list []DeadLetter
}

// Add takes a letter.
func (d *DeadLetters) Add(l DeadLetter) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.list) >= d.Max {
		return errclass.New("STREAMING_TOO_MANY_DEAD_LETTERS", "limit", strconv.Itoa(d.Max)).WithCause(l.Err)
	}
	d.list = append(d.list, l)
	return nil
}

// Sorted are all letters in an order that does not depend on timing.
func (d *DeadLetters) Sorted() []DeadLetter {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortFunc(d.list, func(a, b DeadLetter) int {
		return cmp.Or(a.Site-b.Site, a.Part-b.Part, a.Order-b.Order)
	})
	return d.list
}

// Records makes the parts of an input hand over the records that cannot be read.
func (d *DeadLetters) Records(ps Parts, site, input int) Parts {
	open := ps.Open
	ps.Open = func(ctx context.Context, i int) (Stream, error) {
		s, err := open(ctx, i)
		if err != nil {
			return nil, err
		}
		order := 0
		return &recordSieve{in: s, take: func(r source.BadRecord) error {
			order++
			return d.Add(DeadLetter{Site: site, Part: i, Order: order, Input: input, File: r.File, Row: r.Text, Err: r.Err})
		}}, nil
	}
	return ps
}

type recordSieve struct {
	in   Stream
	take func(source.BadRecord) error
}

// Next implements Stream.
func (s *recordSieve) Next(ctx context.Context) (*vec.Batch, error) {
	return s.in.Next(source.WithBadRecords(ctx, s.take))
}

// Close implements Stream.
func (s *recordSieve) Close() error { return s.in.Close() }

// Sieve passes on the rows for which all of some expressions can be computed, and gives the others to the task's dead letters. It stands
// below the operator that computes them. A task without dead letters passes everything on.
type Sieve struct {
	In    Op
	Tests []Expr
	// Site is the number of the place, Input that of the source below or -1.
	Site, Input int
	// File is the address of the file that a row comes from; nil where it is not known.
	File *Expr
	// Row makes the text of rows; columns are those of In.
	Row func() func(cols []*vec.Vector, n int) *vec.Vector
}

// Types implements Op.
func (s *Sieve) Types() []types.DataType { return s.In.Types() }

// Inputs implements Op.
func (s *Sieve) Inputs() []Op { return []Op{s.In} }

// Label implements Op.
func (s *Sieve) Label() string { return "DeadLetters" }

// Parts implements Op.
func (s *Sieve) Parts(ctx context.Context, t *Task) (Parts, error) {
	if t.Dead == nil {
		return s.In.Parts(ctx, t)
	}
	return mapParts(ctx, t, s.In, func(part int, in Stream) Stream {
		st := &sieveStream{s: s, in: in, dead: t.Dead, part: part, ev: NewEvaluator(t, part, s.Tests)}
		if s.File != nil {
			st.file = NewEvaluator(t, part, []Expr{*s.File})
		}
		return st
	})
}

type sieveStream struct {
	s     *Sieve
	in    Stream
	dead  *DeadLetters
	part  int
	order int
	ev    *Evaluator
	file  *Evaluator
	row   func(cols []*vec.Vector, n int) *vec.Vector
	sel   []uint32
	out   vec.Batch
}

// Next implements Stream. It copies nothing of the rows that pass: it narrows the selection.
func (s *sieveStream) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		b, err := s.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		bad := s.ev.failing(b)
		if len(bad) == 0 {
			return b, nil
		}
		if err := s.bury(b, bad); err != nil {
			return nil, err
		}
		if len(bad) == b.Rows() {
			continue
		}
		s.sel = s.sel[:0]
		for i := range b.Rows() {
			if len(bad) > 0 && bad[0].Row == i {
				bad = bad[1:]
				continue
			}
			s.sel = append(s.sel, uint32(at(b, i)))
		}
		s.out = vec.Batch{Cols: b.Cols, N: b.N, Sel: s.sel}
		return &s.out, nil
	}
}

// at is the place of the i-th row that counts.
func at(b *vec.Batch, i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// bury gives rows to the dead letters.
func (s *sieveStream) bury(b *vec.Batch, bad []expr.RowErr) error {
	sel := make([]uint32, len(bad))
	for i, e := range bad {
		sel[i] = uint32(at(b, e.Row))
	}
	rows := b.Take(sel, nil)
	if s.row == nil {
		s.row = s.s.Row()
	}
	texts := s.row(rows.Cols, rows.N)
	var files *vec.Vector
	if s.file != nil {
		cols, err := s.file.ComputeAll(rows)
		if err != nil {
			return err
		}
		files = cols[0].Flatten()
	}
	for i, e := range bad {
		s.order++
		l := DeadLetter{Site: s.s.Site, Part: s.part, Order: s.order, Input: s.s.Input, Row: string(texts.BytesAt(i)), Err: e.Err}
		if files != nil && !files.IsNull(i) {
			l.File = string(files.BytesAt(i))
		}
		if err := s.dead.Add(l); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Stream.
func (s *sieveStream) Close() error { return s.in.Close() }

// failing computes all expressions and returns the rows that fail, in order, each with the error that comes first.
func (ev *Evaluator) failing(b *vec.Batch) []expr.RowErr {
	in := ev.dense(b)
	for _, node := range ev.nodes {
		node.Eval(&ev.eval, in)
	}
	ev.eval.Row += int64(in.N)
	if ev.eval.Errs.Empty() {
		return nil
	}
	bad := slices.Clone(ev.eval.Errs.All())
	ev.eval.Errs.Reset()
	slices.SortStableFunc(bad, func(a, b expr.RowErr) int { return a.Row - b.Row })
	return slices.CompactFunc(bad, func(a, b expr.RowErr) bool { return a.Row == b.Row })
}
