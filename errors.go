package millrace

import (
	"errors"

	"github.com/millrace/millrace/internal/errclass"
)

// Error is an error that millrace or a server reports: a condition such as TABLE_OR_VIEW_NOT_FOUND with its SQLSTATE, parameters, text
// and places in the query. Both kinds of backend return the same type:
//
//	if e, ok := errors.AsType[*millrace.Error](err); ok && e.Class == "TABLE_OR_VIEW_NOT_FOUND" { ... }
type Error = errclass.Error

// QueryContext is a place in the query that an Error points at.
type QueryContext = errclass.QueryContext

// ErrNoRows is what First and Head return when there is no row.
var ErrNoRows = errors.New("no rows in the result")

// HasClass reports whether a condition is the cause of err, however deep: a streaming query that fails by a division returns
// STREAM_FAILED, caused by DIVIDE_BY_ZERO. A class without a subclass stands for all of its subclasses.
func HasClass(err error, class string) bool { return errclass.Has(err, class) }
