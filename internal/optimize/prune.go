package optimize

import (
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
)

// prune drops columns that are not needed. The result has at least the needed columns; a node that lists its columns has exactly
// those, in their old order.
func prune(n plan.Node, need plan.IDSet) (plan.Node, error) {
	switch n := n.(type) {
	case *plan.Scan:
		if sameNames(n.Out) {
			return n, nil // a source is asked for columns by name
		}
		out := keep(n.Out, need)
		if len(out) == 0 && len(n.Out) > 0 {
			out = n.Out[:1] // rows are still counted by what is read
		}
		if len(out) == len(n.Out) {
			return n, nil
		}
		s := *n
		s.Out = out
		return &s, nil
	case *plan.Local:
		return pruneLocal(n, need), nil
	case *plan.Kept:
		return pruneKept(n, need), nil
	case *plan.Project:
		p := &plan.Project{}
		for _, c := range n.Cols {
			if need.Has(idOf(c)) {
				p.Cols = append(p.Cols, c)
			}
		}
		child, err := prune(n.Child, plan.References(p.Cols...))
		p.Child = child
		return p, err
	case *plan.Aggregate:
		return pruneAggregate(n, need)
	case *plan.Expand:
		return pruneExpand(n, need)
	case *plan.Union:
		return pruneUnion(n, need)
	case *plan.Join:
		inner := with(need, n.Exprs()...)
		return plan.MapChildren(n, func(c plan.Node) (plan.Node, error) { return pruneStored(c, inner) })
	case *plan.Filter, *plan.Sort, *plan.Limit, *plan.Offset, *plan.Tail, *plan.Sample, *plan.Watermark, *plan.Repartition, *plan.Generate,
		*plan.Observe, *plan.TopRows:
		inner := with(need, n.Exprs()...)
		return plan.MapChildren(n, func(c plan.Node) (plan.Node, error) { return prune(c, inner) })
	case *plan.WindowFuncs:
		w := &plan.WindowFuncs{Child: n.Child}
		for _, c := range n.Cols {
			if need.Has(idOf(c)) {
				w.Cols = append(w.Cols, c)
			}
		}
		if len(w.Cols) == 0 {
			return prune(n.Child, need)
		}
		child, err := prune(n.Child, with(need, w.Cols...))
		w.Child = child
		return w, err
	case *plan.Aside:
		return pruneAbove(n, need)
	case *plan.Sieve:
		return pruneAbove(n, need)
	case *plan.Dedup:
		if n.AllColumns || len(n.Keys) == 0 {
			break
		}
		inner := with(need, n.Keys...)
		if n.WithinWatermark { // which works with the event time, whether or not somebody asks for it
			for _, a := range n.Child.Output() {
				if a.EventTime {
					inner.AddAll(a)
				}
			}
		}
		return plan.MapChildren(n, func(c plan.Node) (plan.Node, error) { return pruneStored(c, inner) })
	}
	// Anything else needs its input whole.
	return plan.MapChildren(n, func(c plan.Node) (plan.Node, error) { return prune(c, plan.OutputSet(c)) })
}

// pruneStored prunes the input of an operator that keeps the rows of a stream: it gets no other column than it needs. That shows: as in
// Spark nothing is late, and nothing forgotten, by an event time that nobody asks for.
func pruneStored(n plan.Node, need plan.IDSet) (plan.Node, error) {
	out, err := prune(n, need)
	if err != nil || !out.Streaming() {
		return out, err
	}
	have := out.Output()
	kept := keep(have, need)
	if len(kept) == len(have) || len(kept) == 0 {
		return out, nil
	}
	p := &plan.Project{Child: out}
	for _, a := range kept {
		p.Cols = append(p.Cols, a)
	}
	return p, nil
}

// pruneAbove leaves a node's input whole and drops columns that are not needed behind it.
func pruneAbove(n plan.Node, need plan.IDSet) (plan.Node, error) {
	n, err := plan.MapChildren(n, func(c plan.Node) (plan.Node, error) { return prune(c, plan.OutputSet(c)) })
	if err != nil {
		return nil, err
	}
	p := &plan.Project{Child: n}
	for _, a := range keep(n.Output(), need) {
		p.Cols = append(p.Cols, a)
	}
	if len(p.Cols) == len(n.Output()) {
		return n, nil
	}
	return p, nil
}

// with is a set of columns and those that expressions read.
func with(need plan.IDSet, es ...plan.Expr) plan.IDSet {
	out := plan.IDSet{}
	for id := range need {
		out[id] = need[id]
	}
	for _, e := range es {
		if e != nil {
			out.AddAll(e)
		}
	}
	return out
}

func idOf(e plan.Expr) plan.ID {
	switch e := e.(type) {
	case *plan.Attr:
		return e.ID
	case *plan.Alias:
		return e.ID
	}
	return 0
}

func keep(attrs []*plan.Attr, need plan.IDSet) []*plan.Attr {
	var out []*plan.Attr
	for _, a := range attrs {
		if need.Has(a.ID) {
			out = append(out, a)
		}
	}
	return out
}

func pruneLocal(n *plan.Local, need plan.IDSet) plan.Node {
	l := &plan.Local{}
	var cols []int
	for i, a := range n.Out {
		if need.Has(a.ID) {
			l.Out, cols = append(l.Out, a), append(cols, i)
		}
	}
	if len(cols) == len(n.Out) {
		return n
	}
	for _, b := range n.Rows {
		nb := &vec.Batch{N: b.N, Sel: b.Sel}
		for _, c := range cols {
			nb.Cols = append(nb.Cols, b.Cols[c])
		}
		l.Rows = append(l.Rows, nb)
	}
	return l
}

func pruneKept(n *plan.Kept, need plan.IDSet) plan.Node {
	k := *n
	k.Out, k.Cols = nil, nil
	for i, a := range n.Out {
		if need.Has(a.ID) {
			k.Out, k.Cols = append(k.Out, a), append(k.Cols, n.Cols[i])
		}
	}
	return &k
}

func pruneAggregate(n *plan.Aggregate, need plan.IDSet) (plan.Node, error) {
	a := *n
	a.Aggs = nil
	for _, e := range n.Aggs {
		if need.Has(idOf(e)) {
			a.Aggs = append(a.Aggs, e)
		}
	}
	child, err := prune(n.Child, with(plan.References(a.Aggs...), n.Keys...))
	a.Child = child
	return &a, err
}

func pruneExpand(n *plan.Expand, need plan.IDSet) (plan.Node, error) {
	e := &plan.Expand{Lists: make([][]plan.Expr, len(n.Lists))}
	var read []plan.Expr
	for i, a := range n.Out {
		if !need.Has(a.ID) {
			continue
		}
		e.Out = append(e.Out, a)
		for k, l := range n.Lists {
			e.Lists[k] = append(e.Lists[k], l[i])
			read = append(read, l[i])
		}
	}
	child, err := prune(n.Child, plan.References(read...))
	e.Child = child
	return e, err
}

// pruneUnion keeps the same positions of all inputs.
func pruneUnion(n *plan.Union, need plan.IDSet) (plan.Node, error) {
	u := &plan.Union{ByName: n.ByName, AllowMissing: n.AllowMissing}
	var positions []int
	for i, a := range n.Out {
		if need.Has(a.ID) {
			u.Out, positions = append(u.Out, a), append(positions, i)
		}
	}
	for _, c := range n.Inputs {
		out := c.Output()
		cols := make([]plan.Expr, len(positions))
		for k, i := range positions {
			cols[k] = out[i]
		}
		child, err := prune(c, plan.References(cols...))
		if err != nil {
			return nil, err
		}
		if !sameColumns(child.Output(), cols) {
			child = &plan.Project{Cols: cols, Child: child}
		}
		u.Inputs = append(u.Inputs, child)
	}
	return u, nil
}

func sameColumns(attrs []*plan.Attr, cols []plan.Expr) bool {
	if len(attrs) != len(cols) {
		return false
	}
	for i, c := range cols {
		if idOf(c) != attrs[i].ID {
			return false
		}
	}
	return true
}

// sameNames tells whether two columns have one name.
func sameNames(cols []*plan.Attr) bool {
	seen := make(map[string]bool, len(cols))
	for _, a := range cols {
		if seen[a.Name] {
			return true
		}
		seen[a.Name] = true
	}
	return false
}
