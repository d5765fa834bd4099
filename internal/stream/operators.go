package stream

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/internal/stateful/transform"
)

// operator is a stateful operator of a query with its state.
type operator struct {
	op      stateful.Operator
	name    string // Spark's: stateStoreSave, dedupe, ...
	meaning string
	// parts are the aggregates, of which the meaning is made, too.
	parts []state.Part
	// stored is what the checkpoint has when it is to be read with other aggregates than the operator has; else nil.
	stored *state.Header
	carry  []int // then: for each value column the stored one, or -1
	// single is set for state that is one partition whatever the number of shuffle partitions is.
	single bool
	// twice is set when Spark, which runs the operator twice, reports everything twice over, unless there is but one partition.
	twice bool
	// uncounted is set when progress counts no stores.
	uncounted bool
	// cleans is set when an advance of the watermark is reason for a batch without data.
	cleans bool
	// clocked is set when the operator has things to do by the clock: a trigger with an interval then runs a batch each time, another
	// one when the time due has come, in ms, which the last batch has left.
	clocked bool
	due     int64
	// hitsPerBatch is how often Spark would open each store in a batch.
	hitsPerBatch int64
	// stores are the names of the stores that Spark keeps for each partition; nil is the one named default.
	stores []string
	// prefix is the number of key columns by which Spark scans the store.
	prefix int64
	// keys are the names of the state's key columns, for those who look at it.
	keys []string
	// custom are the metrics that the operator itself adds.
	custom []string

	spec   state.Spec      // as the store was opened
	store  state.Versioned // tables or kv
	tables state.Store
	kv     state.KVStore
	values []state.Values

	// bound is the watermark, in ms, by which the last batch evicted; none before the first.
	bound int64
	last  StateOperatorProgress
}

// partitions is the number of partitions of the operator's state.
func (o *operator) partitions(shuffle int) int {
	if o.single {
		return 1
	}
	return shuffle
}

// openStores makes the stores of all operators. Nothing is read.
func openStores(ops []*operator, p state.Provider, dir string, t *exec.Task) error {
	for _, o := range ops {
		if err := o.open(p, dir, o.partitions(t.Partitions), t); err != nil {
			return err
		}
	}
	return nil
}

func (o *operator) open(p state.Provider, dir string, partitions int, t *exec.Task) (err error) {
	spec := o.op.Spec(partitions, o.meaning)
	for i, name := range o.keys {
		spec.Keys[i].Name = name
	}
	spec.Parts = o.parts
	if o.stored != nil {
		return o.openStored(p, dir, spec)
	}
	o.spec = spec
	if op, ok := o.op.(stateful.TableOperator); ok {
		if o.tables, err = p.Open(dir, spec); err == nil {
			o.store, o.values = o.tables, op.Attach(o.tables, partitions, t)
		}
		return err
	}
	if o.kv, err = p.OpenKV(dir, spec); err == nil {
		o.store = o.kv
	}
	return err
}

// closeStores closes what openStores has opened.
func closeStores(ops []*operator) error {
	var errs []error
	for _, o := range ops {
		if o.store != nil {
			errs = append(errs, o.store.Close())
		}
	}
	return errors.Join(errs...)
}

// describe is the operator as the checkpoint notes it.
func (o *operator) describe(number, shuffle int) checkpoint.Operator {
	d := checkpoint.Operator{ID: int64(number), Name: o.name}
	for _, name := range o.storeNames() {
		// As Spark notes it: the number of shuffle partitions also of what keeps its state in one.
		d.Stores = append(d.Stores, checkpoint.Store{Name: name, NumPartitions: int64(shuffle), NumColsPrefixKey: o.prefix})
	}
	return d
}

func (o *operator) storeNames() []string {
	if o.stores == nil {
		return []string{"default"}
	}
	return o.stores
}

// checkOperators compares the operators of a plan with those that the checkpoint has state of. Until the first batch is committed
// some may not have been written yet.
func checkOperators(ck *checkpoint.Checkpoint, ops []*operator, committed bool) error {
	stored, err := ck.Operators()
	if err != nil {
		return err
	}
	same := len(stored) == len(ops) || len(stored) < len(ops) && !committed
	var was, is []string
	for _, s := range stored {
		was = append(was, fmt.Sprintf("(OperatorId: %d -> OperatorName: %s)", s.ID, s.Name))
		same = same && s.ID < int64(len(ops)) && s.Name == ops[s.ID].name
	}
	for i, o := range ops {
		is = append(is, fmt.Sprintf("(OperatorId: %d -> OperatorName: %s)", i, o.name))
	}
	switch {
	case same:
		return nil
	case len(stored) == 0:
		return errclass.New("STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY", "checkpointLocation", ck.StateDir())
	}
	return errclass.New("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
		"OpsInMetadataSeq", strings.Join(was, ", "), "OpsInCurBatchSeq", strings.Join(is, ", "))
}

// noWatermark is the watermark of an operator that has none below it: nothing is late, nothing is final.
const noWatermark = math.MinInt64

// propagate finds the watermark in ms that arrives at each stateful operator when the global one is global. A plan of several
// operators passes it upwards: joins may hold it back for those above them.
func propagate(root exec.Op, global int64, at []int64) {
	for i := range at {
		at[i] = noWatermark
	}
	if global >= endOfTime { // whatever is open, also what would be by joins' bounds and delays
		global = math.MaxInt64 / 1000
	}
	flow(root, global, at)
}

// flow returns the watermark of an operator's output.
func flow(op exec.Op, global int64, at []int64) int64 {
	in := int64(noWatermark)
	for _, k := range op.Inputs() {
		w := flow(k, global, at)
		if w != noWatermark && (in == noWatermark || w < in) {
			in = w
		}
	}
	switch op := op.(type) {
	case *stateful.EventTime:
		return global
	case *stateful.Join:
		at[op.Number()] = in
		if in == noWatermark {
			return in
		}
		// A row may come out as long as it is stored: what is above must wait for both sides.
		out := in
		for _, s := range []stateful.JoinSide{op.Left, op.Right} {
			if s.Expiry >= 0 {
				out = min(out, in+s.Offset/1000)
			}
		}
		return out
	case *transform.Transform:
		at[op.Number()] = in
		if op.TimeMode == processor.ProcessingTime { // its rows have no place in event time
			return noWatermark
		}
		return in
	case stateful.Operator:
		at[op.Number()] = in
		return in
	}
	return in
}

// micros turns a watermark into a bound of event times.
func micros(ms int64) int64 {
	switch {
	case ms > math.MaxInt64/1000:
		return math.MaxInt64 - 1
	case ms < math.MinInt64/1000:
		return math.MinInt64
	}
	return ms * 1000
}

// metricLateRows counts late rows one by one, where numRowsDroppedByWatermark counts groups for aggregations, as Spark does.
const metricLateRows = "millrace.numInputRowsDroppedByWatermark"

// Of state that is not in memory: bytes in files, and how long the last load that read files and the last commit took.
const (
	metricDisk   = "millrace.stateDiskBytes"
	metricLoad   = "millrace.stateLoadMs"
	metricCommit = "millrace.stateCommitMs"
)

// report is the operator's part of a progress report. It is taken after the state was committed.
func (o *operator) report(figures *stateful.OpStats, shuffle int, commitMs int64) StateOperatorProgress {
	st := o.store.Stats()
	instances := int64(o.partitions(shuffle) * len(o.storeNames()))
	p := StateOperatorProgress{
		OperatorName:              o.name,
		NumRowsTotal:              st.Rows,
		NumRowsUpdated:            figures.Updated,
		AllUpdatesTimeMs:          figures.UpdateNanos / 1e6,
		NumRowsRemoved:            figures.Removed,
		AllRemovalsTimeMs:         figures.RemovalNanos / 1e6,
		CommitTimeMs:              commitMs,
		MemoryUsedBytes:           st.Bytes,
		NumRowsDroppedByWatermark: figures.DroppedLate,
		NumShufflePartitions:      int64(shuffle),
		NumStateStoreInstances:    instances,
		CustomMetrics: map[string]int64{
			"loadedMapCacheHitCount":         st.Hits * o.hitsPerBatch * instances,
			"loadedMapCacheMissCount":        st.Misses * instances,
			"stateOnCurrentVersionSizeBytes": st.Bytes,
			"numSnapshotsAutoRepaired":       0,
			"forceSnapshotCount":             0,
			metricLateRows:                   figures.DroppedLateRows,
		},
	}
	if figures.Counted {
		p.NumRowsTotal = figures.Rows
	}
	if o.uncounted {
		p.NumStateStoreInstances = 0
	}
	for _, name := range o.custom {
		p.CustomMetrics[name] = figures.Custom[name]
	}
	if st.Disk > 0 {
		p.CustomMetrics[metricDisk] = st.Disk
		p.CustomMetrics[metricLoad] = st.LoadTime.Milliseconds()
		p.CustomMetrics[metricCommit] = st.CommitTime.Milliseconds()
	}
	if o.twice && shuffle > 1 {
		p.double()
	}
	// Spark names the last five of the stores.
	for i := max(0, shuffle-5); i < shuffle; i++ {
		p.CustomMetrics["SnapshotLastUploaded.partition_"+strconv.Itoa(i)+"_default"] = -1
	}
	return p
}

func (s *StateOperatorProgress) double() {
	for _, n := range []*int64{
		&s.NumRowsTotal, &s.NumRowsUpdated, &s.NumRowsRemoved, &s.AllUpdatesTimeMs, &s.AllRemovalsTimeMs, &s.CommitTimeMs, &s.MemoryUsedBytes,
		&s.NumRowsDroppedByWatermark, &s.NumStateStoreInstances,
	} {
		*n *= 2
	}
	for name := range s.CustomMetrics {
		if name != metricLateRows {
			s.CustomMetrics[name] *= 2
		}
	}
}

// idle is the last report of the operator as it stands in reports of triggers without a batch.
func (o *operator) idle() StateOperatorProgress {
	p := o.last
	p.NumRowsUpdated, p.NumRowsDroppedByWatermark = 0, 0
	return p
}

// load brings all state to a version.
func load(ctx context.Context, ops []*operator, version int64) error {
	for _, o := range ops {
		if err := o.store.Load(ctx, version); err != nil {
			return err
		}
	}
	return nil
}

// abort drops what a failed batch has done to the state.
func abort(ops []*operator) {
	for _, o := range ops {
		if o.store != nil {
			o.store.Abort()
		}
	}
}
