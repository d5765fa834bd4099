package stream

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

// Conf are the settings of the session as they were when the query was started.
type Conf interface {
	// Value is the value in force, or "".
	Value(key string) string
	// Explicit is the value that somebody has set, as against a default.
	Explicit(key string) (value string, ok bool)
	Bool(key string) bool
	Int(key string) int64
	Duration(key string) time.Duration
}

// StartRequest is all that makes a streaming query.
type StartRequest struct {
	// Plan is resolved and not optimised.
	Plan plan.Node
	// OutputMode is append, update or complete in any case; empty means append.
	OutputMode string
	Trigger    Trigger
	// Format names the sink; empty is spark.sql.sources.default. Sink takes its place where it is set: foreachBatch, foreach and
	// tables have no name in the registry.
	Format      string
	Sink        sink.Format
	Options     map[string]string
	Path        string
	PartitionBy []string
	Name        string
	// Conf must not change any more.
	Conf Conf
	Zone *time.Location
	// Session is passed on to the sink.
	Session any
	// Check refuses plans that cannot run as a stream in an output mode ("append", ...); nil checks nothing.
	Check func(n plan.Node, mode string) error
	// Tags are shown in the start event.
	Tags []string
}

// TriggerKind says when batches run.
type TriggerKind uint8

// The kinds of trigger. Default runs batches back to back.
const (
	Default TriggerKind = iota
	ProcessingTime
	Once
	AvailableNow
	Continuous
	RealTime
)

// Trigger is a kind with its interval as the user wrote it.
type Trigger struct {
	Kind     TriggerKind
	Interval string
}

// trigger is a Trigger that was understood.
type trigger struct {
	kind  TriggerKind
	every time.Duration
}

func (t Trigger) parse() (trigger, error) {
	switch t.Kind {
	case ProcessingTime, Continuous, RealTime:
		ms, err := interval.ParseTrigger(t.Interval)
		return trigger{t.Kind, time.Duration(ms) * time.Millisecond}, err
	}
	return trigger{kind: t.Kind}, nil
}

func parseMode(text string) (stateful.Mode, error) {
	switch strings.ToLower(text) {
	case "", "append":
		return stateful.Append, nil
	case "update":
		return stateful.Update, nil
	case "complete":
		return stateful.Complete, nil
	}
	return 0, errclass.New("STREAMING_OUTPUT_MODE.INVALID", "outputMode", text)
}

func modeName(m stateful.Mode) string { return [...]string{"append", "update", "complete"}[m] }

func sinkMode(m stateful.Mode) sink.Mode {
	return [...]sink.Mode{sink.Append, sink.Update, sink.Complete}[m]
}

// findSink looks the sink up.
func (r *StartRequest) findSink() (sink.Format, error) {
	if r.Sink != nil {
		return r.Sink, nil
	}
	if r.Format == "" {
		r.Format = r.Conf.Value(keyDefaultFormat)
	}
	if f := sink.Lookup(r.Format); f != nil {
		return f, nil
	}
	e := errclass.New("UNSUPPORTED_STREAMING_OPERATION.SINK", "provider", r.Format)
	switch strings.ToLower(r.Format) {
	case "socket", "hive", "kafka": // Spark's exceptions for these are others
		return nil, e.WithKind(errclass.Analysis)
	}
	if source.Lookup(r.Format) != nil {
		return nil, e
	}
	return nil, errclass.New("DATA_SOURCE_NOT_FOUND", "provider", r.Format)
}

// location is where a query keeps its checkpoint.
type location struct {
	dir string
	// temporary checkpoints are deleted when the query has ended well.
	temporary bool
}

// checkpoint finds the place of the checkpoint: what the writer says, what the session says, or, for a sink whose data do not
// outlive the query anyway, a temporary one.
func (r *StartRequest) checkpoint(needed bool) (location, error) {
	given, ok := sink.Options(r.Options).Get("checkpointLocation")
	if ok && given == "" {
		return location{}, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "checkpointLocation", "value", "''", "requirement", "it names a directory")
	}
	if !ok {
		if parent := r.Conf.Value(keyCheckpoints); parent != "" {
			name := r.Name
			if name == "" {
				name = uuid.NewString()
			}
			given = strings.TrimRight(parent, "/") + "/" + name
		} else if needed {
			return location{}, errclass.New("INVALID_STREAMING_OPTION.NO_CHECKPOINT_LOCATION")
		} else {
			return location{filepath.Join(os.TempDir(), "temporary-"+uuid.NewString()), true}, nil
		}
	}
	dir, err := fs.ParseLocation(given)
	if err != nil {
		return location{}, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "checkpointLocation", "value", given, "requirement", err.Error()).WithCause(err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return location{}, err
	}
	return location{dir: dir}, nil
}

// continuousSources are the sources that the continuous trigger takes.
var continuousSources = map[string]bool{"rate": true, "kafka": true}

// fileFormats are the sinks that a continuous query fails with: it has started, as in Spark.
var fileFormats = map[string]bool{"avro": true, "csv": true, "json": true, "orc": true, "parquet": true, "text": true}

// checkContinuous refuses what the continuous trigger cannot run: anything but one stream of rows that are looked at one by one.
func checkContinuous(n plan.Node) error {
	var err error
	plan.Walk(n, func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.Scan:
			name := strings.ToLower(n.Name)
			if n.Stream && !continuousSources[name] {
				e := errclass.New("UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS", "operation", "the source "+n.Name)
				if name == "rate-micro-batch" {
					e = e.WithKind(errclass.Unsupported)
				}
				err = e
			}
		case *plan.Project, *plan.Filter, *plan.Aliased, *plan.View, *plan.Tagged, *plan.Hint:
			for _, e := range n.Exprs() {
				plan.WalkExpr(e, func(e plan.Expr) bool {
					if asksClock(e) {
						err = errclass.New("UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS", "operation", "the function "+e.(*plan.Call).Fn.Name)
					}
					return err == nil
				})
			}
		default:
			err = errclass.New("UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS", "operation", n.Label())
		}
		return err == nil
	})
	return err
}

// checkRealTime refuses the real-time trigger: with Spark's conditions where it does so too.
func checkRealTime(mode stateful.Mode, t trigger, conf Conf) error {
	least := conf.Duration(keyRealTimeLeast)
	switch {
	case mode != stateful.Update:
		return errclass.New("STREAMING_REAL_TIME_MODE.OUTPUT_MODE_NOT_SUPPORTED", "outputMode", modeName(mode))
	case t.every < least:
		return errclass.New("INVALID_STREAMING_REAL_TIME_MODE_TRIGGER_INTERVAL", "interval", t.every.String(), "minBatchDuration", least.String())
	}
	return errclass.New("UNSUPPORTED_STREAMING_OPERATION.OTHER", "operation", "The real-time trigger")
}
