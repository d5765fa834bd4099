package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// State is written anew between two batches when it is asked for: for another number of partitions, or for other aggregates. Before batch N is planned its
// state, version N, is written anew into a folder of its own, and the entry of batch N in the offset log then says that the state lies there
// and has so many partitions. That entry is what makes it so. A crash before it leaves a folder that nobody looks at and the next
// attempt removes; whoever goes back to a batch before N finds the state that batch had.

// generation says where the state lies; its files count versions from another one than 0.
type generation = checkpoint.Generation

// providerOf makes stores of a generation.
func providerOf(g generation, p state.Provider) state.Provider {
	if g == (generation{}) {
		return p
	}
	return renumbered{p, g.Shift()}
}

// renumbered is a provider whose files count versions from another one than 0.
type renumbered struct {
	state.Provider
	by int64
}

// Open implements state.Provider.
func (p renumbered) Open(dir string, spec state.Spec) (state.Store, error) {
	s, err := p.Provider.Open(dir, spec)
	if err != nil {
		return nil, err
	}
	return renumberedTables{s, renumberedVersions{s, p.by}}, nil
}

// OpenKV implements state.KVProvider.
func (p renumbered) OpenKV(dir string, spec state.Spec) (state.KVStore, error) {
	kvs, ok := p.Provider.(state.KVProvider)
	if !ok {
		return nil, errclass.New("STATE_STORE_INVALID_PROVIDER", "inputClass", p.Name())
	}
	s, err := kvs.OpenKV(dir, spec)
	if err != nil {
		return nil, err
	}
	return renumberedKVs{s, renumberedVersions{s, p.by}}, nil
}

type renumberedVersions struct {
	state.Versioned
	by int64
}

// Load implements state.Versioned.
func (s renumberedVersions) Load(ctx context.Context, version int64) error {
	return s.Versioned.Load(ctx, version-s.by)
}

// Version implements state.Versioned.
func (s renumberedVersions) Version() int64 {
	if v := s.Versioned.Version(); v >= 0 {
		return v + s.by
	}
	return -1
}

// Maintain implements state.Versioned.
func (s renumberedVersions) Maintain(ctx context.Context, keep int64) error {
	return s.Versioned.Maintain(ctx, max(0, keep-s.by))
}

type renumberedTables struct {
	state.Store
	v renumberedVersions
}

func (s renumberedTables) Load(ctx context.Context, version int64) error {
	return s.v.Load(ctx, version)
}
func (s renumberedTables) Version() int64 { return s.v.Version() }
func (s renumberedTables) Maintain(ctx context.Context, keep int64) error {
	return s.v.Maintain(ctx, keep)
}

type renumberedKVs struct {
	state.KVStore
	v renumberedVersions
}

func (s renumberedKVs) Load(ctx context.Context, version int64) error { return s.v.Load(ctx, version) }
func (s renumberedKVs) Version() int64                                { return s.v.Version() }
func (s renumberedKVs) Maintain(ctx context.Context, keep int64) error {
	return s.v.Maintain(ctx, keep)
}

// wantedPartitions finds out whether the state is to get another number of partitions, and which; 0 is no.
func (d *driver) wantedPartitions() (int, error) {
	n, asked, err := d.ck.WantedPartitions()
	if err == nil && !asked {
		n, err = d.askedPartitions()
	}
	if err != nil {
		return 0, err
	}
	if n == d.frozen.partitions {
		return 0, d.ck.ForgetRepartition()
	}
	return n, nil
}

// askedPartitions is what the session asks for.
func (d *driver) askedPartitions() (int, error) {
	text, ok := d.conf.Explicit(keyPartitions)
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 || n == d.frozen.partitions {
		return d.frozen.partitions, nil
	}
	if d.optIn.repartition {
		return n, nil
	}
	d.rt.Log.Info("state keeps its number of partitions", "id", d.q.ID(), "partitions", d.frozen.partitions, keyPartitions, n,
		"to change it", keyRepartition+"=true")
	return d.frozen.partitions, nil
}

// copyRows is how many rows are dealt out in one file: what is in the making is held in memory.
const copyRows = 1 << 20

// repartition writes the state anew for another number of partitions. The next entry of the offset log makes it the query's.
func (d *driver) repartition(ctx context.Context) error {
	ops, was := d.plan.operators, d.frozen.partitions
	if err := load(ctx, ops, d.batch); err != nil {
		return err
	}
	g := generation{Version: d.batch, Steps: 1}
	for _, o := range ops {
		g.Steps = max(g.Steps, (o.store.Stats().Rows+d.m.copyRows-1)/d.m.copyRows)
	}
	dir := g.Dir(d.ck.StateDir())
	if err := d.ck.FS().RemoveAll(dir); err != nil { // of an attempt that was not completed
		return err
	}
	provider, err := d.openProvider()
	if err != nil {
		return err
	}
	t := d.task
	if d.wantPartitions > 0 {
		t.Partitions = d.wantPartitions
	}
	next := make([]operator, len(ops))
	defer func() {
		for i := range next {
			if next[i].store != nil {
				_ = next[i].store.Close()
			}
		}
	}()
	for i, o := range ops {
		n := &next[i]
		*n = operator{op: o.op, meaning: o.meaning, parts: o.parts, single: o.single}
		if err := n.open(provider, dir, n.partitions(t.Partitions), &t); err != nil {
			return err
		}
		if err := n.store.Load(ctx, 0); err != nil {
			return err
		}
		c := copier{carry: o.carry, from: o, to: n, was: o.partitions(was), partitions: n.partitions(t.Partitions), quota: (o.store.Stats().Rows + g.Steps - 1) / g.Steps, steps: g.Steps}
		if err := c.run(ctx); err != nil {
			return fmt.Errorf("repartition the state of operator %d: %w", i, err)
		}
	}
	// What was copied is closed and opened again as what it will be known by.
	for i := range next {
		err := errors.Join(next[i].store.Close(), ops[i].store.Close())
		next[i].store = nil
		ops[i].stored, ops[i].carry = nil, nil
		if err != nil {
			return err
		}
	}
	d.frozen.partitions, d.frozen.generation = t.Partitions, g
	all := d.frozen.conf.Map()
	all[keyPartitions], all[checkpoint.GenerationKey] = strconv.Itoa(t.Partitions), g.String()
	d.frozen.conf = checkpoint.NewConf(all)
	d.wantPartitions, d.added, d.moved = 0, false, true
	d.task.Partitions = d.frozen.partitions
	if err := openStores(ops, providerOf(g, provider), dir, &d.task); err != nil {
		return err
	}
	d.rt.Log.Info("state written anew", "id", d.q.ID(), "from", was, "to", d.frozen.partitions, "batch", d.batch)
	return nil
}

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

// settle notes the number of partitions with the operators once the log has it. It is done again after a crash.
func (d *driver) settle(ctx context.Context) error {
	if d.frozen.generation == (generation{}) {
		return nil
	}
	stored, err := d.ck.Operators()
	if err != nil {
		return err
	}
	for i, o := range d.plan.operators {
		is := o.describe(i, d.frozen.partitions)
		if i < len(stored) && len(stored[i].Stores) > 0 && stored[i].Stores[0].NumPartitions != is.Stores[0].NumPartitions {
			if err := d.ck.ReplaceOperator(ctx, is); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetOld removes the state of earlier generations once no batch to be kept needs it.
func (d *driver) forgetOld(keep int64) error {
	g := d.frozen.generation
	if d.forgot == g || keep < g.Version {
		return nil
	}
	d.forgot = g
	fsys, top := d.ck.FS(), d.ck.StateDir()
	entries, err := fsys.ReadDir(top)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if v, ok := strings.CutPrefix(e.Name(), "from-"); ok {
			if n, err := strconv.ParseInt(v, 10, 64); err == nil && n < g.Version {
				if err := fsys.RemoveAll(filepath.Join(top, e.Name())); err != nil {
					return err
				}
			}
			continue
		}
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		partitions, err := fsys.ReadDir(filepath.Join(top, e.Name()))
		if err != nil {
			return err
		}
		for _, p := range partitions {
			if _, err := strconv.Atoi(p.Name()); err == nil {
				if err := fsys.RemoveAll(filepath.Join(top, e.Name(), p.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
