package exec

import (
	"context"

	"github.com/millrace/millrace/internal/vec"
)

// Deal runs an operator and deals its rows out to shards by a function of the partition hash of key columns: the result has for
// every shard its rows as Owned batches, in the order of the parts. Without keys all rows go to shard 0.
func Deal(ctx context.Context, t *Task, in Op, keys []int, shards int, shardOf func(hash uint32) int) ([][]*vec.Batch, error) {
	ps, err := in.Parts(ctx, t)
	if err != nil {
		return nil, err
	}
	perPart := make([][][]*vec.Batch, ps.N)
	err = Run(ctx, t, ps, func(ctx context.Context, part int, s Stream) error {
		out := make([][]*vec.Batch, shards)
		perPart[part] = out
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
	all := make([][]*vec.Batch, shards)
	for _, out := range perPart {
		for s, bs := range out {
			all[s] = append(all[s], bs...)
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
