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

// logging is an entry of the offset log on its way to the disk.
type logging struct {
	commit *commit // of the batch before, if it is on its way, too
	done   chan struct{}
	err    error // once done is closed
	// Entries that are too old to be asked for are deleted then, beside the batch.
	purged   chan struct{}
	purgeErr error // once purged is closed
}

// log begins to make the offsets of the batch at hand durable, together with the commit of the one before and after the entries of the
// sources' own logs, without which they mean nothing. It is over when awaitLog has
// returned, which must come before anything of the batch can be seen.
func (d *driver) log(ctx context.Context, o checkpoint.OffsetSeq) error {
	if err := d.awaitPurge(); err != nil {
		return err
	}
	var sources, r fs.Round
	for _, in := range d.inputs {
		if h, ok := in.stream.(holder); ok {
			if entry := h.Held(); entry != nil {
				sources.Publish(entry)
			}
		}
	}
	waits := d.pending
	if err := d.stageCommit(&r); err != nil {
		return err
	}
	s, err := d.ck.Offsets.Stage(d.batch, o)
	if err != nil {
		d.pending = waits // it is written when the query ends, if that can be done
		return errors.Join(err, r.Discard())
	}
	r.Publish(s)
	l := &logging{commit: waits, done: make(chan struct{}), purged: make(chan struct{})}
	d.logging, d.purging = l, l
	before := d.batch - d.keep()
	go func() {
		defer close(l.purged)
		l.err = fs.CommitInOrder(ctx, &sources, &r)
		close(l.done)
		if l.err == nil && before > 0 {
			l.purgeErr = d.ck.Purge(before)
		}
	}()
	return nil
}

// awaitLog waits until the entry of the batch at hand is in the log, if it is on its way, and does what must come after that.
func (d *driver) awaitLog(ctx context.Context) error {
	if d.logging == nil {
		return nil
	}
	l := d.logging
	d.logging = nil
	<-l.done
	if errors.Is(l.err, context.Canceled) && l.commit != nil && !d.ck.Commits.Has(l.commit.batch) {
		d.pending = l.commit // nothing was published: it is written when the query ends
	}
	if l.err != nil {
		return l.err
	}
	return d.afterLog(ctx)
}

// awaitPurge waits until old entries are deleted.
func (d *driver) awaitPurge() error {
	if d.purging == nil {
		return nil
	}
	l := d.purging
	d.purging = nil
	<-l.purged
	return l.purgeErr
}

// afterLog lets go of what batches before the one at hand have needed: it is in the log, and so is the commit of the one before.
func (d *driver) afterLog(ctx context.Context) error {
	if d.moved {
		d.moved = false
		if err := errors.Join(d.settle(ctx), d.ck.ForgetRepartition()); err != nil {
			return err
		}
	}
	if d.batch == 0 {
		return nil
	}
	for _, in := range d.inputs {
		if in.start != nil {
			if err := in.stream.Commit(ctx, in.start); err != nil {
				return err
			}
		}
	}
	return nil
}

// early tells whether the batch at hand may run while its entry in the log is on its way to the disk: when nothing of it can be seen
// before its files get their names. The first batch of a run, which may find what another run has left, and one whose state was moved
// wait for the log.
func (d *driver) early() bool { return d.hides && d.ran && !d.moved }

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

func (d *driver) keep() int64 { return max(2, d.conf.Int(keyMinBatches)) }
