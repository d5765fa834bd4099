package stream

import (
	"path/filepath"
	"strconv"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/providers"
	"github.com/millrace/millrace/internal/vec"
)

// A query that was given other aggregates goes on with the state of the ones that it still has, if it may: the state is written anew, as for
// another number of partitions (see repartition.go), without what is gone, and with what is new as it is in a group without rows.

// findAdded looks for operators whose state was stored with other aggregates.
func (d *driver) findAdded(at checkpoint.Resume) error {
	g := d.frozen.generation
	reader, err := providers.ReaderOf(d.frozen.provider, d.ck.FS())
	if err != nil {
		return err
	}
	for i, o := range d.plan.operators {
		if len(o.parts) == 0 {
			continue
		}
		dir := filepath.Join(g.Dir(d.ck.StateDir()), strconv.Itoa(i), "0")
		h, err := reader.Header(dir, at.Batch-g.Shift())
		if err != nil {
			return err
		}
		spec := o.op.Spec(o.partitions(d.frozen.partitions), o.meaning)
		spec.Parts = o.parts
		unfit := state.Fits(spec, h)
		if unfit == nil {
			continue
		}
		carry, ok := state.Carry(spec, h)
		if !ok {
			return unfit
		}
		if at.Logged != nil {
			return errclass.New("STATE_STORE_ADDED_AGGREGATES_TOO_EARLY", "batchId", strconv.FormatInt(at.Batch, 10)).WithCause(unfit)
		}
		d.rt.Log.Info("aggregates of the state have changed", "id", d.q.ID(), "operator", i, "was", h.Meaning, "is", o.meaning)
		o.stored, o.carry, d.added = &h, carry, true
	}
	return nil
}

// openStored opens the state as it was stored, only to be read.
func (o *operator) openStored(p state.Provider, dir string, spec state.Spec) (err error) {
	spec.Meaning, spec.Parts, spec.Views = o.stored.Meaning, o.stored.Parts, o.stored.Views
	if spec.Values, err = state.FieldsOf(o.stored.Values); err != nil {
		return err
	}
	if o.tables, err = p.Open(dir, spec); err != nil {
		return err
	}
	o.spec, o.store, o.values = spec, o.tables, nil
	for i := range state.Shards(spec.Partitions) {
		var v state.Values = state.NewColumns(spec.Values)
		if spec.Time == nil && spec.Group != nil { // sessions, which expire by their end
			v = timedColumns{v.(*state.Columns)}
		}
		o.values = append(o.values, v)
		o.tables.Attach(i, v)
	}
	return nil
}

// timedColumns are columns of which the first is the event time by which rows expire.
type timedColumns struct{ *state.Columns }

// Times implements state.Timed.
func (c timedColumns) Times(rows []uint32) []int64 {
	return vec.Fixed[int64](c.Save(rows)[0].Flatten())
}
