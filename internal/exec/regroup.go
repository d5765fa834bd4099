package exec

import (
	"cmp"
	"slices"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// regroup brings the rows of a grouping with one kind of DISTINCT into the order in which Spark sees them. It groups by the keys and the
// distinct arguments first, and what comes of that exchange by the keys. The chunks are in memory and of one shard.
func (h *HashAgg) regroup(t *Task, chunks []Chunk) []Chunk {
	from, args := h.distinctArgs()
	if args == nil || len(chunks) == 0 {
		return chunks
	}
	var batches []*vec.Batch
	var parts []int  // by row
	size := int64(0) // that the chunks were counted with
	for _, c := range chunks {
		size += c.size
		batches = append(batches, vec.NewBatch(c.N, append(slices.Clone(c.Keys), c.Cols...)...))
		for range c.N {
			parts = append(parts, c.part)
		}
	}
	all := vec.ConcatBatches(batches)
	nk := len(h.Keys)
	both := append(slices.Clone(all.Cols[:nk]), all.Cols[nk+from:nk+from+len(args)]...)
	for i, v := range both {
		both[i] = v.Flatten()
	}
	table := group.New(append(h.KeyTypes(), args...))
	groups := make([]uint32, all.N)
	table.Resolve(both, all.N, true, groups, nil)
	hashed := append(slices.Clone(h.hashed(both[:nk])), both[nk:]...)
	hashes := vec.PartitionHash(hashed, all.N, nil)
	type place struct {
		null            bool
		part, partition int
	}
	places := make([]place, 0, table.Cap())
	for i, g := range groups {
		if int(g) == len(places) {
			null := slices.ContainsFunc(hashed, func(v *vec.Vector) bool { return v.IsNull(i) })
			places = append(places, place{null && h.Nulls != NullsAmong, parts[i], Shard(hashes[i], t.Partitions)})
		}
	}
	rows := make([]uint32, all.N)
	for i := range rows {
		rows[i] = uint32(i)
	}
	slices.SortStableFunc(rows, func(a, b uint32) int {
		p, q := places[groups[a]], places[groups[b]]
		if p.null != q.null {
			if q.null {
				return -1
			}
			return 1
		}
		return cmp.Or(p.part-q.part, p.partition-q.partition, cmp.Compare(groups[a], groups[b]))
	})
	all = all.Take(rows, nil).Own()
	return []Chunk{{N: all.N, Keys: all.Cols[:nk], Cols: all.Cols[nk:], piece: piece{rows: all.N, size: size, batch: all}}}
}

// distinctArgs are the arguments of the aggregates with DISTINCT, and the place of the first among the columns of rows, if all have the same.
func (h *HashAgg) distinctArgs() (from int, args []types.DataType) {
	at, places := 0, []Expr(nil)
	for _, a := range h.Aggs {
		if a.Distinct {
			if a.Filter != nil {
				return 0, nil
			}
			if args == nil {
				from, args, places = at, TypesOf(a.Args), a.Args
			} else if !slices.EqualFunc(a.Args, places, func(x, y Expr) bool { return x.Column >= 0 && x.Column == y.Column }) {
				return 0, nil
			}
		}
		at += len(a.Args)
		if a.Filter != nil {
			at++
		}
	}
	return from, args
}
