package stream

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/millrace/millrace/internal/setting"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/sink"
)

// Start checks a query, takes its checkpoint and starts it. Mistakes in the request come from here; what is only found when the
// first batch is made ends the query and comes from its Exception. The start event has been posted when Start returns.
func (m *Manager) Start(ctx context.Context, r StartRequest) (*Query, error) {
	mode, err := parseMode(r.OutputMode)
	if err != nil {
		return nil, err
	}
	if !r.Plan.Streaming() {
		return nil, errclass.New("WRITE_STREAM_NOT_ALLOWED")
	}
	trig, err := r.Trigger.parse()
	if err != nil {
		return nil, err
	}
	if trig.kind == RealTime {
		return nil, checkRealTime(mode, trig, r.Conf)
	}
	d := &driver{m: m, rt: m.rt, conf: r.Conf, zone: r.Zone, mode: mode, trigger: trig}
	if d.optIn, err = asked(r.Options, r.Conf, trig.kind); err != nil {
		return nil, err
	}
	if err := d.openSink(ctx, &r); err != nil {
		return nil, err
	}
	if trig.kind == Continuous && fileFormats[strings.ToLower(r.Format)] {
		d.refusal = errclass.New("UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS", "operation", "the sink "+r.Format)
	}
	if err := d.launch(ctx, &r); err != nil {
		_ = d.sink.Close()
		return nil, err
	}
	return d.q, nil
}

// openSink finds the place of the checkpoint and opens the sink, which is told the id that the query has or will have.
func (d *driver) openSink(ctx context.Context, r *StartRequest) error {
	format, err := r.findSink()
	if err != nil {
		return err
	}
	id := uuid.NewString()
	loc, locErr := r.checkpoint(true)
	if locErr == nil {
		peek, err := checkpoint.Open(ctx, d.rt.FS, loc.dir, checkpoint.Options{ReadOnly: true})
		if err == nil && peek.ID != "" {
			id = peek.ID
		}
	}
	req := sink.Request{
		Format: r.Format, Schema: plan.Schema(r.Plan), Options: r.Options, Path: r.Path, PartitionBy: r.PartitionBy, Mode: sinkMode(d.mode),
		Stream: true, QueryID: id, QueryName: r.Name,
		Env: sink.Env{Now: d.rt.Clock.Now, Log: d.rt.Log, Zone: r.Zone, Conf: r.Conf.Value, Session: r.Session},
	}
	if d.sink, err = format.Open(ctx, req); err != nil {
		return err
	}
	d.info = d.sink.Info()
	_, d.hides = d.sink.(stager)
	d.eager = r.Sink != nil && !d.hides
	if locErr != nil {
		if d.loc, err = r.checkpoint(d.info.NeedsCheckpoint); err != nil {
			_ = d.sink.Close()
			return err
		}
	} else {
		d.loc = loc
	}
	d.reopen = func(id string) error {
		if id == req.QueryID {
			return nil
		}
		// Another process has made the checkpoint between our look and now.
		req.QueryID = id
		_ = d.sink.Close()
		d.sink, err = format.Open(ctx, req)
		return err
	}
	d.id = id
	return nil
}

// launch does the rest of the checks and starts the driver.
func (d *driver) launch(ctx context.Context, r *StartRequest) error {
	if err := d.makeDirectory(); err != nil {
		return err
	}
	if _, err := setting.Positive(d.conf.Value, keyMinBatches); err != nil {
		return err
	}
	if d.trigger.kind == Continuous {
		if err := checkContinuous(r.Plan); err != nil {
			return err
		}
	}
	if r.Check != nil && d.conf.Bool(keyCheck) {
		if err := r.Check(r.Plan, modeName(d.mode)); err != nil {
			return err
		}
	}
	var err error
	if d.plan, err = compile(r.Plan, d.mode, d.conf, d.zone, d.rt.Clock.Now(), d.optIn); err != nil {
		return err
	}
	d.q = d.newQuery(r)
	if err := d.m.reserve(d.q); err != nil {
		d.q.cancel()
		return err
	}
	if err := d.m.registry.claim(ctx, d.loc.dir, d.q, d.conf.Bool(keyStopActive)); err != nil {
		d.q.discard()
		return err
	}
	if err := d.openCheckpoint(ctx); err != nil {
		d.m.registry.release(d.loc.dir, d.q)
		d.q.discard()
		return err
	}
	err = d.openSides(ctx, r)
	if s, ok := d.sink.(sink.Starter); ok && err == nil {
		err = s.Started()
	}
	if err != nil {
		d.m.registry.release(d.loc.dir, d.q)
		_ = errors.Join(d.closeSides(), d.ck.Close())
		d.q.discard()
		return err
	}
	d.m.post(d.q.Started())
	d.rt.Log.Info("streaming query started", "id", d.q.ID(), "run", d.q.runID, "name", d.q.name, "checkpoint", d.loc.dir)
	go d.run()
	return nil
}

func (d *driver) newQuery(r *StartRequest) *Query {
	q := &Query{
		m: d.m, id: d.id, runID: uuid.NewString(), name: r.Name, started: d.rt.Clock.Now(), tags: r.Tags,
		stopTimeout: d.conf.Duration(keyStopTimeout),
		wake:        make(chan struct{}, 1), changed: make(chan struct{}), drain: make(chan struct{}), done: make(chan struct{}),
		status: Status{Message: "Initializing StreamExecution"},
	}
	q.recent.size = int(d.conf.Int(keyRecentProgress))
	q.explain.plan = d.plan
	d.ctx, q.cancel = context.WithCancel(context.WithValue(context.Background(), inQuery{}, q))
	return q
}

// makeDirectory makes the checkpoint's directory. As in Spark it is there although the query is refused: this is found out before the plan
// is looked at.
func (d *driver) makeDirectory() error {
	d.fsys = d.rt.FS
	if d.loc.temporary {
		d.fsys = fs.WithoutSync(d.fsys) // it need not survive the process
		return nil
	}
	if fi, err := d.fsys.Stat(d.loc.dir); err == nil && !fi.IsDir() {
		return errclass.New("INVALID_STREAMING_OPTION.NOT_A_DIRECTORY", "option", "checkpointLocation", "path", fs.ShortURI(d.loc.dir))
	}
	_ = fs.MakeDirs(d.fsys, d.loc.dir) // where it can't be made the checkpoint can't be either, which says so
	return nil
}

// openCheckpoint opens the checkpoint, or makes it with the query's id.
func (d *driver) openCheckpoint(ctx context.Context) error {
	ck, err := checkpoint.Open(ctx, d.fsys, d.loc.dir, checkpoint.Options{
		AllowMissingMetadata: !d.conf.Bool(keyVerifyMetadata),
		NewID:                func() string { return d.id },
	})
	if err != nil {
		return err
	}
	d.ck = ck
	if ck.ID != d.id {
		d.q.mu.Lock()
		d.q.id = ck.ID
		d.q.mu.Unlock()
		if err := d.reopen(ck.ID); err != nil {
			_ = ck.Close()
			return err
		}
	}
	if _, used := ck.Offsets.LatestID(); used && !d.info.Recovers {
		_ = ck.Close()
		return errclass.New("UNSUPPORTED_STREAMING_OPERATION.CHECKPOINT_RECOVERY",
			"sink", d.info.Description, "location", d.loc.dir, "checkpointPath", filepath.Join(d.loc.dir, "offsets"))
	}
	return nil
}
