package stream

import (
	"context"
	"errors"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
)

// commit is an entry of the commit log that waits to be written.
type commit struct {
	batch       int64
	watermarkMs int64
	inputs      []int64 // watermarks of the inputs, when they are kept
}

// log makes the offsets of the batch at hand durable, together with the commit of the one before.
func (d *driver) log(ctx context.Context, o checkpoint.OffsetSeq) error {
	var r fs.Round
	waits := d.pending
	if err := d.stageCommit(&r); err != nil {
		return err
	}
	s, err := d.ck.Offsets.Stage(d.batch, o)
	if err != nil {
		d.pending = waits // it is written when the query ends, if that can be done
		return errors.Join(err, discard(&r))
	}
	r.Publish(s)
	return r.Commit(ctx)
}

func (d *driver) stageCommit(r *fs.Round) error {
	if d.pending == nil {
		return nil
	}
	s, err := d.ck.Commits.Stage(d.pending.batch, checkpoint.Commit{
		NextBatchWatermarkMs: d.pending.watermarkMs, InputWatermarksMs: d.pending.inputs,
	})
	if err != nil {
		return err
	}
	r.Publish(s)
	d.pending = nil
	return nil
}

// flush writes down the commit that waits.
func (d *driver) flush(ctx context.Context) error {
	if d.pending == nil {
		return nil
	}
	var r fs.Round
	if err := d.stageCommit(&r); err != nil {
		return err
	}
	return r.Commit(ctx)
}

func (d *driver) timedFlush(ctx context.Context) error {
	return d.clock.timed("commitOffsets", func() error { return d.flush(ctx) })
}

// purge deletes what is too old to be asked for.
func (d *driver) purge() error {
	keep := d.keep()
	if d.batch <= keep {
		return nil
	}
	return d.ck.Purge(d.batch - keep)
}

func (d *driver) keep() int64 { return max(2, d.conf.Int(keyMinBatches)) }
