package exec

import (
	"context"

	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Heaps are the rows of an operator, dealt out by the hash of key columns. They are kept in memory as long as there is room, and in files
// beyond.
type Heaps struct {
	t     *Task
	types []types.DataType
	keys  []int
	piles []*pile // of each part
	files *spill.Set
}

// DealHeaps runs an operator and deals its rows out to n heaps by a function of the partition hash of key columns. Without keys all rows go
// to heap 0. Each heap has its rows in the order of the parts.
func DealHeaps(ctx context.Context, t *Task, in Op, keys []int, n int, heapOf func(hash uint32) int) (*Heaps, error) {
	ps, err := in.Parts(ctx, t)
	if err != nil {
		return nil, err
	}
	h := newHeaps(t, in.Types(), keys, ps.N)
	err = Run(ctx, t, ps, func(ctx context.Context, part int, s Stream) error {
		p := newPile(t.Memory, h.files, n)
		h.piles[part] = p
		d := h.dealer(p, heapOf)
		if err := Drain(ctx, s, d.deal); err != nil {
			return err
		}
		return p.end()
	})
	if err != nil {
		return nil, err
	}
	return h, h.files.Seal()
}

func newHeaps(t *Task, ts []types.DataType, keys []int, parts int) *Heaps {
	return &Heaps{t: t, types: ts, keys: keys, piles: make([]*pile, parts), files: t.Memory.NewSet(ts)}
}

// Stored tells whether some rows are in files.
func (h *Heaps) Stored() bool { return !h.files.Empty() }

// Bytes is how much memory a heap takes when it is loaded; it is not counted, and 0, when memory has no limit.
func (h *Heaps) Bytes(i int) (size int64) {
	for _, p := range h.piles {
		for _, x := range p.heaps[i] {
			size += x.size
		}
	}
	return size
}

// Load takes the rows of a heap out, as Owned batches. They count as held, for Task.Memory to release.
func (h *Heaps) Load(i int) (rows []*vec.Batch, held int64, err error) {
	for _, p := range h.piles {
		for _, x := range p.heaps[i] {
			b, err := x.load()
			if err != nil {
				return nil, held, err
			}
			if x.file != nil {
				h.t.Memory.Grow(x.size)
			}
			held += x.size
			rows = append(rows, b)
		}
		p.heaps[i] = nil
	}
	return rows, held, nil
}

// Split takes the rows of a heap out and deals them out again.
func (h *Heaps) Split(ctx context.Context, i, n int, heapOf func(hash uint32) int) (*Heaps, error) {
	out := newHeaps(h.t, h.types, h.keys, 1)
	p := newPile(h.t.Memory, out.files, n)
	out.piles[0] = p
	d := out.dealer(p, heapOf)
	for _, from := range h.piles {
		for k, x := range from.heaps[i] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			b, err := x.load()
			if err != nil {
				return nil, err
			}
			if x.file == nil {
				h.t.Memory.Release(x.size)
			}
			from.heaps[i][k] = piece{}
			if err := d.deal(b); err != nil {
				return nil, err
			}
		}
		from.heaps[i] = nil
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return out, out.files.Seal()
}

// heapDealer deals out the rows of one part.
type heapDealer struct {
	rows   rowDealer
	keys   []int
	heapOf func(hash uint32) int
	pile   *pile
	out    [][]*vec.Batch
}

func (h *Heaps) dealer(p *pile, heapOf func(hash uint32) int) *heapDealer {
	n := len(p.heaps)
	return &heapDealer{
		rows: rowDealer{keys: make([]*vec.Vector, len(h.keys)), sel: make([][]uint32, n)},
		keys: h.keys, heapOf: heapOf, pile: p, out: make([][]*vec.Batch, n),
	}
}

func (d *heapDealer) deal(b *vec.Batch) error {
	if len(d.keys) == 0 || len(d.out) == 1 {
		return d.pile.add(0, b.Own())
	}
	d.rows.deal(b.Compact(nil), d.keys, d.heapOf, d.out)
	for i, bs := range d.out {
		for _, b := range bs {
			if err := d.pile.add(i, b); err != nil {
				return err
			}
		}
		d.out[i] = bs[:0]
	}
	return nil
}
