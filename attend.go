package millrace

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// versionKey is a setting that only millrace has.
const versionKey = "spark.millrace.version"

// attendWith is what a writer does with the batches of its query in this process.
type attendWith struct {
	wants connectpb.AttendQuery_Wants
	name  string // of the method, for messages
	// check looks at the stream before it is started; nil for nothing to look at.
	check func(ctx context.Context, d *DataFrame) error
	work  func(ctx context.Context, b *attended) error
	err   error
}

// attended is a batch at hand.
type attended struct {
	s *Session // of the query
	m *connectpb.Attend
}

// frame is a relation that the server has parked.
func (b *attended) frame(relation string) *DataFrame {
	return newDataFrame(b.s, &connectpb.Relation{RelType: &connectpb.Relation_CachedRemoteRelation{
		CachedRemoteRelation: &connectpb.CachedRemoteRelation{RelationId: relation},
	}})
}

// attendants are the queries of a session whose batches are handled in this process, and what has become of them.
type attendants struct {
	mu       sync.Mutex
	running  map[*attendant]struct{}
	failures map[string]error // what the function has failed of, by run
}

// attendant reads what the server gives of one query, in one goroutine, and works on it in another. Both are the session's, which ends
// them in Close.
type attendant struct {
	s    *Session
	with *attendWith
	out  io.Writer // for texts

	x      *execution
	cancel context.CancelFunc // of reading
	begun  chan struct{}      // closed when the query is started, or is not
	result *connectpb.WriteStreamOperationStartResult
	err    error // of reading, valid once ended is closed
	ended  chan struct{}

	ctx     context.Context // of the program's function
	release context.CancelCauseFunc
	calls   chan *connectpb.Attend
	done    chan struct{} // closed when nothing runs any more
}

// inAttendant marks the context of a query's function.
type inAttendant struct{}

var errQueryEnded = errors.New("the query has ended")

// isMillrace tells whether the server has what Spark does not.
func (s *Session) isMillrace(ctx context.Context) (bool, error) {
	if v := s.millrace.Load(); v != nil {
		return *v, nil
	}
	r, err := s.Conf().call(ctx, &connectpb.ConfigRequest_Operation{
		OpType: &connectpb.ConfigRequest_Operation_GetOption{GetOption: &connectpb.ConfigRequest_GetOption{Keys: []string{versionKey}}},
	})
	if err != nil {
		return false, err
	}
	yes := len(r.GetPairs()) == 1 && r.GetPairs()[0].Value != nil
	s.millrace.Store(&yes)
	return yes, nil
}

// attendant starts a query and begins to attend it.
func (s *Session) attendant(ctx context.Context, d *DataFrame, with *attendWith, m *connectpb.WriteStreamOperationStart) (*attendant, error) {
	if with.err != nil {
		return nil, with.err
	}
	ours, err := s.isMillrace(ctx)
	if err != nil {
		return nil, err
	}
	if !ours {
		return nil, errclass.New("UNSUPPORTED_FEATURE.GO_FUNCTION_ON_SPARK", "functionName", with.name)
	}
	if with.check != nil {
		if err := with.check(ctx, d); err != nil {
			return nil, err
		}
	}
	c, err := connectpb.NewExtension(&connectpb.AttendQuery{Start: m, Wants: with.wants})
	if err != nil {
		return nil, err
	}
	a := &attendant{
		s: s, with: with, out: s.console, begun: make(chan struct{}), ended: make(chan struct{}),
		calls: make(chan *connectpb.Attend, 1), done: make(chan struct{}),
	}
	// The query outlives the call that starts it.
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a.cancel = cancel
	a.ctx, a.release = context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), inAttendant{}, a))
	if a.x, err = s.start(reading, &connectpb.Plan{OpType: &connectpb.Plan_Command{Command: c}}); err != nil {
		cancel()
		a.release(nil)
		return nil, err
	}
	s.attendants.add(a)
	go a.read()
	go a.work()
	select {
	case <-a.begun:
	case <-ctx.Done():
		cancel()
		<-a.done
		return nil, context.Cause(ctx)
	}
	if a.result == nil {
		<-a.done
		return nil, firstError(a.err, errclass.New("UNEXPECTED_RESPONSE", "reason", "it does not tell which query was started"))
	}
	return a, nil
}

// read reads the operation to its end.
func (a *attendant) read() {
	defer a.cancel()
	begun := false
	for {
		r, _, err := a.x.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				a.err = err
			}
			break
		}
		if started := r.GetWriteStreamOperationStartResult(); started != nil && !begun {
			begun, a.result = true, started
			close(a.begun)
		}
		m := &connectpb.Attend{}
		if ext := r.GetExtension(); ext == nil || !ext.MessageIs(m) {
			continue
		}
		if a.err = r.GetExtension().UnmarshalTo(m); a.err != nil {
			break
		}
		if text := m.GetText(); text != "" {
			if _, err := io.WriteString(a.out, text); err != nil {
				slog.Warn("millrace: the console sink cannot print", "err", err)
			}
			continue
		}
		a.calls <- m // there is never more than one that was not answered
	}
	if err := a.x.close(); err != nil && a.err == nil {
		a.err = err
	}
	close(a.ended)
	a.release(errQueryEnded)
	close(a.calls)
	if !begun {
		close(a.begun)
	}
}

// work handles one batch after the other.
func (a *attendant) work() {
	defer close(a.done)
	defer a.s.attendants.remove(a)
	var twin *Session
	defer func() {
		if twin != nil {
			twin.closed.Store(true)
			if err := twin.backend.release(); err != nil {
				slog.Warn("millrace: a session of a query was not closed cleanly", "err", err)
			}
		}
	}()
	for m := range a.calls {
		<-a.begun
		if twin == nil {
			twin = a.s.twin(m.GetSessionId(), m.GetServerSideSessionId())
		}
		err := a.handle(&attended{s: twin, m: m})
		if err != nil && a.ctx.Err() == nil {
			a.s.attendants.failed(a.result.GetQueryId().GetRunId(), err)
		}
		a.answer(m.GetBatchId(), err)
	}
}

// handle calls the program's function.
func (a *attendant) handle(b *attended) (err error) {
	defer recovered(&err)
	if err := a.ctx.Err(); err != nil {
		return err
	}
	return a.with.work(a.ctx, b)
}

// answer tells the server what has come of a batch. It is told also when the query has ended meanwhile: its session waits for that.
func (a *attendant) answer(batch int64, failure error) {
	m := &connectpb.AnswerAttend{QueryId: a.result.GetQueryId(), BatchId: batch}
	if failure != nil {
		m.Failure = &connectpb.AnswerAttend_Failure{Message: failure.Error()}
		if e, ok := errors.AsType[*Error](failure); ok {
			m.Failure.ErrorClass, m.Failure.SqlState = e.Class, e.SQLState
		}
	}
	c, err := connectpb.NewExtension(m)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), closeTimeout)
		defer cancel()
		err = a.s.command(ctx, c, nil)
	}
	select {
	case <-a.ended: // nobody waits for it then
	default:
		if err != nil && !a.s.closed.Load() {
			slog.Warn("millrace: the server was not told of a batch", "batch", batch, "err", err)
			a.cancel() // so that the query does not wait for ever
		}
	}
}

// twin is the session of a query. It ends with the query.
func (s *Session) twin(id, serverID string) *Session {
	t := s.backend.session(s.user, id)
	t.serverID.Store(proto.String(serverID))
	t.parent, t.console = s, s.console
	t.millrace.Store(s.millrace.Load())
	return t
}

// origin is the session that a twin was made of, or the session itself.
func (s *Session) origin() *Session {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

// within tells whether a session is a twin of another, or of a twin of it, or that other itself.
func (s *Session) within(other *Session) bool {
	for ; s != nil; s = s.parent {
		if s == other {
			return true
		}
	}
	return false
}

// common is the session in which plans of two sessions can be put together: one is the other, or a twin of it.
func (s *Session) common(other *Session) (*Session, bool) {
	switch {
	case s.within(other):
		return s, true
	case other.within(s):
		return other, true
	}
	return s, false
}

func (as *attendants) add(a *attendant) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.running == nil {
		as.running = map[*attendant]struct{}{}
	}
	as.running[a] = struct{}{}
}

func (as *attendants) remove(a *attendant) {
	as.mu.Lock()
	defer as.mu.Unlock()
	delete(as.running, a)
}

func (as *attendants) all() []*attendant {
	as.mu.Lock()
	defer as.mu.Unlock()
	return slices.Collect(maps.Keys(as.running))
}

func (as *attendants) failed(run string, err error) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.failures == nil {
		as.failures = map[string]error{}
	}
	as.failures[run] = err
}

// explain puts the error of a function of the program where the server could only put its text, so that errors.Is and errors.As
// find it.
func (as *attendants) explain(err error) error {
	if failed, ok := errors.AsType[*Error](err); ok && failed.Class == "STREAM_FAILED" {
		as.explainRun(failed.Params["runId"], failed)
	}
	return err
}

// explainRun does that for what a run has failed of.
func (as *attendants) explainRun(run string, failed *Error) {
	as.mu.Lock()
	own := as.failures[run]
	as.mu.Unlock()
	for e := failed; e != nil && own != nil; e, _ = errors.AsType[*Error](e.Cause) {
		switch e.Class {
		case "FOREACH_BATCH_USER_FUNCTION_ERROR", "FOREACH_USER_FUNCTION_ERROR":
			e.Cause = own
			return
		}
	}
}

// settle waits, when a query has ended, until its function has returned, too. One that does not mind the end of its context is not waited
// for without end, and one that asks for it itself not at all.
func (as *attendants) settle(ctx context.Context, run string) {
	for _, a := range as.all() {
		if !a.runs(run) || ctx.Value(inAttendant{}) == a {
			continue
		}
		select {
		case <-a.done:
		case <-ctx.Done():
		case <-time.After(closeTimeout):
			slog.Warn("millrace: a function still runs when its query has ended", "query", a.result.GetQueryId().GetId(), "function", a.with.name)
		}
	}
}

// close ends all attendants and waits for them.
func (as *attendants) close() {
	for _, a := range as.all() {
		a.cancel()
		select {
		case <-a.done:
		case <-time.After(closeTimeout):
			slog.Warn("millrace: a function still runs when its session has ended", "function", a.with.name)
		}
	}
}

// runs tells whether the attendant's query is that of a run.
func (a *attendant) runs(run string) bool {
	select {
	case <-a.begun:
		return a.result.GetQueryId().GetRunId() == run
	default:
		return false
	}
}
