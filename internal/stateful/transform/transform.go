package transform

import (
	"context"
	"fmt"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/sorted"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// OperatorName is the operator's name in checkpoints and progress.
const OperatorName = "transformWithStateExec"

// Metrics are the operator's own metrics, in Spark's order.
var Metrics = []string{
	initialTime, "numValueStateVars", "numListStateVars", "numMapStateVars", droppedVars, timerTime, registeredTimers, deletedTimers,
	expiredTimers, "numValueStateWithTTLVars", "numListStateWithTTLVars", "numMapStateWithTTLVars", expiredValues,
}

// Initial is where the initial state comes from.
type Initial struct {
	In exec.Op
	// Keys are the columns of the grouping key, Rows those of a row, whose schema is Schema.
	Keys, Rows []int
	Schema     types.StructType
}

// Transform runs a stateful processor over the rows of its input, group by group.
type Transform struct {
	In exec.Op
	// Keys are the columns of the grouping key, Rows those that the processor gets.
	Keys, Rows                []int
	KeySchema, RowSchema, Out types.StructType
	Initial                   *Initial // or nil
	Program                   processor.Program
	TimeMode                  processor.TimeMode
	OutputMode                string
	// TimeColumn is the column by which rows are late, or -1. OutTime is the column of Out that is event time, or -1.
	TimeColumn, OutTime int
	// Operator is the operator's number, or -1 in a batch query.
	Operator int
	Zone     *time.Location
}

// Types implements exec.Op.
func (t *Transform) Types() []types.DataType { return fieldTypes(t.Out) }

// KeyTypes are the types of the grouping key.
func (t *Transform) KeyTypes() []types.DataType { return fieldTypes(t.KeySchema) }

func fieldTypes(s types.StructType) []types.DataType {
	ts := make([]types.DataType, len(s.Fields))
	for i, f := range s.Fields {
		ts[i] = f.Type
	}
	return ts
}

// Inputs implements exec.Op.
func (t *Transform) Inputs() []exec.Op {
	if t.Initial != nil {
		return []exec.Op{t.In, t.Initial.In}
	}
	return []exec.Op{t.In}
}

// Label implements exec.Op.
func (t *Transform) Label() string {
	text := fmt.Sprintf("TransformWithState [%d keys], %s", len(t.Keys), t.TimeMode)
	if t.Operator >= 0 {
		text += fmt.Sprintf(", state info [operator %d]", t.Operator)
	}
	return text
}

// Number implements stateful.Operator.
func (t *Transform) Number() int { return t.Operator }

// Spec implements stateful.Operator.
func (t *Transform) Spec(partitions int, meaning string) state.Spec {
	s := state.Spec{Operator: t.Operator, Name: OperatorName, Partitions: partitions, Meaning: meaning}
	var v state.View
	for i, f := range t.KeySchema.Fields {
		s.Keys = append(s.Keys, types.Field{Name: fmt.Sprintf("key%d", i), Type: f.Type, Nullable: true})
		v.Key = append(v.Key, state.ViewColumn{Name: f.Name, Column: i})
	}
	s.Views = []state.View{v}
	return s
}

// execution is one run of the operator: a micro-batch, or a batch query.
type execution struct {
	program    processor.Program
	info       processor.Info
	batch      *stateful.Batch // nil in a batch query
	bounds     stateful.Bounds
	partitions int
	timerBound int64 // ms
	kv         func(shard int) state.KV
	arrow      types.ArrowOptions
}

func (t *Transform) begin(task *exec.Task) (*execution, error) {
	x := &execution{program: t.Program, partitions: max(1, task.Partitions), timerBound: task.Batch.Now / 1000}
	x.arrow.TimeZone = "UTC"
	if t.Zone != nil {
		x.arrow.TimeZone = t.Zone.String()
	}
	x.info = processor.Info{OutputMode: t.OutputMode, TimeMode: t.TimeMode, Now: task.Batch.Now / 1000}
	if task.Streaming == nil {
		if t.TimeMode == processor.EventTime {
			return nil, errclass.New("STATEFUL_PROCESSOR_MISSING_TIME_VALUES", "timeMode", t.TimeMode.String())
		}
		maps := make([]memoryKV, state.Shards(x.partitions))
		for i := range maps {
			maps[i] = memoryKV{sorted.New()}
		}
		x.kv = func(shard int) state.KV { return maps[shard] }
		x.info.QueryID, x.info.RunID = noQuery, noQuery
		return x, nil
	}
	x.batch = stateful.Of(task)
	x.bounds = x.batch.Bounds[t.Operator]
	x.kv = x.batch.KVs[t.Operator].KV
	x.info.QueryID, x.info.RunID, x.info.Batch = x.batch.QueryID, x.batch.RunID, x.batch.ID
	if x.bounds.Evict > noBound {
		x.info.HasWatermark, x.info.Watermark = true, min(x.bounds.Evict/1000, lastMs)
	}
	if t.TimeMode == processor.EventTime {
		if !x.info.HasWatermark {
			return nil, errclass.New("STATEFUL_PROCESSOR_MISSING_TIME_VALUES", "timeMode", t.TimeMode.String())
		}
		x.timerBound = x.bounds.Evict / 1000
	}
	return x, nil
}

// noQuery is the id of what is no streaming query.
const noQuery = "00000000-0000-0000-0000-000000000000"

// lastMs is the last millisecond that times have, in the year 9999. A batch that closes everything has a bound beyond it, which a
// processor could not make a time of.
const lastMs = 253402300799999

// noBound is the bound of an operator without a watermark.
const noBound = -1 << 63

// Parts implements exec.Op: it deals the rows out to the shards of the state and hands out one part a shard.
func (t *Transform) Parts(ctx context.Context, task *exec.Task) (exec.Parts, error) {
	x, err := t.begin(task)
	if err != nil {
		return exec.Parts{}, err
	}
	vars := &variables{mode: t.TimeMode}
	if err := t.declare(ctx, x, vars); err != nil {
		return exec.Parts{}, err
	}
	catalog, err := vars.assign(x.kv(0))
	if err != nil {
		return exec.Parts{}, err
	}
	shards := state.Shards(x.partitions)
	of := func(hash uint32) int { return state.ShardOf(hash, x.partitions) }
	rows, err := exec.Deal(ctx, task, t.In, t.Keys, shards, of)
	if err != nil {
		return exec.Parts{}, err
	}
	initial := make([][]*vec.Batch, shards)
	if t.Initial != nil && x.info.Batch == 0 {
		if initial, err = exec.Deal(ctx, task, t.Initial.In, t.Initial.Keys, shards, of); err != nil {
			return exec.Parts{}, err
		}
	}
	work := make([]*shard, shards)
	none := exec.Parts{N: shards, Open: func(context.Context, int) (exec.Stream, error) { return exec.StreamOf(nil), nil }}
	err = exec.Run(ctx, task, none, func(ctx context.Context, i int, _ exec.Stream) error {
		sh := &shard{
			t: t, run: x, kv: x.kv(i), vars: vars, mine: partitions(i, x.partitions), now: x.info.Now, custom: map[string]int64{}, phase: "init",
		}
		work[i] = sh
		on := t.onTime(sh, rows[i])
		rows[i] = nil
		return sh.work(ctx, initial[i], on)
	})
	if err != nil {
		return exec.Parts{}, err
	}
	if catalog != nil {
		if err := x.kv(0).Put(catalogKey(), catalog); err != nil {
			return exec.Parts{}, err
		}
	}
	outs := make([][]*vec.Batch, shards)
	for i, sh := range work {
		outs[i] = sh.out
	}
	if x.batch != nil {
		t.report(&x.batch.Ops[t.Operator], work, vars, x)
	}
	return exec.PartsOf(outs...), nil
}

// onTime leaves out the rows that are late, which counts in event time only.
func (t *Transform) onTime(sh *shard, batches []*vec.Batch) []*vec.Batch {
	if t.TimeMode != processor.EventTime || t.TimeColumn < 0 {
		return batches
	}
	var out []*vec.Batch
	for _, b := range batches {
		times := stateful.TimesOf(b.Cols[t.TimeColumn], b.N, state.NoTime)
		kept := make([]uint32, 0, b.N)
		for i, at := range times {
			if at > sh.run.bounds.Late {
				kept = append(kept, uint32(i))
			}
		}
		sh.figures.DroppedLate += int64(b.N - len(kept))
		switch len(kept) {
		case 0:
		case b.N:
			out = append(out, b)
		default:
			out = append(out, b.WithSelection(kept).Own())
		}
	}
	return out
}

// report adds the figures of the shards up.
func (t *Transform) report(stats *stateful.OpStats, work []*shard, vars *variables, x *execution) {
	stats.Custom = map[string]int64{}
	stats.NextDue, stats.Counted = maxTime, true
	for _, sh := range work {
		f := &sh.figures
		stats.Updated += f.Updated
		stats.Removed += f.Removed
		stats.DroppedLate += f.DroppedLate
		stats.DroppedLateRows += f.DroppedLate
		stats.UpdateNanos += f.UpdateNanos
		stats.RemovalNanos += f.RemovalNanos
		stats.Rows += sh.rows
		stats.NextDue = min(stats.NextDue, f.NextDue)
		for name, n := range sh.custom {
			stats.Custom[name] += n
		}
	}
	stats.Custom[timerTime] /= 1e6
	stats.Custom[initialTime] /= 1e6
	// Each partition has its own.
	n := int64(x.partitions)
	stats.Custom["numValueStateVars"] = n * vars.count(processor.Value, false)
	stats.Custom["numListStateVars"] = n * vars.count(processor.List, false)
	stats.Custom["numMapStateVars"] = n * vars.count(processor.Map, false)
	stats.Custom["numValueStateWithTTLVars"] = n * vars.count(processor.Value, true)
	stats.Custom["numListStateWithTTLVars"] = n * vars.count(processor.List, true)
	stats.Custom["numMapStateWithTTLVars"] = n * vars.count(processor.Map, true)
	stats.Custom[droppedVars] = n * int64(len(vars.gone))
}

// declare lets a processor define its state variables, and does nothing else with it.
func (t *Transform) declare(ctx context.Context, x *execution, vars *variables) error {
	inst := t.Program.New()
	d := &declaring{vars: vars, info: x.info}
	err := guarded("init", func() error { return inst.Init(d) })
	if err == nil {
		err = guarded("close", inst.Close)
		if err != nil {
			return userError("close", err)
		}
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	return userError("init", err)
}

// declaring is the Handle of a processor that is only asked for its state variables.
type declaring struct {
	vars *variables
	info processor.Info
}

// Declare implements processor.Handle.
func (d *declaring) Declare(v processor.Variable) (processor.State, error) {
	nv, err := d.vars.declare(v)
	if err != nil {
		return nil, err
	}
	return &stateVar{sh: &shard{phase: "init"}, v: nv}, nil
}

// Drop implements processor.Handle.
func (d *declaring) Drop(name string) error {
	d.vars.dropped = append(d.vars.dropped, name)
	return nil
}

// RegisterTimer implements processor.Handle.
func (d *declaring) RegisterTimer(int64) error { return d.early("register_timer") }

// DeleteTimer implements processor.Handle.
func (d *declaring) DeleteTimer(int64) error { return d.early("delete_timer") }

// Timers implements processor.Handle.
func (d *declaring) Timers() ([]int64, error) { return nil, d.early("list_timers") }

func (d *declaring) early(operation string) error {
	return errclass.New("STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE", "operationType", operation, "handleState", "init")
}

// Fail implements processor.Handle: what a processor is told here it returns from Init.
func (d *declaring) Fail(err error) error { return err }

// Info implements processor.Handle.
func (d *declaring) Info() processor.Info { return d.info }
