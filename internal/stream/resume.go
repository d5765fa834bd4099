package stream

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/setting"
)

// stateCodecs are those that Spark knows. State is compressed in a way of its own, but a mistake is one.
var stateCodecs = []string{"lz4", "lzf", "snappy", "zstd"}

func checkStateCodec(name string) error {
	if strings.HasPrefix(name, "org.apache.spark.io.") || slices.Contains(stateCodecs, strings.ToLower(name)) {
		return nil
	}
	return errclass.New("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION", "codecName", name, "availableCodecs", strings.Join(stateCodecs, ", "))
}

// prepare finds out where the query goes on and opens what it reads and remembers.
func (d *driver) prepare(ctx context.Context) error {
	if _, err := setting.Positive(d.conf.Value, keyRecentProgress); err != nil {
		return err
	}
	if name, ok := d.conf.Explicit(keyStateCodec); ok && len(d.plan.operators) > 0 {
		if err := checkStateCodec(name); err != nil {
			return err
		}
	}
	at, err := d.ck.Resume()
	if err != nil {
		return err
	}
	if at.CommitsBehind {
		d.rt.Log.Warn("commit log is more than one batch behind the offset log", "id", d.q.id, "batch", at.Batch)
	}
	d.batch, d.logged = at.Batch, at.Logged
	last := at.Logged
	if last == nil {
		last = at.Previous
	}
	if at.Batch > 0 { // before it matters by whom state would be kept
		if err := checkOperators(d.ck, d.plan.operators, true); err != nil {
			return err
		}
	}
	if d.frozen, err = freeze(last, d.conf, d.rt.Parallelism, len(d.plan.operators) > 0); err != nil {
		return err
	}
	if len(d.plan.operators) > 0 && (at.Batch > 0 || at.Logged != nil) {
		if d.wantPartitions, err = d.wantedPartitions(); err != nil {
			return err
		}
	}
	if at.Previous != nil {
		d.previousMs = at.Previous.Metadata.BatchWatermarkMs
	}
	d.tracker = newTracker(d.plan.watermarks, d.frozen.policy, at.WatermarkMs)
	d.tracker.watch(d.optIn.idleTimeout, d.rt.Clock.Now())
	if d.optIn.perInput {
		d.tracker.resume(at.InputWatermarksMs)
	}
	if at.WatermarkMs >= endOfTime && len(d.plan.operators) > 0 {
		d.rt.Log.Warn("an earlier run has closed everything: all rows are late for what keeps state", "id", d.q.id, "option", optFinalFlush)
	}
	d.noData = d.conf.Bool(keyNoDataBatches)
	d.clock = newReporter(d)
	if err := d.openState(ctx, at); err != nil {
		return err
	}
	d.news = make(chan struct{}, 1)
	if d.inputs, err = openInputs(ctx, d.plan.sources, d.ck, d.news); err != nil {
		return err
	}
	return d.seek(at)
}

// seek sets the offsets of the inputs to where the log says.
func (d *driver) seek(at checkpoint.Resume) error {
	if at.Previous != nil {
		if err := d.count(at.Previous); err != nil {
			return err
		}
		for use, i := range d.plan.uses {
			d.inputs[i].start = at.Previous.Offsets[use]
		}
	}
	if at.Logged != nil {
		if err := d.count(at.Logged); err != nil {
			return err
		}
		for use, i := range d.plan.uses {
			d.inputs[i].end = at.Logged.Offsets[use]
		}
	}
	return nil
}

func (d *driver) count(o *checkpoint.OffsetSeq) error {
	if len(o.Offsets) == len(d.plan.uses) {
		return nil
	}
	return errclass.New("CHECKPOINT_SOURCE_MISMATCH", "loggedSources", strconv.Itoa(len(o.Offsets)), "sources", strconv.Itoa(len(d.plan.uses)))
}

func (d *driver) openState(ctx context.Context, at checkpoint.Resume) error {
	ops := d.plan.operators
	if at.Batch == 0 && at.Logged == nil && d.conf.Bool(keyVerifyEmpty) {
		if err := d.ck.CheckNoState(); err != nil {
			return err
		}
	}
	if at.Batch == 0 {
		if err := checkOperators(d.ck, ops, false); err != nil {
			return err
		}
	}
	d.task = exec.Task{Workers: d.rt.Parallelism, Partitions: d.frozen.partitions, Batch: &expr.BatchParams{Zone: d.zone}}
	d.late, d.evict = make([]int64, len(ops)), make([]int64, len(ops))
	if err := d.settle(ctx); err != nil {
		return err
	}
	provider, err := d.openProvider()
	if err != nil {
		return err
	}
	g := d.frozen.generation
	if d.optIn.allowAdded && at.Batch > 0 {
		if err := d.findAdded(at); err != nil {
			return err
		}
	}
	return openStores(ops, providerOf(g, provider), g.Dir(d.ck.StateDir()), &d.task)
}
