package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// withColumns adds and replaces columns by name.
func (r *resolver) withColumns(n *plan.WithColumns) (plan.Node, error) {
	for i, c := range n.Cols {
		if slices.ContainsFunc(n.Cols[:i], func(d *plan.Alias) bool { return r.eq(c.Name, d.Name) }) {
			return nil, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(strings.ToLower(c.Name)))
		}
	}
	alias := func(c *plan.Alias, name string) plan.Expr {
		a := *c
		if a.Name = name; a.Metadata == "" {
			a.Metadata = plan.NoMetadata
		}
		return &a
	}
	var cols []plan.Expr
	used := make([]bool, len(n.Cols))
	for _, a := range visible(n.Child.Output()) {
		i := slices.IndexFunc(n.Cols, func(c *plan.Alias) bool { return r.eq(c.Name, a.Name) })
		if i < 0 {
			cols = append(cols, a)
			continue
		}
		used[i] = true
		cols = append(cols, alias(n.Cols[i], n.Cols[i].Name))
	}
	for i, c := range n.Cols {
		if !used[i] && n.Replace {
			return nil, at(r.over(n.Child).unresolved([]string{c.Name}), n.Origin)
		}
		if !used[i] {
			cols = append(cols, alias(c, c.Name))
		}
	}
	sc := r.over(n.Child)
	items, err := sc.exprs(cols) // no lateral aliases here: all columns see the input
	if err != nil {
		return nil, err
	}
	children, _, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	return r.selected(items, children[0], nil)
}

// rename renames columns; names that do not exist are ignored.
func (r *resolver) rename(n *plan.Rename) (plan.Node, error) {
	out := visible(n.Child.Output())
	names := make([]string, len(out))
	for i, a := range out {
		names[i] = a.Name
	}
	for i := range n.From {
		for j, a := range out {
			if r.eq(a.Name, n.From[i]) {
				names[j] = n.To[i]
			}
		}
	}
	if len(n.From) > 1 {
		for i, name := range n.To {
			if slices.ContainsFunc(n.To[:i], func(o string) bool { return r.eq(o, name) }) {
				return nil, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(strings.ToLower(name)))
			}
		}
	}
	return renamed(n.Child, out, names), nil
}

// drop removes columns; those that do not exist are ignored. A name means all its columns, an expression must mean one.
func (r *resolver) drop(n *plan.Drop) (plan.Node, error) {
	sc := r.over(n.Child)
	gone := plan.IDSet{}
	for _, name := range n.Names {
		for _, a := range sc.named(name) {
			gone[a.ID] = struct{}{}
		}
	}
	for _, e := range n.Cols {
		if _, ok := e.(*plan.Star); ok {
			continue
		}
		x, err := sc.expr(e)
		if err != nil {
			if errclass.Has(err, "UNRESOLVED_COLUMN") {
				continue
			}
			return nil, err
		}
		if a, ok := x.(*plan.Attr); ok {
			gone[a.ID] = struct{}{}
		}
	}
	var keep []plan.Expr
	for _, a := range visible(sc.attrs) {
		if !gone.Has(a.ID) {
			keep = append(keep, a)
		}
	}
	if len(keep) == len(sc.attrs) {
		return n.Child, nil
	}
	return &plan.Project{Cols: keep, Child: n.Child}, nil
}

// toNames renames all columns.
func (r *resolver) toNames(n *plan.ToNames) (plan.Node, error) {
	out := visible(n.Child.Output())
	if len(out) != len(n.Names) {
		return nil, errclass.New("ASSIGNMENT_ARITY_MISMATCH", "numTarget", strconv.Itoa(len(out)), "numExpr", strconv.Itoa(len(n.Names)))
	}
	return renamed(n.Child, out, n.Names), nil
}

// toSchema reorders and casts columns to a schema, by name.
func (r *resolver) toSchema(n *plan.ToSchema) (plan.Node, error) {
	sc := r.over(n.Child)
	p := &plan.Project{Child: n.Child}
	for _, f := range n.Schema.Fields {
		found := sc.named(f.Name)
		switch {
		case len(found) > 1:
			return nil, errclass.New("AMBIGUOUS_COLUMN_OR_FIELD", "name", errclass.Ident(f.Name), "n", strconv.Itoa(len(found)))
		case len(found) == 0 && !f.Nullable:
			return nil, sc.unresolved([]string{f.Name})
		case len(found) == 0:
			p.Cols = append(p.Cols, plan.NewAlias(&plan.Literal{T: f.Type}, f.Name))
			continue
		}
		a := found[0]
		if a.Null && !f.Nullable {
			return nil, errclass.New("NULLABLE_COLUMN_OR_FIELD", "name", errclass.Ident(f.Name))
		}
		e, err := r.fit(a, f.Type, f.Name)
		if err != nil {
			return nil, err
		}
		alias := plan.NewAlias(e, f.Name)
		alias.Metadata = f.Metadata
		p.Cols = append(p.Cols, alias)
	}
	return p, nil
}

// fit casts a column to the type that a schema wants; only safe conversions are made.
func (r *resolver) fit(e plan.Expr, t types.DataType, name string) (plan.Expr, error) {
	from := plan.TypeOf(e)
	if types.SameShape(from, t) && types.SameType(from, t) {
		return e, nil
	}
	_, fromStruct := from.(types.StructType)
	_, toStruct := t.(types.StructType)
	if fromStruct != toStruct || !fn.CanCast(from, t, true) || fn.ForcesNull(from, t) {
		return nil, errclass.New("INVALID_COLUMN_OR_FIELD_DATA_TYPE", "name", errclass.Ident(name), "type", errclass.Expr(from.SQL()),
			"expectedType", errclass.Expr(t.SQL()))
	}
	return r.to(e, t), nil
}

// dedup resolves dropDuplicates.
func (r *resolver) dedup(n *plan.Dedup) (plan.Node, error) {
	sc := r.over(n.Child)
	d := *n
	d.Keys = nil
	if n.AllColumns || len(n.Keys) == 0 {
		d.Keys, d.AllColumns = exprsOf(visible(sc.attrs)), false
		return &d, comparableKeys(&d)
	}
	for _, k := range n.Keys {
		c, ok := k.(*plan.Column)
		if !ok {
			e, err := sc.expr(k)
			if err != nil {
				return nil, err
			}
			d.Keys = append(d.Keys, plan.Trim(e))
			continue
		}
		name := strings.Join(c.Parts, ".")
		found := sc.named(name)
		if len(found) == 0 {
			names := make([]string, 0, len(sc.attrs))
			for _, a := range visible(sc.attrs) {
				names = append(names, a.Name)
			}
			return nil, errclass.New("CONNECT_INVALID_PLAN.UNRESOLVED_COLUMN_AMONG_FIELD_NAMES", "colName", name, "fieldNames", strings.Join(names, ", "))
		}
		d.Keys = append(d.Keys, exprsOf(found)...)
	}
	return &d, comparableKeys(&d)
}

// comparableKeys refuses keys that cannot be told apart. What forgets them by the watermark looks at their bytes, and takes maps, too.
func comparableKeys(d *plan.Dedup) error {
	for _, k := range d.Keys {
		if a, ok := k.(*plan.Attr); ok && !d.WithinWatermark {
			if err := noMap(a); err != nil {
				return err
			}
		}
	}
	return collated("", d.Keys, true)
}

// unpivot turns columns into rows: an Expand with a list for each unpivoted column.
func (r *resolver) unpivot(n *plan.Unpivot) (plan.Node, error) {
	sc := r.over(n.Child)
	ids, err := sc.operands(n.IDs)
	if err != nil {
		return nil, err
	}
	values := make([][]plan.Expr, len(n.Values))
	for i, v := range n.Values {
		if values[i], err = sc.operands(v); err != nil {
			return nil, err
		}
	}
	used := plan.IDSet{}
	for _, v := range values {
		for _, e := range v {
			used.AddAll(e)
		}
	}
	switch {
	case n.ImplicitIDs:
		ids = nil
		for _, a := range visible(sc.attrs) {
			if !used.Has(a.ID) {
				ids = append(ids, a)
			}
		}
	case n.Values == nil:
		isID := plan.References(ids...)
		for _, a := range visible(sc.attrs) {
			if !isID.Has(a.ID) {
				values = append(values, []plan.Expr{a})
			}
		}
	}
	if len(values) == 0 {
		return nil, errclass.New("UNPIVOT_REQUIRES_VALUE_COLUMNS")
	}
	return r.unpivoted(n, ids, values)
}

func (r *resolver) unpivoted(n *plan.Unpivot, ids []plan.Expr, values [][]plan.Expr) (plan.Node, error) {
	e := &plan.Expand{Child: n.Child}
	for _, id := range ids {
		a := plan.AttrOf(id)
		if a == nil {
			return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", "UNPIVOT with the id "+id.SQL())
		}
		e.Out = append(e.Out, a)
	}
	e.Out = append(e.Out, plan.NewAttr(n.VariableName, types.String, false))
	for c, name := range n.ValueNames {
		ts := make([]types.DataType, len(values))
		null := false
		for i, v := range values {
			if len(v) != len(n.ValueNames) {
				return nil, errclass.New("UNPIVOT_VALUE_SIZE_MISMATCH", "names", strconv.Itoa(len(n.ValueNames)))
			}
			ts[i] = plan.TypeOf(v[c])
			null = null || plan.NullableOf(v[c])
		}
		t, ok := r.inlineType(ts)
		if !ok {
			texts := make([]string, len(ts))
			for i, t := range ts {
				texts[i] = errclass.Expr(t.SQL())
			}
			return nil, errclass.New("UNPIVOT_VALUE_DATA_TYPE_MISMATCH", "types", strings.Join(texts, ", "))
		}
		for _, v := range values {
			v[c] = r.to(v[c], t)
		}
		e.Out = append(e.Out, plan.NewAttr(name, t, null))
	}
	for i, v := range values {
		label := ""
		if n.Aliases != nil {
			label = n.Aliases[i]
		}
		if label == "" {
			parts := make([]string, len(v))
			for j, x := range v {
				parts[j] = plan.Trim(x).SQL()
			}
			label = strings.Join(parts, "_")
		}
		row := append(slices.Clone(ids), &plan.Literal{Value: label, T: types.String})
		e.Lists = append(e.Lists, append(row, v...))
	}
	if n.IncludeNulls {
		return e, nil
	}
	if err := r.sameValues(e.Out[len(ids)+1:]); err != nil {
		return nil, err
	}
	var cond plan.Expr
	for _, a := range e.Out[len(ids)+1:] {
		x, err := r.over().call("isnotnull", []plan.Expr{a}, plan.Origin{})
		if err != nil {
			return nil, err
		}
		if cond == nil {
			cond = x
		} else {
			cond = &plan.Cond{Op: plan.OpOr, Args: []plan.Expr{cond, x}, T: types.Boolean}
		}
	}
	return &plan.Filter{Cond: cond, Child: e}, nil
}

// sameValues checks that the values of a row, of which one at least must not be null, can be looked at together.
func (r *resolver) sameValues(values []*plan.Attr) error {
	ts := make([]types.DataType, len(values))
	quoted := make([]string, len(values))
	for i, a := range values {
		ts[i], quoted[i] = a.T, errclass.Expr(a.T.SQL())
	}
	if _, ok := r.common(ts); !ok {
		return errclass.New("DATATYPE_MISMATCH.DATA_DIFF_TYPES", "sqlExpr", errclass.Expr(callText("coalesce", exprsOf(values))), "functionName", "`coalesce`",
			"dataType", "("+strings.Join(quoted, " or ")+")")
	}
	return nil
}
