package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/types/known/anypb"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/stream"
	"github.com/millrace/millrace/internal/stream/foreach"
	"github.com/millrace/millrace/sink"
)

// startStream starts a streaming query.
func (op *operation) startStream(m *connectpb.WriteStreamOperationStart) error {
	switch {
	case m.GetForeachBatch() != nil:
		return foreignFunction(m.GetForeachBatch(), "foreachBatch")
	case m.GetForeachWriter() != nil:
		return foreignFunction(m.GetForeachWriter(), "foreach")
	}
	q, err := op.launch(m, nil)
	if err != nil {
		return err
	}
	return op.sendStarted(q)
}

// launch starts a streaming query, into a sink that is not in the registry if there is one.
func (op *operation) launch(m *connectpb.WriteStreamOperationStart, format sink.Format) (*stream.Query, error) {
	n, err := op.relation(m.GetInput())
	if err != nil {
		return nil, err
	}
	if n, err = op.h.Analyze(op.ctx, n); err != nil {
		return nil, err
	}
	if !n.Streaming() {
		return nil, errclass.New("WRITE_STREAM_NOT_ALLOWED")
	}
	conf := op.h.AnalyzeConf()
	r := stream.StartRequest{
		Plan: n, OutputMode: m.GetOutputMode(), Format: m.GetFormat(), Options: m.GetOptions(), PartitionBy: m.GetPartitioningColumnNames(),
		Name: m.GetQueryName(), Conf: op.h.Conf.Clone(), Zone: op.h.Zone(), Session: op.h.Session, Tags: op.jobTags(), Sink: format,
		Check: func(n plan.Node, mode string) error { return analyze.CheckStreaming(n, mode, conf) },
	}
	switch t := m.GetTrigger().(type) {
	case *connectpb.WriteStreamOperationStart_ProcessingTimeInterval:
		r.Trigger = stream.Trigger{Kind: stream.ProcessingTime, Interval: t.ProcessingTimeInterval}
	case *connectpb.WriteStreamOperationStart_AvailableNow:
		r.Trigger.Kind = stream.AvailableNow
	case *connectpb.WriteStreamOperationStart_Once:
		r.Trigger.Kind = stream.Once
	case *connectpb.WriteStreamOperationStart_ContinuousCheckpointInterval:
		r.Trigger = stream.Trigger{Kind: stream.Continuous, Interval: t.ContinuousCheckpointInterval}
	case *connectpb.WriteStreamOperationStart_RealTimeBatchDuration:
		r.Trigger = stream.Trigger{Kind: stream.RealTime, Interval: t.RealTimeBatchDuration}
	}
	if f, ok := format.(foreach.Format); ok && f.Name == "foreachBatch" && r.Trigger.Kind == stream.Continuous {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.CONTINUOUS_FOREACH_BATCH")
	}
	switch d := m.GetSinkDestination().(type) {
	case *connectpb.WriteStreamOperationStart_Path:
		r.Path = d.Path
		if _, twice := sink.Options(r.Options).Get("path"); twice && d.Path != "" && !op.h.Conf.Bool(setting.PathOption) {
			return nil, errclass.New("INVALID_STREAMING_OPTION.PATH_TWICE", "method", "start")
		}
	case *connectpb.WriteStreamOperationStart_TableName:
		if r.Sink, err = op.h.TableSink(op.ctx, d.TableName, r.Format, plan.Schema(n), r.PartitionBy, r.Options); err != nil {
			return nil, err
		}
	}
	op.h.starting(op, "")
	q, err := op.h.streams.Start(op.ctx, r)
	if err != nil {
		op.h.started(op)
		return nil, err
	}
	op.h.starting(op, q.RunID())
	return q, nil
}

// sendStarted answers the client that has started a query.
func (op *operation) sendStarted(q *stream.Query) error {
	res := &connectpb.WriteStreamOperationStartResult{QueryId: instanceID(q), Name: q.Name()}
	if op.h.listening() {
		started := q.Started().JSON()
		res.QueryStartedEventJson = &started
	}
	return op.send(&connectpb.ExecutePlanResponse{
		ResponseType: &connectpb.ExecutePlanResponse_WriteStreamOperationStartResult{WriteStreamOperationStartResult: res},
	})
}

// jobTags are the tags of the start event, named as Spark names them: the operation's own, and the user's.
func (op *operation) jobTags() []string {
	user, session := op.req.GetUserContext().GetUserId(), op.req.GetSessionId()
	tags := []string{fmt.Sprintf("SparkConnect_OperationTag_User_%s_Session_%s_Operation_%s", user, session, op.id)}
	for _, t := range op.req.GetTags() {
		tags = append(tags, fmt.Sprintf("SparkConnect_SessionTag_User_%s_Session_%s_Tag_%s", user, session, t))
	}
	return tags
}

func foreignFunction(f *connectpb.StreamingForeachFunction, name string) error {
	switch f.GetFunction().(type) {
	case *connectpb.StreamingForeachFunction_PythonFunction:
		return errclass.New("UNSUPPORTED_FEATURE.PYTHON_FUNCTION", "functionName", name)
	case *connectpb.StreamingForeachFunction_ScalaFunction:
		return errclass.New("UNSUPPORTED_FEATURE.SCALA_FUNCTION", "functionName", name)
	}
	return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
		"fullName", "spark.connect.StreamingForeachFunction.function", "name", "function")
}

func instanceID(q *stream.Query) *connectpb.StreamingQueryInstanceId {
	return &connectpb.StreamingQueryInstanceId{Id: q.ID(), RunId: q.RunID()}
}

// timeout is a wait in milliseconds; absent is without end.
func timeout(ms *int64) time.Duration {
	if ms == nil {
		return -1
	}
	return time.Duration(max(*ms, 0)) * time.Millisecond
}

// streamCommand asks something of one query.
func (op *operation) streamCommand(m *connectpb.StreamingQueryCommand) error {
	q, err := op.h.streams.Find(m.GetQueryId().GetId(), m.GetQueryId().GetRunId())
	if err != nil {
		return err
	}
	res := &connectpb.StreamingQueryCommandResult{QueryId: m.GetQueryId()}
	switch k := m.GetCommand().(type) {
	case *connectpb.StreamingQueryCommand_Status:
		st := q.Status()
		res.ResultType = &connectpb.StreamingQueryCommandResult_Status{Status: &connectpb.StreamingQueryCommandResult_StatusResult{
			StatusMessage: st.Message, IsDataAvailable: st.IsDataAvailable, IsTriggerActive: st.IsTriggerActive, IsActive: q.IsActive(),
		}}
	case *connectpb.StreamingQueryCommand_LastProgress:
		var last []*stream.Progress
		if p := q.LastProgress(); p != nil {
			last = []*stream.Progress{p}
		}
		res.ResultType = progressResult(last)
	case *connectpb.StreamingQueryCommand_RecentProgress:
		res.ResultType = progressResult(q.RecentProgress())
	case *connectpb.StreamingQueryCommand_Stop:
		if err := q.Stop(op.ctx); err != nil {
			return err
		}
	case *connectpb.StreamingQueryCommand_ProcessAllAvailable:
		if err := q.ProcessAllAvailable(op.ctx); err != nil {
			return err
		}
	case *connectpb.StreamingQueryCommand_Explain:
		res.ResultType = &connectpb.StreamingQueryCommandResult_Explain{
			Explain: &connectpb.StreamingQueryCommandResult_ExplainResult{Result: q.Explain(k.Explain.GetExtended())},
		}
	case *connectpb.StreamingQueryCommand_Exception:
		res.ResultType = &connectpb.StreamingQueryCommandResult_Exception{Exception: exceptionResult(q.Exception())}
	case *connectpb.StreamingQueryCommand_AwaitTermination:
		ended, err := q.AwaitTermination(op.ctx, timeout(k.AwaitTermination.TimeoutMs))
		if err != nil {
			return err
		}
		res.ResultType = &connectpb.StreamingQueryCommandResult_AwaitTermination{
			AwaitTermination: &connectpb.StreamingQueryCommandResult_AwaitTerminationResult{Terminated: ended},
		}
	default:
		return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
			"fullName", "spark.connect.StreamingQueryCommand.command", "name", "command")
	}
	return op.send(&connectpb.ExecutePlanResponse{
		ResponseType: &connectpb.ExecutePlanResponse_StreamingQueryCommandResult{StreamingQueryCommandResult: res},
	})
}

func progressResult(ps []*stream.Progress) *connectpb.StreamingQueryCommandResult_RecentProgress {
	r := &connectpb.StreamingQueryCommandResult_RecentProgressResult{}
	for _, p := range ps {
		r.RecentProgressJson = append(r.RecentProgressJson, p.ReplyJSON())
	}
	return &connectpb.StreamingQueryCommandResult_RecentProgress{RecentProgress: r}
}

// exceptionResult tells why a query failed. Clients cut the message at the first colon, behind the class.
func exceptionResult(e *errclass.Error) *connectpb.StreamingQueryCommandResult_ExceptionResult {
	r := &connectpb.StreamingQueryCommandResult_ExceptionResult{}
	if e == nil {
		return r
	}
	text := e.Params["message"]
	if c, ok := errors.AsType[*errclass.Error](e.Cause); ok {
		text = c.Detail()
	}
	text = e.Classes()[0] + ": " + text
	r.ExceptionMessage, r.ErrorClass = &text, &e.Class
	return r
}

// managerCommand concerns all queries of the session.
func (op *operation) managerCommand(m *connectpb.StreamingQueryManagerCommand) error {
	res := &connectpb.StreamingQueryManagerCommandResult{}
	switch k := m.GetCommand().(type) {
	case *connectpb.StreamingQueryManagerCommand_Active:
		r := &connectpb.StreamingQueryManagerCommandResult_ActiveResult{}
		for _, q := range op.h.streams.Active() {
			r.ActiveQueries = append(r.ActiveQueries, instance(q))
		}
		res.ResultType = &connectpb.StreamingQueryManagerCommandResult_Active{Active: r}
	case *connectpb.StreamingQueryManagerCommand_GetQuery:
		id, ok := looseUUID(k.GetQuery)
		if !ok {
			return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", "the query id "+k.GetQuery+" is no UUID").
				WithKind(errclass.IllegalArgument)
		}
		if q := op.h.streams.Get(id); q != nil {
			res.ResultType = &connectpb.StreamingQueryManagerCommandResult_Query{Query: instance(q)}
		}
	case *connectpb.StreamingQueryManagerCommand_AwaitAnyTermination:
		ended, err := op.h.streams.AwaitAny(op.ctx, timeout(k.AwaitAnyTermination.TimeoutMs))
		if err != nil {
			return err
		}
		res.ResultType = &connectpb.StreamingQueryManagerCommandResult_AwaitAnyTermination{
			AwaitAnyTermination: &connectpb.StreamingQueryManagerCommandResult_AwaitAnyTerminationResult{Terminated: ended},
		}
	case *connectpb.StreamingQueryManagerCommand_ResetTerminated:
		op.h.streams.ResetTerminated()
		res.ResultType = &connectpb.StreamingQueryManagerCommandResult_ResetTerminated{ResetTerminated: true}
	case *connectpb.StreamingQueryManagerCommand_ListListeners:
		res.ResultType = &connectpb.StreamingQueryManagerCommandResult_ListListeners{
			ListListeners: &connectpb.StreamingQueryManagerCommandResult_ListStreamingQueryListenerResult{},
		}
	case *connectpb.StreamingQueryManagerCommand_AddListener, *connectpb.StreamingQueryManagerCommand_RemoveListener:
		return errclass.New("CONNECT.UNSUPPORTED_COMMAND", "command", "listeners that run on the server")
	default:
		return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
			"fullName", "spark.connect.StreamingQueryManagerCommand.command", "name", "command")
	}
	return op.send(&connectpb.ExecutePlanResponse{
		ResponseType: &connectpb.ExecutePlanResponse_StreamingQueryManagerCommandResult{StreamingQueryManagerCommandResult: res},
	})
}

func instance(q *stream.Query) *connectpb.StreamingQueryManagerCommandResult_StreamingQueryInstance {
	i := &connectpb.StreamingQueryManagerCommandResult_StreamingQueryInstance{Id: instanceID(q)}
	if n := q.Name(); n != "" {
		i.Name = &n
	}
	return i
}

// busCommand opens the session's stream of events, or ends it. A second stream beside the first is held open and stays silent.
func (op *operation) busCommand(m *connectpb.StreamingQueryListenerBusCommand) error {
	switch m.GetCommand().(type) {
	case *connectpb.StreamingQueryListenerBusCommand_AddListenerBusListener:
		return op.listen()
	case *connectpb.StreamingQueryListenerBusCommand_RemoveListenerBusListener:
		op.h.unsubscribe(nil)
		return nil
	}
	return errclass.New("CONNECT_INVALID_PLAN.INVALID_ONE_OF_FIELD_NOT_SET",
		"fullName", "spark.connect.StreamingQueryListenerBusCommand.command", "name", "command")
}

func (op *operation) listen() error {
	sub := op.h.subscribe()
	if sub == nil {
		<-op.ctx.Done()
		return context.Cause(op.ctx)
	}
	defer op.h.unsubscribe(sub)
	added := true
	if err := op.sendEvents(&connectpb.StreamingQueryListenerEventsResult{ListenerBusListenerAdded: &added}); err != nil {
		return err
	}
	for {
		ev, err := sub.events.Next(op.ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		kind := connectpb.StreamingQueryEventType_QUERY_PROGRESS_EVENT
		switch ev.Kind {
		case stream.QueryStarted:
			continue // travels in the reply of the start
		case stream.QueryIdle:
			kind = connectpb.StreamingQueryEventType_QUERY_IDLE_EVENT
		case stream.QueryTerminated:
			kind = connectpb.StreamingQueryEventType_QUERY_TERMINATED_EVENT
		}
		op.h.awaitStart(op.ctx, ev.RunID)
		err = op.sendEvents(&connectpb.StreamingQueryListenerEventsResult{
			Events: []*connectpb.StreamingQueryListenerEvent{{EventJson: ev.JSON(), EventType: kind}},
		})
		if err != nil {
			return err
		}
	}
}

func (op *operation) sendEvents(m *connectpb.StreamingQueryListenerEventsResult) error {
	return op.send(&connectpb.ExecutePlanResponse{
		ResponseType: &connectpb.ExecutePlanResponse_StreamingQueryListenerEventsResult{StreamingQueryListenerEventsResult: m},
	})
}

// subscription is a session's stream of events.
type subscription struct {
	events *stream.Events
	end    func()
}

// subscribe opens the one subscription of the session; nil when there is one.
func (h *holder) subscribe() *subscription {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sub != nil || h.closed {
		return nil
	}
	h.sub = &subscription{}
	h.sub.events, h.sub.end = h.streams.Subscribe()
	return h.sub
}

// unsubscribe ends a subscription, or whichever there is; it still delivers what was raised before.
func (h *holder) unsubscribe(sub *subscription) {
	h.mu.Lock()
	if sub == nil {
		sub = h.sub
	}
	if h.sub == sub {
		h.sub = nil
	}
	h.mu.Unlock()
	if sub != nil {
		sub.end()
	}
}

func (h *holder) listening() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sub != nil
}

// streaming tells whether a query is running.
func (h *holder) streaming() bool { return len(h.streams.Active()) > 0 }

// drain lets a query finish its batch and waits for its end.
func (op *operation) drain(extension *anypb.Any) error {
	id, ok, err := connectpb.DrainQuery(extension)
	if err != nil {
		return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", "the command that drains a query cannot be read").WithCause(err)
	}
	if !ok {
		return errclass.New("CONNECT.UNSUPPORTED_COMMAND", "command", "extension "+extension.GetTypeUrl())
	}
	q, err := op.h.streams.Find(id.GetId(), id.GetRunId())
	if err != nil {
		return err
	}
	return q.Drain(op.ctx)
}

// closeStreams stops the session's queries and ends its stream of events.
func (h *holder) closeStreams(ctx context.Context) {
	if err := h.streams.StopAll(ctx); err != nil {
		h.svc.log.Warn("streaming queries did not stop in time", "session", h.ID, "error", err)
	}
	h.unsubscribe(nil)
}
