package stream

import (
	"context"

	"github.com/millrace/millrace/source"
)

// endOfTime is the watermark, in ms, by which everything is final and every row late: the last millisecond that Spark's times have.
const endOfTime = 253402300799999

// closeAll ends a run that has read all its input with a batch that closes what waits for the watermark: windows, sessions, rows of
// outer joins, keys of deduplication. The watermark does not go back, so all rows of later runs are late. A crash in the batch leaves
// its watermark in the offset log: it is run again as it was, with or without the option.
func (d *driver) closeAll(ctx context.Context) error {
	if !d.optIn.finalFlush || d.tracker.global >= endOfTime {
		return nil
	}
	d.closing = true
	before := d.tracker.global
	d.tracker.global = endOfTime
	ran, err := d.step(ctx, source.LimitDefault)
	if !ran {
		d.tracker.global = before // nothing was open
	}
	return err
}
