package transform

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// groups hands the rows to the processor, group by group.
func (sh *shard) groups(ctx context.Context, batches []*vec.Batch, keys, cols []int, schema types.StructType,
	bind func([]arrow.RecordBatch) error, name string, handle func(ctx context.Context, key, from, to int) error,
) error {
	all := vec.ConcatBatches(batches)
	if all.N == 0 {
		return nil
	}
	g, err := newGrouping(sh.t.KeyTypes(), flat(pick(all.Cols, keys)), all.N, sh.run.partitions)
	if err != nil {
		return err
	}
	records, err := sh.records(vec.NewBatch(all.N, pick(all.Cols, cols)...).Take(g.rows, nil), schema)
	if err != nil {
		return err
	}
	if err := bind(records); err != nil {
		return err
	}
	if err := sh.bindKeys(vec.NewBatch(len(g.keys), g.cols...)); err != nil {
		return err
	}
	for i, key := range g.keys {
		sh.begin(key, g.partitions[i])
		if err := sh.call(ctx, name, func() error { return handle(ctx, i, g.starts[i], g.starts[i+1]) }); err != nil {
			return err
		}
		if err := sh.take(false); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	sh.end()
	return nil
}

// records are rows as the processor takes them.
func (sh *shard) records(b *vec.Batch, schema types.StructType) ([]arrow.RecordBatch, error) {
	var out []arrow.RecordBatch
	as := types.ArrowSchema(schema, sh.run.arrow)
	for from := 0; from < b.N; from += processor.ChunkRows {
		rec, err := vec.ToArrow(b.Slice(from, min(processor.ChunkRows, b.N-from)).Own(), as)
		if err != nil {
			return nil, err
		}
		out = append(out, rec)
	}
	return out, nil
}

func (sh *shard) bindKeys(b *vec.Batch) error {
	rec, err := vec.ToArrow(b.Own(), types.ArrowSchema(sh.t.KeySchema, sh.run.arrow))
	if err != nil {
		return err
	}
	return sh.inst.Keys(rec)
}

// grouping are rows by group. Groups lie by partition and, as Spark sorts them, by key; rows of a group keep their order.
type grouping struct {
	keys       [][]byte // hash and key
	partitions []int
	cols       []*vec.Vector // of the keys
	rows       []uint32      // group i has rows[starts[i]:starts[i+1]]
	starts     []int
}

// newGrouping groups n rows by the columns of their keys.
func newGrouping(ts []types.DataType, cols []*vec.Vector, n, partitions int) (*grouping, error) {
	ids := make([]uint32, n)
	table := group.New(ts)
	table.Resolve(cols, n, true, ids, nil)
	live := table.Live(nil)
	found := table.Keys(live)
	keys, parts, err := encode(ts, found, len(live), partitions)
	if err != nil {
		return nil, err
	}
	order := make([]uint32, len(live)) // of group numbers, by place
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		if parts[x] != parts[y] {
			return parts[x] - parts[y]
		}
		return bytes.Compare(keys[x][state.HashBytes:], keys[y][state.HashBytes:])
	})
	g := &grouping{
		keys: make([][]byte, len(order)), partitions: make([]int, len(order)), cols: vec.NewBatch(len(order), found...).Take(order, nil).Cols,
		rows: make([]uint32, n), starts: make([]int, len(order)+1),
	}
	place := make([]int, len(order))
	for i, o := range order {
		g.keys[i], g.partitions[i], place[o] = keys[o], parts[o], i
	}
	for _, id := range ids {
		g.starts[place[id]+1]++
	}
	for i := range order {
		g.starts[i+1] += g.starts[i]
	}
	next := slices.Clone(g.starts)
	for row, id := range ids {
		p := place[id]
		g.rows[next[p]] = uint32(row)
		next[p]++
	}
	return g, nil
}

// encode gives hash and key of n groups, and the partition of each.
func encode(ts []types.DataType, cols []*vec.Vector, n, partitions int) (keys [][]byte, parts []int, err error) {
	hashes := vec.PartitionHash(flat(cols), n, nil)
	if len(cols) == 0 {
		clear(hashes) // all rows are one group, which exec.Deal puts into shard 0
	}
	var arena []byte
	ends := make([]int, n)
	parts = make([]int, n)
	for i, h := range hashes {
		arena = binary.BigEndian.AppendUint32(arena, h)
		for c, v := range cols {
			if arena, err = appendColumn(arena, v, i, ts[c]); err != nil {
				return nil, nil, err
			}
		}
		ends[i], parts[i] = len(arena), state.PartitionOf(h, partitions)
	}
	keys = make([][]byte, n)
	from := 0
	for i, end := range ends {
		keys[i], from = arena[from:end:end], end
	}
	return keys, parts, nil
}

func pick(cols []*vec.Vector, places []int) []*vec.Vector {
	out := make([]*vec.Vector, len(places))
	for i, p := range places {
		out[i] = cols[p]
	}
	return out
}

func flat(cols []*vec.Vector) []*vec.Vector {
	out := make([]*vec.Vector, len(cols))
	for i, c := range cols {
		out[i] = c.Flatten()
	}
	return out
}
