package connect

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/millrace/millrace/internal/connector/console"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stream"
	"github.com/millrace/millrace/internal/stream/foreach"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

// A client can attend a query: it stays with the operation that has started it and is given each batch there, which the query does not
// commit before the client has answered. That is how functions of foreachBatch run, which stay where they are. The operation is
// reattached like any other, so a connection that is cut and made again harms nobody.

// attendance is a query that is attended. It lasts as long as the query, and until the client has answered what it was given.
type attendance struct {
	op    *operation
	wants connectpb.AttendQuery_Wants
	// twin is the session of the query, a clone of the client's.
	twin    *holder
	started chan struct{} // closed when the client is told of the start
	gone    chan struct{} // closed when the client will not answer any more

	mu      sync.Mutex
	pending *batchCall
}

// batchCall is a batch that waits for its answer.
type batchCall struct {
	batch int64
	done  chan error
}

// answerGrace is how long the client's function may go on when its query has ended, before the session that it works in is closed.
const answerGrace = 10 * time.Second

// extension runs the commands that Spark's protocol does not have.
func (op *operation) extension(m *anypb.Any) error {
	attend, answer := &connectpb.AttendQuery{}, &connectpb.AnswerAttend{}
	var err error
	switch {
	case m.MessageIs(attend):
		if err = m.UnmarshalTo(attend); err == nil {
			return op.attend(attend)
		}
	case m.MessageIs(answer):
		if err = m.UnmarshalTo(answer); err == nil {
			return op.answer(answer)
		}
	default:
		return op.drain(m)
	}
	return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", "the extension "+m.GetTypeUrl()+" cannot be read").WithCause(err)
}

// attend starts a query and stays with it to its end.
func (op *operation) attend(m *connectpb.AttendQuery) error {
	a := &attendance{op: op, wants: m.GetWants(), started: make(chan struct{}), gone: make(chan struct{})}
	format, err := a.format()
	if err != nil {
		return err
	}
	op.setAttends()
	if a.wants != connectpb.AttendQuery_WANTS_TEXT {
		if a.twin, err = op.h.svc.twin(op.h); err != nil {
			return err
		}
	}
	q, err := op.launch(m.GetStart(), format)
	if err == nil {
		op.h.setAttendance(q.RunID(), a)
		err = op.sendStarted(q)
	}
	if err != nil {
		if q != nil {
			op.h.setAttendance(q.RunID(), nil)
			q.Break(err)
		}
		a.close()
		return err
	}
	close(a.started)
	select {
	case <-q.Done():
		op.h.wg.Go(func() { a.end(q) })
		return nil
	case <-op.ctx.Done():
	}
	close(a.gone)
	if a.wants != connectpb.AttendQuery_WANTS_TEXT {
		q.Break(errclass.New("STREAMING_CLIENT_GONE", "id", q.ID(), "function", a.name()).WithCause(context.Cause(op.ctx)))
		<-q.Done()
	}
	op.h.setAttendance(q.RunID(), nil)
	a.close()
	return context.Cause(op.ctx)
}

// name is what the client runs, for messages.
func (a *attendance) name() string {
	if a.wants == connectpb.AttendQuery_WANTS_ROWS {
		return "foreach"
	}
	return "foreachBatch"
}

// format is the sink of the query.
func (a *attendance) format() (sink.Format, error) {
	switch a.wants {
	case connectpb.AttendQuery_WANTS_BATCHES, connectpb.AttendQuery_WANTS_ROWS:
		return foreach.Format{Name: a.name(), Take: a.take, Runtime: a.op.h.Runtime()}, nil
	case connectpb.AttendQuery_WANTS_TEXT:
		return console.Format{Out: a, Own: true}, nil
	}
	return nil, errclass.New("CONNECT_INVALID_PLAN.INVALID_ENUM", "fullName", "millrace.AttendQuery.wants", "name", a.wants.String())
}

// end waits, when the query has ended, for the client to answer what it was given, and closes the session that it works in.
func (a *attendance) end(q *stream.Query) {
	a.mu.Lock()
	call := a.pending
	a.mu.Unlock()
	if call != nil {
		late, stop := a.op.h.svc.clock.After(answerGrace)
		select {
		case <-call.done:
		case <-late:
		case <-a.op.gone: // the client has let go of the operation, and its function
		case <-a.op.h.ctx.Done():
		}
		stop()
	}
	a.op.h.setAttendance(q.RunID(), nil)
	a.close()
}

func (a *attendance) close() {
	if a.twin != nil {
		a.op.h.svc.dissolve(a.twin)
	}
}

// take gives a batch to the client and waits for the answer. It is called by the query.
func (a *attendance) take(ctx context.Context, id int64, f *foreach.Frame) error {
	select {
	case <-a.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	call := &batchCall{batch: id, done: make(chan error, 1)}
	a.mu.Lock()
	a.pending = call
	a.mu.Unlock()
	relation := uuid.NewString()
	a.twin.PutRemote(relation, scanOf(f, f))
	defer a.twin.DropRemote(relation)
	defer a.twin.DropFunctions() // DataFrames of the batch are gone with it
	if a.wants == connectpb.AttendQuery_WANTS_ROWS {
		for i := range f.Partitions() {
			part := relation + "/" + strconv.Itoa(i)
			a.twin.PutRemote(part, scanOf(f, f.Partition(i)))
			defer a.twin.DropRemote(part)
		}
	}
	err := a.tell(&connectpb.Attend{
		BatchId: id, RelationId: relation, Partitions: int32(f.Partitions()), SessionId: a.twin.ID, ServerSideSessionId: a.twin.ServerID,
	})
	if err != nil {
		return err
	}
	select {
	case err := <-call.done:
		a.mu.Lock()
		a.pending = nil
		a.mu.Unlock()
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-a.gone:
		<-ctx.Done() // the query is told why
		return ctx.Err()
	}
}

// tell adds a response at once: batches come one after the other, and texts are short.
func (a *attendance) tell(m *connectpb.Attend) error {
	ext, err := anypb.New(m)
	if err != nil {
		return err
	}
	a.op.mu.Lock()
	defer a.op.mu.Unlock()
	a.op.add(&connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_Extension{Extension: ext}}, nil, int64(len(ext.GetValue())))
	return nil
}

// Write gives a text of the console sink to the client, or to the server's own terminal when the client is gone.
func (a *attendance) Write(text []byte) (int, error) {
	<-a.started
	select {
	case <-a.gone:
		var out io.Writer = os.Stdout
		if f, ok := sink.Lookup("console").(console.Format); ok {
			out = f.Out
		}
		return out.Write(text)
	default:
	}
	return len(text), a.tell(&connectpb.Attend{Text: string(text)})
}

// scanOf is a plan that reads a batch, or a part of it.
func scanOf(f *foreach.Frame, table source.Batch) plan.Node {
	scan := &plan.Scan{ID: plan.NewID(), Source: table, Name: "batch"}
	for _, field := range f.Schema().Fields {
		scan.Out = append(scan.Out, &plan.Attr{ID: plan.NewID(), Name: field.Name, T: field.Type, Null: field.Nullable, Metadata: field.Metadata})
	}
	return scan
}

// answer tells a query that its client is done with a batch. An answer that comes twice, or too late, is passed over.
func (op *operation) answer(m *connectpb.AnswerAttend) error {
	a := op.h.attendance(m.GetQueryId().GetRunId())
	if a == nil {
		return errclass.New("CONNECT_INVALID_PLAN.STREAMING_QUERY_NOT_FOUND", "id", m.GetQueryId().GetId())
	}
	var failure error
	if f := m.GetFailure(); f != nil {
		class := "FOREACH_BATCH_USER_FUNCTION_ERROR"
		if a.wants == connectpb.AttendQuery_WANTS_ROWS {
			class = "FOREACH_USER_FUNCTION_ERROR"
		}
		e := errclass.New(class, "reason", f.GetMessage())
		if f.GetErrorClass() != "" {
			e.Cause = &errclass.Error{Class: f.GetErrorClass(), SQLState: f.GetSqlState(), Message: f.GetMessage()}
		} else {
			e.Cause = errors.New(f.GetMessage())
		}
		failure = e
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending != nil && a.pending.batch == m.GetBatchId() {
		select {
		case a.pending.done <- failure:
		default:
		}
	}
	return nil
}

func (h *holder) setAttendance(run string, a *attendance) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a == nil {
		delete(h.attending, run)
		return
	}
	h.attending[run] = a
}

func (h *holder) attendance(run string) *attendance {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.attending[run]
}

// twin makes a session for the functions of a query: a clone that also knows what its original comes to know later. It lasts as long
// as somebody attends the query.
func (s *Service) twin(of *holder) (*holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, errclass.New("INVALID_HANDLE.SESSION_CLOSED", "handle", of.ID)
	}
	t := s.newHolder(of.Twin(uuid.NewString()))
	t.twin = true
	s.sessions[sessionKey{t.User, t.ID}] = t
	return t, nil
}

// dissolve ends a twin.
func (s *Service) dissolve(t *holder) {
	key := sessionKey{t.User, t.ID}
	s.mu.Lock()
	delete(s.sessions, key)
	s.closed[key] = s.clock.Now()
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), answerGrace)
	defer cancel()
	t.close(ctx)
}
