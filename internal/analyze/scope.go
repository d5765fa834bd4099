package analyze

import (
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// scope is what names mean inside the expressions of one node.
type scope struct {
	r        *resolver
	children []plan.Node
	attrs    []*plan.Attr
	byName   map[string][]*plan.Attr
	// lateral, when set, looks a name up among the aliases to the left in the same select list.
	lateral func(name string) (plan.Expr, error)
	// missing, when set, collects columns that are not visible but could be fetched from below (see expose).
	missing map[plan.ID]*plan.Attr
	// deep lets names be looked up below projections: ORDER BY and WHERE of the DataFrame API.
	deep bool
	// inAgg counts the aggregate calls around the expression being resolved.
	inAgg int
	// first, when set, is asked for a name before the columns; aggregates resolve their arguments against their input with it.
	first func(parts []string) (plan.Expr, error)
	// last, when set, is asked for a name that nothing else has; over a grouping it finds keys that are not in the output.
	last func(parts []string) (plan.Expr, error)
	// groupIn is the input of the grouping below, where aggregate calls may use its columns.
	groupIn *scope
	// having, when set, knows what names mean in a condition of HAVING.
	having *havingNames
	// vars are the lambda parameters in force.
	vars map[plan.ID]*plan.LambdaVar
	// tables allows the functions that only stand for tables.
	tables bool
}

// over returns the scope of a node's expressions over its resolved children.
func (r *resolver) over(children ...plan.Node) *scope {
	sc := &scope{r: r, children: children, missing: map[plan.ID]*plan.Attr{}}
	for _, c := range children {
		sc.attrs = append(sc.attrs, c.Output()...)
	}
	return sc
}

// foldName is a name as it is compared.
func (r *resolver) foldName(name string) string {
	if r.conf.CaseSensitive {
		return name
	}
	return strings.ToLower(name)
}

func (r *resolver) eq(a, b string) bool {
	if r.conf.CaseSensitive {
		return a == b
	}
	return strings.EqualFold(a, b)
}

// named gives the visible columns of a name.
func (sc *scope) named(name string) []*plan.Attr {
	if sc.byName == nil {
		sc.byName = make(map[string][]*plan.Attr, len(sc.attrs))
		for _, a := range sc.attrs {
			key := sc.r.foldName(a.Name)
			sc.byName[key] = append(sc.byName[key], a)
		}
	}
	return sc.byName[sc.r.foldName(name)]
}

// sees tells whether all columns of an expression are visible.
func (sc *scope) sees(e plan.Expr) bool {
	return !plan.Exists(e, func(e plan.Expr) bool {
		a, ok := e.(*plan.Attr)
		return ok && !slices.ContainsFunc(sc.attrs, func(b *plan.Attr) bool { return a.ID == b.ID })
	})
}

// column resolves a column name. The result is nil without an error when there is none.
func (sc *scope) column(c *plan.Column) (plan.Expr, error) {
	if c.PlanID >= 0 {
		e, err := sc.tagged(c)
		if e == nil && err == nil {
			err = errclass.New("CANNOT_RESOLVE_DATAFRAME_COLUMN", "name", errclass.Expr(c.SQL()))
		}
		return e, err
	}
	if c.Metadata {
		return sc.below(c.Parts)
	}
	if sc.having != nil && sc.inAgg == 0 {
		if e := sc.having.key(c.Parts); e != nil {
			return e, nil
		}
	}
	if sc.first != nil {
		if e, err := sc.first(c.Parts); e != nil || err != nil {
			return e, err
		}
	}
	if e, err := sc.match(c.Parts, sc.named); e != nil || err != nil {
		return e, err
	}
	if e, err := sc.below(c.Parts); e != nil || err != nil {
		return e, err
	}
	if sc.lateral != nil {
		e, err := sc.lateral(c.Parts[0])
		if err != nil {
			return nil, err
		}
		if e != nil {
			return sc.fields(e, c.Parts[1:])
		}
	}
	if sc.last != nil {
		return sc.last(c.Parts)
	}
	return nil, nil
}

// match finds the column that a name of several parts means: qualifier, column and fields inside it.
func (sc *scope) match(parts []string, named func(string) []*plan.Attr) (plan.Expr, error) {
	for i := min(len(parts)-1, 3); i >= 0; i-- {
		var found []*plan.Attr
		for _, a := range named(parts[i]) {
			if sc.r.qualifies(a.Qualifier, parts[:i]) && !slices.ContainsFunc(found, func(b *plan.Attr) bool { return b.ID == a.ID }) {
				found = append(found, a)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			a := found[0]
			if a.Name != parts[i] { // a column is called as it was written
				c := *a
				c.Name, a = parts[i], &c
			}
			return sc.fields(a, parts[i+1:])
		default:
			refs := make([]string, len(found))
			for j, a := range found {
				refs[j] = errclass.Ident(append(slices.Clone(a.Qualifier), a.Name)...)
			}
			return nil, errclass.New("AMBIGUOUS_REFERENCE", "name", errclass.Ident(parts...), "referenceNames", "["+strings.Join(refs, ", ")+"]")
		}
	}
	return nil, nil
}

// qualifies tells whether a written qualifier means a column's: it may leave out the beginning.
func (r *resolver) qualifies(have, written []string) bool {
	if len(written) > len(have) {
		return false
	}
	tail := have[len(have)-len(written):]
	return slices.EqualFunc(tail, written, r.eq)
}

// fields takes nested fields out of an expression, one after the other. What a name like a.b.c means is called c.
func (sc *scope) fields(e plan.Expr, path []string) (plan.Expr, error) {
	if len(path) == 0 {
		return e, nil
	}
	for _, name := range path {
		var err error
		if e, err = sc.extract(e, &plan.Literal{Value: name, T: types.String}); err != nil {
			return nil, err
		}
	}
	return plan.NewAlias(e, path[len(path)-1]), nil
}

// below looks a name up among columns that are hidden in the children's outputs and, for deep scopes, in what lies below their
// projections. A column found there is noted in missing.
func (sc *scope) below(parts []string) (plan.Expr, error) {
	for _, level := range sc.levels() {
		byName := func(name string) []*plan.Attr {
			var out []*plan.Attr
			for _, a := range level {
				if sc.r.eq(a.Name, name) {
					out = append(out, a)
				}
			}
			return out
		}
		e, err := sc.match(parts, byName)
		if err != nil {
			return nil, err
		}
		if e != nil {
			sc.note(e)
			return e, nil
		}
	}
	return nil, nil
}

// note remembers the columns of e that are not visible.
func (sc *scope) note(e plan.Expr) {
	plan.WalkExpr(e, func(e plan.Expr) bool {
		if a, ok := e.(*plan.Attr); ok && !sc.sees(a) {
			sc.missing[a.ID] = a
		}
		return true
	})
}

// levels are lists of columns that can be fetched from below, the nearest first.
func (sc *scope) levels() [][]*plan.Attr {
	var out [][]*plan.Attr
	var hidden []*plan.Attr
	for _, c := range sc.children {
		hidden = append(hidden, hiddenOf(c)...)
	}
	if len(hidden) > 0 {
		out = append(out, hidden)
	}
	if sc.deep && len(sc.children) == 1 {
		n := sc.children[0]
		for below := through(n); below != nil; below = through(n) {
			n = below
			out = append(out, n.Output())
		}
		if agg, ok := n.(*plan.Aggregate); ok && sc.groupIn == nil {
			out = append(out, keyColumns(agg))
		}
	}
	return out
}

// keyColumns are the keys of a grouping that are columns.
func keyColumns(n *plan.Aggregate) []*plan.Attr {
	var out []*plan.Attr
	for _, k := range n.Keys {
		if a, ok := k.(*plan.Attr); ok {
			out = append(out, a)
		}
	}
	return out
}

// through is the relation below a node whose columns can be fetched through the node, or nil.
func through(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Tagged:
		return n.Child
	case *plan.Project:
		return n.Child
	case *plan.Filter:
		return n.Child
	case *plan.Sort:
		return n.Child
	case *plan.Limit:
		return n.Child
	case *plan.Offset:
		return n.Child
	case *plan.Dedup:
		return n.Child
	case *plan.Repartition:
		return n.Child
	case *plan.Sample:
		return n.Child
	case *plan.Observe:
		return n.Child
	case *plan.Generate:
		return n.Child
	case *plan.WindowFuncs:
		return n.Child
	case *plan.Watermark:
		return n.Child
	}
	return nil
}

// hiddenOf are the columns that a relation has beside its output and that any operator above may name.
func hiddenOf(n plan.Node) []*plan.Attr {
	switch n := n.(type) {
	case *plan.Scan:
		return n.Hidden
	case *plan.Project:
		return append(slices.Clone(n.Hidden), hiddenOf(n.Child)...)
	case *plan.Aliased:
		return requalify(hiddenOf(n.Child), []string{n.Name})
	case *plan.View:
		return requalify(hiddenOf(n.Child), n.Name)
	case *plan.Join:
		return append(slices.Clone(hiddenOf(n.Left)), hiddenOf(n.Right)...)
	case *plan.Tagged, *plan.Filter, *plan.Sort, *plan.Limit, *plan.Offset, *plan.Dedup, *plan.Repartition, *plan.Sample, *plan.Observe,
		*plan.Generate, *plan.WindowFuncs, *plan.Watermark:
		return hiddenOf(n.Children()[0])
	}
	return nil
}

func requalify(attrs []*plan.Attr, qualifier []string) []*plan.Attr {
	out := make([]*plan.Attr, len(attrs))
	for i, a := range attrs {
		c := *a
		c.Qualifier = qualifier
		out[i] = &c
	}
	return out
}

// expose returns the relation with more columns in its output, fetched from below; ok is false when one cannot be had.
func expose(n plan.Node, want []*plan.Attr) (_ plan.Node, ok bool) {
	have := plan.OutputSet(n)
	var lack []*plan.Attr
	for _, a := range want {
		if !have.Has(a.ID) {
			lack = append(lack, a)
		}
	}
	if len(lack) == 0 {
		return n, true
	}
	switch n := n.(type) {
	case *plan.Scan:
		c := *n
		for _, a := range lack {
			i := slices.IndexFunc(n.Hidden, func(h *plan.Attr) bool { return h.ID == a.ID })
			if i < 0 {
				return nil, false
			}
			h := *n.Hidden[i]
			h.Hidden = true
			c.Out = append(slices.Clone(c.Out), &h)
		}
		return &c, true
	case *plan.Project:
		child, ok := expose(n.Child, lack)
		if !ok {
			return nil, false
		}
		cols := slices.Clone(n.Cols)
		for _, a := range lack {
			cols = append(cols, a)
		}
		return &plan.Project{Cols: cols, Child: child, Hidden: n.Hidden}, true
	case *plan.Join:
		left, right := n.Left, n.Right
		for _, a := range lack {
			if l, ok := expose(left, []*plan.Attr{a}); ok {
				left = l
			} else if r, ok := expose(right, []*plan.Attr{a}); ok && n.Kind != plan.LeftSemi && n.Kind != plan.LeftAnti && n.Kind != plan.Existence {
				right = r
			} else {
				return nil, false
			}
		}
		return n.WithChildren([]plan.Node{left, right}), true
	case *plan.Aggregate:
		return exposeKeys(n, lack)
	case *plan.Tagged, *plan.Aliased, *plan.View, *plan.Filter, *plan.Sort, *plan.Limit, *plan.Offset, *plan.Dedup, *plan.Repartition,
		*plan.Sample, *plan.Observe, *plan.Generate, *plan.WindowFuncs, *plan.Watermark:
		child, ok := expose(n.Children()[0], lack)
		if !ok {
			return nil, false
		}
		return n.WithChildren([]plan.Node{child}), true
	}
	return nil, false
}

// exposeKeys adds grouping columns to an aggregate's output.
func exposeKeys(n *plan.Aggregate, lack []*plan.Attr) (plan.Node, bool) {
	c := *n
	for _, a := range lack {
		if !slices.ContainsFunc(n.Keys, func(k plan.Expr) bool { return plan.Same(k, a) }) {
			return nil, false
		}
		c.Aggs = append(slices.Clone(c.Aggs), a)
	}
	return &c, true
}

// fetch returns the children with the columns that the scope found missing, and whether there were any.
func (sc *scope) fetch() ([]plan.Node, bool, error) {
	if len(sc.missing) == 0 {
		return sc.children, false, nil
	}
	children := slices.Clone(sc.children)
	for _, id := range sortedIDs(sc.missing) {
		a, done := sc.missing[id], false
		for i, c := range children {
			if n, ok := expose(c, []*plan.Attr{a}); ok {
				children[i], done = n, true
				break
			}
		}
		if !done {
			return nil, false, sc.unresolved([]string{a.Name})
		}
	}
	return children, true, nil
}

func sortedIDs(m map[plan.ID]*plan.Attr) []plan.ID {
	ids := make([]plan.ID, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// visible leaves out hidden columns.
func visible(attrs []*plan.Attr) []*plan.Attr {
	if !slices.ContainsFunc(attrs, func(a *plan.Attr) bool { return a.Hidden }) {
		return attrs
	}
	var out []*plan.Attr
	for _, a := range attrs {
		if !a.Hidden {
			out = append(out, a)
		}
	}
	return out
}

func exprsOf(attrs []*plan.Attr) []plan.Expr {
	out := make([]plan.Expr, len(attrs))
	for i, a := range attrs {
		out[i] = a
	}
	return out
}

// narrow projects a relation to the given columns, unless it has just those.
func narrow(n plan.Node, to []*plan.Attr) plan.Node {
	out := n.Output()
	if slices.EqualFunc(out, to, func(a, b *plan.Attr) bool { return a.ID == b.ID }) {
		return n
	}
	return &plan.Project{Cols: exprsOf(to), Child: n}
}
