package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// special finds the resolver of a function that the analyser knows itself, because it is more than a bound call; nil for any other.
func special(name string) func(sc *scope, name string, f *plan.Func) (plan.Expr, error) {
	switch name {
	case "and", "or":
		return (*scope).logical
	case "when", "case":
		return (*scope).caseWhen
	case "if":
		return (*scope).ifElse
	case "coalesce", "nvl", "ifnull":
		return (*scope).coalesce
	case "nvl2":
		return (*scope).nvl2
	case "nullif":
		return (*scope).nullIf
	case "between":
		return (*scope).between
	case "zeroifnull":
		return (*scope).zeroIfNull
	case "nullifzero":
		return (*scope).nullIfZero
	case "window":
		return (*scope).timeWindow
	case "session_window":
		return (*scope).sessionWindow
	case "window_time":
		return (*scope).windowTime
	case "struct":
		return (*scope).structOf
	case "with_field":
		return (*scope).withField
	case "drop_field":
		return (*scope).dropField
	case "grouping", "grouping_id":
		return (*scope).grouping
	case "current_database", "current_schema", "current_catalog", "current_user", "user", "session_user":
		return (*scope).sessionText
	case "typeof":
		return (*scope).typeOf
	case "input_file_name", "input_file_block_start", "input_file_block_length":
		return (*scope).inputFile
	case "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "nth_value":
		return (*scope).windowFunc
	case "transform", "filter", "exists", "any", "forall", "aggregate", "reduce", "zip_with", "map_filter", "map_zip_with", "transform_keys",
		"transform_values":
		return (*scope).higherOrder
	case "array_sort":
		return (*scope).arraySort
	}
	if castNames[name] != nil {
		return (*scope).castCall
	}
	return nil
}

func (sc *scope) castCall(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 1 {
		return nil, wrongNumArgs(name, "1", len(f.Args))
	}
	return sc.cast(&plan.Cast{Child: f.Args[0], To: castNames[name], Implicit: true, Origin: f.Origin})
}

// castNames are the functions that are named like the type they cast to.
var castNames = map[string]types.DataType{
	"boolean": types.Boolean, "tinyint": types.Byte, "smallint": types.Short, "int": types.Integer, "bigint": types.Long,
	"float": types.Float, "double": types.Double, "decimal": types.DecimalType{Precision: 10}, "date": types.Date,
	"timestamp": types.Timestamp, "binary": types.Binary, "string": types.String,
}

func wrongNumArgs(name, want string, got int) error {
	return errclass.New("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "functionName", errclass.Ident(name), "expectedNum", want, "actualNum", strconv.Itoa(got))
}

// function resolves a call.
func (sc *scope) function(f *plan.Func) (plan.Expr, error) {
	name := strings.ToLower(f.Name[len(f.Name)-1])
	if len(f.Name) > 1 && !sc.builtinPath(f.Name[:len(f.Name)-1]) {
		return nil, sc.unresolvedRoutine(f)
	}
	if slices.ContainsFunc(f.ArgNames, func(n string) bool { return n != "" }) {
		return nil, errclass.New("NAMED_PARAMETERS_NOT_SUPPORTED", "functionName", errclass.Ident(f.Name...))
	}
	f, err := sc.stars(name, f)
	if err != nil {
		return nil, err
	}
	switch {
	case (name == "-" || name == "+") && len(f.Args) == 1:
		return sc.sign(name, f)
	case name == "!=" || name == "<>":
		return sc.function(&plan.Func{Name: []string{"not"}, Args: []plan.Expr{&plan.Func{Name: []string{"=="}, Args: f.Args, Origin: f.Origin}}, Origin: f.Origin})
	}
	if s := special(name); s != nil && !sc.isAggregate(name, f) {
		if err := sc.plainCall(name, f); err != nil {
			return nil, err
		}
		return s(sc, name, f)
	}
	if isGenerator(name) {
		return sc.generator(name, f)
	}
	if a := sc.r.aggregateFunction(name); a != nil {
		return sc.aggregateCall(name, a, f)
	}
	if sc.r.scalarFunction(name) != nil {
		if err := sc.plainCall(name, f); err != nil {
			return nil, err
		}
		args, err := sc.exprs(f.Args)
		if err != nil {
			return nil, err
		}
		return sc.call(name, args, f.Origin)
	}
	return nil, sc.unresolvedRoutine(f)
}

// isAggregate tells whether a name that has two meanings is called as an aggregate function: any(x) and not any(array, x -> ...).
func (sc *scope) isAggregate(name string, f *plan.Func) bool {
	return name == "any" && len(f.Args) == 1
}

// plainCall refuses what only aggregate functions take.
func (sc *scope) plainCall(name string, f *plan.Func) error {
	switch {
	case f.Distinct:
		return errclass.New("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "prettyName", errclass.Ident(name), "syntax", "DISTINCT")
	case f.Filter != nil:
		return errclass.New("UNSUPPORTED_AGGREGATE_FILTER", "functionName", errclass.Ident(name))
	}
	return nil
}

func (r *resolver) scalarFunction(name string) *fn.Function {
	if c, ok := r.cat.(Functions); ok {
		if f := c.LookupFunction(name); f != nil {
			return f
		}
	}
	return fn.Lookup(name)
}

func (r *resolver) aggregateFunction(name string) *agg.Function {
	if c, ok := r.cat.(Functions); ok {
		if f := c.LookupAggregate(name); f != nil {
			return f
		}
	}
	return agg.Lookup(name)
}

// builtinPath tells whether a qualifier before a function's name is that of the functions all sessions have.
func (sc *scope) builtinPath(path []string) bool {
	text := strings.ToLower(strings.Join(path, "."))
	switch text {
	case "builtin", "system.builtin", "session", "system.session":
		return true
	}
	return false
}

func (sc *scope) unresolvedRoutine(f *plan.Func) error {
	return errclass.New("UNRESOLVED_ROUTINE", "routineName", errclass.Ident(f.Name...),
		"searchPath", "[`system`.`builtin`, `system`.`session`, `spark_catalog`.`default`]")
}

// stars replaces * among the arguments: count(*) counts rows, everything else gets the columns.
func (sc *scope) stars(name string, f *plan.Func) (*plan.Func, error) {
	isStar := func(e plan.Expr) bool { _, ok := e.(*plan.Star); return ok }
	if !slices.ContainsFunc(f.Args, isStar) {
		return f, nil
	}
	c := *f
	s, first := f.Args[0].(*plan.Star)
	if first && name == "count" && len(s.Target) > 0 {
		return nil, errclass.New("INVALID_USAGE_OF_STAR_WITH_TABLE_IDENTIFIER_IN_COUNT", "tableName", errclass.Ident(s.Target...))
	}
	if first && name == "count" && len(f.Args) == 1 && len(s.Target) == 0 && !f.Distinct {
		c.Args = []plan.Expr{&plan.Literal{Value: int32(1), T: types.Integer}}
		return &c, nil
	}
	c.Args = nil
	for _, a := range f.Args {
		s, ok := a.(*plan.Star)
		if !ok {
			c.Args = append(c.Args, a)
			continue
		}
		cols, err := sc.expandStar(s)
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, cols...)
	}
	return &c, nil
}

func (sc *scope) sign(name string, f *plan.Func) (plan.Expr, error) {
	c := *f
	c.Name = []string{map[string]string{"-": "negative", "+": "positive"}[name]}
	return sc.function(&c)
}

// arg describes an argument for the registries.
func (sc *scope) arg(e plan.Expr) fn.Arg {
	t := plan.TypeOf(e)
	if t == nil {
		t = types.Null
	}
	a := fn.Arg{Type: t, Nullable: plan.NullableOf(e), Const: sc.r.constant(e), SQL: e.SQL()}
	switch e := e.(type) {
	case *plan.Attr:
		a.Name = e.Name
	case *plan.Field:
		a.Name = e.Name
	}
	return a
}

func (sc *scope) args(es []plan.Expr) []fn.Arg {
	out := make([]fn.Arg, len(es))
	for i, e := range es {
		out[i] = sc.arg(e)
	}
	return out
}

// call binds a scalar function to resolved arguments.
func (sc *scope) call(name string, args []plan.Expr, o plan.Origin) (plan.Expr, error) {
	f := sc.r.scalarFunction(name)
	if f == nil {
		return nil, sc.unresolvedRoutine(&plan.Func{Name: []string{name}})
	}
	for i, a := range args {
		args[i] = plan.Trim(a)
	}
	bound, err := f.Bind(&fn.Binding{Name: name, Args: sc.args(args), ANSI: sc.r.conf.ANSI, Zone: sc.r.conf.Zone})
	if err != nil {
		return nil, at(err, o)
	}
	return &plan.Call{Fn: f, Bound: bound, Name: name, Args: sc.r.toAll(args, bound.Args), Origin: o}, nil
}

// aggregateCall binds an aggregate function.
func (sc *scope) aggregateCall(name string, a *agg.Function, f *plan.Func) (plan.Expr, error) {
	const legacyCount = "spark.sql.legacy.allowParameterlessCount"
	if name == "count" && len(f.Args) == 0 && !strings.EqualFold(sc.r.conf.get(legacyCount), "true") {
		return nil, errclass.New("WRONG_NUM_ARGS.WITH_SUGGESTION", "functionName", "`count`", "expectedNum", " >= 1", "actualNum", "0",
			"legacyConfKey", errclass.Conf(legacyCount), "legacyConfValue", `"true"`)
	}
	in := f.Args
	if len(f.Order) > 0 { // WITHIN GROUP (ORDER BY x): the ordered value comes first
		lists := a.Name == "listagg"
		if len(f.Order) > 1 || lists && (len(in) == 0 || in[0].SQL() != f.Order[0].Child.SQL()) {
			return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", name+" WITHIN GROUP over other values than the listed")
		}
		if !lists {
			in = append([]plan.Expr{f.Order[0].Child}, in...)
		}
	}
	sc.inAgg++
	args, err := sc.exprs(in)
	if err == nil && f.Filter != nil {
		var filter plan.Expr
		if filter, err = sc.expr(f.Filter); err == nil {
			c := *f
			c.Filter = filter
			f = &c
		}
	}
	sc.inAgg--
	if err != nil {
		return nil, err
	}
	for i, x := range args {
		args[i] = plan.Trim(x)
	}
	if ignore, ok := ignoreNulls(name, args); ok { // first(x, true)
		c := *f
		c.IgnoreNulls, f = ignore, &c
		args = args[:1]
	}
	within := len(f.Order) > 0
	desc := within && f.Order[0].Desc
	if within && !orderedAggregates[a.Name] {
		return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", name+" WITHIN GROUP")
	}
	bound, err := a.Bind(&agg.Binding{
		Name: name, Args: sc.args(args), ANSI: sc.r.conf.ANSI, Zone: sc.r.conf.Zone, IgnoreNulls: f.IgnoreNulls, Within: within, Desc: desc,
	})
	if err != nil {
		return nil, err
	}
	e := &plan.Agg{
		Fn: a, Bound: bound, Name: name, Args: sc.r.toAll(args, bound.Args), Distinct: f.Distinct, IgnoreNulls: f.IgnoreNulls,
		Filter: f.Filter, Within: within, Desc: desc, Origin: f.Origin,
	}
	if f.Filter != nil && !types.SameType(plan.TypeOf(f.Filter), types.Boolean) {
		return nil, errclass.New("INVALID_AGGREGATE_FILTER.NOT_BOOLEAN", "filterExpr", errclass.Expr(f.Filter.SQL()))
	}
	return e, nil
}

// orderedAggregates are those that take WITHIN GROUP.
var orderedAggregates = map[string]bool{"mode": true, "listagg": true, "percentile_cont": true, "percentile_disc": true}

// ignoreNulls reads the second argument of first(x, ignoreNulls) and its kin.
func ignoreNulls(name string, args []plan.Expr) (ignore, ok bool) {
	switch name {
	case "first", "first_value", "last", "last_value", "any_value":
		if len(args) == 2 {
			if l, isLit := args[1].(*plan.Literal); isLit {
				ignore, ok = l.Value.(bool)
			}
		}
	}
	return ignore, ok
}

// sqlText is an expression as SQL, with the qualifiers of columns. Some messages show it instead of the pretty text.
func sqlText(e plan.Expr) string {
	quote := func(name string) string {
		for i, r := range name {
			if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
				return errclass.Ident(name)
			}
		}
		return name
	}
	if a, ok := e.(*plan.Alias); ok {
		return sqlText(a.Child) + " AS " + errclass.Ident(a.Name)
	}
	x, err := plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
		a, ok := e.(*plan.Attr)
		if !ok {
			return e, nil
		}
		c := *a
		c.Name = quote(a.Name)
		for i := len(a.Qualifier) - 1; i >= 0; i-- {
			c.Name = quote(a.Qualifier[i]) + "." + c.Name
		}
		return &c, nil
	})
	if err != nil {
		return e.SQL()
	}
	return x.SQL()
}
