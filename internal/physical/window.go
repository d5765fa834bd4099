package physical

import (
	"math"

	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/exec/window"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// windowFuncs plans the window functions of one partitioning and order.
func (p *Planner) windowFuncs(n *plan.WindowFuncs) (exec.Op, error) {
	in, err := p.Plan(n.Child)
	if err != nil {
		return nil, err
	}
	w := &windowPlan{b: p.Binder(n.Child), made: map[string]int{}}
	child := n.Child.Output()
	for i, a := range child {
		w.cols = append(w.cols, exec.ColumnExpr(i, a.T))
	}
	op := &window.Op{Keep: len(child)}
	for i, c := range n.Cols {
		o, ok := plan.Trim(c).(*plan.Over)
		if !ok {
			return nil, Unsupported(n)
		}
		if i == 0 {
			if err := w.spec(op, o); err != nil {
				return nil, err
			}
		}
		f, err := w.function(o)
		if err != nil {
			return nil, err
		}
		if f == nil {
			return nil, Unsupported(n)
		}
		op.Funcs = append(op.Funcs, *f)
	}
	if len(w.cols) > len(child) {
		in = &exec.Project{In: in, Cols: w.cols}
	}
	op.In = in
	return op, nil
}

// windowPlan gathers the columns that a window operator needs.
type windowPlan struct {
	b    *bind.Binder
	cols []exec.Expr
	made map[string]int
}

// column is the place of an expression among the operator's input columns.
func (w *windowPlan) column(e plan.Expr) (int, error) {
	x, err := w.b.Expr(e)
	if err != nil {
		return 0, err
	}
	if x.Column >= 0 {
		return x.Column, nil
	}
	key := plan.Canon(e)
	i, ok := w.made[key]
	if !ok {
		i = len(w.cols)
		w.cols, w.made[key] = append(w.cols, x), i
	}
	return i, nil
}

func (w *windowPlan) columns(es []plan.Expr) ([]int, error) {
	out := make([]int, len(es))
	for i, e := range es {
		var err error
		if out[i], err = w.column(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *windowPlan) spec(op *window.Op, o *plan.Over) error {
	var err error
	if op.Partition, err = w.columns(o.Partition); err != nil {
		return err
	}
	for _, k := range o.Order {
		c, err := w.column(k.Child)
		if err != nil {
			return err
		}
		op.Order = append(op.Order, window.Key{Col: c, Desc: k.Desc, NullsFirst: k.NullsFirst})
	}
	return nil
}

var rankings = map[string]window.Kind{
	"row_number": window.RowNumber, "rank": window.Rank, "dense_rank": window.DenseRank, "percent_rank": window.PercentRank,
	"cume_dist": window.CumeDist, "ntile": window.NTile,
}

// function plans one call, nil for one that cannot be run.
func (w *windowPlan) function(o *plan.Over) (*window.Func, error) {
	frame, err := w.frame(o)
	if err != nil {
		return nil, err
	}
	f := &window.Func{Type: o.Type(), Frame: frame, Filter: -1}
	switch x := o.Fn.(type) {
	case *plan.WindowFunc:
		f.IgnoreNulls = x.IgnoreNulls
		switch x.Name {
		case "lag", "lead":
			return f, w.shift(f, x)
		case "nth_value":
			f.Kind, f.N = window.Nth, x.N
			f.Args, err = w.columns(x.Args[:1])
			return f, err
		}
		f.Kind = rankings[x.Name]
		f.N = x.N
		return f, nil
	case *plan.Agg:
		return f, w.aggregate(f, o, x)
	}
	return nil, nil
}

func (w *windowPlan) shift(f *window.Func, x *plan.WindowFunc) error {
	f.Kind, f.N = window.Shift, x.N
	var err error
	if f.Args, err = w.columns(x.Args[:1]); err != nil {
		return err
	}
	if l, ok := x.Args[2].(*plan.Literal); ok && l.Value == nil {
		return nil
	}
	e, err := w.b.Expr(x.Args[2])
	f.Default = &e
	return err
}

func (w *windowPlan) aggregate(f *window.Func, o *plan.Over, x *plan.Agg) error {
	args := x.Args
	if x.Filter != nil && !firstOfRows(o, x) {
		c, err := w.column(x.Filter)
		if err != nil {
			return err
		}
		f.Filter = c
	}
	f.Kind, f.Agg, f.Exact = window.Aggregate, x.Bound, window.ExactOf(x.Fn)
	if ignore, last, ok := endOfFrame(x); ok {
		f.Kind, f.N, f.IgnoreNulls = window.Nth, 1, ignore
		if last {
			f.Kind = window.Last
		}
		args = args[:1]
	}
	var err error
	f.Args, err = w.columns(args)
	return err
}

// firstOfRows tells whether Spark computes a first value as nth_value(x, 1), which has no filter: it forgets the one that is written.
func firstOfRows(o *plan.Over, x *plan.Agg) bool {
	return x.Fn.Name == "first" && len(o.Order) > 0 && o.Framed && o.Rows && o.Lo.Unbounded && (o.Hi.Unbounded || o.Hi.Offset == nil)
}

// endOfFrame tells whether an aggregate takes the first or last value of a frame.
func endOfFrame(x *plan.Agg) (ignoreNulls, last, ok bool) {
	if x.Fn.Name != "first" && x.Fn.Name != "last" {
		return false, false, false
	}
	ignoreNulls = x.IgnoreNulls
	if len(x.Args) == 2 {
		l, constant := x.Args[1].(*plan.Literal)
		if !constant {
			return false, false, false
		}
		ignoreNulls = ignoreNulls || l.Value == true
	}
	return ignoreNulls, x.Fn.Name == "last", true
}

// frame plans the frame; that of functions that have none does no harm.
func (w *windowPlan) frame(o *plan.Over) (window.Frame, error) {
	if !o.Framed {
		return window.Frame{
			Lo: window.Bound{Unbounded: true, Value: -1}, Hi: window.Bound{Unbounded: len(o.Order) == 0, Value: -1},
		}, nil
	}
	f := window.Frame{Rows: o.Rows}
	var err error
	if f.Lo, err = w.bound(o, o.Lo); err != nil {
		return f, err
	}
	f.Hi, err = w.bound(o, o.Hi)
	return f, err
}

func (w *windowPlan) bound(o *plan.Over, b plan.FrameBound) (window.Bound, error) {
	out := window.Bound{Unbounded: b.Unbounded, Value: -1}
	switch {
	case b.Unbounded || b.Offset == nil:
		return out, nil
	case o.Rows:
		out.N = whole(b.Offset)
		return out, nil
	}
	var err error
	if out.Value, err = w.column(b.Value); err != nil {
		return out, err
	}
	key := o.Order[0].Child
	if t := plan.TypeOf(b.Value); !types.Equal(t, plan.TypeOf(key)) {
		key = &plan.Cast{Child: key, To: t, Mode: plan.CastTry, Implicit: true}
	}
	out.Key, err = w.column(key)
	return out, err
}

// whole is the value of a constant that the analyser has made a literal.
func whole(e plan.Expr) int64 {
	if l, ok := e.(*plan.Literal); ok {
		switch v := l.Value.(type) {
		case int8:
			return int64(v)
		case int16:
			return int64(v)
		case int32:
			return int64(v)
		case int64:
			return min(v, math.MaxInt64/2)
		}
	}
	return 0
}
