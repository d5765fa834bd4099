package analyze

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// autoMetadata is what Spark puts on a column whose name was made from its expression.
const autoMetadata = `{"` + types.AutoAliasKey + `":"true"}`

// project resolves a select list.
func (r *resolver) project(n *plan.Project) (plan.Node, error) {
	sc := r.over(n.Child)
	items, err := sc.selectList(n.Cols)
	if err != nil {
		return nil, err
	}
	children, _, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	return r.selected(items, children[0], n.Hidden)
}

// selected builds the operators for a resolved select list over a relation.
func (r *resolver) selected(items []plan.Expr, child plan.Node, hidden []*plan.Attr) (plan.Node, error) {
	child, items, err := r.timeWindows(child, items)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(items, hasAgg) {
		return r.grouped(&plan.Aggregate{Aggs: items, Child: child}, nil)
	}
	child, items = lateralLevels(child, items)
	child, items, err = r.generators(child, items)
	if err != nil {
		return nil, err
	}
	child, items, err = r.windows(child, items)
	if err != nil {
		return nil, err
	}
	return &plan.Project{Cols: items, Child: child, Hidden: hidden}, nil
}

// selectList resolves the items of a select list, with * expanded and everything named.
func (sc *scope) selectList(list []plan.Expr) ([]plan.Expr, error) {
	var out []plan.Expr
	before := sc.lateral
	defer func() { sc.lateral = before }()
	sc.lateral = func(name string) (plan.Expr, error) {
		var found *plan.Alias
		n := 0
		for _, e := range out {
			if a, ok := e.(*plan.Alias); ok && len(a.Names) == 0 && !a.Auto && sc.r.eq(a.Name, name) {
				found = a
				n++
			}
		}
		switch {
		case n > 1:
			return nil, errclass.New("AMBIGUOUS_LATERAL_COLUMN_ALIAS", "name", errclass.Ident(name), "n", strconv.Itoa(n))
		case n == 1:
			return found.Attr(), nil
		case before != nil:
			return before(name)
		}
		return nil, nil
	}
	for _, e := range list {
		expanded, err := sc.expandItem(e)
		if err != nil {
			return nil, err
		}
		for _, item := range expanded {
			x, err := sc.expr(item)
			if err != nil {
				return nil, err
			}
			out = append(out, called(x))
		}
	}
	return out, nil
}

// expandItem replaces stars and patterns in a select list.
func (sc *scope) expandItem(e plan.Expr) ([]plan.Expr, error) {
	switch e := e.(type) {
	case *plan.Star:
		return sc.expandStar(e)
	case *plan.ColumnRegex:
		return sc.expandRegex(e)
	}
	return []plan.Expr{e}, nil
}

func (sc *scope) expandRegex(e *plan.ColumnRegex) ([]plan.Expr, error) {
	pattern := "^(?:" + e.Pattern + ")$"
	if !sc.r.conf.CaseSensitive {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errclass.New("INVALID_PARAMETER_VALUE.PATTERN", "parameter", "`colName`", "functionName", "`colRegex`", "value", errclass.Text(e.Pattern))
	}
	from := sc.attrs
	if e.PlanID >= 0 {
		if rel := sc.relation(e.PlanID); rel != nil { // as with stars, of another frame it means this one's columns
			from = rel
		}
	}
	var out []plan.Expr
	for _, a := range visible(from) {
		if re.MatchString(a.Name) {
			out = append(out, a)
		}
	}
	return out, nil
}

// expandStar gives the columns that * or t.* stands for.
func (sc *scope) expandStar(s *plan.Star) ([]plan.Expr, error) {
	attrs := visible(sc.attrs)
	if s.PlanID >= 0 {
		if rel := sc.relation(s.PlanID); rel != nil {
			attrs = visible(rel)
		}
	}
	var out []plan.Expr
	if len(s.Target) == 0 {
		out = exprsOf(attrs)
	} else {
		for _, a := range attrs {
			if len(a.Qualifier) > 0 && sc.r.qualifies(a.Qualifier, s.Target) {
				out = append(out, a)
			}
		}
		if out == nil {
			var err error
			if out, err = sc.structFields(s); err != nil {
				return nil, err
			}
		}
	}
	return sc.without(out, s.Except)
}

// structFields expands s.* over a struct column.
func (sc *scope) structFields(s *plan.Star) ([]plan.Expr, error) {
	e, err := sc.column(&plan.Column{Parts: s.Target, PlanID: -1})
	if err != nil {
		return nil, err
	}
	t, ok := plan.TypeOf(e).(types.StructType)
	if e == nil || !ok {
		names := make([]string, 0, len(sc.attrs))
		for _, a := range visible(sc.attrs) {
			names = append(names, errclass.Ident(a.Name))
		}
		return nil, errclass.New("CANNOT_RESOLVE_STAR_EXPAND", "targetString", errclass.Ident(s.Target...), "columns", strings.Join(names, ", "))
	}
	var out []plan.Expr
	for i, f := range t.Fields {
		out = append(out, plan.NewAlias(&plan.Field{Child: plan.Trim(e), Ordinal: i, Name: f.Name}, f.Name))
	}
	return out, nil
}

// without leaves out the columns of * EXCEPT (...).
func (sc *scope) without(cols []plan.Expr, except [][]string) ([]plan.Expr, error) {
	for _, parts := range except {
		e, err := sc.column(&plan.Column{Parts: parts, PlanID: -1})
		if err != nil {
			return nil, err
		}
		a, ok := e.(*plan.Attr)
		switch {
		case e == nil:
			return nil, sc.unresolved(parts)
		case !ok:
			return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", "* EXCEPT ("+strings.Join(parts, ".")+")")
		}
		cols = slices.DeleteFunc(cols, func(c plan.Expr) bool { b := plan.AttrOf(c); return b != nil && b.ID == a.ID })
	}
	return cols, nil
}

// called gives an item of a select list a name unless it has one.
func called(e plan.Expr) plan.Expr {
	switch e := e.(type) {
	case *plan.Attr, *plan.Alias, *plan.Generator:
		return e
	case *plan.Cast:
		if c, ok := e.Child.(*plan.Attr); ok {
			return plan.NewAlias(e, c.Name)
		}
	case *plan.Field:
		if _, ok := e.Child.(*plan.TimeWindow); !ok {
			a := plan.NewAlias(e, e.SQL())
			a.Auto = true
			return a
		}
		return plan.NewAlias(e, "window."+e.Name)
	case *plan.TimeWindow, *plan.SessionWindow, *windowTimeExpr: // they become columns of that name
		a := plan.NewAlias(e, e.SQL())
		a.Auto = true
		return a
	}
	a := plan.NewAlias(e, e.SQL())
	a.Auto, a.Metadata = true, autoMetadata
	return a
}

func isAgg(e plan.Expr) bool { _, ok := e.(*plan.Agg); return ok }

// hasAgg tells whether an expression holds an aggregate call that is not a window function.
func hasAgg(e plan.Expr) bool {
	found := false
	plan.WalkExpr(e, func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Agg:
			found = true
		case *groupingExpr:
			found = true
		case *plan.Over:
			for _, k := range insideOver(e) {
				found = found || hasAgg(k)
			}
			return false
		}
		return !found
	})
	return found
}

// insideOver are the operands of a window function call: those of the function and of the window, but not the function itself.
func insideOver(e *plan.Over) []plan.Expr {
	kids := slices.Clone(e.Fn.Kids())
	return append(kids, e.Kids()[1:]...)
}

// lateralLevels stacks projections where items of a select list use the aliases of items to their left. Item i stands one level
// above the highest item that it uses.
func lateralLevels(child plan.Node, items []plan.Expr) (plan.Node, []plan.Expr) {
	byID := map[plan.ID]int{}
	for i, e := range items {
		if a, ok := e.(*plan.Alias); ok && len(a.Names) == 0 {
			byID[a.ID] = i
		}
	}
	level := make([]int, len(items))
	top := 0
	for i, e := range items {
		for id := range plan.References(e) {
			if j, ok := byID[id]; ok && j < i {
				level[i] = max(level[i], level[j]+1)
			}
		}
		top = max(top, level[i])
	}
	if top == 0 {
		return child, items
	}
	out := slices.Clone(items)
	for l := range top {
		cols := exprsOf(child.Output())
		for i, e := range items {
			if level[i] == l {
				if a, ok := e.(*plan.Alias); ok {
					cols = append(cols, a)
					out[i] = a.Attr()
				}
			}
		}
		child = &plan.Project{Cols: cols, Child: child}
	}
	return child, out
}
