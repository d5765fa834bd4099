package millrace

import (
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// The bounds of a window's frame that are no number of rows.
const (
	UnboundedPreceding int64 = math.MinInt64
	UnboundedFollowing int64 = math.MaxInt64
	CurrentRow         int64 = 0
)

// WindowSpec says over which rows a window function is computed for each row, for Column.Over. It is a value: each method returns a
// changed copy. (Windows of time are made by the function window.)
type WindowSpec struct {
	partition []*connectpb.Expression
	order     []*connectpb.Expression_SortOrder
	frame     *connectpb.Expression_Window_WindowFrame
	err       error
}

// NewWindow is the window of all rows.
func NewWindow() WindowSpec { return WindowSpec{} }

// PartitionBy keeps to the rows that are equal in some columns.
func (w WindowSpec) PartitionBy(cols ...any) WindowSpec {
	exprs, err := expressions(columns(cols))
	w.partition, w.err = exprs, firstError(w.err, err)
	return w
}

// OrderBy puts the rows in order.
func (w WindowSpec) OrderBy(cols ...any) WindowSpec {
	orders, err := order(columns(cols))
	w.order, w.err = orders, firstError(w.err, err)
	return w
}

// RowsBetween keeps to the rows from start to end, counted from the current row: -1 is the one before it.
func (w WindowSpec) RowsBetween(start, end int64) WindowSpec {
	return w.between(connectpb.Expression_Window_WindowFrame_FRAME_TYPE_ROW, start, end)
}

// RangeBetween keeps to the rows whose order value differs from that of the current row by start to end.
func (w WindowSpec) RangeBetween(start, end int64) WindowSpec {
	return w.between(connectpb.Expression_Window_WindowFrame_FRAME_TYPE_RANGE, start, end)
}

func (w WindowSpec) between(t connectpb.Expression_Window_WindowFrame_FrameType, start, end int64) WindowSpec {
	lower, err1 := bound(t, start)
	upper, err2 := bound(t, end)
	w.frame = &connectpb.Expression_Window_WindowFrame{FrameType: t, Lower: lower, Upper: upper}
	w.err = firstError(w.err, err1, err2)
	return w
}

func bound(t connectpb.Expression_Window_WindowFrame_FrameType, n int64) (*connectpb.Expression_Window_WindowFrame_FrameBoundary, error) {
	b := &connectpb.Expression_Window_WindowFrame_FrameBoundary{}
	switch {
	case n == CurrentRow:
		b.Boundary = &connectpb.Expression_Window_WindowFrame_FrameBoundary_CurrentRow{CurrentRow: true}
		return b, nil
	case n == UnboundedPreceding || n == UnboundedFollowing:
		b.Boundary = &connectpb.Expression_Window_WindowFrame_FrameBoundary_Unbounded{Unbounded: true}
		return b, nil
	}
	var v any = n
	if t == connectpb.Expression_Window_WindowFrame_FRAME_TYPE_ROW {
		if n < math.MinInt32 || n > math.MaxInt32 {
			return b, mistake(errclass.New("VALUE_NOT_BETWEEN", "argName", "A bound",
				"min", strconv.Itoa(math.MinInt32), "max", strconv.Itoa(math.MaxInt32), "value", strconv.FormatInt(n, 10)))
		}
		v = int32(n)
	}
	l := Lit(v)
	b.Boundary = &connectpb.Expression_Window_WindowFrame_FrameBoundary_Value{Value: l.expr}
	return b, l.err
}
