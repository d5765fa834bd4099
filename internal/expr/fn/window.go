package fn

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// windowFunctions are the ones that time windows are made of.
//
// time_window_start(t, duration, slide, start, i) is the start of the i-th window that may hold t, counted back from the last one
// that starts at or before t; time_window(...) is the struct of start and end. The caller drops windows that end at or before t. All
// durations are microseconds, given as constants.
func windowFunctions() []*Function {
	return []*Function{
		{Name: "time_window", Bind: bindTimeWindow},
		{Name: "window_time", Bind: bindWindowTime},
	}
}

// WindowType is the type of a time window over times of type t.
func WindowType(t types.DataType) types.StructType {
	return types.Struct(types.NewField("start", t), types.NewField("end", t))
}

func bindTimeWindow(b *Binding) (*Bound, error) {
	if err := b.Arity(5, 5); err != nil {
		return nil, err
	}
	c, err := b.Accept(anyTimestamp, bigint, bigint, bigint, bigint)
	if err != nil {
		return nil, err
	}
	t := b.result(c, 0)
	bound := BindWindow(t, b.constInt(1), b.constInt(2), b.constInt(3), int(b.constInt(4)))
	bound.Args, bound.TakesConst = c, true
	bound.Nullable = b.Args[0].Nullable
	return bound, nil
}

// constInt is the value of a constant bigint argument.
func (b *Binding) constInt(i int) int64 {
	if v := b.Args[i].Const; v != nil && !v.IsNull(0) && v.Phys() == vec.PhysInt64 {
		return vec.At[int64](v, 0)
	}
	return 0
}

// Windows is how many windows may hold one time: duration divided by slide, rounded up.
func Windows(duration, slide int64) int { return int((duration + slide - 1) / slide) }

// BindWindow binds the i-th window that may hold a time of type t, which is its only argument: a struct of start and end. Windows
// start at start modulo slide, before 1970 too. i counts back from the last window that starts at or before the time; for i > 0 the
// window may end at or before it, and the caller drops it then. All durations are microseconds.
func BindWindow(t types.DataType, duration, slide, start int64, i int) *Bound {
	return &Bound{Args: make([]types.DataType, 1), Type: WindowType(t), Nullable: false, New: func() Kernel {
		starts, ends := vec.NewFixed(t, 0), vec.NewFixed(t, 0)
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			starts.ResetFixed(n)
			ends.ResetFixed(n)
			windowBounds(vec.Fixed[int64](starts), vec.Fixed[int64](ends), vec.Fixed[int64](args[0])[:n], duration, slide, start, i)
			return borrowed(vec.NewStruct(out.Type(), n, []*vec.Vector{starts, ends}))
		}
	}}
}

func windowBounds(starts, ends, x []int64, duration, slide, start int64, i int) {
	starts, ends = starts[:len(x)], ends[:len(x)]
	back := int64(i) * slide
	for k, t := range x {
		r := (t - start) % slide
		r += slide & (r >> 63) // floor: times before the origin have a negative remainder
		s := t - r - back
		starts[k] = s
		ends[k] = s + duration
	}
}

// BindPane binds the start of the pane that a time of type t, its only argument, lies in: panes are width long and lie as windows of
// that length would.
func BindPane(t types.DataType, width, start int64) *Bound {
	return &Bound{Args: make([]types.DataType, 1), Type: t, New: func() Kernel {
		ends := vec.NewFixed(t, 0)
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			ends.ResetFixed(n)
			windowBounds(vec.Fixed[int64](out), vec.Fixed[int64](ends), vec.Fixed[int64](args[0])[:n], width, width, start, 0)
			return out
		}
	}}
}

// bindWindowTime binds the event time of a window: its last microsecond.
func bindWindowTime(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	s, ok := b.Args[0].Type.(types.StructType)
	if !ok || len(s.Fields) != 2 || !isTimestamp(s.Fields[1].Type) {
		return nil, b.wrongType(0, `"STRUCT<start: TIMESTAMP, end: TIMESTAMP>"`)
	}
	t := s.Fields[1].Type
	return &Bound{Args: make([]types.DataType, 1), Type: t, Nullable: b.Args[0].Nullable || s.Fields[1].Nullable, New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			end := args[0].Kids()[1].Flatten()
			x, dst := vec.Fixed[int64](end), vec.Fixed[int64](out)
			for i := range dst {
				dst[i] = x[i] - 1
			}
			out.SetValidity(end.Validity())
			return out
		}
	}}, nil
}
