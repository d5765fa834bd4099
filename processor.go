package millrace

import (
	"context"
	"iter"
	"time"

	"google.golang.org/protobuf/types/known/anypb"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// StatefulProcessor processes the rows of each group of a stream and remembers what it likes between micro-batches. K is the type of the
// grouping key, I that of the rows, O that of the rows that come out. Keys and rows become Go values as by CollectAs: a struct takes columns by
// name, any other type a single column.
//
// A processor is a pointer to a struct that keeps its state variables in fields:
//
//	type counter struct{ seen *millrace.ValueState[int64] }
//
//	func (c *counter) Init(h *millrace.StatefulProcessorHandle) (err error) {
//		c.seen, err = millrace.NewValueState[int64](h, "seen")
//		return err
//	}
//
// A state variable always means that of the grouping key at hand. Everything happens in micro-batches: what a processor changes counts once
// the batch is committed, and a batch that is run again finds the state as it was before. Because a batch may run again, a processor should
// give the same rows for the same input and state.
//
// Groups are worked on side by side. Each partition gets, in each batch, a copy of the struct, made as an assignment would, and calls
// its Init; what pointers in it lead to is shared and must be safe for that.
//
// A processor may also have the methods of TimerHandler, InitialStateHandler and io.Closer. An error, or a panic, ends the query with
// TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR.
type StatefulProcessor[K, I, O any] interface {
	// Init defines the state variables, the same each time. There is no grouping key yet.
	Init(h *StatefulProcessorHandle) error
	// HandleInputRows is called once for every group with rows in the batch, in the order of the keys within a partition. rows can be gone
	// through once, and only during the call. emit puts a row out.
	HandleInputRows(ctx context.Context, key K, rows iter.Seq[I], timers TimerValues, emit func(O) error) error
}

// TimerHandler is a StatefulProcessor with timers.
type TimerHandler[K, O any] interface {
	// HandleExpiredTimer is called once for each timer that has expired, after all rows of the batch. The timer is gone when it returns.
	HandleExpiredTimer(ctx context.Context, key K, timer ExpiredTimer, timers TimerValues, emit func(O) error) error
}

// InitialStateHandler is a StatefulProcessor that can begin with a state made of rows. See InitialState.
type InitialStateHandler[K, S any] interface {
	// HandleInitialState is called in the first batch of the query, before its rows, for each row of the initial state.
	HandleInitialState(ctx context.Context, key K, initial S, timers TimerValues) error
}

// TimeMode says by which clock the timers of a StatefulProcessor expire.
type TimeMode string

// The time modes. Without one there are no timers. A time to live (TTL) works in processing time only.
const (
	TimeModeNone           TimeMode = "None"
	TimeModeProcessingTime TimeMode = "ProcessingTime"
	TimeModeEventTime      TimeMode = "EventTime"
)

// TransformOptions are what TransformWithState can be told. The zero value is a processor without timers in append mode.
type TransformOptions struct {
	// OutputMode is told to the processor; the default is Append.
	OutputMode OutputMode
	// TimeMode is TimeModeNone unless set.
	TimeMode TimeMode
	// EventTimeColumn names a column of the output that is event time for the operators that follow. The input needs a watermark, and no
	// row may be emitted whose time lies behind it.
	EventTimeColumn string
	// InitialState fills the state in the first batch. See InitialStateOf.
	InitialState InitialState
	// Schema is the schema of the output when its type is Row; other types have their own.
	Schema types.StructType
}

// TransformWithState runs a stateful processor over groups, Spark's transformWithState. On a DataFrame that is no stream the processor
// starts with empty state, sees each group once, and its state is forgotten afterwards.
//
// The processor runs inside the engine, which must be the one in this process ("local[4]"): a Go function cannot be sent to a server.
func TransformWithState[K, I, O any](g *GroupedData, p StatefulProcessor[K, I, O], opts TransformOptions) *DataFrame {
	run, err := newProcessor(p, opts)
	if err != nil {
		return g.d.then(&connectpb.Relation{}, g.err, mistake(err))
	}
	return g.transform(run, run.out, opts)
}

// InitialState are rows that fill the state of a processor before its first batch.
type InitialState struct {
	g    *GroupedData
	bind func(p any) (initialRows, bool)
}

// InitialStateOf is an initial state: the rows of a DataFrame that is no stream, grouped as those of the stream. They are handed to the
// processor, which must be an InitialStateHandler[K, S], one by one.
func InitialStateOf[K, S any](g *GroupedData) InitialState {
	return InitialState{g: g, bind: func(p any) (initialRows, bool) {
		h, ok := p.(InitialStateHandler[K, S])
		return &initialOf[K, S]{handler: h}, ok
	}}
}

// transform makes the relation of a processor.
func (g *GroupedData) transform(run processor.Processor, out types.StructType, opts TransformOptions) *DataFrame {
	fail := func(err error) *DataFrame { return g.d.then(&connectpb.Relation{}, g.err, mistake(err)) }
	s := g.d.s
	functions, ok := s.backend.Backend.(backend.Functions)
	if !ok {
		return fail(errclass.New("UNSUPPORTED_FEATURE.GO_FUNCTION", "functionName", "of TransformWithState"))
	}
	if g.kind != connectpb.Aggregate_GROUP_TYPE_GROUPBY {
		return fail(errclass.New("NOT_EXPECTED_TYPE", "argName", "The grouping of TransformWithState", "expectedType", "that of GroupBy", "argType", g.kind.String()))
	}
	if err := s.open(); err != nil {
		return fail(err)
	}
	mode, timeMode := opts.OutputMode, opts.TimeMode
	if mode == "" {
		mode = Append
	}
	if timeMode == "" {
		timeMode = TimeModeNone
	}
	if _, ok := processor.ParseTimeMode(string(timeMode)); !ok {
		return fail(errclass.New("VALUE_NOT_ALLOWED", "argName", "TimeMode", "allowed", "None, ProcessingTime or EventTime", "value", string(timeMode)))
	}
	id := uuid.NewString()
	if err := functions.RegisterFunction(backend.Session{ID: s.id, UserID: s.user}, id, run); err != nil {
		return fail(err)
	}
	m := &connectpb.GroupMap{
		Input: g.d.rel, GroupingExpressions: g.cols, Func: &connectpb.CommonInlineUserDefinedFunction{FunctionName: id}, OutputMode: (*string)(&mode),
		TransformWithStateInfo: &connectpb.TransformWithStateInfo{TimeMode: string(timeMode), OutputSchema: typepb.Message(out)},
	}
	if opts.EventTimeColumn != "" {
		m.TransformWithStateInfo.EventTimeColumnName = &opts.EventTimeColumn
	}
	errs := []error{g.err}
	if initial := opts.InitialState.g; initial != nil {
		m.InitialInput, m.InitialGroupingExpressions = initial.d.rel, initial.cols
		errs = append(errs, initial.d.err, initial.err)
		if initial.d.s != s {
			errs = append(errs, mistake(errclass.New("SESSION_NOT_SAME")))
		}
	}
	ext, err := anypb.New(m)
	if err != nil {
		return fail(err)
	}
	return g.d.then(&connectpb.Relation{RelType: &connectpb.Relation_Extension{Extension: ext}}, errs...)
}

// StatefulProcessorHandle is what the engine lends to a processor: in Init to define its state variables, later for timers. It must not be
// used by other goroutines than the one that called the processor.
type StatefulProcessorHandle struct {
	h      processor.Handle
	codecs *codecs
}

// OutputMode is that of TransformOptions.
func (h *StatefulProcessorHandle) OutputMode() OutputMode { return OutputMode(h.h.Info().OutputMode) }

// TimeMode is that of TransformOptions.
func (h *StatefulProcessorHandle) TimeMode() TimeMode { return TimeMode(h.h.Info().TimeMode.String()) }

// QueryInfo tells which batch of which query it is.
type QueryInfo struct {
	QueryID, RunID string
	BatchID        int64
}

// QueryInfo tells which batch of which query runs. Outside of a stream the ids are zeros.
func (h *StatefulProcessorHandle) QueryInfo() QueryInfo {
	i := h.h.Info()
	return QueryInfo{i.QueryID, i.RunID, i.Batch}
}

// RegisterTimer makes the processor's HandleExpiredTimer be called for the grouping key once the clock of the time mode has passed t, which
// counts in milliseconds. A timer that there is already is no error. One that is due at once fires in this batch when it is registered for
// rows, and in the next when by another timer.
func (h *StatefulProcessorHandle) RegisterTimer(t time.Time) error {
	return h.h.RegisterTimer(t.UnixMilli())
}

// DeleteTimer takes a timer of the grouping key back. One that there is not is no error.
func (h *StatefulProcessorHandle) DeleteTimer(t time.Time) error {
	return h.h.DeleteTimer(t.UnixMilli())
}

// Timers are those of the grouping key, in order, the one that is expiring included.
func (h *StatefulProcessorHandle) Timers() ([]time.Time, error) {
	list, err := h.h.Timers()
	out := make([]time.Time, len(list))
	for i, ms := range list {
		out[i] = time.UnixMilli(ms).UTC()
	}
	return out, err
}

// DeleteIfExists forgets, in Init, a state variable that an earlier version of the processor had.
func (h *StatefulProcessorHandle) DeleteIfExists(name string) error { return h.h.Drop(name) }

// TimerValues are the clocks of a batch.
type TimerValues struct {
	// Now is the time of the batch. It does not move while the batch runs, and is the same when the batch is run again.
	Now time.Time
	// Watermark is the watermark in event time, or the zero Time when there is none.
	Watermark time.Time
}

// ExpiredTimer is a timer whose time has come.
type ExpiredTimer struct {
	// At is the time that it was registered for.
	At time.Time
}
