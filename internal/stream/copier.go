package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// copyRows is how many rows are dealt out in one file: what is in the making is held in memory.
const copyRows = 1 << 20

// copier writes the rows of one operator's state into another store.
type copier struct {
	from, to     *operator
	was          int // partitions
	partitions   int
	quota, steps int64
	carry        []int // for each value column the one that it was, or -1; nil when they are the same

	rows   int64 // since the last file
	hashes []uint32
	serial []int64 // by shard: numbers given to rows
}

func (c *copier) run(ctx context.Context) (err error) {
	if c.from.kv != nil {
		err = c.kvs(ctx)
	} else {
		err = c.tables(ctx)
	}
	for err == nil && c.steps > 0 {
		err = c.save(ctx)
	}
	return err
}

// save writes a file.
func (c *copier) save(ctx context.Context) error {
	s, err := c.to.store.Prepare(ctx)
	if err != nil {
		return err
	}
	var r fs.Round
	r.Publish(s)
	if err := r.Commit(ctx); err != nil {
		return err
	}
	c.rows = 0
	c.steps--
	return c.to.store.Load(ctx, c.to.store.Version())
}

// added counts rows and writes a file when there are enough, but for the last one.
func (c *copier) added(ctx context.Context, n int64) error {
	c.rows += n
	if c.rows < c.quota || c.steps == 1 {
		return ctx.Err()
	}
	return c.save(ctx)
}

func (c *copier) tables(ctx context.Context) error {
	was := c.from.spec
	c.serial = make([]int64, state.Shards(c.partitions))
	for shard, values := range c.from.values {
		table := c.from.tables.Table(shard)
		cursor, err := table.Scan()
		if err != nil {
			return err
		}
		for {
			rows, err := cursor.Next()
			if err == nil && len(rows) > 0 {
				err = c.deal(&was, len(rows), table.Keys(rows), values.Save(rows))
			}
			if err == nil && len(rows) > 0 {
				err = c.added(ctx, int64(len(rows)))
			}
			if err != nil {
				return errors.Join(err, cursor.Close())
			}
			if len(rows) == 0 {
				break
			}
		}
		if err := cursor.Close(); err != nil {
			return err
		}
	}
	return nil
}

// deal puts rows into the shards that own them, in their order.
func (c *copier) deal(spec *state.Spec, n int, keys, values []*vec.Vector) error {
	groups := keys
	if spec.Group != nil {
		groups = spec.Group(keys, values, n)
	}
	mine := make([][]uint32, len(c.serial))
	for i := range groups {
		groups[i] = groups[i].Flatten()
	}
	c.hashes = vec.PartitionHash(groups, n, c.hashes)
	for i, h := range c.hashes[:n] {
		s := state.ShardOf(h, c.partitions)
		mine[s] = append(mine[s], uint32(i))
	}
	for s, idx := range mine {
		if len(idx) == 0 {
			continue
		}
		k, v := takeRows(keys, idx), takeRows(values, idx)
		if spec.Serial {
			k = []*vec.Vector{c.number(s, len(idx))}
		}
		if err := c.put(spec, s, len(idx), k, v); err != nil {
			return err
		}
	}
	return nil
}

// number gives numbers to rows of a shard, which come from several that have counted by themselves. Batches count from 1<<32 on.
func (c *copier) number(shard, n int) *vec.Vector {
	numbers := vec.NewFixed(types.Long, n)
	for i := range vec.Fixed[int64](numbers) {
		vec.Fixed[int64](numbers)[i] = c.serial[shard]
		c.serial[shard]++
	}
	return numbers
}

func takeRows(cols []*vec.Vector, idx []uint32) []*vec.Vector {
	out := make([]*vec.Vector, len(cols))
	for i, c := range cols {
		out[i] = vec.Take(c, idx, nil).Flatten()
	}
	return out
}

func (c *copier) put(spec *state.Spec, shard, n int, keys, values []*vec.Vector) error {
	table := c.to.tables.Table(shard)
	if spec.Group != nil {
		if err := table.Gather(spec.Group(keys, values, n), n); err != nil {
			return err
		}
	}
	rows := make([]uint32, n)
	if _, err := table.Resolve(keys, n, true, rows, nil); err != nil {
		return err
	}
	if c.carry != nil {
		empty := c.to.values[shard].Save(rows)
		for i, at := range c.carry {
			if at >= 0 {
				empty[i] = values[at]
			}
		}
		values = empty
	}
	if err := c.to.values[shard].Load(rows, values); err != nil {
		return err
	}
	table.Touch(rows)
	return nil
}

func (c *copier) kvs(ctx context.Context) error {
	for shard := range state.Shards(c.was) {
		cursor, err := c.from.kv.KV(shard).Scan(nil, nil)
		if err != nil {
			return err
		}
		for {
			key, value, ok, err := cursor.Next()
			if err == nil && ok {
				if err = c.putKV(key, value); err == nil {
					err = c.added(ctx, 1)
				}
			}
			if err != nil {
				return errors.Join(err, cursor.Close())
			}
			if !ok {
				break
			}
		}
		if err := cursor.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) putKV(key, value []byte) error {
	if len(key) < state.HashBytes {
		return errclass.Internal(fmt.Errorf("stream: a key of %d bytes does not say to which partition it belongs", len(key)))
	}
	if r, ok := c.from.op.(stateful.Rekeyer); ok {
		var err error
		if key, err = r.Rekey(key, c.partitions); err != nil {
			return err
		}
	}
	hash := binary.BigEndian.Uint32(key)
	return c.to.kv.KV(state.ShardOf(hash, c.partitions)).Put(key, value)
}
