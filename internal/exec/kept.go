package exec

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Store keeps the rows of a relation from one query to the next, part by part as queries come to them: in memory as long as there is
// room, else in files. It is safe for use by several goroutines.
type Store struct {
	types  []types.DataType
	scope  *spill.Scope
	room   *atomic.Int64 // bytes that all stores together hold in memory
	inFile bool          // never in memory

	mu       sync.Mutex
	parts    []*keptPart // nil until the first execution
	missing  int         // parts that are not whole yet
	users    int
	released bool
}

// keptPart is a part of a Store. Its only token belongs to whoever reads or fills it.
type keptPart struct {
	token  chan struct{}
	whole  bool
	pieces []piece
}

// NewStore returns a store without rows. room counts what several stores hold in memory, which is at most half of what the process may
// hold; onDisk keeps all rows in files. Release ends it.
func NewStore(ts []types.DataType, scope *spill.Scope, room *atomic.Int64, onDisk bool) *Store {
	return &Store{types: ts, scope: scope, room: room, inFile: onDisk}
}

// Whole tells whether all rows are there.
func (s *Store) Whole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts != nil && s.missing == 0
}

// Release drops the rows, as soon as no execution reads them any more.
func (s *Store) Release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = true
	return s.leave()
}

func (s *Store) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// exit is the end of an execution.
func (s *Store) exit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	return s.leave()
}

// leave drops the rows when nobody is left. The lock is held.
func (s *Store) leave() error {
	if !s.released || s.users > 0 {
		return nil
	}
	for _, p := range s.parts {
		for _, x := range p.pieces {
			s.room.Add(-x.size)
		}
	}
	s.parts = nil
	return s.scope.Close()
}

// begin makes room for n parts when there is none yet, and gives the parts; nil when they are another number.
func (s *Store) begin(n int) []*keptPart {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parts == nil {
		s.parts, s.missing = make([]*keptPart, n), n
		for i := range s.parts {
			s.parts[i] = &keptPart{token: make(chan struct{}, 1)}
		}
	}
	if len(s.parts) != n {
		return nil
	}
	return s.parts
}

// keep computes a part, whose token the caller has. Nothing of it is kept when that fails.
func (s *Store) keep(ctx context.Context, p *keptPart, in Stream) error {
	var file *spill.File
	var files *spill.Set
	var pieces []piece
	err := Drain(ctx, in, func(b *vec.Batch) error {
		x := piece{rows: b.Rows(), batch: b.Own()}
		x.size = int64(x.batch.SizeBytes())
		if file == nil && !s.inFile && s.fits(x.size) {
			pieces = append(pieces, x)
			return nil
		}
		if file == nil {
			var err error
			files = s.scope.NewSet(s.types)
			if file, err = files.Take(); err != nil {
				return err
			}
		}
		at, err := file.Append(x.batch)
		pieces = append(pieces, piece{rows: x.rows, file: file, at: at})
		return err
	})
	if file != nil {
		files.Put(file)
		if err == nil {
			err = files.Seal()
		}
	}
	if err != nil {
		for _, x := range pieces {
			s.letGo(x.size)
		}
		return err
	}
	p.pieces, p.whole = pieces, true
	s.mu.Lock()
	defer s.mu.Unlock()
	s.missing--
	return nil
}

// fits counts n bytes in memory if there is room.
func (s *Store) fits(n int64) bool {
	held := s.room.Add(n)
	if s.scope.Grow(n) && (s.scope.Limit() == 0 || held <= s.scope.Limit()/2) {
		return true
	}
	s.letGo(n)
	return false
}

func (s *Store) letGo(n int64) {
	s.room.Add(-n)
	s.scope.Release(n)
}

// Kept hands out the rows of a Store, and computes those that are not there yet.
type Kept struct {
	Store *Store
	Name  string
	// In computes the rows; nil when all are there.
	In Op
	// Cols are the columns wanted, Out their types.
	Cols []int
	Out  []types.DataType
}

// Types implements Op.
func (k *Kept) Types() []types.DataType { return k.Out }

// Inputs implements Op.
func (k *Kept) Inputs() []Op {
	if k.In == nil {
		return nil
	}
	return []Op{k.In}
}

// Label implements Op.
func (k *Kept) Label() string {
	if k.Name == "" {
		return "InMemoryTableScan"
	}
	return "InMemoryTableScan " + k.Name
}

// Parts implements Op.
func (k *Kept) Parts(ctx context.Context, t *Task) (Parts, error) {
	s := k.Store
	if t.Memory != nil {
		s.enter()
		t.Memory.AtClose(s.exit)
	}
	s.mu.Lock()
	parts, missing := s.parts, s.missing
	s.mu.Unlock()
	if parts != nil && missing == 0 {
		return Parts{N: len(parts), Open: func(_ context.Context, i int) (Stream, error) {
			return &keptStream{cols: k.Cols, pieces: parts[i].pieces}, nil
		}}, nil
	}
	in, err := k.In.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	if parts = s.begin(in.N); parts == nil { // cut in another way than by whoever came first
		return Parts{N: in.N, Open: func(ctx context.Context, i int) (Stream, error) {
			from, err := in.Open(ctx, i)
			return &pickStream{in: from, cols: k.Cols}, err
		}}, nil
	}
	return Parts{N: in.N, Open: func(_ context.Context, i int) (Stream, error) {
		return &keptStream{cols: k.Cols, fill: func(ctx context.Context) ([]piece, error) {
			return s.part(ctx, parts[i], func() (Stream, error) { return in.Open(ctx, i) })
		}}, nil
	}}, nil
}

// part gives a part, which is computed when it is not there yet. Whoever else wants it waits.
func (s *Store) part(ctx context.Context, p *keptPart, open func() (Stream, error)) ([]piece, error) {
	select {
	case p.token <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.token }()
	if p.whole {
		return p.pieces, nil
	}
	in, err := open()
	if err != nil {
		return nil, err
	}
	err = s.keep(ctx, p, in)
	if cerr := in.Close(); err == nil {
		err = cerr
	}
	return p.pieces, err
}

// keptStream reads a part.
type keptStream struct {
	cols   []int
	fill   func(ctx context.Context) ([]piece, error) // nil when pieces are there
	pieces []piece
}

// Next implements Stream.
func (s *keptStream) Next(ctx context.Context) (*vec.Batch, error) {
	if s.fill != nil {
		var err error
		if s.pieces, err = s.fill(ctx); err != nil {
			return nil, err
		}
		s.fill = nil
	}
	if len(s.pieces) == 0 {
		return nil, io.EOF
	}
	b, err := s.pieces[0].load()
	if err != nil {
		return nil, err
	}
	s.pieces = s.pieces[1:]
	return pick(b, s.cols), nil
}

// Close implements Stream.
func (s *keptStream) Close() error { return nil }

// pickStream gives some columns of another stream.
type pickStream struct {
	in   Stream
	cols []int
}

// Next implements Stream.
func (s *pickStream) Next(ctx context.Context) (*vec.Batch, error) {
	b, err := s.in.Next(ctx)
	if err != nil {
		return nil, err
	}
	return pick(b, s.cols), nil
}

// Close implements Stream.
func (s *pickStream) Close() error { return s.in.Close() }

func pick(b *vec.Batch, cols []int) *vec.Batch {
	out := &vec.Batch{N: b.N, Sel: b.Sel, Cols: make([]*vec.Vector, len(cols))}
	for i, c := range cols {
		out.Cols[i] = b.Cols[c]
	}
	return out
}
