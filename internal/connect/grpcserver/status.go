package grpcserver

import (
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/millrace/millrace/internal/connect"
	"github.com/millrace/millrace/internal/errclass"
)

// Statuses travel in headers, which clients limit to 8 KiB or so. The message is there twice, once with every byte outside ASCII
// written as three; what is cut off is in the error's details.
const (
	maxEscaped    = 2500
	maxParameters = 1000
)

// toStatus is the status of an error.
func toStatus(err error) error {
	var id string
	if f, ok := errors.AsType[*connect.Failure](err); ok {
		id = f.ID
	}
	e, ok := errors.AsType[*errclass.Error](err)
	if !ok {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return status.FromContextError(err).Err()
		}
		if isStatus(err) {
			return err
		}
		e = errclass.Internal(err)
	}
	st := status.New(codes.Internal, cut(e.Detail(), maxEscaped))
	classes := e.Classes()
	info := &errdetails.ErrorInfo{Reason: classes[0], Domain: "org.apache.spark", Metadata: map[string]string{}}
	if b, err := json.Marshal(classes); err == nil {
		info.Metadata["classes"] = string(b)
	}
	class := e.Told()
	if class != "" {
		info.Metadata["errorClass"] = class
		params := e.Params
		if params == nil {
			params = map[string]string{}
		}
		if b, err := json.Marshal(params); err == nil && len(b) <= maxParameters {
			info.Metadata["messageParameters"] = string(b)
		}
	}
	if e.SQLState != "" && (class != "" || e.Class == "") {
		info.Metadata["sqlState"] = e.SQLState
	}
	if id != "" {
		info.Metadata["errorId"] = id
	}
	full, err := st.WithDetails(info)
	if err != nil {
		return st.Err()
	}
	return full.Err()
}

// cut shortens a text to a number of bytes as they stand in a header.
func cut(s string, limit int) string {
	size := 0
	for i, r := range s {
		n := 1
		if r < ' ' || r > '~' || r == '%' {
			n = 3 * utf8.RuneLen(r)
		}
		if size += n; size > limit-3 {
			if i == len(s)-utf8.RuneLen(r) && size <= limit {
				break
			}
			return s[:i] + "..."
		}
	}
	return s
}
