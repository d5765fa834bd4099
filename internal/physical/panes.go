package physical

import (
	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
)

// panes is a grouping by overlapping windows that can be done by pane: see exec.Panes.
type panes struct {
	key                    int       // of the grouping: the window
	child                  plan.Node // what the windows are made of
	time                   plan.Expr
	duration, slide, start int64
}

// panesOf returns nil for groupings of another kind: those by something else, those whose aggregates mind the order of rows or read
// the window, and those with something between the grouping and the copies of rows but the condition that belongs to them.
func panesOf(n *plan.Aggregate) *panes {
	child := n.Child
	var conds []plan.Expr
	for {
		switch c := child.(type) {
		case *plan.Filter:
			conds = append(conds, plan.Conjuncts(c.Cond)...)
			child = c.Child
			continue
		case *plan.Project:
			if passesOn(c) {
				child = c.Child
				continue
			}
		}
		break
	}
	x, ok := child.(*plan.Expand)
	if !ok {
		return nil
	}
	for i, k := range n.Keys {
		a, ok := k.(*plan.Attr)
		if !ok || !a.IsTimeWindow() {
			continue
		}
		w := windowsOf(x, a.ID)
		if w == nil || !orderless(n, i, a.ID) || !w.take(conds, a.ID) {
			return nil
		}
		w.key = i
		return w
	}
	return nil
}

// passesOn tells whether a projection only leaves out columns.
func passesOn(p *plan.Project) bool {
	for _, c := range p.Cols {
		if _, ok := c.(*plan.Attr); !ok {
			return false
		}
	}
	return true
}

// windowsOf reads the windows that are column id of an Expand which passes all other columns on.
func windowsOf(x *plan.Expand, id plan.ID) *panes {
	var w *panes
	for i, a := range x.Out {
		for k, l := range x.Lists {
			if a.ID != id {
				if at, ok := l[i].(*plan.Attr); !ok || at.ID != a.ID {
					return nil
				}
				continue
			}
			c, ok := plan.Trim(l[i]).(*plan.Call)
			if !ok || c.Fn == nil || c.Fn.Name != "time_window" || len(c.Args) != 5 {
				return nil
			}
			var nums [4]int64
			for j := range nums {
				lit, ok := plan.Trim(c.Args[j+1]).(*plan.Literal)
				if !ok {
					return nil
				}
				if nums[j], ok = lit.Value.(int64); !ok {
					return nil
				}
			}
			if nums[3] != int64(k) || w != nil && (w.duration != nums[0] || w.slide != nums[1] || w.start != nums[2]) {
				return nil
			}
			w = &panes{child: x.Child, time: c.Args[0], duration: nums[0], slide: nums[1], start: nums[2]}
		}
	}
	if w == nil || len(x.Lists) != fn.Windows(w.duration, w.slide) {
		return nil
	}
	return w
}

// orderless tells whether a grouping may be done by pane: its aggregates do not mind the order of rows, and neither they nor other keys
// read the window.
func orderless(n *plan.Aggregate, key int, window plan.ID) bool {
	for i, k := range n.Keys {
		if i != key && plan.References(k).Has(window) {
			return false
		}
	}
	ok := true
	for _, e := range n.Aggs {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			if a, is := e.(*plan.Agg); is {
				ok = ok && a.Bound.Orderless && !a.Distinct && steady(a) && !plan.References(a).Has(window)
			}
			return ok
		})
	}
	return ok
}

// steady tells whether an expression gives the same whether it is computed once for a row or once for each window.
func steady(e plan.Expr) bool {
	return !plan.Exists(e, func(e plan.Expr) bool {
		c, ok := e.(*plan.Call)
		return ok && c.Bound.Nondeterministic
	})
}

// take takes the conditions above the windows: those that a row lies in the window hold by themselves and must be there when windows
// end between panes that they seem to hold; those without the window are tested below.
func (w *panes) take(conds []plan.Expr, window plan.ID) bool {
	if !steady(w.time) {
		return false
	}
	var below plan.Expr
	lower, upper := false, false
	for _, c := range conds {
		if !steady(c) {
			return false
		}
		if !plan.References(c).Has(window) {
			below = plan.And(below, c)
			continue
		}
		call, ok := plan.Trim(c).(*plan.Call)
		if !ok || call.Fn == nil || len(call.Args) != 2 || !plan.Same(plan.Trim(call.Args[0]), plan.Trim(w.time)) {
			return false
		}
		f, ok := plan.Trim(call.Args[1]).(*plan.Field)
		if !ok {
			return false
		}
		a, ok := f.Child.(*plan.Attr)
		switch {
		case !ok || a.ID != window:
			return false
		case call.Fn.Name == ">=" && f.Ordinal == 0:
			lower = true
		case call.Fn.Name == "<" && f.Ordinal == 1:
			upper = true
		default:
			return false
		}
	}
	if w.duration%w.slide != 0 && !(lower && upper) {
		return false
	}
	if lower { // it stood for this, too
		there := isNotNull(w.time)
		if there == nil {
			return false
		}
		below = plan.And(below, there)
	}
	if below != nil {
		w.child = &plan.Filter{Cond: below, Child: w.child}
	}
	return true
}

// isNotNull is the condition that an expression is not null.
func isNotNull(e plan.Expr) plan.Expr {
	f := fn.Lookup("isnotnull")
	if f == nil {
		return nil
	}
	bound, err := f.Bind(&fn.Binding{Name: f.Name, Args: []fn.Arg{{Type: plan.TypeOf(e), Nullable: true, SQL: e.SQL()}}})
	if err != nil {
		return nil
	}
	return &plan.Call{Fn: f, Bound: bound, Name: f.Name, Args: []plan.Expr{e}}
}

// bind makes the panes over the columns that the windows are made of.
func (w *panes) bind(b *bind.Binder) (*exec.Panes, error) {
	time, err := b.Expr(w.time)
	if err != nil {
		return nil, err
	}
	bound := fn.BindPane(time.Type, gcd(w.duration, w.slide), w.start)
	pane := exec.Expr{Type: time.Type, Uses: time.Uses, Column: -1, New: func() expr.Node {
		return fn.NewNode(bound, []expr.Node{time.New()})
	}}
	return &exec.Panes{Key: w.key, Pane: pane, Duration: w.duration, Slide: w.slide, Start: w.start}, nil
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
