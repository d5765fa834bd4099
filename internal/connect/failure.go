package connect

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Failure is an error that a session remembers, so that its client can ask for the details.
type Failure struct {
	Err *errclass.Error
	// ID is what the client asks with; empty when there is no session to ask.
	ID string
}

// Error implements error.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap gives the error itself.
func (f *Failure) Unwrap() error { return f.Err }

// errorLog keeps a session's last errors.
type errorLog struct {
	byID  map[string]loggedError
	order []string
}

type loggedError struct {
	err *errclass.Error
	at  time.Time
}

const (
	// maxErrors is how many errors a session remembers, errorsFor how long.
	maxErrors = 200
	errorsFor = 30 * time.Minute
)

func (l *errorLog) add(id string, err *errclass.Error, now time.Time) {
	if l.byID == nil {
		l.byID = map[string]loggedError{}
	}
	l.byID[id] = loggedError{err, now}
	l.order = append(l.order, id)
	if len(l.order) > maxErrors {
		delete(l.byID, l.order[0])
		l.order = l.order[1:]
	}
}

func (l *errorLog) expire(now time.Time) {
	for len(l.order) > 0 && now.Sub(l.byID[l.order[0]].at) > errorsFor {
		delete(l.byID, l.order[0])
		l.order = l.order[1:]
	}
}

// fail remembers an error. One that has no class is a fault of ours and goes to the log.
func (h *holder) fail(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	var e *errclass.Error
	switch {
	case errors.As(err, &e):
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e = errclass.New("OPERATION_CANCELED")
	default:
		e = errclass.Internal(err)
	}
	if e.Class == "INTERNAL_ERROR" {
		h.svc.log.Error("internal error", "session", h.ID, "error", e.Message, "stack", e.Stack)
	}
	f := &Failure{Err: e, ID: uuid.NewString()}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.errs.add(f.ID, e, h.svc.clock.Now())
	return f
}

// noted makes a Failure of an error of a unary request.
func (h *holder) noted(err *error) {
	if *err != nil {
		*err = h.fail(*err)
	}
}

// FetchErrorDetails returns an error with its causes. For an unknown id the answer is empty.
func (s *Service) FetchErrorDetails(_ context.Context, req *connectpb.FetchErrorDetailsRequest) (_ *connectpb.FetchErrorDetailsResponse, err error) {
	defer s.guard(&err)
	h, err := s.session(req)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	logged, ok := h.errs.byID[req.GetErrorId()]
	h.mu.Unlock()
	if !ok {
		return &connectpb.FetchErrorDetailsResponse{}, nil
	}
	root := int32(0)
	return &connectpb.FetchErrorDetailsResponse{RootErrorIdx: &root, Errors: errorMessages(logged.err)}, nil
}

// maxCauses bounds the chain of causes that is told.
const maxCauses = 8

// errorMessages are an error and its causes, each linked to the next.
func errorMessages(err error) []*connectpb.FetchErrorDetailsResponse_Error {
	var out []*connectpb.FetchErrorDetailsResponse_Error
	for err != nil && len(out) < maxCauses {
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok {
			break // what led to it in our own code is for the log only
		}
		if n := int32(len(out)); n > 0 {
			out[n-1].CauseIdx = &n
		}
		out = append(out, errorMessage(e))
		err = e.Cause
	}
	return out
}

// placeless tells whether Spark says no place for a condition. Clients compare places, so none goes over the wire; the message has it.
func placeless(class string) bool {
	switch class {
	case "PARSE_SYNTAX_ERROR", "FIELD_NOT_FOUND", "INVALID_EXTRACT_BASE_FIELD_TYPE", "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS",
		"MISSING_WINDOW_SPECIFICATION", "INVALID_INTERVAL_FORMAT.INVALID_VALUE", "WRONG_NUM_ARGS.WITH_SUGGESTION", "CAST_OVERFLOW",
		"CANNOT_PARSE_TIMESTAMP", "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER", "INVALID_DATETIME_PATTERN.WITH_SUGGESTION",
		"USER_RAISED_EXCEPTION", "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "ILLEGAL_DAY_OF_WEEK", "INVALID_PARAMETER_VALUE.PATTERN",
		"REQUIRES_SINGLE_PART_NAMESPACE", "AMBIGUOUS_LATERAL_COLUMN_ALIAS":
		return true
	}
	return false
}

func errorMessage(e *errclass.Error) *connectpb.FetchErrorDetailsResponse_Error {
	m := &connectpb.FetchErrorDetailsResponse_Error{ErrorTypeHierarchy: e.Classes(), Message: e.Error()}
	class := e.Told()
	if class == "" {
		return m
	}
	t := &connectpb.FetchErrorDetailsResponse_SparkThrowable{ErrorClass: &class, MessageParameters: e.Params}
	if e.SQLState != "" {
		t.SqlState = &e.SQLState
	}
	for _, c := range e.Context {
		if placeless(e.Class) {
			break
		}
		t.QueryContexts = append(t.QueryContexts, &connectpb.FetchErrorDetailsResponse_QueryContext{
			ContextType: connectpb.FetchErrorDetailsResponse_QueryContext_ContextType(c.Type),
			ObjectType:  c.ObjectType, ObjectName: c.ObjectName, StartIndex: int32(c.Start), StopIndex: int32(c.Stop),
			Fragment: c.Fragment, CallSite: c.CallSite, Summary: c.Text(),
		})
	}
	m.SparkThrowable = t
	return m
}
