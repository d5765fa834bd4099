package connect

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Why an operation's context ended.
var (
	errAbandoned   = errclass.New("INVALID_HANDLE.OPERATION_ABANDONED", "handle", "")
	errInterrupted = errclass.New("OPERATION_CANCELED")
)

// operation is one ExecutePlan: its work in a goroutine of its own, and its responses, which a client may read more than once.
type operation struct {
	id           string
	h            *holder
	req          *connectpb.ExecutePlanRequest
	reattachable bool
	records      bool // rows go beside the messages instead of as bytes
	ctx          context.Context
	cancel       context.CancelCauseFunc
	prefix       [10]byte      // of response ids; the rest is the response's number
	gone         chan struct{} // closed when the client has released the operation

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, when anything below changes
	buf     []response    // responses first to first+len(buf)-1, counted from 1
	first   int64
	sent    int64 // the last response that a reader has got
	ahead   int64 // bytes after sent
	kept    int64 // bytes up to sent
	settled bool  // how it ends is decided: an interrupt comes too late
	done    bool
	err     *Failure
	state   connectpb.GetStatusResponse_OperationStatus_OperationState
	reader  *Stream
	since   time.Time // when the last reader left
	attends bool      // it stays with a query, which interrupts of what the session runs do not concern
}

type response struct {
	msg    *connectpb.ExecutePlanResponse
	record arrow.RecordBatch
	size   int64
}

func newOperation(h *holder, req *connectpb.ExecutePlanRequest, id string, reattachable, records bool) *operation {
	op := &operation{
		id: id, h: h, req: req, reattachable: reattachable, records: records, changed: make(chan struct{}), gone: make(chan struct{}), first: 1,
		state: connectpb.GetStatusResponse_OperationStatus_OPERATION_STATE_RUNNING, since: h.svc.clock.Now(),
	}
	op.ctx, op.cancel = context.WithCancelCause(h.ctx)
	u := uuid.New()
	copy(op.prefix[:], u[:])
	return op
}

func (op *operation) setAttends() {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.attends = true
}

// responseID is the id of response n: as unique as a random one, but the number can be told from it.
func (op *operation) responseID(n int64) string {
	var u uuid.UUID
	copy(u[:], op.prefix[:])
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	copy(u[10:], b[2:])
	return u.String()
}

// position is the number of the response with an id.
func (op *operation) position(id string) (int64, error) {
	u, err := uuid.Parse(id)
	n := int64(0)
	if err == nil && [10]byte(u[:10]) == op.prefix {
		var b [8]byte
		copy(b[2:], u[10:])
		n = int64(binary.BigEndian.Uint64(b[:]))
	}
	if n <= 0 || n >= op.first+int64(len(op.buf)) {
		return 0, errclass.New("INVALID_CURSOR.POSITION_NOT_FOUND", "responseId", id)
	}
	return n, nil
}

// wake tells everybody who waits. The lock is held.
func (op *operation) wake() {
	close(op.changed)
	op.changed = make(chan struct{})
}

// emit adds a response. It waits while the reader is too far behind.
func (op *operation) emit(ctx context.Context, msg *connectpb.ExecutePlanResponse, rec arrow.RecordBatch, size int64) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	for op.ahead > op.h.svc.settings.AheadBytes {
		changed := op.changed
		op.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		op.mu.Lock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	op.add(msg, rec, size)
	return nil
}

// add appends a response. The lock is held.
func (op *operation) add(msg *connectpb.ExecutePlanResponse, rec arrow.RecordBatch, size int64) {
	n := op.first + int64(len(op.buf))
	msg.SessionId, msg.ServerSideSessionId, msg.OperationId = op.h.ID, op.h.ServerID, op.id
	msg.ResponseId = op.responseID(n)
	size += 200
	op.buf = append(op.buf, response{msg, rec, size})
	op.ahead += size
	op.wake()
}

// interrupt cancels the operation and tells whether it has: one that is told of as interrupted does not succeed any more.
func (op *operation) interrupt() bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.settled {
		return false
	}
	op.cancel(errInterrupted)
	return true
}

// settle decides how the operation ends, given what its work has said. Whatever that is, one that was told to end has ended for that.
func (op *operation) settle(err error) error {
	op.mu.Lock()
	defer op.mu.Unlock()
	op.settled = true
	cause := context.Cause(op.ctx)
	switch {
	case cause == nil:
		return err
	case errors.As(cause, new(*errclass.Error)):
		return cause
	}
	return errInterrupted
}

// finish ends the responses.
func (op *operation) finish(f *Failure) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if f == nil && op.reattachable {
		op.add(&connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_ResultComplete_{
			ResultComplete: &connectpb.ExecutePlanResponse_ResultComplete{},
		}}, nil, 0)
	}
	op.done, op.err = true, f
	switch {
	case f == nil:
		op.state = connectpb.GetStatusResponse_OperationStatus_OPERATION_STATE_SUCCEEDED
	case f.Err.Class == errInterrupted.Class || f.Err.Class == errAbandoned.Class:
		op.state = connectpb.GetStatusResponse_OperationStatus_OPERATION_STATE_CANCELLED
	default:
		op.state = connectpb.GetStatusResponse_OperationStatus_OPERATION_STATE_FAILED
	}
	op.wake()
}

// release drops responses up to n.
func (op *operation) release(n int64) {
	for len(op.buf) > 0 && op.first <= n {
		if op.first <= op.sent {
			op.kept -= op.buf[0].size
		} else {
			op.ahead -= op.buf[0].size
		}
		op.buf[0] = response{}
		op.buf = op.buf[1:]
		op.first++
	}
	op.wake()
}

// detachedFor is how long no reader has been there.
func (op *operation) detachedFor(now time.Time) time.Duration {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.reader != nil {
		return 0
	}
	return now.Sub(op.since)
}

// attach makes a reader that starts after response last. One that was reading before is cut off.
func (op *operation) attach(last int64) (*Stream, error) {
	op.mu.Lock()
	defer op.mu.Unlock()
	if last+1 < op.first {
		return nil, errclass.New("INVALID_CURSOR.POSITION_NOT_AVAILABLE", "responseId", op.responseID(last+1), "index", "released")
	}
	s := &Stream{op: op, next: last + 1, started: op.h.svc.clock.Now()}
	op.reader = s
	op.wake()
	return s, nil
}

// Stream is a client's reading of an operation's responses. It belongs to one goroutine.
type Stream struct {
	op      *operation
	next    int64
	started time.Time
	bytes   int64
	closed  bool
}

// Next returns the next response, with the rows beside it when they are wanted as records. io.EOF ends the stream; for a
// reattachable operation that may be a cut, which clients tell by the missing result_complete.
func (s *Stream) Next(ctx context.Context) (*connectpb.ExecutePlanResponse, arrow.RecordBatch, error) {
	op := s.op
	set := &op.h.svc.settings
	var beat <-chan time.Time
	var stop func()
	defer func() {
		if stop != nil {
			stop()
		}
	}()
	op.mu.Lock()
	defer op.mu.Unlock()
	for {
		switch {
		case op.reader != s:
			return nil, nil, errclass.New("INVALID_CURSOR.DISCONNECTED")
		case s.cut(set):
			return nil, nil, io.EOF
		case s.next < op.first:
			return nil, nil, errclass.New("INVALID_CURSOR.POSITION_NOT_AVAILABLE", "responseId", op.responseID(s.next), "index", "released")
		case s.next < op.first+int64(len(op.buf)):
			r := op.buf[s.next-op.first]
			if s.next > op.sent {
				op.sent = s.next
				op.ahead -= r.size
				op.kept += r.size
			}
			s.next++
			s.bytes += r.size
			op.forget(set)
			return r.msg, r.record, nil
		case op.done && op.err != nil:
			return nil, nil, op.err
		case op.done:
			return nil, nil, io.EOF
		}
		if beat == nil && !op.records {
			wait := set.Progress
			if op.reattachable && set.StreamDuration > 0 {
				left := set.StreamDuration - op.h.svc.clock.Now().Sub(s.started)
				if wait <= 0 || left < wait {
					wait = max(left, time.Millisecond)
				}
			}
			if wait > 0 {
				beat, stop = op.h.svc.clock.After(wait)
			}
		}
		changed := op.changed
		op.mu.Unlock()
		select {
		case <-changed:
			op.mu.Lock()
		case <-ctx.Done():
			op.mu.Lock()
			return nil, nil, ctx.Err()
		case <-beat:
			op.mu.Lock()
			beat = nil
			if set.Progress > 0 && !op.done && s.next == op.first+int64(len(op.buf)) && !s.cut(set) {
				op.add(progressMessage(), nil, 0)
			}
		}
	}
}

func progressMessage() *connectpb.ExecutePlanResponse {
	return &connectpb.ExecutePlanResponse{ResponseType: &connectpb.ExecutePlanResponse_ExecutionProgress_{
		ExecutionProgress: &connectpb.ExecutePlanResponse_ExecutionProgress{},
	}}
}

// cut tells whether the stream has lasted long enough and is to end for now.
func (s *Stream) cut(set *Settings) bool {
	if !s.op.reattachable || s.op.records {
		return false
	}
	return set.StreamBytes > 0 && s.bytes >= set.StreamBytes ||
		set.StreamDuration > 0 && s.op.h.svc.clock.Now().Sub(s.started) >= set.StreamDuration
}

// forget drops what nobody will ask for again: at once when nobody can, else when more is kept than is allowed.
func (op *operation) forget(set *Settings) {
	keep := set.RetryBytes
	if !op.reattachable {
		keep = 0
	}
	for len(op.buf) > 0 && op.first <= op.sent && (op.kept > keep || !op.reattachable) {
		op.kept -= op.buf[0].size
		op.buf[0] = response{}
		op.buf = op.buf[1:]
		op.first++
	}
	op.wake() // the work may wait for room
}

// Close ends the reading. An operation that cannot be reattached ends with it.
func (s *Stream) Close() {
	if s.closed {
		return
	}
	s.closed = true
	op := s.op
	op.mu.Lock()
	mine := op.reader == s
	if mine {
		op.reader, op.since = nil, op.h.svc.clock.Now()
	}
	op.mu.Unlock()
	if mine && !op.reattachable {
		op.cancel(errAbandoned)
		op.h.forget(op.id)
	}
}
