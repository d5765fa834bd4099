package stream

import (
	"context"
	"strconv"
	"time"

	"github.com/millrace/millrace/source"
)

// backToBack runs a batch as soon as the one before is done, and looks again after a short while when there was nothing.
func (d *driver) backToBack(ctx context.Context) error {
	delay := d.conf.Duration(keyPollingDelay)
	for !d.q.draining() {
		ran, err := d.step(ctx, source.LimitDefault)
		if err != nil {
			return err
		}
		if ran {
			continue
		}
		if err := d.poll(ctx, delay); err != nil {
			return err
		}
	}
	return nil
}

// poll waits before the next look. Whoever waits for all data to be processed cuts it short, and so does a source that hears of new data.
func (d *driver) poll(ctx context.Context, delay time.Duration) error {
	passed, stop := d.rt.Clock.After(delay)
	defer stop()
	for {
		select {
		case <-passed:
			return nil
		case <-d.news:
			return nil
		case <-d.q.drain:
			return nil
		case <-d.q.wake:
			if d.q.awaited() {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// onGrid runs a batch at every multiple of the interval since 1970. A batch that takes longer is followed at once: by the grid
// point that it has missed, once, however many there were.
func (d *driver) onGrid(ctx context.Context) error {
	every := d.trigger.every
	for !d.q.draining() {
		began := d.rt.Clock.Now()
		next := began.Truncate(0).Add(every - time.Duration(floorMod(began.UnixNano(), int64(every))))
		if _, err := d.step(ctx, source.LimitDefault); err != nil {
			return err
		}
		if err := d.flush(ctx); err != nil {
			return err
		}
		if d.trigger.kind == Continuous && d.batch > 0 {
			d.q.say("Committing epoch " + strconv.FormatInt(d.batch-1, 10))
			d.q.setStatus(func(s *Status) { s.IsDataAvailable = false })
		} else {
			d.q.say("Waiting for next trigger")
		}
		if took := d.rt.Clock.Now().Sub(began); took > every {
			d.rt.Log.Warn("batch takes longer than the trigger's interval", "id", d.q.id, "took", took, "interval", every)
		}
		if err := d.sleep(ctx, next.Sub(d.rt.Clock.Now())); err != nil {
			return err
		}
	}
	return nil
}

func floorMod(x, y int64) int64 {
	if m := x % y; m < 0 {
		return m + y
	}
	return x % y
}

// availableNow runs batches until the ends that the sources had at the beginning are reached, and those without data that are due
// then. With a source that cannot fix its end it is a single batch of all there is.
func (d *driver) availableNow(ctx context.Context) error {
	for _, in := range d.inputs {
		if _, ok := in.stream.(source.AvailableNow); !ok {
			d.rt.Log.Warn("source cannot fix its end for availableNow: the query runs a single batch", "id", d.q.id, "source", in.stream.Description())
			if _, err := d.step(ctx, source.LimitNone); err != nil {
				return err
			}
			return d.closeAll(ctx)
		}
	}
	for _, in := range d.inputs {
		if err := in.stream.(source.AvailableNow).PrepareAvailableNow(ctx); err != nil {
			return err
		}
	}
	for !d.q.draining() {
		ran, err := d.step(ctx, source.LimitDefault)
		if err != nil {
			return err
		}
		if !ran {
			return d.closeAll(ctx)
		}
	}
	return nil
}

// sleep waits for the clock, but no longer than until the query is to end.
func (d *driver) sleep(ctx context.Context, t time.Duration) error {
	if t <= 0 {
		return ctx.Err()
	}
	passed, stop := d.rt.Clock.After(t)
	defer stop()
	select {
	case <-passed:
		return nil
	case <-d.q.drain:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
