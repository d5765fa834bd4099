package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/variant"
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
	case "collate":
		return (*scope).collate
	case "decode":
		return (*scope).decode
	case "window":
		return (*scope).timeWindow
	case "session_window":
		return (*scope).sessionWindow
	case "window_time":
		return (*scope).windowTime
	case "struct", plan.RowName:
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
	case "distributed_sequence_id":
		return (*scope).sequenceID
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

// variantPath resolves v:a.b[0], which has the name of the last field on the path.
func (sc *scope) variantPath(f *plan.Func) (plan.Expr, error) {
	text, _ := f.Args[1].(*plan.Literal).Value.(string)
	get, err := sc.function(&plan.Func{Name: []string{"variant_get"}, Args: f.Args, Origin: f.Origin})
	if err != nil {
		return nil, err
	}
	path, _ := variant.ParsePath(text)
	for _, s := range slices.Backward(path) {
		if s.Index < 0 {
			return &plan.Alias{Child: get, Name: s.Name}, nil
		}
	}
	return get, nil
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
		if own := sc.r.routine(f.Name); own != nil {
			return sc.routineCall(own, f)
		}
		return nil, sc.unresolvedRoutine(f)
	}
	if !f.Internal && !sc.builtin(name) {
		if own := sc.r.routine(f.Name); own != nil {
			return sc.routineCall(own, f)
		}
	}
	f, err := sc.arranged(name, f)
	if err != nil {
		return nil, err
	}
	f, err = sc.stars(name, f)
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
	if name == "variant_explode" || name == "variant_explode_outer" {
		if !sc.tables {
			return nil, errclass.New("NOT_A_SCALAR_FUNCTION", "functionName", errclass.Ident(name))
		}
	}
	if name == ":" {
		return sc.variantPath(f)
	}
	if isGenerator(name) {
		return sc.generator(name, f)
	}
	if name == "product" && !f.Internal {
		return nil, sc.unresolvedRoutine(f) // of data frames only
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

// routinesExist refuses a call of a function that there is not, before any other mistake of a query is looked for.
func (r *resolver) routinesExist(n plan.Node) error {
	sc := r.over()
	var err error
	var visit func(n plan.Node) bool
	expr := func(e plan.Expr) bool {
		switch e := e.(type) {
		case *plan.Subquery:
			plan.Walk(e.Plan, visit)
		case *plan.Func:
			if err != nil || len(e.Name) != 1 || e.Internal {
				break
			}
			switch name := strings.ToLower(e.Name[0]); name {
			case "!=", "<>", ":":
			default:
				if !sc.builtin(name) && r.routine(e.Name) == nil {
					err = at(sc.unresolvedRoutine(e), e.Origin)
				}
			}
		}
		return err == nil
	}
	visit = func(n plan.Node) bool {
		for _, e := range n.Exprs() {
			if e != nil {
				plan.WalkExpr(e, expr)
			}
		}
		return err == nil
	}
	plan.Walk(n, visit)
	return err
}

// builtin tells whether a name is that of a function which all sessions have. No other function hides it.
func (sc *scope) builtin(name string) bool {
	return special(name) != nil || isGenerator(name) || sc.r.aggregateFunction(name) != nil || sc.r.scalarFunction(name) != nil
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

// isTable tells whether a name before .* is that of a relation here and not of a struct.
func (sc *scope) isTable(name []string) bool {
	return slices.ContainsFunc(visible(sc.attrs), func(a *plan.Attr) bool { return len(a.Qualifier) > 0 && sc.r.qualifies(a.Qualifier, name) })
}

// stars replaces * among the arguments: count(*) counts rows, everything else gets the columns.
func (sc *scope) stars(name string, f *plan.Func) (*plan.Func, error) {
	if !slices.ContainsFunc(f.Args, isStar) {
		return f, nil
	}
	c := *f
	s, first := f.Args[0].(*plan.Star)
	if first && name == "count" && len(s.Target) > 0 && sc.isTable(s.Target) {
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
	e, err := sc.function(&c)
	if call, ok := e.(*plan.Call); ok { // results name it as it is written
		call.Name = name
	}
	return e, err
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
	case *plan.OuterRef:
		a.Name = e.Name
	case *plan.Call:
		if e.Name == "array" {
			for _, x := range e.Args {
				a.Elements = append(a.Elements, plan.NullableOf(x))
			}
		}
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
	return sc.bind(f, name, args, o)
}

// bind is call for a function that was found.
func (sc *scope) bind(f *fn.Function, name string, args []plan.Expr, o plan.Origin) (plan.Expr, error) {
	for i, a := range args {
		args[i] = plan.Trim(a)
	}
	if f.Takes > 0 && len(args) > f.Takes {
		args = args[:f.Takes]
	}
	args, all := wholeBound(f.Name, args)
	if all != nil {
		return all, nil
	}
	if err := collated(f.Name, args, false); err != nil {
		return nil, at(err, o)
	}
	if f.Label != "" {
		name = f.Label
	}
	b := &fn.Binding{Name: name, Args: sc.args(args), ANSI: sc.r.conf.ANSI, Zone: sc.r.conf.Zone, Conf: sc.r.conf.get}
	bound, err := f.Bind(b)
	if err != nil {
		return nil, at(err, o)
	}
	for i, to := range bound.Args {
		if to == nil {
			continue
		}
		if err := b.CheckImplicit(b.Args[i], to); err != nil {
			return nil, at(err, o)
		}
	}
	return &plan.Call{Fn: f, Bound: bound, Name: name, Args: placed(sc.r.toAll(args, bound.Args), o), Origin: o}, nil
}

// placed gives implicit casts the place of the call whose arguments they are.
func placed(args []plan.Expr, o plan.Origin) []plan.Expr {
	for i, a := range args {
		if c, ok := a.(*plan.Cast); ok && c.Implicit && c.Origin.Context == nil {
			d := *c
			d.Origin = o
			args[i] = &d
		}
	}
	return args
}

// aggregateCall binds an aggregate function.
func (sc *scope) aggregateCall(name string, a *agg.Function, f *plan.Func) (plan.Expr, error) {
	const legacyCount = setting.ParameterlessCount
	if name == "count" && len(f.Args) == 0 && !strings.EqualFold(sc.r.conf.get(legacyCount), "true") {
		return nil, errclass.New("WRONG_NUM_ARGS.WITH_SUGGESTION", "functionName", "`count`", "expectedNum", " >= 1", "actualNum", "0",
			"legacyConfKey", errclass.Conf(legacyCount), "legacyConfValue", `"true"`)
	}
	in := f.Args
	if len(f.Order) > 0 { // WITHIN GROUP (ORDER BY x): the ordered value comes first, the keys of a list last
		if err := withinGroup(name, a, f); err != nil {
			return nil, err
		}
		if a.Name != "listagg" {
			in = append([]plan.Expr{f.Order[0].Child}, in...)
		}
	}
	sc.inAgg++
	args, err := sc.exprs(in)
	var keys []agg.Key
	if err == nil && a.Name == "listagg" && len(f.Order) > 0 {
		args, keys, err = sc.listOrder(name, f, args)
	}
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
	ignore, given, err := ignoreNulls(name, args)
	if err != nil {
		return nil, at(err, f.Origin)
	}
	if given { // first(x, true)
		c := *f
		c.IgnoreNulls, f = ignore, &c
		args = args[:1]
	}
	if err := collated(a.Name, args, f.Distinct); err != nil {
		return nil, err
	}
	if a.Label != "" {
		name = a.Label
	}
	within := len(f.Order) > 0
	desc := within && f.Order[0].Desc
	bound, err := a.Bind(&agg.Binding{
		Name: name, Args: sc.args(args), ANSI: sc.r.conf.ANSI, Zone: sc.r.conf.Zone, IgnoreNulls: f.IgnoreNulls, Within: within, Desc: desc,
		Keys: keys,
	})
	if err != nil {
		return nil, err
	}
	if f.IgnoreNulls && !takesNullsOption[a.Name] {
		return nil, errclass.New("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "prettyName", errclass.Ident(name), "syntax", "IGNORE NULLS")
	}
	e := &plan.Agg{
		Fn: a, Bound: bound, Name: name, Args: placed(sc.r.toAll(args, bound.Args), f.Origin), Distinct: f.Distinct, IgnoreNulls: f.IgnoreNulls,
		Filter: f.Filter, Within: within, Desc: desc, Keys: keys, Origin: f.Origin,
	}
	if f.Filter != nil && !types.SameType(plan.TypeOf(f.Filter), types.Boolean) {
		return nil, errclass.New("INVALID_AGGREGATE_FILTER.NOT_BOOLEAN", "filterExpr", errclass.Expr(f.Filter.SQL()))
	}
	return e, nil
}

// takesNullsOption are the aggregates that take IGNORE NULLS.
var takesNullsOption = map[string]bool{"first": true, "last": true, "collect_list": true, "collect_set": true}

// withinGroup checks the number of sort keys of WITHIN GROUP.
func withinGroup(name string, a *agg.Function, f *plan.Func) error {
	wrong := func(name, expected string) error {
		return errclass.New("INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ORDERINGS", "funcName", errclass.Ident(name), "expectedNum", expected,
			"actualNum", strconv.Itoa(len(f.Order)))
	}
	switch {
	case !orderedAggregates[a.Name]:
		return errclass.New("INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", "prettyName", errclass.Ident(name),
			"syntax", "WITHIN GROUP (ORDER BY ...)")
	case a.Name == "listagg":
		return nil
	case a.Name == "mode" && len(f.Args) > 0:
		return wrong(name, "0")
	case len(f.Order) > 1:
		return wrong(name, "1")
	}
	return nil
}

// listOrder adds the sort keys of a list to its arguments.
func (sc *scope) listOrder(name string, f *plan.Func, args []plan.Expr) ([]plan.Expr, []agg.Key, error) {
	keys := make([]agg.Key, len(f.Order))
	listed := len(args) > 0 && len(f.Order) == 1
	delimited := len(args) < 2 || sc.r.constant(args[1]) != nil // what it is else is refused later, for that
	var texts []string
	for i, o := range f.Order {
		e, err := sc.expr(o)
		if err != nil {
			return nil, nil, err
		}
		key := e.(*plan.SortOrder)
		keys[i] = agg.Key{Desc: key.Desc, NullsFirst: key.NullsFirst}
		listed = listed && plan.Canon(key.Child) == plan.Canon(args[0])
		texts = append(texts, errclass.Expr(key.Child.SQL()))
		args = append(args, key.Child)
	}
	if f.Distinct && !listed && delimited {
		return nil, nil, errclass.New("INVALID_WITHIN_GROUP_EXPRESSION.MISMATCH_WITH_DISTINCT_INPUT", "funcName", errclass.Ident(name),
			"funcArg", errclass.Expr(args[0].SQL()), "orderingExpr", strings.Join(texts, ", "))
	}
	return args, keys, nil
}

// orderedAggregates are those that take WITHIN GROUP.
var orderedAggregates = map[string]bool{"mode": true, "listagg": true, "percentile_cont": true, "percentile_disc": true}

// ignoreNulls reads the second argument of first(x, ignoreNulls) and its kin, a literal.
func ignoreNulls(name string, args []plan.Expr) (ignore, given bool, err error) {
	switch name {
	case "first", "first_value", "last", "last_value", "any_value":
		if len(args) == 2 {
			if l, isLit := args[1].(*plan.Literal); isLit {
				ignore, given = l.Value.(bool)
			}
			if !given {
				err = errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", errclass.Expr(callText(name, args)), "inputName", "`ignoreNulls`",
					"inputType", `"BOOLEAN"`, "inputExpr", errclass.Expr(args[1].SQL()))
			}
		}
	}
	return ignore, given, err
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
