package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// parameter is one that a built-in function can be given by name. Without a default it is required.
type parameter struct {
	name     string
	fallback *plan.Literal
}

// signatures are the built-in functions that take named arguments; all others refuse them.
var signatures = func() map[string][]parameter {
	text := func(s string) *plan.Literal { return &plan.Literal{Value: s, T: types.String} }
	sketch := func(first ...string) []parameter {
		var out []parameter
		for _, name := range first {
			out = append(out, parameter{name: name})
		}
		return append(out, parameter{"lgNomEntries", &plan.Literal{Value: int32(12), T: types.Integer}}, parameter{"mode", text("sum")})
	}
	out := map[string][]parameter{
		"mask": {
			{name: "str"}, {"upperChar", text("X")}, {"lowerChar", text("x")}, {"digitChar", text("n")}, {"otherChar", &plan.Literal{T: types.Null}},
		},
		"count_min_sketch": {{name: "column"}, {name: "epsilon"}, {name: "confidence"}, {name: "seed"}},
	}
	for _, name := range []string{"explode", "posexplode"} {
		out[name], out[name+"_outer"] = []parameter{{name: "collection"}}, []parameter{{name: "collection"}}
	}
	for _, name := range []string{"inline", "variant_explode"} {
		out[name], out[name+"_outer"] = []parameter{{name: "input"}}, []parameter{{name: "input"}}
	}
	for _, kind := range []string{"double", "integer"} {
		out["tuple_sketch_agg_"+kind] = sketch("key", "summary")
		out["tuple_union_agg_"+kind] = sketch("child")
		out["tuple_union_"+kind] = sketch("first", "second")
		out["tuple_union_theta_"+kind] = sketch("first", "second")
	}
	return out
}()

// arranged is a call with its named arguments, and the defaults of those left out, in the order of the parameters.
func (sc *scope) arranged(name string, f *plan.Func) (*plan.Func, error) {
	params := signatures[name]
	named := hasNames(f.ArgNames)
	if params == nil {
		if named {
			return nil, at(errclass.New("NAMED_PARAMETERS_NOT_SUPPORTED", "functionName", errclass.Ident(f.Name...)), f.Origin)
		}
		return f, nil
	}
	if len(f.Args) > len(params) && !named || slices.ContainsFunc(f.Args, isStar) {
		return f, nil // for the function to judge
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
	}
	args, err := sc.byParameter(errclass.Ident(name), names, f.Args, f.ArgNames)
	if err != nil {
		return nil, at(err, f.Origin)
	}
	for i, p := range params {
		if args[i] != nil {
			continue
		}
		if p.fallback == nil {
			return nil, at(missingArgument(errclass.Ident(name), p.name, i), f.Origin)
		}
		args[i] = p.fallback
	}
	c := *f
	c.Args, c.ArgNames = args, nil
	return &c, nil
}

func isStar(e plan.Expr) bool { _, ok := e.(*plan.Star); return ok }

func hasNames(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return n != "" })
}

func missingArgument(routine, parameter string, i int) error {
	return errclass.New("REQUIRED_PARAMETER_NOT_FOUND", "routineName", routine, "parameterName", errclass.Ident(parameter), "index", strconv.Itoa(i))
}

// byParameter brings arguments, of which the last ones may have names, into the order of parameters; nil where none is given.
func (sc *scope) byParameter(routine string, params []string, args []plan.Expr, names []string) ([]plan.Expr, error) {
	out := make([]plan.Expr, max(len(params), len(args)))
	positional, last := 0, ""
	for i, a := range args {
		if names == nil || names[i] == "" {
			if last != "" {
				return nil, errclass.New("UNEXPECTED_POSITIONAL_ARGUMENT", "routineName", routine, "parameterName", errclass.Ident(last))
			}
			out[i] = a
			positional++
			continue
		}
		last = names[i]
		place := slices.IndexFunc(params, func(p string) bool { return sc.r.eq(p, last) })
		switch {
		case place < 0:
			quoted := make([]string, len(params))
			for k, p := range params {
				quoted[k] = errclass.Ident(p)
			}
			return nil, errclass.New("UNRECOGNIZED_PARAMETER_NAME", "routineName", routine, "argumentName", errclass.Ident(last), "proposal", strings.Join(quoted, " "))
		case place < positional:
			return nil, errclass.New("DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.BOTH_POSITIONAL_AND_NAMED", "routineName", routine, "parameterName", errclass.Ident(last))
		case out[place] != nil:
			return nil, errclass.New("DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE", "routineName", routine, "parameterName", errclass.Ident(last))
		}
		out[place] = a
	}
	return out[:len(params)], nil
}
