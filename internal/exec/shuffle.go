package exec

import (
	"context"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
)

// Chunk is what one part sends to one shard of a HashAgg.
type Chunk struct {
	// Partial tells what Cols are: the state columns of groups (see Accumulator.Merge), or the arguments of rows (see
	// Accumulator.Update).
	Partial bool
	N       int
	Keys    []*vec.Vector // Owned, as are Cols
	Cols    []*vec.Vector
}

// A part is aggregated before it is dealt out, unless after partialTrial rows more than partialRatio of them were groups of their
// own: then grouping twice costs more than moving the rows.
const (
	partialTrial = 1 << 15
	partialRatio = 0.5
)

// Shuffle runs the input and deals groups out to shards, by a function of the partition hash of their key: the result has for every
// shard its chunks in the order of the parts.
func (h *HashAgg) Shuffle(ctx context.Context, t *Task, shards int, shardOf func(hash uint32) int) ([][]Chunk, error) {
	ps, err := h.In.Parts(ctx, t)
	if err != nil {
		return nil, err
	}
	perPart := make([][][]Chunk, ps.N)
	err = Run(ctx, t, ps, func(ctx context.Context, part int, s Stream) error {
		d := &dealer{h: h, t: t, shards: shards, shardOf: shardOf, out: make([][]Chunk, shards)}
		if h.mergeable() {
			d.table = &hashTable{acc: h.NewAccumulator(t), table: group.New(TypesOf(h.inputs()[:len(h.Keys)]))}
		}
		ev := NewEvaluator(t, part, h.inputs())
		err := Drain(ctx, s, func(b *vec.Batch) error {
			cols, n, err := ev.Compute(b)
			if err != nil {
				return err
			}
			if h.Look != nil {
				h.Look(t, cols[:len(h.Keys)], n)
			}
			return d.add(cols, n)
		})
		if err == nil {
			err = ev.pending
		}
		if err == nil {
			err = d.flush()
		}
		perPart[part] = d.out
		return err
	})
	if err != nil {
		return nil, err
	}
	chunks := make([][]Chunk, shards)
	for _, out := range perPart {
		for s, cs := range out {
			chunks[s] = append(chunks[s], cs...)
		}
	}
	return chunks, nil
}

// dealer is the sending side of one part.
type dealer struct {
	h       *HashAgg
	t       *Task
	shards  int
	shardOf func(uint32) int
	table   *hashTable // nil once rows are passed on as they are
	rows    int
	out     [][]Chunk

	flat   []*vec.Vector
	hashes []uint32
	sel    [][]uint32
}

func (d *dealer) add(cols []*vec.Vector, n int) error {
	k := len(d.h.Keys)
	d.flat = d.flat[:0]
	for _, v := range cols {
		if v.Encoding() == vec.Dict {
			v = v.Flatten()
		}
		d.flat = append(d.flat, v)
	}
	if d.table == nil {
		if p := d.h.Panes; p != nil {
			return p.spread(d.flat[:k], d.flat[k:], n, func(keys, cols []*vec.Vector, n int) error {
				d.deal(false, keys, cols, n)
				return nil
			})
		}
		d.deal(false, d.flat[:k], d.flat[k:], n)
		return nil
	}
	ids := d.table.resolve(d.flat[:k], n)
	d.table.acc.Update(ids, d.flat[k:], n)
	if err := d.table.acc.Err(); err != nil {
		return err
	}
	d.rows += n
	if d.rows >= partialTrial && float64(d.table.table.Len()) > partialRatio*float64(d.rows) {
		if err := d.flush(); err != nil {
			return err
		}
		d.table = nil
	}
	return nil
}

// flush deals out the groups gathered so far.
func (d *dealer) flush() error {
	if d.table == nil {
		return nil
	}
	table, err := d.table, error(nil)
	if d.h.Panes != nil {
		if table, err = d.windows(); err != nil {
			return err
		}
	}
	live := table.table.Live(nil)
	if len(live) > 0 {
		d.deal(true, table.table.Keys(live), table.acc.Save(live), len(live))
	}
	return nil
}

// windows merges the groups gathered by pane into those by window.
func (d *dealer) windows() (*hashTable, error) {
	live := d.table.table.Live(nil)
	x := newHashTable(d.h, d.t)
	return x, d.h.Panes.spread(d.table.table.Keys(live), d.table.acc.Save(live), len(live), func(keys, cols []*vec.Vector, n int) error {
		x.acc.Merge(x.resolve(keys, n), cols)
		return x.acc.Err()
	})
}

// deal cuts rows by the partition hash of their keys.
func (d *dealer) deal(partial bool, keys, cols []*vec.Vector, n int) {
	if n == 0 {
		return
	}
	if d.shards == 1 {
		d.out[0] = append(d.out[0], Chunk{Partial: partial, N: n, Keys: ownAll(keys), Cols: ownAll(cols)})
		return
	}
	d.hashes = vec.PartitionHash(keys, n, d.hashes)
	if d.sel == nil {
		d.sel = make([][]uint32, d.shards)
	}
	for s := range d.sel {
		d.sel[s] = d.sel[s][:0]
	}
	for i, h := range d.hashes[:n] {
		s := d.shardOf(h)
		d.sel[s] = append(d.sel[s], uint32(i))
	}
	for s, sel := range d.sel {
		if len(sel) == 0 {
			continue
		}
		c := Chunk{Partial: partial, N: len(sel)}
		for _, v := range keys {
			c.Keys = append(c.Keys, vec.Take(v, sel, nil).Own())
		}
		for _, v := range cols {
			c.Cols = append(c.Cols, vec.Take(v, sel, nil).Own())
		}
		d.out[s] = append(d.out[s], c)
	}
}

// Shard is the partition of a partition hash, as Spark's pmod.
func Shard(hash uint32, shards int) int {
	m := int(int32(hash)) % shards
	if m < 0 {
		m += shards
	}
	return m
}

func ownAll(vs []*vec.Vector) []*vec.Vector {
	out := make([]*vec.Vector, len(vs))
	for i, v := range vs {
		out[i] = v.Own()
	}
	return out
}
