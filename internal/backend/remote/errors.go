package remote

import (
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// typed turns a gRPC status into the error that it stands for. Class, SQLSTATE and parameters travel in the status; causes and
// query contexts are fetched.
func (c *Client) typed(ctx context.Context, s backend.Session, err error) error {
	if err == nil {
		return nil
	}
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	switch st.Code() {
	case codes.Canceled:
		return errors.Join(context.Canceled, err)
	case codes.DeadlineExceeded:
		return errors.Join(context.DeadlineExceeded, err)
	}
	info := errorInfo(st)
	if info == nil {
		if class, message, state := errclass.Split(st.Message()); class != "" {
			return &errclass.Error{Class: class, Message: message, SQLState: state, Kind: errclass.Other}
		}
		return err
	}
	e := &errclass.Error{Class: info.Metadata["errorClass"], SQLState: info.Metadata["sqlState"], Message: messageOf(st.Message()), Kind: errclass.Other}
	_ = json.Unmarshal([]byte(info.Metadata["classes"]), &e.JavaClasses)
	_ = json.Unmarshal([]byte(info.Metadata["messageParameters"]), &e.Params)
	if id := info.Metadata["errorId"]; id != "" {
		c.details(ctx, s, id, e)
	}
	return e
}

func errorInfo(st *status.Status) *errdetails.ErrorInfo {
	for _, d := range st.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			return info
		}
	}
	return nil
}

// messageOf takes the class and the SQLSTATE off a text that carries them.
func messageOf(text string) string {
	_, message, _ := errclass.Split(text)
	return message
}

// details completes an error with what the server keeps of it. A server that keeps nothing leaves it as it is.
func (c *Client) details(ctx context.Context, s backend.Session, id string, e *errclass.Error) {
	r, err := c.rpc.FetchErrorDetails(ctx, &connectpb.FetchErrorDetailsRequest{
		SessionId: s.ID, UserContext: &connectpb.UserContext{UserId: s.UserID}, ErrorId: id,
	})
	if err != nil {
		return
	}
	at := entry(r, r.RootErrorIdx)
	if at == nil {
		return
	}
	fill(e, at)
	for range r.Errors { // no more causes than errors, however they refer to each other
		if at = entry(r, at.CauseIdx); at == nil {
			return
		}
		cause := &errclass.Error{JavaClasses: at.ErrorTypeHierarchy, Kind: errclass.Other}
		fill(cause, at)
		e.Cause = cause
		e = cause
	}
}

func entry(r *connectpb.FetchErrorDetailsResponse, i *int32) *connectpb.FetchErrorDetailsResponse_Error {
	if i == nil || *i < 0 || int(*i) >= len(r.Errors) {
		return nil
	}
	return r.Errors[*i]
}

func fill(e *errclass.Error, d *connectpb.FetchErrorDetailsResponse_Error) {
	e.Message = messageOf(d.GetMessage())
	t := d.GetSparkThrowable()
	if t == nil {
		return
	}
	if t.ErrorClass != nil {
		e.Class = t.GetErrorClass()
	}
	if t.SqlState != nil {
		e.SQLState = t.GetSqlState()
	}
	if len(t.MessageParameters) > 0 {
		e.Params = t.MessageParameters
	}
	for _, q := range t.QueryContexts {
		e.Context = append(e.Context, errclass.QueryContext{
			Type: errclass.ContextType(q.GetContextType()), ObjectType: q.GetObjectType(), ObjectName: q.GetObjectName(),
			Start: int(q.GetStartIndex()), Stop: int(q.GetStopIndex()), Fragment: q.GetFragment(), CallSite: q.GetCallSite(), Summary: q.GetSummary(),
		})
	}
}
