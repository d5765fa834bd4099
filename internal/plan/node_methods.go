package plan

import "slices"

func anyStreaming(nodes ...Node) bool { return slices.ContainsFunc(nodes, Node.Streaming) }

// nullable returns columns as an outer join pads them.
func nullable(attrs []*Attr) []*Attr {
	out := make([]*Attr, len(attrs))
	for i, a := range attrs {
		if !a.Null {
			c := *a
			c.Null, a = true, &c
		}
		out[i] = a
	}
	return out
}

// noChildren checks the children given to a leaf.
func noChildren(n Node, children []Node) Node {
	if len(children) != 0 {
		panic("plan: a leaf was given children")
	}
	return n
}

// Children implements Node.
func (n *Tagged) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Tagged) WithChildren(c []Node) Node { return &Tagged{PlanID: n.PlanID, Child: c[0]} }

// Exprs implements Node.
func (n *Tagged) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Tagged) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Tagged) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Tagged) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *View) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *View) WithChildren(c []Node) Node { return &View{Name: n.Name, Child: c[0]} }

// Exprs implements Node.
func (n *View) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *View) WithExprs([]Expr) Node { return n }

// Output implements Node: the view's name is its columns' qualifier.
func (n *View) Output() []*Attr { return qualified(n.Child.Output(), n.Name) }

// Streaming implements Node.
func (n *View) Streaming() bool { return n.Child.Streaming() }

func qualified(attrs []*Attr, qualifier []string) []*Attr {
	out := make([]*Attr, len(attrs))
	for i, a := range attrs {
		c := *a
		c.Qualifier = qualifier
		out[i] = &c
	}
	return out
}

// Children implements Node.
func (n *Project) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Project) WithChildren(c []Node) Node {
	return &Project{Cols: n.Cols, Child: c[0], Hidden: n.Hidden}
}

// Exprs implements Node.
func (n *Project) Exprs() []Expr { return n.Cols }

// WithExprs implements Node.
func (n *Project) WithExprs(exprs []Expr) Node {
	return &Project{Cols: exprs, Child: n.Child, Hidden: n.Hidden}
}

// Output implements Node.
func (n *Project) Output() []*Attr { return attrsOf(n.Cols) }

// Streaming implements Node.
func (n *Project) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *WithColumns) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *WithColumns) WithChildren(c []Node) Node {
	w := *n
	w.Child = c[0]
	return &w
}

// Exprs implements Node.
func (n *WithColumns) Exprs() []Expr {
	out := make([]Expr, len(n.Cols))
	for i, c := range n.Cols {
		out[i] = c
	}
	return out
}

// WithExprs implements Node.
func (n *WithColumns) WithExprs(exprs []Expr) Node {
	cols := make([]*Alias, len(exprs))
	for i, e := range exprs {
		cols[i] = e.(*Alias)
	}
	w := *n
	w.Cols = cols
	return &w
}

// Output implements Node.
func (n *WithColumns) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *WithColumns) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Rename) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Rename) WithChildren(c []Node) Node { return &Rename{From: n.From, To: n.To, Child: c[0]} }

// Exprs implements Node.
func (n *Rename) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Rename) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Rename) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *Rename) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Drop) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Drop) WithChildren(c []Node) Node { return &Drop{Cols: n.Cols, Names: n.Names, Child: c[0]} }

// Exprs implements Node.
func (n *Drop) Exprs() []Expr { return n.Cols }

// WithExprs implements Node.
func (n *Drop) WithExprs(exprs []Expr) Node {
	return &Drop{Cols: exprs, Names: n.Names, Child: n.Child}
}

// Output implements Node.
func (n *Drop) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *Drop) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *ToNames) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *ToNames) WithChildren(c []Node) Node { return &ToNames{Names: n.Names, Child: c[0]} }

// Exprs implements Node.
func (n *ToNames) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *ToNames) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *ToNames) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *ToNames) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *ToSchema) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *ToSchema) WithChildren(c []Node) Node { return &ToSchema{Schema: n.Schema, Child: c[0]} }

// Exprs implements Node.
func (n *ToSchema) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *ToSchema) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *ToSchema) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *ToSchema) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Filter) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Filter) WithChildren(c []Node) Node { return &Filter{Cond: n.Cond, Child: c[0]} }

// Exprs implements Node.
func (n *Filter) Exprs() []Expr { return []Expr{n.Cond} }

// WithExprs implements Node.
func (n *Filter) WithExprs(exprs []Expr) Node { return &Filter{Cond: exprs[0], Child: n.Child} }

// Output implements Node.
func (n *Filter) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Filter) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Aggregate) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Aggregate) WithChildren(c []Node) Node {
	a := *n
	a.Child = c[0]
	return &a
}

// Exprs implements Node: keys, outputs, grouping sets, the pivot.
func (n *Aggregate) Exprs() []Expr {
	out := join(n.Keys, n.Aggs)
	for _, s := range n.Sets {
		out = append(out, s...)
	}
	return join(out, opt(n.PivotCol), n.PivotValues)
}

// WithExprs implements Node.
func (n *Aggregate) WithExprs(exprs []Expr) Node {
	a, t := *n, taker{exprs}
	a.Keys, a.Aggs = t.take(len(n.Keys)), t.take(len(n.Aggs))
	if n.Sets != nil {
		a.Sets = make([][]Expr, len(n.Sets))
		for i, s := range n.Sets {
			a.Sets[i] = t.take(len(s))
		}
	}
	a.PivotCol, a.PivotValues = t.opt(n.PivotCol), t.take(len(n.PivotValues))
	return &a
}

// Output implements Node.
func (n *Aggregate) Output() []*Attr { return attrsOf(n.Aggs) }

// Streaming implements Node.
func (n *Aggregate) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Having) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Having) WithChildren(c []Node) Node { return &Having{Cond: n.Cond, Child: c[0]} }

// Exprs implements Node.
func (n *Having) Exprs() []Expr { return []Expr{n.Cond} }

// WithExprs implements Node.
func (n *Having) WithExprs(exprs []Expr) Node { return &Having{Cond: exprs[0], Child: n.Child} }

// Output implements Node.
func (n *Having) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Having) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Qualify) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Qualify) WithChildren(c []Node) Node { return &Qualify{Cond: n.Cond, Child: c[0]} }

// Exprs implements Node.
func (n *Qualify) Exprs() []Expr { return []Expr{n.Cond} }

// WithExprs implements Node.
func (n *Qualify) WithExprs(exprs []Expr) Node { return &Qualify{Cond: exprs[0], Child: n.Child} }

// Output implements Node.
func (n *Qualify) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Qualify) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Sort) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Sort) WithChildren(c []Node) Node {
	return &Sort{Orders: n.Orders, Global: n.Global, Child: c[0]}
}

// Exprs implements Node.
func (n *Sort) Exprs() []Expr { return orders(n.Orders) }

// WithExprs implements Node.
func (n *Sort) WithExprs(exprs []Expr) Node {
	return &Sort{Orders: asOrders(exprs), Global: n.Global, Child: n.Child}
}

// Output implements Node.
func (n *Sort) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Sort) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Limit) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Limit) WithChildren(c []Node) Node { return &Limit{N: n.N, Child: c[0]} }

// Exprs implements Node.
func (n *Limit) Exprs() []Expr { return []Expr{n.N} }

// WithExprs implements Node.
func (n *Limit) WithExprs(exprs []Expr) Node { return &Limit{N: exprs[0], Child: n.Child} }

// Output implements Node.
func (n *Limit) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Limit) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Offset) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Offset) WithChildren(c []Node) Node { return &Offset{N: n.N, Child: c[0]} }

// Exprs implements Node.
func (n *Offset) Exprs() []Expr { return []Expr{n.N} }

// WithExprs implements Node.
func (n *Offset) WithExprs(exprs []Expr) Node { return &Offset{N: exprs[0], Child: n.Child} }

// Output implements Node.
func (n *Offset) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Offset) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Tail) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Tail) WithChildren(c []Node) Node { return &Tail{N: n.N, Child: c[0]} }

// Exprs implements Node.
func (n *Tail) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Tail) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Tail) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Tail) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Distinct) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Distinct) WithChildren(c []Node) Node { return &Distinct{Child: c[0]} }

// Exprs implements Node.
func (n *Distinct) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Distinct) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Distinct) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Distinct) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Dedup) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Dedup) WithChildren(c []Node) Node {
	d := *n
	d.Child = c[0]
	return &d
}

// Exprs implements Node.
func (n *Dedup) Exprs() []Expr { return n.Keys }

// WithExprs implements Node.
func (n *Dedup) WithExprs(exprs []Expr) Node {
	d := *n
	d.Keys = exprs
	return &d
}

// Output implements Node.
func (n *Dedup) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Dedup) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Aliased) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Aliased) WithChildren(c []Node) Node {
	return &Aliased{Name: n.Name, Columns: n.Columns, Child: c[0], Origin: n.Origin, Path: n.Path, Def: n.Def}
}

// Exprs implements Node.
func (n *Aliased) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Aliased) WithExprs([]Expr) Node { return n }

// Output implements Node: the name is the columns' qualifier.
func (n *Aliased) Output() []*Attr { return qualified(n.Child.Output(), n.Qualifier()) }

// Qualifier is what the relation's columns may be written with.
func (n *Aliased) Qualifier() []string {
	if n.Path != nil {
		return n.Path
	}
	return []string{n.Name}
}

// Streaming implements Node.
func (n *Aliased) Streaming() bool { return n.Child.Streaming() }

// Children implements Node: the definitions, then the query.
func (n *With) Children() []Node { return append(slices.Clone(n.Plans), n.Child) }

// WithChildren implements Node.
func (n *With) WithChildren(c []Node) Node {
	last := len(c) - 1
	w := *n
	w.Plans, w.Child = c[:last:last], c[last]
	return &w
}

// Exprs implements Node.
func (n *With) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *With) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *With) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *With) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Watermark) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Watermark) WithChildren(c []Node) Node {
	w := *n
	w.Child = c[0]
	return &w
}

// Exprs implements Node.
func (n *Watermark) Exprs() []Expr { return []Expr{n.Col} }

// WithExprs implements Node.
func (n *Watermark) WithExprs(exprs []Expr) Node {
	w := *n
	w.Col = exprs[0]
	return &w
}

// Output implements Node: the child's columns, with Col marked as event time and the mark of any other column removed.
func (n *Watermark) Output() []*Attr {
	in := n.Child.Output()
	col, ok := n.Col.(*Attr)
	if !ok {
		return in
	}
	out := make([]*Attr, len(in))
	for i, a := range in {
		switch {
		case a.ID == col.ID:
			a = a.Marked(n.Millis())
		case a.EventTime:
			a = a.Unmarked()
		}
		out[i] = a
	}
	return out
}

// Millis is the delay in milliseconds; a month counts 31 days, as in Spark.
func (n *Watermark) Millis() int64 {
	const day = 24 * 60 * 60 * 1000
	return int64(n.Delay.Months)*31*day + int64(n.Delay.Days)*day + n.Delay.Micros/1000
}

// Streaming implements Node.
func (n *Watermark) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Expand) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Expand) WithChildren(c []Node) Node { return &Expand{Lists: n.Lists, Out: n.Out, Child: c[0]} }

// Exprs implements Node.
func (n *Expand) Exprs() []Expr { return slices.Concat(n.Lists...) }

// WithExprs implements Node.
func (n *Expand) WithExprs(exprs []Expr) Node {
	t := taker{exprs}
	lists := make([][]Expr, len(n.Lists))
	for i, l := range n.Lists {
		lists[i] = t.take(len(l))
	}
	return &Expand{Lists: lists, Out: n.Out, Child: n.Child}
}

// Output implements Node.
func (n *Expand) Output() []*Attr { return n.Out }

// Streaming implements Node.
func (n *Expand) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Generate) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Generate) WithChildren(c []Node) Node {
	g := *n
	g.Child = c[0]
	return &g
}

// Exprs implements Node.
func (n *Generate) Exprs() []Expr { return []Expr{n.Gen} }

// WithExprs implements Node.
func (n *Generate) WithExprs(exprs []Expr) Node {
	g := *n
	g.Gen = exprs[0]
	return &g
}

// Output implements Node: the child's columns, then the generated ones.
func (n *Generate) Output() []*Attr {
	gen := n.Out
	if n.Qualifier != "" {
		gen = qualified(gen, []string{n.Qualifier})
	}
	return slices.Concat(n.Child.Output(), gen)
}

// Streaming implements Node.
func (n *Generate) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Sample) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Sample) WithChildren(c []Node) Node {
	s := *n
	s.Child = c[0]
	return &s
}

// Exprs implements Node.
func (n *Sample) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Sample) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Sample) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Sample) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Repartition) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Repartition) WithChildren(c []Node) Node {
	r := *n
	r.Child = c[0]
	return &r
}

// Exprs implements Node.
func (n *Repartition) Exprs() []Expr { return n.Keys }

// WithExprs implements Node.
func (n *Repartition) WithExprs(exprs []Expr) Node {
	r := *n
	r.Keys = exprs
	return &r
}

// Output implements Node.
func (n *Repartition) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Repartition) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Sieve) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Sieve) WithChildren(c []Node) Node {
	return &Sieve{Tests: n.Tests, File: n.File, Child: c[0], ID: n.ID}
}

// Exprs implements Node.
func (n *Sieve) Exprs() []Expr { return n.Tests }

// WithExprs implements Node.
func (n *Sieve) WithExprs(es []Expr) Node {
	return &Sieve{Tests: es, File: n.File, Child: n.Child, ID: n.ID}
}

// Output implements Node.
func (n *Sieve) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Sieve) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Aside) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Aside) WithChildren(c []Node) Node { return &Aside{Time: n.Time, Child: c[0], ID: n.ID} }

// Exprs implements Node.
func (n *Aside) Exprs() []Expr { return []Expr{n.Time} }

// WithExprs implements Node.
func (n *Aside) WithExprs(es []Expr) Node { return &Aside{Time: es[0], Child: n.Child, ID: n.ID} }

// Output implements Node.
func (n *Aside) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Aside) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Hint) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Hint) WithChildren(c []Node) Node { return &Hint{Name: n.Name, Args: n.Args, Child: c[0]} }

// Exprs implements Node. A hint's arguments are names, not values: rules do not look at them.
func (n *Hint) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Hint) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Hint) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Hint) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *Observe) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Observe) WithChildren(c []Node) Node {
	return &Observe{Name: n.Name, Aggs: n.Aggs, Child: c[0]}
}

// Exprs implements Node.
func (n *Observe) Exprs() []Expr { return n.Aggs }

// WithExprs implements Node.
func (n *Observe) WithExprs(exprs []Expr) Node {
	return &Observe{Name: n.Name, Aggs: exprs, Child: n.Child}
}

// Output implements Node.
func (n *Observe) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *Observe) Streaming() bool { return n.Child.Streaming() }

// Children implements Node.
func (n *WindowFuncs) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *WindowFuncs) WithChildren(c []Node) Node { return &WindowFuncs{Cols: n.Cols, Child: c[0]} }

// Exprs implements Node.
func (n *WindowFuncs) Exprs() []Expr { return n.Cols }

// WithExprs implements Node.
func (n *WindowFuncs) WithExprs(exprs []Expr) Node { return &WindowFuncs{Cols: exprs, Child: n.Child} }

// Output implements Node: the child's columns, then the window functions'.
func (n *WindowFuncs) Output() []*Attr { return slices.Concat(n.Child.Output(), attrsOf(n.Cols)) }

// Streaming implements Node.
func (n *WindowFuncs) Streaming() bool { return n.Child.Streaming() }
