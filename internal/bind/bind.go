package bind

import (
	"slices"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Binder compiles expressions over the columns of one relation.
type Binder struct {
	cols map[plan.ID]int
	// body is set where the body of a lambda is compiled.
	body *body
	// Zone is the session time zone that casts use.
	Zone *time.Location
}

// New returns a binder for the columns of a relation, in order. Of columns with the same identity the first is used; they hold
// the same values.
func New(cols []*plan.Attr, zone *time.Location) *Binder {
	b := &Binder{cols: make(map[plan.ID]int, len(cols)), Zone: zone}
	for i, a := range cols {
		if _, taken := b.cols[a.ID]; !taken {
			b.cols[a.ID] = i
		}
	}
	return b
}

// All compiles several expressions.
func (b *Binder) All(es []plan.Expr) ([]exec.Expr, error) {
	out := make([]exec.Expr, len(es))
	for i, e := range es {
		x, err := b.Expr(e)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// Expr compiles one expression.
func (b *Binder) Expr(e plan.Expr) (exec.Expr, error) {
	if a, ok := plan.Trim(e).(*plan.Attr); ok && b.body == nil {
		i, ok := b.cols[a.ID]
		if !ok {
			return exec.Expr{}, unbound(a)
		}
		return exec.ColumnExpr(i, a.T), nil
	}
	var uses []int
	make, t, err := b.compile(e, &uses)
	if err != nil {
		return exec.Expr{}, err
	}
	slices.Sort(uses)
	return exec.Expr{New: make, Type: t, Uses: slices.Compact(uses), Column: -1}, nil
}

func unbound(a *plan.Attr) error {
	return errclass.New("INTERNAL_ERROR", "message", "column "+a.Name+" is not among the operator's input columns")
}

// compile returns a maker of nodes and the expression's type; it adds the columns that are read to uses.
func (b *Binder) compile(e plan.Expr, uses *[]int) (exec.NodeFunc, types.DataType, error) {
	switch e := e.(type) {
	case *plan.Attr:
		i, ok := b.column(e.ID, e.T, uses)
		if !ok {
			return nil, nil, unbound(e)
		}
		return func() expr.Node { return expr.NewColumn(i, e.T) }, e.T, nil
	case *plan.LambdaVar:
		i, ok := b.column(e.ID, e.T, uses)
		if !ok {
			return nil, nil, errclass.New("INTERNAL_ERROR", "message", "the parameter "+e.Name+" is not one of the function's around it")
		}
		return func() expr.Node { return expr.NewColumn(i, e.T) }, e.T, nil
	case *plan.HigherOrder:
		return b.higherOrder(e, uses)
	case *plan.Alias:
		return b.compile(e.Child, uses)
	case *plan.Literal:
		if _, err := literal(e); err != nil {
			return nil, nil, err
		}
		return func() expr.Node { return expr.NewLiteral(e.Value, e.T) }, e.T, nil
	case *plan.Cast:
		return b.cast(e, uses)
	case *plan.Call:
		return b.call(e, uses)
	case *plan.Cond:
		return b.cond(e, uses)
	case *plan.Field:
		child, _, err := b.compile(e.Child, uses)
		if err != nil {
			return nil, nil, err
		}
		return func() expr.Node { return expr.NewField(child(), e.Ordinal) }, e.Type(), nil
	}
	return nil, nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", e.SQL())
}

// literal checks that a literal's value can become a vector.
func literal(e *plan.Literal) (*vec.Vector, error) {
	bld := vec.NewBuilder(e.T)
	if err := bld.AppendValue(e.Value); err != nil {
		return nil, errclass.Internal(err)
	}
	return bld.Finish(), nil
}

func (b *Binder) kids(es []plan.Expr, uses *[]int) ([]exec.NodeFunc, error) {
	out := make([]exec.NodeFunc, len(es))
	for i, e := range es {
		k, _, err := b.compile(e, uses)
		if err != nil {
			return nil, err
		}
		out[i] = k
	}
	return out, nil
}

func nodes(makers []exec.NodeFunc) []expr.Node {
	out := make([]expr.Node, len(makers))
	for i, m := range makers {
		out[i] = m()
	}
	return out
}

func (b *Binder) cast(e *plan.Cast, uses *[]int) (exec.NodeFunc, types.DataType, error) {
	child, from, err := b.compile(e.Child, uses)
	if err != nil {
		return nil, nil, err
	}
	if types.Equal(from, e.To) {
		return child, from, nil
	}
	bound, err := fn.BindCast(from, e.To, e.Mode, b.Zone)
	if err != nil {
		return nil, nil, err
	}
	return func() expr.Node { return fn.NewNodeAt(bound, []expr.Node{child()}, e.Origin.Context) }, e.To, nil
}

func (b *Binder) call(e *plan.Call, uses *[]int) (exec.NodeFunc, types.DataType, error) {
	args, err := b.kids(e.Args, uses)
	if err != nil {
		return nil, nil, err
	}
	return func() expr.Node { return fn.NewNodeAt(e.Bound, nodes(args), e.Origin.Context) }, e.Bound.Type, nil
}

func (b *Binder) cond(e *plan.Cond, uses *[]int) (exec.NodeFunc, types.DataType, error) {
	args, err := b.kids(e.Args, uses)
	if err != nil {
		return nil, nil, err
	}
	var build func(n []expr.Node) expr.Node
	switch e.Op {
	case plan.OpAnd:
		build = func(n []expr.Node) expr.Node { return expr.NewAnd(n[0], n[1]) }
	case plan.OpOr:
		build = func(n []expr.Node) expr.Node { return expr.NewOr(n[0], n[1]) }
	case plan.OpIf:
		build = func(n []expr.Node) expr.Node { return expr.NewIf(n[0], n[1], n[2]) }
	case plan.OpCoalesce:
		build = func(n []expr.Node) expr.Node { return expr.NewCoalesce(n...) }
	default:
		build = caseNode
	}
	return func() expr.Node { return build(nodes(args)) }, e.T, nil
}

// caseNode builds CASE from condition, value, condition, value, ..., [else].
func caseNode(n []expr.Node) expr.Node {
	var conds, values []expr.Node
	for len(n) >= 2 {
		conds, values = append(conds, n[0]), append(values, n[1])
		n = n[2:]
	}
	var otherwise expr.Node
	if len(n) == 1 {
		otherwise = n[0]
	}
	return expr.NewCase(conds, values, otherwise)
}

// Value evaluates an expression without columns to one row, for folding and for arguments that must be constant.
func Value(e plan.Expr, params *expr.BatchParams) (*vec.Vector, error) {
	b := New(nil, params.Zone)
	x, err := b.Expr(e)
	if err != nil {
		return nil, err
	}
	ev := expr.Eval{Batch: params}
	v := x.New().Eval(&ev, vec.NewBatch(1))
	if _, err, bad := ev.Errs.First(); bad {
		return nil, err
	}
	return v.Flatten().Own(), nil
}
