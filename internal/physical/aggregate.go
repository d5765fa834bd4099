package physical

import (
	"slices"

	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func (p *Planner) aggregate(n *plan.Aggregate) (exec.Op, error) {
	h, result, err := p.Grouped(n)
	if err != nil {
		return nil, err
	}
	result.In = h
	if i := SessionKey(n); i >= 0 {
		result.In = &exec.SessionAgg{Group: h, Session: i}
	}
	return result, nil
}

// SessionKey is the place of the session window among the keys of a grouping, or -1.
func SessionKey(n *plan.Aggregate) int {
	return slices.IndexFunc(n.Keys, func(k plan.Expr) bool {
		a := plan.AttrOf(k)
		return a != nil && a.IsSessionWindow()
	})
}

// Grouping splits an Aggregate into the grouping itself and the projection that computes the output columns from keys and
// aggregate results. The projection's input is left to the caller: the grouping in a batch query, the operator that keeps its
// state in a stream.
func (p *Planner) Grouping(n *plan.Aggregate, in exec.Op) (*exec.HashAgg, *exec.Project, error) {
	return p.grouping(n, nil, p.Binder(n.Child), &exec.HashAgg{In: in})
}

// Grouped is Grouping with its input. Windows that overlap are grouped by pane if that gives the same.
func (p *Planner) Grouped(n *plan.Aggregate) (*exec.HashAgg, *exec.Project, error) {
	w := panesOf(n)
	if w == nil {
		in, err := p.Plan(n.Child)
		if err != nil {
			return nil, nil, err
		}
		return p.Grouping(n, in)
	}
	in, err := p.Plan(w.child)
	if err != nil {
		return nil, nil, err
	}
	return p.grouping(n, w, p.Binder(w.child), &exec.HashAgg{In: in})
}

// grouping is Grouping over what b binds. w is nil unless one key is made of panes.
func (p *Planner) grouping(n *plan.Aggregate, w *panes, b *bind.Binder, h *exec.HashAgg) (*exec.HashAgg, *exec.Project, error) {
	// Columns of the grouping's output, by which the result expressions are rewritten.
	var out []*plan.Attr
	keyAttrs := make([]*plan.Attr, len(n.Keys))
	for i, k := range n.Keys {
		var e exec.Expr
		var err error
		if w != nil && i == w.key {
			e = exec.Expr{Type: k.(plan.Typed).Type(), Column: -1} // of the windows; it is never computed
			h.Panes, err = w.bind(b)
		} else {
			e, err = b.Expr(k)
		}
		if err != nil {
			return nil, nil, err
		}
		h.Keys = append(h.Keys, e)
		keyAttrs[i] = keyAttr(k)
		out = append(out, keyAttrs[i])
	}
	aggAttrs := map[string]*plan.Attr{}
	collect := func(e plan.Expr) (plan.Expr, error) {
		a, ok := e.(*plan.Agg)
		if !ok {
			return e, nil
		}
		text := plan.Canon(a)
		if attr := aggAttrs[text]; attr != nil {
			return attr, nil
		}
		x, err := p.aggExpr(a, b.All)
		if err != nil {
			return nil, err
		}
		h.Aggs = append(h.Aggs, x)
		attr := &plan.Attr{ID: plan.NewID(), Name: a.SQL(), T: a.Bound.Type, Null: a.Bound.Nullable}
		aggAttrs[text] = attr
		out = append(out, attr)
		return attr, nil
	}
	results := make([]plan.Expr, len(n.Aggs))
	for i, e := range n.Aggs {
		// Keys first: an expression over a key that is itself computed refers to the key, not to what it is made of.
		e, err := replaceKeys(e, n.Keys, keyAttrs)
		if err != nil {
			return nil, nil, err
		}
		if results[i], err = plan.TransformExpr(e, collect); err != nil {
			return nil, nil, err
		}
	}
	h.Arrange = p.arrange(n.Child, n.Keys, n.Aggs)
	cols, err := p.over(out).All(results)
	if err != nil {
		return nil, nil, err
	}
	return h, &exec.Project{Cols: cols}, nil
}

// keyAttr is the column that a grouping key becomes.
func keyAttr(k plan.Expr) *plan.Attr {
	switch k := k.(type) {
	case *plan.Attr:
		return k
	case *plan.Alias:
		return &plan.Attr{ID: k.ID, Name: k.Name, T: k.Type(), Null: k.Nullable()}
	}
	t := k.(plan.Typed)
	return &plan.Attr{ID: plan.NewID(), Name: k.SQL(), T: t.Type(), Null: t.Nullable()}
}

// replaceKeys puts the key's column in the place of each expression that is a grouping key, outside of aggregate calls.
func replaceKeys(e plan.Expr, keys []plan.Expr, attrs []*plan.Attr) (plan.Expr, error) {
	if _, ok := e.(*plan.Agg); ok {
		return e, nil
	}
	text := plan.Canon(e)
	for i, k := range keys {
		if _, attr := k.(*plan.Attr); !attr && plan.Canon(k) == text {
			return attrs[i], nil
		}
	}
	return plan.MapKids(e, func(k plan.Expr) (plan.Expr, error) { return replaceKeys(k, keys, attrs) })
}

func (p *Planner) aggExpr(a *plan.Agg, all func([]plan.Expr) ([]exec.Expr, error)) (exec.AggExpr, error) {
	x := exec.AggExpr{Bound: a.Bound, Distinct: a.Distinct, Place: a.Origin.Context}
	var err error
	if x.Args, err = all(a.Args); err != nil {
		return x, err
	}
	if a.Filter != nil {
		f, err := all([]plan.Expr{a.Filter})
		if err != nil {
			return x, err
		}
		x.Filter = &f[0]
	}
	return x, nil
}

// bindFirst is the aggregate that keeps the first row's value, nulls too.
func bindFirst(a *plan.Attr) (*agg.Bound, error) {
	f := agg.Lookup("first")
	if f == nil {
		return nil, errclass.New("INTERNAL_ERROR", "message", "aggregate function first is not registered")
	}
	return f.Bind(&agg.Binding{Name: "first", Args: []fn.Arg{{Type: a.T, Nullable: a.Null, SQL: a.Name}}, ANSI: true})
}

// bindRand is rand(seed).
func bindRand(seed int64) (exec.Expr, error) {
	f := fn.Lookup("rand")
	if f == nil {
		return exec.Expr{}, errclass.New("INTERNAL_ERROR", "message", "function rand is not registered")
	}
	lit := expr.NewLiteral(seed, types.Long)
	one := lit.Eval(&expr.Eval{}, oneRow())
	bound, err := f.Bind(&fn.Binding{Name: "rand", Args: []fn.Arg{{Type: types.Long, Const: one, SQL: "seed"}}, ANSI: true})
	if err != nil {
		return exec.Expr{}, err
	}
	return exec.Expr{Type: bound.Type, Column: -1, New: func() expr.Node {
		return fn.NewNode(bound, []expr.Node{expr.NewLiteral(seed, types.Long)})
	}}, nil
}
