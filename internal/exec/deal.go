package exec

import (
	"context"

	"github.com/millrace/millrace/internal/vec"
)

// Dealt is an operator whose rows are dealt out by key columns. Without keys all go to shard 0.
type Dealt struct {
	In   Op
	Keys []int
}

// Deal runs an operator and deals its rows out to shards by a function of the partition hash of key columns: the result has for
// every shard its rows as Owned batches, in the order of the parts. Without keys all rows go to shard 0.
func Deal(ctx context.Context, t *Task, in Op, keys []int, shards int, shardOf func(hash uint32) int) ([][]*vec.Batch, error) {
	all, err := DealAll(ctx, t, []Dealt{{in, keys}}, shards, shardOf)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// DealAll is Deal for several operators, whose parts run side by side.
func DealAll(ctx context.Context, t *Task, inputs []Dealt, shards int, shardOf func(hash uint32) int) ([][][]*vec.Batch, error) {
	parts := make([]Parts, len(inputs))
	var of []int // the input of each part
	for i, in := range inputs {
		ps, err := in.In.Parts(ctx, t)
		if err != nil {
			return nil, err
		}
		parts[i] = ps
		for range ps.N {
			of = append(of, i)
		}
	}
	first := make([]int, len(inputs)) // the number of each input's first part
	for i := 1; i < len(inputs); i++ {
		first[i] = first[i-1] + parts[i-1].N
	}
	together := Parts{N: len(of), Open: func(ctx context.Context, part int) (Stream, error) {
		return parts[of[part]].Open(ctx, part-first[of[part]])
	}}
	perPart := make([][][]*vec.Batch, len(of))
	err := Run(ctx, t, together, func(ctx context.Context, part int, s Stream) error {
		out := make([][]*vec.Batch, shards)
		perPart[part] = out
		keys := inputs[of[part]].Keys
		d := rowDealer{keys: make([]*vec.Vector, len(keys)), sel: make([][]uint32, shards)}
		return Drain(ctx, s, func(b *vec.Batch) error {
			if shards == 1 || len(keys) == 0 {
				out[0] = append(out[0], b.Own())
				return nil
			}
			d.deal(b.Compact(nil), keys, shardOf, out)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	all := make([][][]*vec.Batch, len(inputs))
	for i := range all {
		all[i] = make([][]*vec.Batch, shards)
	}
	for part, out := range perPart {
		for s, bs := range out {
			all[of[part]][s] = append(all[of[part]][s], bs...)
		}
	}
	return all, nil
}

// rowDealer is the scratch of one part.
type rowDealer struct {
	keys   []*vec.Vector
	hashes []uint32
	sel    [][]uint32
}

func (d *rowDealer) deal(b *vec.Batch, keys []int, shardOf func(uint32) int, out [][]*vec.Batch) {
	for i, k := range keys {
		d.keys[i] = b.Cols[k]
		if d.keys[i].Encoding() == vec.Dict {
			d.keys[i] = d.keys[i].Flatten()
		}
	}
	d.hashes = vec.PartitionHash(d.keys, b.N, d.hashes)
	for s := range d.sel {
		d.sel[s] = d.sel[s][:0]
	}
	for i, h := range d.hashes[:b.N] {
		s := shardOf(h)
		d.sel[s] = append(d.sel[s], uint32(i))
	}
	for s, sel := range d.sel {
		if len(sel) > 0 {
			out[s] = append(out[s], b.WithSelection(sel).Own())
		}
	}
}
