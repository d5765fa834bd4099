package stream

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/millrace/millrace/internal/checkpoint"
)

// State is written anew between two batches when it is asked for: for another number of partitions, or for other aggregates. Before batch N is planned its
// state, version N, is written anew into a folder of its own, and the entry of batch N in the offset log then says that the state lies there
// and has so many partitions. That entry is what makes it so. A crash before it leaves a folder that nobody looks at and the next
// attempt removes; whoever goes back to a batch before N finds the state that batch had.

// generation says where the state lies; its files count versions from another one than 0.
type generation = checkpoint.Generation

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
	return d.ck.RemoveStateBefore(g)
}
