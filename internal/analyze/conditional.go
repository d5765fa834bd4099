package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/types"
)

func isBool(e plan.Expr) bool { _, ok := plan.TypeOf(e).(types.BooleanType); return ok }

func isVoid(e plan.Expr) bool { _, ok := plan.TypeOf(e).(types.NullType); return ok }

func isText(e plan.Expr) bool { _, ok := plan.TypeOf(e).(types.StringType); return ok }

// operands resolves arguments without their aliases.
func (sc *scope) operands(list []plan.Expr) ([]plan.Expr, error) {
	out, err := sc.exprs(list)
	for i, e := range out {
		if e != nil {
			out[i] = plan.Trim(e)
		}
	}
	return out, err
}

// logical resolves AND and OR.
func (sc *scope) logical(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 2 {
		return nil, wrongNumArgs(name, "2", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	c := &plan.Cond{Op: plan.OpAnd, Args: args, T: types.Boolean, Name: name}
	if name == "or" {
		c.Op = plan.OpOr
	}
	for i, a := range args {
		switch other := args[1-i]; {
		case isBool(a):
		case isVoid(a), isText(a) && sc.r.conf.ANSI && isBool(other):
			args[i] = sc.r.to(a, types.Boolean)
		case !types.SameType(plan.TypeOf(a), plan.TypeOf(other)):
			return nil, errclass.New("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "sqlExpr", errclass.Expr(c.SQL()),
				"left", errclass.Expr(plan.TypeOf(args[0]).SQL()), "right", errclass.Expr(plan.TypeOf(args[1]).SQL()))
		default:
			return nil, errclass.New("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE", "sqlExpr", errclass.Expr(c.SQL()),
				"inputType", `"BOOLEAN"`, "actualDataType", errclass.Expr(plan.TypeOf(a).SQL()))
		}
	}
	c.Null = slices.ContainsFunc(args, plan.NullableOf)
	return c, nil
}

// caseWhen resolves CASE, given as condition, value, condition, value, ..., [else].
func (sc *scope) caseWhen(_ string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) < 2 {
		return nil, wrongNumArgs("when", "> 1", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	c := &plan.Cond{Op: plan.OpCase, Args: args, Name: "case"}
	var at []int // positions of the values
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			at = append(at, i)
			break
		}
		if isVoid(args[i]) {
			args[i] = sc.r.to(args[i], types.Boolean)
		}
		if !isBool(args[i]) {
			return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(c.SQL()), "paramIndex", ordinal(i/2+1),
				"requiredType", `"BOOLEAN"`, "inputSql", errclass.Expr(args[i].SQL()), "inputType", errclass.Expr(plan.TypeOf(args[i]).SQL()))
		}
		at = append(at, i+1)
	}
	c.Null = len(args)%2 == 0
	return c, sc.unify(c, at, "casewhen", "[", ", ", "]")
}

// unify casts the values at some positions of c to their common type, which becomes c's.
func (sc *scope) unify(c *plan.Cond, at []int, name, open, sep, end string) error {
	ts := make([]types.DataType, len(at))
	for i, p := range at {
		ts[i] = plan.TypeOf(c.Args[p])
	}
	t, ok := sc.r.common(ts)
	if !ok {
		quoted := make([]string, len(ts))
		for i, t := range ts {
			quoted[i] = errclass.Expr(t.SQL())
		}
		return errclass.New("DATATYPE_MISMATCH.DATA_DIFF_TYPES", "sqlExpr", errclass.Expr(c.SQL()), "functionName", errclass.Ident(name),
			"dataType", open+strings.Join(quoted, sep)+end)
	}
	c.T = t
	for _, p := range at {
		c.Args[p] = sc.r.to(c.Args[p], t)
		c.Null = c.Null || plan.NullableOf(c.Args[p])
	}
	return nil
}

func (sc *scope) ifElse(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 3 {
		return nil, wrongNumArgs(name, "3", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	return sc.conditional(args, "if", "")
}

// conditional makes IF of resolved operands.
func (sc *scope) conditional(args []plan.Expr, name, text string) (plan.Expr, error) {
	c := &plan.Cond{Op: plan.OpIf, Args: args, Name: name, Text: text}
	if isVoid(args[0]) {
		args[0] = sc.r.to(args[0], types.Boolean)
	}
	if !isBool(args[0]) {
		return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(c.SQL()), "paramIndex", "first",
			"requiredType", `"BOOLEAN"`, "inputSql", errclass.Expr(args[0].SQL()), "inputType", errclass.Expr(plan.TypeOf(args[0]).SQL()))
	}
	return c, sc.unify(c, []int{1, 2}, "if", "[", ", ", "]")
}

func (sc *scope) coalesce(name string, f *plan.Func) (plan.Expr, error) {
	switch {
	case name != "coalesce" && len(f.Args) != 2:
		return nil, wrongNumArgs(name, "2", len(f.Args))
	case len(f.Args) == 0:
		return nil, wrongNumArgs(name, "> 0", 0)
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	c := &plan.Cond{Op: plan.OpCoalesce, Args: args, Name: "coalesce"} // by which messages call nvl and ifnull as well
	at := make([]int, len(args))
	for i := range at {
		at[i] = i
	}
	if err := sc.unify(c, at, "coalesce", "(", " or ", ")"); err != nil {
		return nil, err
	}
	c.Name, c.Null = name, !slices.ContainsFunc(c.Args, func(e plan.Expr) bool { return !plan.NullableOf(e) })
	return c, nil
}

// nvl2(a, b, c) is IF(a IS NOT NULL, b, c).
func (sc *scope) nvl2(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 3 {
		return nil, wrongNumArgs(name, "3", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	text := callText(name, args)
	if args[0], err = sc.call("isnotnull", []plan.Expr{args[0]}, f.Origin); err != nil {
		return nil, err
	}
	return sc.conditional(args, name, text)
}

func callText(name string, args []plan.Expr) string {
	parts := make([]string, len(args))
	for i, a := range args {
		parts[i] = a.SQL()
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

// nullIf(a, b) is IF(a = b, NULL, a).
func (sc *scope) nullIf(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 2 {
		return nil, wrongNumArgs(name, "2", len(f.Args))
	}
	return sc.nullWhen(name, f, 2)
}

// nullWhen is the first argument, or null where it equals the second; so many arguments are shown.
func (sc *scope) nullWhen(name string, f *plan.Func, shown int) (plan.Expr, error) {
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	text, value := callText(name, args[:shown]), args[0]
	same, err := sc.call("==", args, f.Origin)
	if err != nil {
		return nil, errclass.Renamed(err, "sqlExpr", errclass.Expr("(commonexpressionref() = "+plan.Trim(args[1]).SQL()+")"))
	}
	return sc.conditional([]plan.Expr{same, &plan.Literal{T: types.Null}, value}, name, text)
}

// zeroIfNull(a) is COALESCE(a, 0).
func (sc *scope) zeroIfNull(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 1 {
		return nil, wrongNumArgs(name, "1", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	c := &plan.Cond{Op: plan.OpCoalesce, Args: append(args, &plan.Literal{Value: int32(0), T: types.Integer}), Name: name, Text: callText(name, args)}
	if err := sc.unify(c, []int{0, 1}, "coalesce", "(", " or ", ")"); err != nil {
		return nil, err
	}
	c.Null = false
	return c, nil
}

// nullIfZero(a) is IF(a = 0, NULL, a).
func (sc *scope) nullIfZero(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 1 {
		return nil, wrongNumArgs(name, "1", len(f.Args))
	}
	return sc.nullWhen(name, &plan.Func{Name: f.Name, Args: []plan.Expr{f.Args[0], &plan.Literal{Value: int32(0), T: types.Integer}}, Origin: f.Origin}, 1)
}

// decode(x, search, result, ..., [default]) is a CASE over what x is; with two arguments it reads a binary in a charset.
func (sc *scope) decode(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) < 2 {
		return nil, wrongNumArgs(name, "2", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	if len(args) == 2 {
		return sc.call(name, args, f.Origin)
	}
	c := &plan.Cond{Op: plan.OpCase, Name: "case"}
	var at []int // positions of the values
	for i := 1; i+1 < len(args); i += 2 {
		same, err := sc.call("<=>", []plan.Expr{args[0], args[i]}, f.Origin)
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, same, args[i+1])
		at = append(at, len(c.Args)-1)
	}
	var otherwise plan.Expr = &plan.Literal{T: types.String}
	if len(args)%2 == 0 {
		otherwise = args[len(args)-1]
	}
	at = append(at, len(c.Args))
	c.Args = append(c.Args, otherwise)
	err = sc.unify(c, at, "casewhen", "[", ", ", "]")
	c.Args, c.Text = placed(c.Args, f.Origin), callText(name, args)
	return c, err
}

// between(x, lo, hi) is x >= lo AND x <= hi.
func (sc *scope) between(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 3 {
		return nil, wrongNumArgs(name, "3", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	text := callText(name, args)
	lo, err := sc.call(">=", []plan.Expr{args[0], args[1]}, f.Origin)
	if err != nil {
		return nil, err
	}
	hi, err := sc.call("<=", []plan.Expr{args[0], args[2]}, f.Origin)
	if err != nil {
		return nil, err
	}
	null := plan.NullableOf(lo) || plan.NullableOf(hi)
	return &plan.Cond{Op: plan.OpAnd, Args: []plan.Expr{lo, hi}, T: types.Boolean, Null: null, Name: name, Text: text}, nil
}

var ordinals = [...]string{"zeroth", "first", "second", "third"}

// ordinal is a position as messages name it.
func ordinal(n int) string {
	if n < len(ordinals) {
		return ordinals[n]
	}
	return strconv.Itoa(n) + "th"
}

// structOf makes a struct whose fields are named after the arguments.
func (sc *scope) structOf(name string, f *plan.Func) (plan.Expr, error) {
	args, err := sc.exprs(f.Args)
	if err != nil {
		return nil, err
	}
	var pairs, shown, fields []plan.Expr
	for i, a := range args {
		field := "col" + strconv.Itoa(i+1)
		switch n := a.(type) {
		case *plan.Attr:
			field = n.Name
			if alias, ok := lateralAlias(n); ok {
				field = alias
			}
		case *plan.Alias:
			field = n.Name
		case *plan.Field:
			field = n.Name
		case *plan.LambdaVar:
			field = n.Name
		}
		if _, named := f.Args[i].(*plan.Alias); named {
			shown = append(shown, a)
		} else {
			shown = append(shown, plan.Trim(a))
		}
		pairs = append(pairs, textLit(field), plan.Trim(a))
		fields = append(fields, textLit(field), shown[i])
	}
	text := callText(name, shown)
	if name == plan.RowName {
		text = callText("named_struct", fields)
	}
	e, err := sc.call("named_struct", pairs, f.Origin)
	if err != nil {
		return nil, err
	}
	if c, ok := e.(*plan.Call); ok {
		c.Text = text
	}
	return e, nil
}

// sessionText are functions whose value is a property of the session.
func (sc *scope) sessionText(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 0 {
		return nil, wrongNumArgs(name, "0", len(f.Args))
	}
	if name == "current_database" {
		name = "current_schema"
	}
	value := "spark_catalog"
	switch name {
	case "current_schema":
		value = sc.r.conf.get(setting.CurrentDatabase)
		if value == "" {
			value = "default"
		}
	case "current_user", "user", "session_user":
		value = sc.r.conf.get(setting.CurrentUser)
	}
	return &plan.Literal{Value: value, T: types.String, Text: name + "()"}, nil
}

func (sc *scope) typeOf(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 1 {
		return nil, wrongNumArgs(name, "1", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	return &plan.Literal{Value: plan.TypeOf(args[0]).SimpleString(), T: types.String, Text: callText(name, args)}, nil
}
