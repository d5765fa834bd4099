package bind

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// body is what a lambda's body sees: its parameters, and what it takes from around it.
type body struct {
	around *Binder
	uses   *[]int // of the batch around
	params int
	outer  []int // columns of the batch around, in the order of first use
	types  []types.DataType
}

// column finds the column of an attribute or of a lambda's parameter. In the body of a lambda one from around it becomes a column of
// its own.
func (b *Binder) column(id plan.ID, t types.DataType, uses *[]int) (int, bool) {
	if i, ok := b.cols[id]; ok {
		*uses = append(*uses, i)
		return i, true
	}
	if b.body == nil {
		return 0, false
	}
	i, ok := b.body.around.column(id, t, b.body.uses)
	if !ok {
		return 0, false
	}
	own := b.body.params + len(b.body.outer)
	b.body.outer, b.body.types = append(b.body.outer, i), append(b.body.types, t)
	b.cols[id] = own
	return own, true
}

// higherOrder compiles a call of a function that takes functions.
func (b *Binder) higherOrder(e *plan.HigherOrder, uses *[]int) (exec.NodeFunc, types.DataType, error) {
	var values []plan.Expr
	var lambdas []func() *fn.Lambda
	for _, a := range e.Args {
		l, ok := a.(*plan.Lambda)
		if !ok {
			values = append(values, a)
			continue
		}
		make, err := b.lambda(l, uses)
		if err != nil {
			return nil, nil, err
		}
		lambdas = append(lambdas, make)
	}
	args, err := b.kids(values, uses)
	if err != nil {
		return nil, nil, err
	}
	if fn.NewHigherOrder(e.Name, e.T, nil, nil) == nil {
		return nil, nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", e.SQL())
	}
	return func() expr.Node {
		ls := make([]*fn.Lambda, len(lambdas))
		for i, l := range lambdas {
			ls[i] = l()
		}
		return fn.NewHigherOrder(e.Name, e.T, nodes(args), ls)
	}, e.T, nil
}

func (b *Binder) lambda(l *plan.Lambda, uses *[]int) (func() *fn.Lambda, error) {
	in := &Binder{cols: map[plan.ID]int{}, Zone: b.Zone, body: &body{around: b, uses: uses, params: len(l.Params)}}
	for i, p := range l.Params {
		in.cols[p.ID] = i
	}
	var own []int
	make, _, err := in.compile(l.Body, &own)
	if err != nil {
		return nil, err
	}
	outer, ts := slices.Clone(in.body.outer), slices.Clone(in.body.types)
	return func() *fn.Lambda {
		return &fn.Lambda{Body: make(), Params: len(l.Params), Outer: outer, OuterTypes: ts}
	}, nil
}
