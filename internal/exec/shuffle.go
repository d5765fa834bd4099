package exec

import (
	"context"

	"github.com/millrace/millrace/internal/exec/spill"
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

	part  int // that it comes from
	piece     // what it is made of: its columns may be in a file
}

// A part is aggregated before it is dealt out, unless after partialTrial rows more than partialRatio of them were groups of their
// own: then grouping twice costs more than moving the rows.
const (
	partialTrial = 1 << 15
	partialRatio = 0.5
)

// Shuffle runs the input and deals groups out to shards, by a function of the partition hash of their key: the result has for every
// shard its chunks in the order of the parts, in memory.
func (h *HashAgg) Shuffle(ctx context.Context, t *Task, shards int, shardOf func(hash uint32) int) ([][]Chunk, error) {
	return h.shuffle(ctx, t, nil, nil, shards, shardOf)
}

// shuffle is Shuffle with a limit for memory: chunks may be in files. If how is not nil it may leave keys out, or deal nothing out: then the
// shards are the parts.
func (h *HashAgg) shuffle(ctx context.Context, t *Task, memory *spill.Scope, how *Arrange, shards int, shardOf func(hash uint32) int) ([][]Chunk, error) {
	ps, err := h.In.Parts(ctx, t)
	if err != nil {
		return nil, err
	}
	placed := how != nil && how.Placed && len(h.Keys) > 0 && ps.N > 0
	if placed {
		shards = ps.N
	}
	perPart := make([][][]Chunk, ps.N)
	files := h.chunkFiles(memory)
	err = Run(ctx, t, ps, func(ctx context.Context, part int, s Stream) error {
		d := newDealer(h, t, files, shards, shardOf)
		d.how = how
		if placed {
			d.all = part + 1
		}
		if h.mergeable() {
			d.table = h.partialTable(t)
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
		if err == nil {
			perPart[part], err = d.end()
		}
		return err
	})
	if err == nil {
		err = files.seal()
	}
	if err != nil {
		return nil, err
	}
	chunks := make([][]Chunk, shards)
	for part, out := range perPart {
		for s, cs := range out {
			for i := range cs {
				cs[i].part = part
			}
			chunks[s] = append(chunks[s], cs...)
		}
	}
	return chunks, nil
}

// dealer is the sending side of one part.
type dealer struct {
	h       *HashAgg
	t       *Task
	keys    int          // columns of a chunk that are keys
	memory  *spill.Scope // nil without a limit
	shards  int
	shardOf func(uint32) int
	how     *Arrange
	all     int        // one more than the shard that has everything, or 0
	table   *hashTable // nil once rows are passed on as they are
	rows    int
	grouped int64 // bytes of table

	groups, raw *pile // keys and then state, or arguments; of a shard, groups come first

	flat   []*vec.Vector
	hashes []uint32
	sel    [][]uint32
}

func newDealer(h *HashAgg, t *Task, files *chunkFiles, shards int, shardOf func(uint32) int) *dealer {
	return &dealer{
		h: h, t: t, keys: len(h.Keys), memory: files.memory, shards: shards, shardOf: shardOf,
		groups: newPile(files.memory, files.groups, shards), raw: newPile(files.memory, files.raw, shards),
	}
}

// end returns the chunks by shard.
func (d *dealer) end() ([][]Chunk, error) {
	out := make([][]Chunk, d.shards)
	for _, p := range []*pile{d.groups, d.raw} {
		if err := p.end(); err != nil {
			return nil, err
		}
		for s, pieces := range p.heaps {
			for _, x := range pieces {
				c := Chunk{Partial: p == d.groups, N: x.rows, piece: x}
				if x.batch != nil {
					c.Keys, c.Cols = x.batch.Cols[:d.keys:d.keys], x.batch.Cols[d.keys:]
				}
				out[s] = append(out[s], c)
			}
		}
	}
	return out, nil
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
				return d.deal(false, keys, cols, n)
			})
		}
		return d.deal(false, d.flat[:k], d.flat[k:], n)
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
		return nil
	}
	return d.bound()
}

// bound deals out the groups gathered so far when they are too many.
func (d *dealer) bound() error {
	if d.memory == nil {
		return nil
	}
	size := d.table.bytes()
	fits := d.memory.Grow(size - d.grouped)
	d.grouped = size
	if fits || size < minSpill(d.memory) {
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	d.table = d.h.partialTable(d.t)
	return nil
}

// partialTable groups by what is computed for each row: by panes, if there are any.
func (h *HashAgg) partialTable(t *Task) *hashTable {
	return &hashTable{acc: h.NewAccumulator(t), table: group.New(TypesOf(h.inputs()[:len(h.Keys)]))}
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
		if err := d.deal(true, table.table.Keys(live), table.acc.Save(live), len(live)); err != nil {
			return err
		}
	}
	d.memory.Release(d.grouped)
	d.grouped = 0
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
func (d *dealer) deal(partial bool, keys, cols []*vec.Vector, n int) error {
	if n == 0 {
		return nil
	}
	to := d.raw
	if partial {
		to = d.groups
	}
	all := vec.NewBatch(n, append(append(make([]*vec.Vector, 0, len(keys)+len(cols)), keys...), cols...)...)
	if d.shards == 1 || d.all > 0 {
		return to.add(max(d.all-1, 0), all.Own())
	}
	hashed := keys
	if d.how != nil {
		hashed = d.how.hashed(keys)
	}
	d.hashes = vec.PartitionHash(hashed, n, d.hashes)
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
		if err := to.add(s, all.Take(sel, nil).Own()); err != nil {
			return err
		}
	}
	return nil
}

// Shard is the partition of a partition hash, as Spark's pmod.
func Shard(hash uint32, shards int) int {
	m := int(int32(hash)) % shards
	if m < 0 {
		m += shards
	}
	return m
}
