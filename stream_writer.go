package millrace

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// DataStreamWriter describes where the rows of a stream go. Its methods change it and return it; Start and ToTable begin to write.
type DataStreamWriter struct {
	d          *DataFrame
	mode       OutputMode
	format     string
	name       string
	trigger    Trigger
	partitions []string
	clusters   []string
	options    options
	attend     *attendWith // what is done with batches in this process; nil for a sink
}

// WriteStream writes a stream.
func (d *DataFrame) WriteStream() *DataStreamWriter { return &DataStreamWriter{d: d} }

// OutputMode says which rows are written; the default is Append.
func (w *DataStreamWriter) OutputMode(m OutputMode) *DataStreamWriter { w.mode = m; return w }

// Format names the kind of sink: parquet, json, memory, console, kafka and others.
func (w *DataStreamWriter) Format(name string) *DataStreamWriter { w.format = name; return w }

// QueryName names the query, uniquely among those that run in the session. The memory sink makes a view of that name.
func (w *DataStreamWriter) QueryName(name string) *DataStreamWriter { w.name = name; return w }

// Option sets an option to a text, a boolean or a number. The option checkpointLocation is where the query remembers how far it has got.
func (w *DataStreamWriter) Option(key string, value any) *DataStreamWriter {
	w.options.set(key, value)
	return w
}

// Options sets several options.
func (w *DataStreamWriter) Options(m map[string]string) *DataStreamWriter {
	w.options.setAll(m)
	return w
}

// PartitionBy makes a directory for each combination of values of some columns.
func (w *DataStreamWriter) PartitionBy(cols ...string) *DataStreamWriter {
	w.partitions = cols
	return w
}

// ClusterBy keeps rows near each other that are near in some columns.
func (w *DataStreamWriter) ClusterBy(cols ...string) *DataStreamWriter { w.clusters = cols; return w }

// Trigger says when batches run; without one they run one after the other.
func (w *DataStreamWriter) Trigger(t Trigger) *DataStreamWriter { w.trigger = t; return w }

// Start starts the query, writing to a path if the sink has one. The query goes on after Start has returned, whatever becomes of ctx.
func (w *DataStreamWriter) Start(ctx context.Context, path ...string) (*StreamingQuery, error) {
	m := &connectpb.WriteStreamOperationStart{}
	switch len(path) {
	case 0:
	case 1:
		m.SinkDestination = &connectpb.WriteStreamOperationStart_Path{Path: path[0]}
	default:
		return nil, mistake(errclass.New("VALUE_NOT_ALLOWED", "argName", "path", "allowed", "a single path", "value", fmt.Sprint(path)))
	}
	return w.start(ctx, m)
}

// ToTable starts the query, writing to a table.
func (w *DataStreamWriter) ToTable(ctx context.Context, name string) (*StreamingQuery, error) {
	return w.start(ctx, &connectpb.WriteStreamOperationStart{SinkDestination: &connectpb.WriteStreamOperationStart_TableName{TableName: name}})
}

func (w *DataStreamWriter) start(ctx context.Context, m *connectpb.WriteStreamOperationStart) (*StreamingQuery, error) {
	if err := firstError(w.d.err, w.options.err); err != nil {
		return nil, err
	}
	m.Input, m.Format, m.Options, m.OutputMode, m.QueryName = w.d.rel, w.format, w.options.get(), string(w.mode), w.name
	m.PartitioningColumnNames, m.ClusteringColumnNames = w.partitions, w.clusters
	if w.trigger.set != nil {
		w.trigger.set(m)
	}
	s := w.d.s
	with, err := w.attended(ctx)
	if err != nil {
		return nil, err
	}
	told := s.bus.starting()
	var started *connectpb.WriteStreamOperationStartResult
	if with != nil {
		var a *attendant
		if a, err = s.attendant(ctx, w.d, with, m); err == nil {
			started = a.result
		}
	} else {
		started, err = s.startQuery(ctx, m)
	}
	if started != nil {
		err = firstError(err, told(started.QueryStartedEventJson))
	} else {
		err = firstError(err, told(nil))
	}
	if err != nil {
		return nil, err
	}
	return &StreamingQuery{s: s, id: started.GetQueryId().GetId(), runID: started.GetQueryId().GetRunId(), name: started.GetName()}, nil
}

func (s *Session) startQuery(ctx context.Context, m *connectpb.WriteStreamOperationStart) (started *connectpb.WriteStreamOperationStartResult, err error) {
	err = s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_WriteStreamOperationStart{WriteStreamOperationStart: m}},
		func(r *connectpb.ExecutePlanResponse) {
			if x := r.GetWriteStreamOperationStartResult(); x != nil {
				started = x
			}
		})
	if err == nil && started == nil {
		err = errclass.New("UNEXPECTED_RESPONSE", "reason", "it does not tell which query was started")
	}
	return started, err
}

// attended is what is to be done with batches in this process, or nil. The console of a server is not what a program's user looks at:
// when the server is millrace it sends the text.
func (w *DataStreamWriter) attended(ctx context.Context) (*attendWith, error) {
	if w.attend != nil || !strings.EqualFold(w.format, "console") {
		return w.attend, nil
	}
	s := w.d.s
	if _, here := s.backend.Backend.(backend.Functions); here && s.console == os.Stdout {
		return nil, nil
	}
	ours, err := s.isMillrace(ctx)
	if err != nil || !ours {
		return nil, err
	}
	return &attendWith{wants: connectpb.AttendQuery_WANTS_TEXT, name: "the console sink"}, nil
}
