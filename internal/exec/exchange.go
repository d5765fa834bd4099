package exec

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/millrace/millrace/internal/expr/random"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Coalesce joins parts that follow each other, so that N are left.
type Coalesce struct {
	In Op
	N  int
}

// Types implements Op.
func (c *Coalesce) Types() []types.DataType { return c.In.Types() }

// Inputs implements Op.
func (c *Coalesce) Inputs() []Op { return []Op{c.In} }

// Label implements Op.
func (c *Coalesce) Label() string { return fmt.Sprintf("Coalesce %d", c.N) }

// Parts implements Op.
func (c *Coalesce) Parts(ctx context.Context, t *Task) (Parts, error) {
	ps, err := c.In.Parts(ctx, t)
	if err != nil || ps.N <= c.N && c.N > 1 {
		return ps, err
	}
	return Parts{N: c.N, Open: func(_ context.Context, i int) (Stream, error) {
		from, to := i*ps.N/c.N, (i+1)*ps.N/c.N
		return Serial(Parts{N: to - from, Open: func(ctx context.Context, k int) (Stream, error) { return ps.Open(ctx, from+k) }}), nil
	}}, nil
}

// Placing says by what an Exchange deals rows out.
type Placing uint8

const (
	// PlaceInTurn gives every part the next row, in the order of hashes of the rows: their own order may be another when they are computed again.
	PlaceInTurn Placing = iota
	// PlaceByHash is by the hash of the keys.
	PlaceByHash
	// PlaceByRange is by the keys' order: every part has about as many rows, which come before those of the next part.
	PlaceByRange
	// PlaceByNumber is by the key, an integer.
	PlaceByNumber
)

// Exchange deals rows out to parts as Spark does, because functions of a row's part and files tell.
type Exchange struct {
	In Op
	// N is the number of parts, or 0 for the task's partitions.
	N int
	// Joined parts are joined while they are small.
	Joined bool
	By     Placing
	Keys   []SortKey
}

// Types implements Op.
func (x *Exchange) Types() []types.DataType { return x.In.Types() }

// Inputs implements Op.
func (x *Exchange) Inputs() []Op { return []Op{x.In} }

// Label implements Op.
func (x *Exchange) Label() string {
	how := [...]string{"RoundRobinPartitioning", "hashpartitioning", "rangepartitioning", "ShufflePartitionIdPassThrough"}[x.By]
	return fmt.Sprintf("Exchange %s(%d keys, %d)", how, len(x.Keys), x.N)
}

// Parts implements Op.
func (x *Exchange) Parts(ctx context.Context, t *Task) (Parts, error) {
	ps, err := x.In.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	if x.By == PlaceByRange || x.By == PlaceInTurn {
		if ps, err = x.held(ctx, t, ps); err != nil {
			return Parts{}, err
		}
	}
	n := x.N
	if n == 0 {
		n = t.Partitions
	}
	var bounds [][]byte
	if x.By == PlaceByRange {
		if bounds, err = x.bounds(ctx, t, ps, n); err != nil {
			return Parts{}, err
		}
		n = len(bounds) + 1
	}
	joined := x.Joined && t.Coalesce
	heaps := n
	if joined {
		heaps = min(n, t.Shards())
	}
	files := t.Memory.NewSet(x.Types())
	piles := make([]*pile, ps.N)
	err = Run(ctx, t, ps, func(ctx context.Context, part int, in Stream) error {
		to := newPile(t.Memory, files, heaps)
		piles[part] = to
		p := &placer{x: x, n: n, bounds: bounds, part: part, ev: NewEvaluator(t, part, x.exprs())}
		err := Drain(ctx, in, func(b *vec.Batch) error {
			b = b.Compact(nil)
			places, err := p.places(b)
			if err != nil {
				return err
			}
			sel := make([][]uint32, heaps)
			for i, at := range places {
				h := int(at)
				if joined {
					h = h * heaps / n
				}
				sel[h] = append(sel[h], uint32(i))
			}
			for h, s := range sel {
				if len(s) > 0 {
					if err := to.add(h, (&vec.Batch{N: b.N, Cols: b.Cols, Sel: s}).Own()); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err == nil {
			err = to.end()
		}
		return err
	})
	if err == nil {
		err = files.Seal()
	}
	if err != nil {
		return Parts{}, err
	}
	if joined {
		if list, ok := fewPieces(piles); ok {
			return x.joined(t, list, n, bounds)
		}
	}
	return Parts{N: heaps, Open: func(_ context.Context, h int) (Stream, error) {
		var list []piece
		for _, p := range piles {
			list = append(list, p.heaps[h]...)
		}
		return &pieceStream{t: t, list: list}, nil
	}}, nil
}

func (x *Exchange) exprs() []Expr {
	es := make([]Expr, len(x.Keys))
	for i, k := range x.Keys {
		es[i] = k.Expr
	}
	return es
}

func (x *Exchange) orders() []vec.Order {
	orders := make([]vec.Order, len(x.Keys))
	for i, k := range x.Keys {
		orders[i] = vec.Order{Desc: k.Desc, NullsLast: !k.NullsFirst}
	}
	return orders
}

// fewPieces lists the batches of all piles, if they are small.
func fewPieces(piles []*pile) ([][]*vec.Batch, bool) {
	size := 0
	lists := make([][]*vec.Batch, len(piles))
	for i, p := range piles {
		for _, pieces := range p.heaps {
			for _, piece := range pieces {
				if piece.batch == nil {
					return nil, false
				}
				if size += piece.batch.SizeBytes(); size > smallBytes {
					return nil, false
				}
				lists[i] = append(lists[i], piece.batch)
			}
		}
	}
	return lists, true
}

// joined makes one part of all, whose rows come by part and, in one, by the part that they would have gone to.
func (x *Exchange) joined(t *Task, lists [][]*vec.Batch, n int, bounds [][]byte) (Parts, error) {
	var out []*vec.Batch
	for part, list := range lists {
		if len(list) == 0 {
			continue
		}
		p := &placer{x: x, n: n, bounds: bounds, part: part, ev: NewEvaluator(t, part, x.exprs())}
		all := vec.ConcatBatches(list)
		var places []uint32
		for from := 0; from < all.N; from += vec.BatchRows {
			some, err := p.places(all.Slice(from, min(vec.BatchRows, all.N-from)))
			if err != nil {
				return Parts{}, err
			}
			places = append(places, some...)
		}
		rows := make([]uint32, all.N)
		for i := range rows {
			rows[i] = uint32(i)
		}
		slices.SortStableFunc(rows, func(a, b uint32) int { return int(places[a]) - int(places[b]) })
		out = append(out, all.Take(rows, nil).Own())
	}
	return PartsOf(out), nil
}

// held runs parts and keeps their rows. Those that are dealt out in turn are sorted by hash, unless there are very many.
func (x *Exchange) held(ctx context.Context, t *Task, ps Parts) (Parts, error) {
	files := t.Memory.NewSet(x.Types())
	piles := make([]*pile, ps.N)
	err := Run(ctx, t, ps, func(ctx context.Context, part int, in Stream) error {
		p := newPile(t.Memory, files, 1)
		piles[part] = p
		rows := 0
		err := Drain(ctx, in, func(b *vec.Batch) error {
			rows += b.Rows()
			return p.add(0, b.Compact(nil).Own())
		})
		if err == nil && x.By == PlaceInTurn && rows > 0 && rows <= sortedGroups {
			err = p.sortByImage()
		}
		if err == nil {
			err = p.end()
		}
		return err
	})
	if err == nil {
		err = files.Seal()
	}
	return Parts{N: ps.N, Open: func(_ context.Context, i int) (Stream, error) {
		return &pieceStream{t: t, list: slices.Clone(piles[i].heaps[0]), keep: x.By == PlaceByRange}, nil
	}}, err
}

// sortByImage sorts the rows of a pile with one heap by the hashes of their images.
func (p *pile) sortByImage() error {
	var list []*vec.Batch
	for _, piece := range p.heaps[0] {
		if piece.batch == nil {
			return nil
		}
		list = append(list, piece.batch)
	}
	all := vec.ConcatBatches(list)
	hashes := imageHashes(all)
	rows := make([]uint32, all.N)
	for i := range rows {
		rows[i] = uint32(i)
	}
	slices.SortStableFunc(rows, func(a, b uint32) int {
		switch x, y := int32(hashes[a]), int32(hashes[b]); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	p.memory.Release(p.held)
	p.held, p.heaps[0] = 0, nil
	for from := 0; from < all.N; from += vec.BatchRows {
		if err := p.add(0, all.Take(rows[from:min(from+vec.BatchRows, all.N)], nil).Own()); err != nil {
			return err
		}
	}
	return nil
}

// pieceStream reads pieces of piles, and gives up what is not to be read again.
type pieceStream struct {
	t    *Task
	list []piece
	keep bool
}

// Next implements Stream.
func (s *pieceStream) Next(ctx context.Context) (*vec.Batch, error) {
	if len(s.list) == 0 {
		return StreamOf(nil).Next(ctx)
	}
	p := s.list[0]
	s.list = s.list[1:]
	if !s.keep && p.batch != nil {
		s.t.Memory.Release(p.size)
	}
	return p.load()
}

// Close implements Stream.
func (s *pieceStream) Close() error { return nil }

// placer finds the places of the rows of one part.
type placer struct {
	x      *Exchange
	n      int
	bounds [][]byte // PlaceByRange: the last keys of all places but the last
	part   int
	ev     *Evaluator
	next   int // PlaceInTurn
	began  bool
	hashes []uint32
	keys   vec.KeyBuffer
}

// places returns the places of a batch's rows, from 0 to n-1.
func (p *placer) places(b *vec.Batch) ([]uint32, error) {
	if cap(p.hashes) < b.N {
		p.hashes = make([]uint32, max(b.N, vec.BatchRows))
	}
	out := p.hashes[:b.N]
	if p.x.By == PlaceInTurn {
		if !p.began {
			p.began, p.next = true, int(random.NewXORShift(int64(p.part)).Intn(int32(min(p.n, math.MaxInt32))))
		}
		for i := range out {
			p.next = (p.next + 1) % p.n
			out[i] = uint32(p.next)
		}
		return out, nil
	}
	cols, err := p.ev.ComputeAll(b)
	if err != nil {
		return nil, err
	}
	cols = flattened(cols)
	switch p.x.By {
	case PlaceByHash:
		out = vec.PartitionHash(cols, b.N, out)
		for i, h := range out {
			out[i] = uint32(Shard(h, p.n))
		}
	case PlaceByNumber:
		v := cols[0].Flatten()
		for i, k := range vec.Fixed[int32](v)[:b.N] {
			out[i] = 0
			if !v.IsNull(i) {
				out[i] = uint32(Shard(uint32(k), p.n))
			}
		}
	case PlaceByRange:
		vec.EncodeSortKeys(cols, p.x.orders(), b.N, &p.keys)
		for i := range out {
			at, _ := slices.BinarySearchFunc(p.bounds, p.keys.Key(i), bytes.Compare)
			out[i] = uint32(at)
		}
	}
	return out, nil
}

// Ranges are found by a sample: up to sampled keys for each of them.
const (
	sampledKeys = 300
	mostSampled = 3_000_000
)

// bounds cuts the keys into n ranges, of about as many rows each, and returns the last key of all but the last range. Equal keys are never cut
// apart, so that there may be fewer.
func (x *Exchange) bounds(ctx context.Context, t *Task, ps Parts, n int) ([][]byte, error) {
	most := min(n*sampledKeys, mostSampled)
	perPart := make([][][]byte, ps.N)
	err := Run(ctx, t, ps, func(ctx context.Context, part int, in Stream) error {
		ev := NewEvaluator(t, part, x.exprs())
		var buf vec.KeyBuffer
		step, at := 1, 0
		return Drain(ctx, in, func(b *vec.Batch) error {
			cols, err := ev.ComputeAll(b)
			if err != nil {
				return err
			}
			vec.EncodeSortKeys(flattened(cols), x.orders(), b.Rows(), &buf)
			for i := range buf.Len() {
				if at++; at%step != 0 {
					continue
				}
				perPart[part] = append(perPart[part], bytes.Clone(buf.Key(i)))
			}
			for len(perPart[part]) > most { // every second one from here on
				kept := perPart[part][:0]
				for i := 1; i < len(perPart[part]); i += 2 {
					kept = append(kept, perPart[part][i])
				}
				perPart[part], step = kept, step*2
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	keys := slices.Concat(perPart...)
	slices.SortFunc(keys, bytes.Compare)
	var bounds [][]byte
	parts := min(n, len(keys))
	step := float64(len(keys)) / float64(max(parts, 1))
	target := step
	for i, k := range keys {
		if len(bounds) >= parts-1 {
			break
		}
		if float64(i+1) >= target && (bounds == nil || bytes.Compare(k, bounds[len(bounds)-1]) > 0) {
			bounds = append(bounds, k)
			target += step
		}
	}
	return bounds, nil
}
