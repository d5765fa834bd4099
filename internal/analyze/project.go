package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/javare"
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
	if child, items, err = r.lateralLevels(child, items); err != nil {
		return nil, err
	}
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

// lateralPrefix is how a use of an alias to the left is called in names that are made of expressions.
const lateralPrefix = "lateralAliasReference("

// lateralAlias is the alias that a column which selectList found to the left is called by.
func lateralAlias(a *plan.Attr) (string, bool) {
	name, ok := strings.CutPrefix(a.Name, lateralPrefix)
	return strings.TrimSuffix(name, ")"), ok
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
		case n == 1 && sc.inAgg > 0:
			return nil, errclass.New("UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_AGGREGATE_FUNC", "lca", errclass.Ident(name))
		case n == 1:
			a := *found.Attr()
			a.Name = lateralPrefix + a.Name + ")"
			return &a, nil
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
			if a, ok := x.(*plan.Attr); ok {
				if name, ok := lateralAlias(a); ok { // by itself it defines no alias
					again := plan.NewAlias(a, name)
					again.Auto = true
					x = again
				}
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
	pattern := `\A(?:` + e.Pattern + `)\z`
	if !sc.r.conf.CaseSensitive {
		pattern = "(?i)" + pattern
	}
	re, err := javare.Compile(pattern)
	if err != nil {
		return nil, errclass.New("INVALID_PARAMETER_VALUE.PATTERN", "parameter", "`colName`", "functionName", "`colRegex`", "value", errclass.Text(e.Pattern))
	}
	from := sc.attrs
	if e.PlanID >= 0 && e.Table == "" {
		if rel := sc.relation(e.PlanID); rel != nil { // as with stars, of another frame it means this one's columns
			from = rel
		}
	}
	var out []plan.Expr
	for _, a := range visible(from) {
		if e.Table != "" && (len(a.Qualifier) == 0 || !sc.r.eq(a.Qualifier[len(a.Qualifier)-1], e.Table)) {
			continue
		}
		if re.Match([]byte(a.Name)) {
			out = append(out, a)
		}
	}
	return out, nil
}

// expandStar gives the columns that * or t.* stands for.
func (sc *scope) expandStar(s *plan.Star) ([]plan.Expr, error) {
	out, err := sc.expandedStar(s)
	return out, at(err, s.Origin)
}

func (sc *scope) expandedStar(s *plan.Star) ([]plan.Expr, error) {
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
			outer, err := sc.outerStar(s)
			if err != nil {
				return nil, err
			}
			out = outer
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

// outerStar expands t.* over the query around a subquery; nil when it has no such columns either.
func (sc *scope) outerStar(s *plan.Star) ([]plan.Expr, error) {
	o := sc.r.outer
	if o == nil {
		return nil, nil
	}
	var out []plan.Expr
	for _, a := range visible(o.attrs) {
		if len(a.Qualifier) > 0 && sc.r.qualifies(a.Qualifier, s.Target) {
			e, err := sc.r.outerRefs(a)
			if err != nil {
				return nil, err
			}
			out = append(out, plan.NewAlias(e, a.Name))
		}
	}
	return out, nil
}

// structFields expands s.* over a struct column.
func (sc *scope) structFields(s *plan.Star) ([]plan.Expr, error) {
	before := sc.lateral
	sc.lateral = nil // aliases of the same list and windows of the grouping are not there yet
	e, err := sc.column(&plan.Column{Parts: s.Target, PlanID: -1})
	sc.lateral = before
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

// without leaves out the columns of * EXCEPT (...), and fields of structs, which are made anew without them: one that was null is not
// any more.
func (sc *scope) without(cols []plan.Expr, except [][]string) ([]plan.Expr, error) {
	fields := map[plan.ID][][]int{} // that are left out, by the column of the struct
	for i, parts := range except {
		for _, other := range except[:i] {
			if slices.EqualFunc(parts[:min(len(parts), len(other))], other[:min(len(parts), len(other))], sc.r.eq) {
				return nil, errclass.New("EXCEPT_OVERLAPPING_COLUMNS", "columns", strings.Join(other, ".")+", "+strings.Join(parts, "."))
			}
		}
		e, err := sc.column(&plan.Column{Parts: parts, PlanID: -1})
		if err != nil {
			return nil, err
		}
		if e == nil {
			return nil, sc.unresolved(parts)
		}
		var path []int
		e = plan.Trim(e)
		for f, ok := e.(*plan.Field); ok; f, ok = e.(*plan.Field) {
			path = append([]int{f.Ordinal}, path...)
			e = f.Child
		}
		a := plan.AttrOf(e)
		switch {
		case a == nil:
		case path != nil:
			fields[a.ID] = append(fields[a.ID], path)
		default:
			cols = slices.DeleteFunc(cols, func(c plan.Expr) bool { b := plan.AttrOf(c); return b != nil && b.ID == a.ID })
		}
	}
	if len(fields) == 0 {
		return cols, nil
	}
	cols = slices.Clone(cols)
	for i, c := range cols {
		a := plan.AttrOf(c)
		if a == nil || fields[a.ID] == nil {
			continue
		}
		x, err := sc.withoutFields(plan.Trim(c), fields[a.ID])
		if err != nil {
			return nil, err
		}
		cols[i] = plan.NewAlias(x, a.Name)
	}
	return cols, nil
}

// withoutFields makes a struct anew without the fields at the ends of some paths of ordinals.
func (sc *scope) withoutFields(s plan.Expr, paths [][]int) (plan.Expr, error) {
	t, ok := plan.TypeOf(s).(types.StructType)
	if !ok {
		return s, nil
	}
	var pairs []plan.Expr
	for i, f := range t.Fields {
		var value plan.Expr = &plan.Field{Child: s, Ordinal: i, Name: f.Name}
		var inside [][]int
		gone := false
		for _, p := range paths {
			if p[0] == i && len(p) > 1 {
				inside = append(inside, p[1:])
			}
			gone = gone || p[0] == i && len(p) == 1
		}
		if gone {
			continue
		}
		if inside != nil {
			var err error
			if value, err = sc.withoutFields(value, inside); err != nil {
				return nil, err
			}
		}
		pairs = append(pairs, textLit(f.Name), value)
	}
	return sc.call("named_struct", pairs, plan.Origin{})
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
func (r *resolver) lateralLevels(child plan.Node, items []plan.Expr) (plan.Node, []plan.Expr, error) {
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
		return child, items, nil
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
		var err error
		if child, cols, err = r.windows(child, cols); err != nil {
			return nil, nil, err
		}
		child = &plan.Project{Cols: cols, Child: child}
	}
	return child, out, nil
}
