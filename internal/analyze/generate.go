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

func isGenerator(name string) bool {
	switch strings.TrimSuffix(name, "_outer") {
	case "explode", "posexplode", "inline", "variant_explode":
		return true
	}
	return name == "stack" || name == "json_tuple"
}

// generatorOutside refuses a function that makes rows in an operator that gives one row for each.
func generatorOutside(operator string) error {
	return errclass.New("UNSUPPORTED_GENERATOR.OUTSIDE_SELECT", "plan", "'"+operator)
}

// generator resolves a call of a function that makes rows.
func (sc *scope) generator(name string, f *plan.Func) (plan.Expr, error) {
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(name, "_outer")
	g := &plan.Generator{Name: name, Args: args, Outer: base != name}
	if slices.ContainsFunc(args, func(a plan.Expr) bool { return plan.Exists(a, isGen) }) {
		return nil, errclass.New("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "expression", errclass.Expr(g.SQL()))
	}
	switch base {
	case "stack":
		return g, sc.stack(g)
	case "json_tuple":
		return g, sc.jsonTuple(g)
	}
	if len(args) != 1 {
		return nil, wrongNumArgs(name, "1", len(args))
	}
	if base == "variant_explode" {
		return g, sc.variantExplode(g)
	}
	if base == "posexplode" {
		g.Out = append(g.Out, types.Field{Name: "pos", Type: types.Integer, Nullable: g.Outer})
	}
	required := `("ARRAY" or "MAP")`
	switch t := plan.TypeOf(args[0]).(type) {
	case types.ArrayType:
		if base != "inline" {
			g.Out = append(g.Out, types.Field{Name: "col", Type: t.Element, Nullable: t.ContainsNull || g.Outer})
			return g, nil
		}
		if s, ok := t.Element.(types.StructType); ok {
			for _, f := range s.Fields {
				f.Nullable = f.Nullable || t.ContainsNull || g.Outer
				g.Out = append(g.Out, f)
			}
			return g, nil
		}
	case types.MapType:
		if base != "inline" {
			g.Out = append(g.Out, types.Field{Name: "key", Type: t.Key, Nullable: g.Outer},
				types.Field{Name: "value", Type: t.Value, Nullable: t.ValueContainsNull || g.Outer})
			return g, nil
		}
	}
	if base == "inline" {
		required = `"ARRAY<STRUCT>"`
	}
	return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(g.SQL()), "paramIndex", "first",
		"requiredType", required, "inputSql", errclass.Expr(args[0].SQL()), "inputType", errclass.Expr(plan.TypeOf(args[0]).SQL()))
}

// variantExplode takes a variant apart into its elements or fields. They are made an array, which is spread like inline's.
func (sc *scope) variantExplode(g *plan.Generator) error {
	arg := g.Args[0]
	if t := plan.TypeOf(arg); t != types.DataType(types.Variant) && !isVoid(arg) {
		return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(g.SQL()), "paramIndex", "first",
			"requiredType", `"VARIANT"`, "inputSql", errclass.Expr(arg.SQL()), "inputType", errclass.Expr(t.SQL()))
	}
	parts, err := sc.call(fn.VariantParts, []plan.Expr{arg}, plan.Origin{})
	if err != nil {
		return err
	}
	g.Args[0] = parts
	g.Out = []types.Field{
		{Name: "pos", Type: types.Integer, Nullable: g.Outer},
		{Name: "key", Type: types.String, Nullable: true},
		{Name: "value", Type: types.Variant, Nullable: g.Outer},
	}
	return nil
}

// stack(n, v, ...) lays out values in n rows.
func (sc *scope) stack(g *plan.Generator) error {
	if len(g.Args) < 2 {
		return wrongNumArgs("stack", "> 1", len(g.Args))
	}
	l, ok := g.Args[0].(*plan.Literal)
	n, isInt := int32(0), false
	if ok {
		n, isInt = l.Value.(int32)
	}
	switch {
	case !isInt:
		return errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", errclass.Expr(g.SQL()), "inputName", "`n`", "inputType", `"INT"`,
			"inputExpr", errclass.Expr(g.Args[0].SQL()))
	case n <= 0:
		return errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", errclass.Expr(g.SQL()), "exprName", "`n`",
			"valueRange", "(0, 2147483647]", "currentValue", strconv.Itoa(int(n)))
	}
	values := g.Args[1:]
	cols := (len(values) + int(n) - 1) / int(n)
	for c := range cols {
		var t types.DataType = types.Null
		first := 0
		for i := c; i < len(values); i += cols {
			u := plan.TypeOf(values[i])
			if isVoid(values[i]) {
				continue
			}
			if t == types.DataType(types.Null) {
				t, first = u, i
			}
			if !types.SameType(t, u) {
				return errclass.New("DATATYPE_MISMATCH.STACK_COLUMN_DIFF_TYPES", "sqlExpr", errclass.Expr(g.SQL()), "columnIndex", strconv.Itoa(c),
					"leftParamIndex", strconv.Itoa(first+1), "leftType", errclass.Expr(t.SQL()), "rightParamIndex", strconv.Itoa(i+1), "rightType", errclass.Expr(u.SQL()))
			}
		}
		for i := c; i < len(values); i += cols {
			values[i] = sc.r.to(values[i], t)
		}
		g.Out = append(g.Out, types.Field{Name: "col" + strconv.Itoa(c), Type: t, Nullable: true})
	}
	return nil
}

// jsonTuple(json, key, ...) makes one row with the values of top-level keys.
func (sc *scope) jsonTuple(g *plan.Generator) error {
	if len(g.Args) < 2 {
		return wrongNumArgs("json_tuple", "> 1", len(g.Args))
	}
	for i, a := range g.Args {
		if !isText(a) {
			return errclass.New("DATATYPE_MISMATCH.NON_STRING_TYPE", "sqlExpr", errclass.Expr(g.SQL()), "funcName", "`json_tuple`")
		}
		if i > 0 {
			g.Out = append(g.Out, types.Field{Name: "c" + strconv.Itoa(i-1), Type: types.String, Nullable: true})
		}
	}
	return nil
}

func isGen(e plan.Expr) bool { _, ok := e.(*plan.Generator); return ok }

// generators moves the generators of a select list into operators of their own.
func (r *resolver) generators(child plan.Node, items []plan.Expr) (plan.Node, []plan.Expr, error) {
	if !slices.ContainsFunc(items, func(e plan.Expr) bool { return plan.Exists(e, isGen) }) {
		return child, items, nil
	}
	var out []plan.Expr
	for _, e := range items {
		g, ok := plan.Trim(e).(*plan.Generator)
		if !ok {
			if plan.Exists(e, isGen) {
				return nil, nil, errclass.New("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "expression", errclass.Expr(plan.Trim(e).SQL()))
			}
			out = append(out, e)
			continue
		}
		var names []string
		if a, ok := e.(*plan.Alias); ok {
			names = a.Names
			if len(names) == 0 {
				names = []string{a.Name}
			}
		}
		attrs, err := generated(g, names)
		if err != nil {
			return nil, nil, err
		}
		child = &plan.Generate{Gen: g, Outer: g.Outer, Out: attrs, Child: child}
		out = append(out, exprsOf(attrs)...)
	}
	return child, out, nil
}

// generated are the columns of a generator, under other names if some are given.
func generated(g *plan.Generator, names []string) ([]*plan.Attr, error) {
	if len(names) > 0 && len(names) != len(g.Out) {
		return nil, errclass.New("UDTF_ALIAS_NUMBER_MISMATCH", "aliasesSize", strconv.Itoa(len(g.Out)), "aliasesNames", strings.Join(names, ","))
	}
	attrs := plan.Attrs(types.StructType{Fields: g.Out})
	for i, n := range names {
		attrs[i].Name = n
	}
	return attrs, nil
}

// generate resolves LATERAL VIEW, and with table a generator in FROM.
func (r *resolver) generate(n *plan.Generate, table bool) (plan.Node, error) {
	sc := r.over(n.Child)
	sc.tables = table
	gen := n.Gen
	if f, ok := gen.(*plan.Func); ok && n.Origin.Context != nil { // its mistakes are the clause's
		c := *f
		c.Origin = n.Origin
		gen = &c
	}
	e, err := sc.expr(gen)
	if err != nil {
		return nil, err
	}
	g, ok := e.(*plan.Generator)
	if !ok {
		return nil, errclass.New("UNSUPPORTED_GENERATOR.NOT_GENERATOR", "functionName", errclass.Expr(e.SQL()), "classCanonicalName", "a generator")
	}
	children, _, err := sc.fetch()
	if err != nil {
		return nil, err
	}
	c := *n
	c.Gen, c.Child, c.Outer, c.Names = g, children[0], n.Outer || g.Outer, nil
	if c.Out != nil { // resolved before: what is above means these columns
		return &c, nil
	}
	if c.Out, err = generated(g, n.Names); err != nil {
		return nil, err
	}
	if c.Outer {
		for _, a := range c.Out {
			a.Null = true
		}
	}
	return &c, nil
}
