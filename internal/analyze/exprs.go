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

// exprs resolves several expressions.
func (sc *scope) exprs(list []plan.Expr) ([]plan.Expr, error) {
	if list == nil {
		return nil, nil
	}
	out := make([]plan.Expr, len(list))
	for i, e := range list {
		var err error
		if out[i], err = sc.expr(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// expr resolves an expression: names become columns, calls are bound, casts are put in.
func (sc *scope) expr(e plan.Expr) (plan.Expr, error) {
	r := sc.r
	if r.depth++; r.depth > maxDepth {
		return nil, tooDeep()
	}
	defer func() { r.depth-- }()
	switch e := e.(type) {
	case *plan.Column:
		x, err := sc.name(e)
		return x, at(err, e.Origin)
	case *plan.Literal:
		return e.InZone(sc.r.conf.Zone), nil
	case *plan.Attr, *plan.OuterRef:
		return e, nil
	case *plan.LambdaVar:
		if v := sc.vars[e.ID]; v != nil {
			return v, nil
		}
		return e, nil
	case *plan.Func:
		x, err := sc.function(e)
		return x, at(err, e.Origin)
	case *plan.Extract:
		x, err := sc.extraction(e)
		return x, at(err, e.Origin)
	case *plan.Cast:
		x, err := sc.cast(e)
		return x, at(err, e.Origin)
	case *plan.Alias:
		return sc.alias(e)
	case *plan.SortOrder:
		child, err := sc.expr(e.Child)
		if err != nil {
			return nil, err
		}
		o := &plan.SortOrder{Child: child, Desc: e.Desc, NullsFirst: e.NullsFirst}
		if t := plan.TypeOf(child); t != nil && !fn.Orderable(t) {
			return nil, at(errclass.New("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "sqlExpr", errclass.Expr(o.SQL()),
				"functionName", "`sortorder`", "dataType", errclass.Expr(t.SQL())), e.Origin)
		} else if t != nil {
			if err := Bytewise(t); err != nil {
				return nil, at(err, e.Origin)
			}
		}
		return o, nil
	case *plan.Over:
		x, err := sc.window(e)
		return x, at(err, e.Origin)
	case *plan.Subquery:
		return sc.subquery(e)
	case *plan.Star:
		return nil, errclass.New("INVALID_USAGE_OF_STAR_OR_REGEX", "elem", "'*'", "prettyName", "an expression")
	case *plan.ColumnRegex:
		return nil, errclass.New("INVALID_USAGE_OF_STAR_OR_REGEX", "elem", "regular expression '"+e.Pattern+"'", "prettyName", "an expression")
	case *plan.Param:
		name := e.Name
		if name == "" {
			name = "_" + strconv.Itoa(e.Pos)
		}
		return nil, errclass.New("UNBOUND_SQL_PARAMETER", "name", name)
	case *plan.Lambda:
		return nil, errclass.New("INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION", "class", "this expression")
	case *plan.Default:
		return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", "DEFAULT")
	}
	return plan.MapKids(e, sc.expr)
}

func (sc *scope) alias(e *plan.Alias) (plan.Expr, error) {
	child, err := sc.expr(e.Child)
	if err != nil {
		return nil, err
	}
	if len(e.Names) == 0 {
		child = plan.Trim(child)
	}
	c := *e
	c.Child = child
	if c.ID == 0 {
		c.ID = plan.NewID()
	}
	return &c, nil
}

// name resolves a column name or fails.
func (sc *scope) name(c *plan.Column) (plan.Expr, error) {
	if sc.having != nil && sc.inAgg == 0 && c.PlanID < 0 {
		if e := sc.having.column(c.Parts); e != nil {
			return e, nil
		}
	}
	e, err := sc.column(c)
	if e != nil || err != nil {
		return e, err
	}
	if o := sc.r.outer; o != nil {
		e, err := o.column(c)
		if err != nil {
			return nil, err
		}
		if e != nil {
			return sc.r.outerRefs(e)
		}
	}
	if len(c.Parts) == 1 {
		if e, err := sc.keyword(c.Parts[0]); e != nil || err != nil {
			return e, err
		}
	}
	if e, err := sc.variable(c.Parts); e != nil || err != nil {
		return e, err
	}
	return nil, sc.unresolved(c.Parts)
}

// keyword resolves functions that may be written without brackets.
func (sc *scope) keyword(name string) (plan.Expr, error) {
	switch lower := strings.ToLower(name); lower {
	case "current_date", "current_timestamp", "current_time", "localtimestamp", "current_user", "user", "session_user",
		"current_catalog", "current_database", "current_schema":
		return sc.function(&plan.Func{Name: []string{lower}})
	case "grouping__id":
		return sc.function(&plan.Func{Name: []string{"grouping_id"}})
	}
	return nil, nil
}

// ---- fields and elements

func (sc *scope) extraction(e *plan.Extract) (plan.Expr, error) {
	child, err := sc.expr(e.Child)
	if err != nil {
		return nil, err
	}
	key, err := sc.expr(e.Key)
	if err != nil {
		return nil, err
	}
	x, err := sc.extract(plan.Trim(child), key)
	if c, ok := x.(*plan.Call); ok && c.Origin.Context == nil {
		c.Origin = e.Origin
	}
	return x, err
}

// extract takes a field, an element or a map's value out of a resolved expression.
func (sc *scope) extract(child, key plan.Expr) (plan.Expr, error) {
	name, named := fieldName(key)
	switch t := plan.TypeOf(child).(type) {
	case types.StructType:
		if !named {
			return nil, errclass.New("INVALID_EXTRACT_FIELD_TYPE", "extraction", errclass.Expr(key.SQL()))
		}
		i, err := sc.field(t, name)
		if err != nil {
			return nil, err
		}
		return &plan.Field{Child: child, Ordinal: i, Name: t.Fields[i].Name}, nil
	case types.ArrayType:
		if s, ok := t.Element.(types.StructType); ok && named {
			i, err := sc.field(s, name)
			if err != nil {
				return nil, err
			}
			return sc.arrayField(child, t, s, i)
		}
		return sc.item(child, key)
	case types.MapType:
		return sc.item(child, key)
	case types.VariantType:
	case types.NullType:
	}
	other := "VOID"
	if t := plan.TypeOf(child); t != nil {
		other = t.SQL()
	}
	return nil, errclass.New("INVALID_EXTRACT_BASE_FIELD_TYPE", "base", errclass.Expr(child.SQL()), "other", errclass.Expr(other))
}

func fieldName(key plan.Expr) (string, bool) {
	l, ok := key.(*plan.Literal)
	if !ok {
		return "", false
	}
	name, ok := l.Value.(string)
	return name, ok
}

// field finds a field of a struct by name.
func (sc *scope) field(t types.StructType, name string) (int, error) {
	found, n := -1, 0
	for i, f := range t.Fields {
		if sc.r.eq(f.Name, name) {
			if found < 0 {
				found = i
			}
			n++
		}
	}
	switch {
	case n == 0:
		fields := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			fields[i] = errclass.Ident(f.Name)
		}
		return 0, errclass.New("FIELD_NOT_FOUND", "fieldName", errclass.Ident(name), "fields", strings.Join(fields, ", "))
	case n > 1:
		return 0, errclass.New("AMBIGUOUS_REFERENCE_TO_FIELDS", "field", errclass.Ident(name), "count", strconv.Itoa(n))
	}
	return found, nil
}

// item is an array's element by position or a map's value by key.
func (sc *scope) item(child, key plan.Expr) (plan.Expr, error) {
	e, err := sc.call("getitem", []plan.Expr{child, key}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	if c, ok := e.(*plan.Call); ok {
		c.Text = child.SQL() + "[" + key.SQL() + "]"
	}
	return e, nil
}

// arrayField takes a field out of each struct of an array.
func (sc *scope) arrayField(child plan.Expr, t types.ArrayType, s types.StructType, i int) (plan.Expr, error) {
	f := s.Fields[i]
	v := &plan.LambdaVar{ID: plan.NewID(), Name: "x", T: s, Null: t.ContainsNull}
	body := &plan.Field{Child: v, Ordinal: i, Name: f.Name}
	return &plan.HigherOrder{
		Name: "transform", Args: []plan.Expr{child, &plan.Lambda{Params: []*plan.LambdaVar{v}, Body: body}},
		T: types.ArrayType{Element: f.Type, ContainsNull: t.ContainsNull || f.Nullable}, Null: plan.NullableOf(child),
		Text: child.SQL() + "." + f.Name,
	}, nil
}

// ---- casts

func (sc *scope) cast(e *plan.Cast) (plan.Expr, error) {
	child, err := sc.expr(e.Child)
	if err != nil {
		return nil, err
	}
	c := *e
	c.Child, c.To = plan.Trim(child), plainText(e.To)
	if c.Mode != plan.CastTry {
		c.Mode = sc.r.mode()
	}
	if err := collations(c.To); err != nil {
		return nil, err
	}
	return &c, sc.castable(&c)
}

// castable checks that a cast exists.
func (sc *scope) castable(c *plan.Cast) error {
	from := plan.TypeOf(c.Child)
	if from == nil {
		return nil
	}
	return fn.CheckCast(from, c.To, c.Mode, c.SQL())
}

// plainText replaces CHAR and VARCHAR, which only tables know, by STRING.
func plainText(t types.DataType) types.DataType {
	switch t := t.(type) {
	case types.CharType, types.VarcharType:
		return types.String
	case types.ArrayType:
		t.Element = plainText(t.Element)
		return t
	case types.MapType:
		t.Key, t.Value = plainText(t.Key), plainText(t.Value)
		return t
	case types.StructType:
		fields := slices.Clone(t.Fields)
		for i := range fields {
			fields[i].Type = plainText(fields[i].Type)
		}
		return types.StructType{Fields: fields}
	}
	return t
}

// mode is how casts treat values that do not fit.
func (r *resolver) mode() plan.CastMode {
	if r.conf.ANSI {
		return plan.CastANSI
	}
	return plan.CastLegacy
}

// to casts an expression implicitly, unless it has the type already.
func (r *resolver) to(e plan.Expr, t types.DataType) plan.Expr {
	if t == nil || types.Equal(plan.TypeOf(e), t) {
		return e
	}
	if l, ok := e.(*plan.Literal); ok && l.Value == nil {
		return &plan.Literal{T: t, Text: l.Text}
	}
	return &plan.Cast{Child: e, To: t, Mode: r.mode(), Implicit: true}
}

// toAll casts expressions to their types; types may be shorter and hold nils, which leave an expression alone.
func (r *resolver) toAll(es []plan.Expr, ts []types.DataType) []plan.Expr {
	out := slices.Clone(es)
	for i := range out {
		if i < len(ts) {
			out[i] = r.to(out[i], ts[i])
		}
	}
	return out
}

// common is the type that all expressions are cast to where they meet. Strings are looked at first, as they give way.
func (r *resolver) common(ts []types.DataType) (types.DataType, bool) {
	sorted := slices.Clone(ts)
	slices.SortStableFunc(sorted, func(a, b types.DataType) int { return textFirst(a) - textFirst(b) })
	var t types.DataType = types.Null
	for _, u := range sorted {
		var ok bool
		if t, ok = fn.CommonType(t, u, r.conf.ANSI); !ok {
			return nil, false
		}
	}
	return t, true
}

func textFirst(t types.DataType) int {
	if _, ok := t.(types.StringType); ok {
		return 0
	}
	return 1
}
