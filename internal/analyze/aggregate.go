package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/types"
)

// aggregate resolves a grouping.
func (r *resolver) aggregate(n *plan.Aggregate) (plan.Node, error) {
	if n.Kind == plan.GroupPivot {
		return r.pivot(n)
	}
	a, err := r.aggregation(n)
	if err != nil {
		return nil, err
	}
	out, err := r.grouped(a, nil)
	if errclass.Has(err, "UNSUPPORTED_EXPR_FOR_OPERATOR") || n.Kind != plan.GroupBy && errclass.Has(err, "MISSING_GROUP_BY") {
		err = at(err, n.Clause)
	}
	return out, err
}

// aggregation resolves the parts of a grouping.
func (r *resolver) aggregation(n *plan.Aggregate) (*plan.Aggregate, error) {
	sc := r.over(n.Child)
	if err := sc.groupedWindow(n.Keys, n.KeysInOutput); err != nil {
		return nil, err
	}
	items, err := sc.selectList(n.Aggs)
	if err != nil {
		return nil, err
	}
	sc.lateral = nil
	keys := &keyScope{sc: sc, items: items, ordinals: !n.KeysInOutput && r.conf.flag(setting.GroupByOrdinal)}
	a := &plan.Aggregate{Child: n.Child, Aggs: items}
	var named []plan.Expr
	if a.Keys, named, err = keys.resolve(n.Keys); err != nil {
		return nil, err
	}
	if n.KeysInOutput {
		a.Aggs = append(named, items...)
	}
	sets, err := keys.sets(n, a.Keys)
	if err != nil {
		return nil, err
	}
	children, _, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	a.Child = children[0]
	places := make([][]int, len(sets)) // of the keys of each set, which may be windows and so be rewritten
	for i, s := range sets {
		for _, k := range s {
			at := indexOf(a.Keys, k)
			if at < 0 { // only the set names it
				at = len(a.Keys)
				a.Keys = append(a.Keys, k)
			}
			places[i] = append(places[i], at)
		}
	}
	if err := r.groupWindows(a); err != nil {
		return nil, err
	}
	if n.Kind == plan.GroupBy {
		return a, nil
	}
	for i := range sets {
		sets[i] = make([]plan.Expr, len(places[i]))
		for j, at := range places[i] {
			sets[i][j] = a.Keys[at]
		}
	}
	return r.groupingSets(a, sets)
}

// groupedWindow lets the select list name the column of a window that is only computed by the grouping: SELECT window ... GROUP BY
// window(...); where the keys come first in the output, the name given to a key as well.
func (sc *scope) groupedWindow(keys []plan.Expr, named bool) error {
	windows := map[string]plan.Expr{}
	for _, k := range keys {
		if a, ok := k.(*plan.Alias); ok && named {
			e, err := sc.expr(a.Child)
			if err != nil {
				return err
			}
			windows[a.Name] = e
			continue
		}
		f, ok := plan.Trim(k).(*plan.Func)
		if !ok || len(f.Name) != 1 {
			continue
		}
		switch name := strings.ToLower(f.Name[0]); name {
		case "window", "session_window":
			e, err := sc.expr(f)
			if err != nil {
				return err
			}
			windows[name] = e
		}
	}
	if len(windows) > 0 {
		sc.lateral = func(name string) (plan.Expr, error) {
			for n, e := range windows {
				if sc.r.eq(n, name) {
					return e, nil
				}
			}
			return nil, nil
		}
	}
	return nil
}

// keyScope resolves grouping keys: positions in and aliases of the select list besides columns.
type keyScope struct {
	sc       *scope
	items    []plan.Expr
	ordinals bool
}

// resolve gives the keys and, for outputs that begin with them, the named keys.
func (k *keyScope) resolve(list []plan.Expr) (keys, named []plan.Expr, err error) {
	if len(list) == 1 && k.isAll(list[0]) {
		lateral := usingAliases(k.items)
		for _, e := range k.items {
			if a := plan.AttrOf(e); a != nil && lateral.Has(a.ID) && !hasAgg(e) {
				return nil, nil, errclass.New("UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_GROUP_BY")
			}
			if !hasAgg(e) {
				keys = append(keys, plan.Trim(e))
			}
		}
		return keys, nil, nil
	}
	for _, e := range list {
		expanded, err := k.sc.expandItem(e)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range expanded {
			key, err := k.one(e)
			if err != nil {
				return nil, nil, err
			}
			item := called(key)
			if a, ok := item.(*plan.Alias); ok && a.Auto {
				a.Metadata = ""
			}
			keys, named = append(keys, plan.Trim(key)), append(named, item)
		}
	}
	return keys, named, nil
}

// isAll tells whether a lone key is GROUP BY ALL.
func (k *keyScope) isAll(e plan.Expr) bool {
	c, ok := e.(*plan.Column)
	return ok && k.ordinals && len(c.Parts) == 1 && strings.EqualFold(c.Parts[0], "all") && len(k.sc.named(c.Parts[0])) == 0
}

func (k *keyScope) one(e plan.Expr) (plan.Expr, error) {
	if l, ok := e.(*plan.Literal); ok && k.ordinals {
		if pos, ok := l.Value.(int32); ok {
			e, err := k.ordinal(int(pos))
			return e, at(err, l.Origin)
		}
	}
	sc := k.sc
	before := sc.lateral
	defer func() { sc.lateral = before }()
	if sc.r.conf.flag(setting.GroupByAliases) {
		sc.lateral = func(name string) (plan.Expr, error) {
			for _, e := range k.items {
				if a, ok := e.(*plan.Alias); ok && sc.r.eq(a.Name, name) && !plan.Exists(a, isGen) {
					return a.Child, nil
				}
			}
			return nil, nil
		}
	}
	return sc.expr(e)
}

func (k *keyScope) ordinal(pos int) (plan.Expr, error) {
	if pos < 1 || pos > len(k.items) {
		return nil, errclass.New("GROUP_BY_POS_OUT_OF_RANGE", "index", strconv.Itoa(pos), "size", strconv.Itoa(len(k.items)))
	}
	e := k.items[pos-1]
	if hasAgg(e) {
		return nil, errclass.New("GROUP_BY_POS_AGGREGATE", "index", strconv.Itoa(pos), "aggExpr", sqlText(e))
	}
	return plan.Trim(e), nil
}

func indexOf(list []plan.Expr, e plan.Expr) int {
	return slices.IndexFunc(list, func(x plan.Expr) bool { return plan.Same(x, e) })
}

// groupWindows rewrites the window() calls among keys and outputs.
func (r *resolver) groupWindows(a *plan.Aggregate) error {
	all := slices.Concat(a.Keys, a.Aggs)
	child, all, err := r.timeWindows(a.Child, all)
	if err != nil {
		return err
	}
	a.Child, a.Keys, a.Aggs = child, all[:len(a.Keys):len(a.Keys)], all[len(a.Keys):]
	for i, k := range a.Keys {
		a.Keys[i] = plan.Trim(k)
	}
	return nil
}

// grouped checks a grouping whose parts are resolved and takes window functions and generators out of it. having, which may be nil,
// is not resolved yet; it applies before those.
func (r *resolver) grouped(a *plan.Aggregate, having plan.Expr) (plan.Node, error) {
	if slices.ContainsFunc(a.Aggs, aboveGrouping) || len(usingAliases(a.Aggs)) > 0 {
		return r.splitGrouped(a, having)
	}
	if err := checkGrouped(a); err != nil || having == nil {
		return a, err
	}
	return r.havingOver(having, a)
}

// aboveGrouping tells whether an item must be computed from a grouping's results.
func aboveGrouping(e plan.Expr) bool {
	return plan.Exists(e, func(e plan.Expr) bool { return isOver(e) || isGen(e) || isSubquery(e) })
}

// usingAliases are the items of a select list that use the aliases of items to their left.
func usingAliases(items []plan.Expr) plan.IDSet {
	before, out := plan.IDSet{}, plan.IDSet{}
	for _, e := range items {
		a, ok := e.(*plan.Alias)
		if !ok || len(a.Names) > 0 {
			continue
		}
		for id := range plan.References(a) {
			if before.Has(id) {
				out[a.ID] = struct{}{}
			}
		}
		before[a.ID] = struct{}{}
	}
	return out
}

// splitGrouped leaves plain aggregation in an Aggregate and puts window functions, generators and subqueries above it.
func (r *resolver) splitGrouped(a *plan.Aggregate, having plan.Expr) (plan.Node, error) {
	lower := &plan.Aggregate{Keys: a.Keys, Child: a.Child}
	l := &lifter{agg: lower}
	upper := make([]plan.Expr, len(a.Aggs))
	lateral := usingAliases(a.Aggs)
	l.above = lateral
	for i, e := range a.Aggs {
		if at := plan.AttrOf(e); !aboveGrouping(e) && (at == nil || !lateral.Has(at.ID)) {
			lower.Aggs = append(lower.Aggs, e)
			upper[i] = plan.AttrOf(e)
			continue
		}
		x, err := l.lift(e)
		if err != nil {
			return nil, err
		}
		upper[i] = x
	}
	if err := checkGrouped(lower); err != nil {
		return nil, err
	}
	if l.lost != nil {
		return nil, ungrouped(l.lost, lower.Keys)
	}
	child := plan.Node(lower)
	rowwise := !slices.ContainsFunc(a.Aggs, func(e plan.Expr) bool { return plan.Exists(e, func(e plan.Expr) bool { return isOver(e) || isGen(e) }) })
	var err error
	switch {
	case having != nil && len(lateral) == 0 && rowwise:
		if child, err = r.havingOver(having, lower); err != nil {
			return nil, err
		}
	case having != nil:
		if child, err = r.condition(having, lower); err != nil && len(lateral) == 0 {
			return nil, err
		}
	}
	if len(lateral) > 0 {
		late := err != nil // the condition names something that is computed above the grouping
		if late {
			child = lower
		}
		var failed error
		if child, upper, failed = r.lateralLevels(child, upper); failed != nil {
			return nil, failed
		}
		if late {
			if child, err = r.condition(having, &plan.Project{Cols: upper, Child: child}); err != nil {
				return nil, err
			}
			upper = exprsOf(child.Output())
		}
	}
	for p, ok := child.(*plan.Project); ok && rowwise; p, ok = p.Child.(*plan.Project) {
		p.Grouped = true // a level of aliases
	}
	if child, upper, err = r.generators(child, upper); err != nil {
		return nil, err
	}
	if child, upper, err = r.windows(child, upper); err != nil {
		return nil, err
	}
	return &plan.Project{Cols: upper, Child: child, Grouped: rowwise}, nil
}

// lifter rewrites expressions that stand above an Aggregate but use its aggregates and keys: what they need is added to the
// Aggregate's output.
type lifter struct {
	agg *plan.Aggregate
	// lost is the first column that is neither grouped nor in the output.
	lost *plan.Attr
	// above are columns that are computed from the Aggregate's output.
	above plan.IDSet
}

func (l *lifter) lift(e plan.Expr) (plan.Expr, error) {
	switch x := e.(type) {
	case *plan.Agg:
		return l.add(x), nil
	case *plan.Attr:
		if plan.OutputSet(l.agg).Has(x.ID) || l.above.Has(x.ID) {
			return x, nil
		}
		if indexOf(l.agg.Keys, x) >= 0 {
			l.agg.Aggs = append(l.agg.Aggs, x)
			return x, nil
		}
		if l.lost == nil {
			l.lost = x
		}
		return x, nil
	case *plan.Over:
		return l.over(x)
	case *plan.Literal:
		return x, nil
	}
	if _, ok := e.(*plan.Alias); !ok && indexOf(l.agg.Keys, e) >= 0 {
		return l.add(e), nil
	}
	return plan.MapKids(e, l.lift)
}

// over lifts what is inside a window function call but leaves the function.
func (l *lifter) over(o *plan.Over) (plan.Expr, error) {
	f, err := plan.MapKids(o.Fn, l.lift)
	if err != nil {
		return nil, err
	}
	kids := o.Kids()
	for i, k := range kids[1:] {
		if kids[i+1], err = l.lift(k); err != nil {
			return nil, err
		}
	}
	kids[0] = f
	return o.WithKids(kids), nil
}

// add gives the output column of an expression, made if there is none yet.
func (l *lifter) add(e plan.Expr) plan.Expr {
	for _, item := range l.agg.Aggs {
		if a, ok := item.(*plan.Alias); ok && plan.Same(a.Child, e) {
			return a.Attr()
		}
	}
	a := plan.NewAlias(e, e.SQL())
	a.Auto = true
	l.agg.Aggs = append(slices.Clip(l.agg.Aggs), a)
	return a.Attr()
}

// ungrouped is the error for a column that is neither grouped by nor inside an aggregate function.
func ungrouped(a *plan.Attr, keys []plan.Expr) error {
	if !slices.ContainsFunc(keys, func(k plan.Expr) bool { c, ok := k.(*plan.Attr); return !ok || c.Name != groupingID }) {
		return errclass.New("MISSING_GROUP_BY")
	}
	return errclass.New("MISSING_AGGREGATION", "expression", errclass.Expr(a.SQL()), "expressionAnyValue", errclass.Expr("any_value("+a.SQL()+")"))
}

// checkGrouped checks the rules of GROUP BY.
func checkGrouped(a *plan.Aggregate) error {
	for _, k := range a.Keys {
		if g, ok := firstOf(k, isAgg).(*plan.Agg); ok {
			return at(errclass.New("GROUP_BY_AGGREGATE", "sqlExpr", sqlText(k)), g.Origin)
		}
		t := plan.TypeOf(k)
		if t == nil {
			continue
		}
		if !groupable(t) {
			return errclass.New("GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", "sqlExpr", errclass.Expr(k.SQL()), "dataType", errclass.Expr(t.SQL()))
		}
		if err := Bytewise(t); err != nil {
			return err
		}
	}
	for _, e := range a.Aggs {
		if err := checkOutput(e, a.Keys); err != nil {
			return err
		}
	}
	for _, k := range a.Keys {
		o := firstOver(k)
		if o == nil {
			continue
		}
		for _, x := range o.Kids() {
			if err := checkOutput(x, a.Keys); err != nil {
				return err
			}
		}
		return errclass.New("UNSUPPORTED_EXPR_FOR_OPERATOR", "invalidExprSqls", errclass.Expr(o.SQL()))
	}
	return nil
}

// groupable tells whether values of a type can be grouping keys; Spark groups maps, too.
func groupable(t types.DataType) bool {
	switch t := t.(type) {
	case types.MapType:
		return groupable(t.Key) && groupable(t.Value)
	case types.ArrayType:
		return groupable(t.Element)
	case types.StructType:
		return !slices.ContainsFunc(t.Fields, func(f types.Field) bool { return !groupable(f.Type) })
	}
	return fn.Orderable(t)
}

// checkOutput checks that an output of a grouping uses columns inside of aggregates or as keys only.
func checkOutput(e plan.Expr, keys []plan.Expr) error {
	switch x := e.(type) {
	case *plan.Agg:
		return checkAgg(x)
	case *plan.Alias:
		return checkOutput(x.Child, keys)
	case *plan.Literal:
		return nil
	case *groupingExpr:
		return errclass.New("UNSUPPORTED_GROUPING_EXPRESSION")
	case *plan.LambdaVar:
		return nil
	case *plan.Attr:
		if indexOf(keys, x) >= 0 {
			return nil
		}
		return ungrouped(x, keys)
	}
	if len(keys) > 0 && indexOf(keys, e) >= 0 {
		return nil
	}
	for _, k := range e.Kids() {
		if err := checkOutput(k, keys); err != nil {
			return err
		}
	}
	return nil
}

// checkAgg checks the arguments of an aggregate call.
func checkAgg(a *plan.Agg) error {
	for _, x := range a.Args {
		if inner, ok := firstOf(x, isAgg).(*plan.Agg); ok {
			return at(errclass.New("NESTED_AGGREGATE_FUNCTION"), inner.Origin)
		}
		if plan.Exists(x, isGen) {
			return errclass.New("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "expression", errclass.Expr(a.SQL()))
		}
		if c, ok := firstOf(x, IsRandom).(*plan.Call); ok {
			return at(errclass.New("AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION", "sqlExpr", errclass.Expr(a.SQL())), c.Origin)
		}
	}
	if a.Filter == nil {
		return nil
	}
	text := errclass.Expr(a.Filter.SQL())
	switch {
	case plan.Exists(a.Filter, IsRandom):
		return errclass.New("INVALID_AGGREGATE_FILTER.NON_DETERMINISTIC", "filterExpr", text)
	case plan.Exists(a.Filter, isAgg):
		var inner string
		plan.Exists(a.Filter, func(e plan.Expr) bool {
			if isAgg(e) {
				inner = errclass.Expr(e.SQL())
			}
			return isAgg(e)
		})
		return errclass.New("INVALID_AGGREGATE_FILTER.CONTAINS_AGGREGATE", "filterExpr", text, "aggExpr", inner)
	case plan.Exists(a.Filter, isOver):
		return errclass.New("INVALID_AGGREGATE_FILTER.CONTAINS_WINDOW_FUNCTION", "filterExpr", text, "windowExpr", errclass.Expr(firstOver(a.Filter).SQL()))
	}
	return nil
}

func firstOver(e plan.Expr) (found plan.Expr) {
	plan.Exists(e, func(e plan.Expr) bool {
		if isOver(e) {
			found = e
		}
		return found != nil
	})
	return found
}

// IsRandom tells whether an expression may give another value each time.
func IsRandom(e plan.Expr) bool {
	c, ok := e.(*plan.Call)
	return ok && c.Bound.Nondeterministic
}
