package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// A side output is a folder for rows that leave a query beside its result. It is written by a file sink with a log of its own, and
// committed with the batch, in one round with the state and the sink. A crash in it runs the batch again, and the log skips what is
// there; so every row is in it once, as in the sink.

// side is one side output of a running query.
type side struct {
	option string // that asked for it
	path   string
	sink   sideSink
	schema types.StructType
}

// sideSink is what side outputs are written by.
type sideSink interface {
	sink.Sink
	stager
}

// sideFormat is a format of files that side outputs can be written in, on the file system of the runtime.
type sideFormat interface {
	Aside(fsys fs.FS) sink.Format
}

// checkSideFormat looks at the name of a side output's format.
func checkSideFormat(option, format string) (string, error) {
	if format == "" {
		return "json", nil
	}
	if f := strings.ToLower(format); f == "json" || f == "parquet" {
		return f, nil
	}
	return "", badOption(option, format, "it must be json or parquet.")
}

// openSide opens a side output. The folder belongs to this query from its first use on: another query's batches would be taken for
// batches of this one that were written before.
func (d *driver) openSide(ctx context.Context, r *StartRequest, option, root, folder, format string, schema types.StructType) (*side, error) {
	dir, err := fs.ParseLocation(root)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, badOption(option, root, err.Error()+".")
	}
	dir = filepath.Join(dir, folder)
	f, ok := sink.Lookup(format).(sideFormat)
	if !ok {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.OTHER", "operation", "The option "+option+" with the format "+format)
	}
	s := &side{option: option, path: dir, schema: schema}
	opened, err := f.Aside(d.rt.FS).Open(ctx, sink.Request{
		Format: format, Schema: schema, Path: dir, Mode: sink.Append, Stream: true, QueryID: d.ck.ID,
		Env: sink.Env{Now: d.rt.Clock.Now, Log: d.rt.Log, Zone: r.Zone, Conf: r.Conf.Value},
	})
	if err != nil {
		return nil, err
	}
	if s.sink, ok = opened.(sideSink); !ok {
		return nil, errclass.Internal(fmt.Errorf("%s can't be written beside a result", format))
	}
	return s, d.own(ctx, s)
}

// ownerFile says in a side output whose it is. Readers pass over names that begin so.
const ownerFile = "_millrace_owner"

type owner struct {
	Query  string `json:"query"`
	Option string `json:"option"`
}

// own takes the folder for this query, or finds that it is another's.
func (d *driver) own(ctx context.Context, s *side) error {
	file := filepath.Join(s.path, ownerFile)
	me := owner{Query: d.ck.ID, Option: s.option}
	text, err := json.Marshal(me)
	if err != nil {
		return err
	}
	for range 2 {
		found, err := fs.ReadFile(d.rt.FS, file)
		if err == nil {
			var who owner
			if json.Unmarshal(found, &who) == nil && who == me {
				return nil
			}
			return badOption(s.option, s.path, fmt.Sprintf("the folder holds rows of the query %s (option %s); name another one, or delete it.", who.Query, who.Option))
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := fs.MakeDirs(d.rt.FS, s.path); err != nil {
			return err
		}
		if err := fs.WriteOnce(ctx, d.rt.FS, file, text); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// openSides opens what the options of the query ask for.
func (d *driver) openSides(ctx context.Context, r *StartRequest) error {
	for _, l := range d.plan.late {
		s, err := d.openSide(ctx, r, optLateRowsPath, d.optIn.latePath, l.folder(len(d.plan.late)), d.optIn.lateFormat, l.schema)
		if err != nil {
			return err
		}
		d.sides = append(d.sides, s)
	}
	if d.optIn.deadPath != "" {
		s, err := d.openSide(ctx, r, optDeadPath, d.optIn.deadPath, "", d.optIn.deadFormat, deadLetterSchema)
		if err != nil {
			return err
		}
		d.sides = append(d.sides, s)
	}
	if d.optIn.latePath != "" && len(d.plan.late) == 0 {
		d.rt.Log.Warn("the query drops no late rows", "id", d.q.id, "option", optLateRowsPath)
	}
	return nil
}

func (d *driver) closeSides() error {
	var errs []error
	for _, s := range d.sides {
		errs = append(errs, s.sink.Close())
	}
	return errors.Join(errs...)
}

// sideBatch is a batch of all side outputs of a query.
type sideBatch struct {
	outs    []*exec.SideOutput
	batches []sink.Batch // nil for what is there already
	sinks   []stager
}

// beginSides begins the batch at hand.
func (d *driver) beginSides(ctx context.Context, batch *stateful.Batch) (*sideBatch, error) {
	b := &sideBatch{}
	for _, s := range d.sides {
		out, skip, err := s.sink.Begin(ctx, d.batch)
		if err != nil {
			return b, err
		}
		if skip {
			out = nil
		}
		b.batches = append(b.batches, out)
		b.sinks = append(b.sinks, s.sink)
		b.outs = append(b.outs, exec.NewSideOutput(out, s.schema))
	}
	batch.Late = b.outs[:len(d.plan.late)]
	return b, nil
}

// letters is the output of the dead letters, which is the last, or nil.
func (d *driver) letters(b *sideBatch) *exec.SideOutput {
	if d.optIn.deadPath == "" || len(b.outs) == 0 {
		return nil
	}
	return b.outs[len(b.outs)-1]
}

// Metrics of the sink in progress, where a query has such folders: rows of the batch.
const (
	metricLateRowsKept = "millrace.numLateRows"
	metricDeadLetters  = "millrace.numDeadLetters"
)

// leftAside counts the rows of the batch at hand that have left beside its result.
func (d *driver) leftAside(b *sideBatch) map[string]int64 {
	if len(b.outs) == 0 {
		return nil
	}
	rows := map[string]int64{}
	for i, s := range d.sides {
		if s.option == optDeadPath {
			rows[metricDeadLetters] += b.outs[i].Rows()
		} else {
			rows[metricLateRowsKept] += b.outs[i].Rows()
		}
	}
	return rows
}

// stage adds all side outputs of the batch to a round.
func (b *sideBatch) stage(ctx context.Context, r *fs.Round) error {
	for i, out := range b.batches {
		if out == nil {
			continue
		}
		if err := b.sinks[i].Stage(ctx, out, b.outs[i].Messages(), r); err != nil {
			return err
		}
	}
	return nil
}

// commit ends the batch when the round is done.
func (b *sideBatch) commit(ctx context.Context) error {
	for i, out := range b.batches {
		if out == nil {
			continue
		}
		if err := out.Commit(ctx, b.outs[i].Messages()); err != nil {
			return err
		}
	}
	return nil
}

func (b *sideBatch) abort(ctx context.Context) {
	for _, out := range b.batches {
		if out != nil {
			out.Abort(context.WithoutCancel(ctx))
		}
	}
}
