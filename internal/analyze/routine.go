package analyze

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// Variables is implemented by catalogs with session variables.
type Variables interface {
	// LookupVariable gives a variable's value. Its text is how expressions with it are called.
	LookupVariable(parts []string) (*plan.Literal, bool)
}

// Routines is implemented by catalogs with functions written in SQL.
type Routines interface {
	LookupRoutine(parts []string) *plan.Routine
}

// Listings is implemented by catalogs with table functions that tell about the session itself.
type Listings interface {
	// LookupListing gives the rows of such a function; nil when there is none of that name.
	LookupListing(name string) (plan.Node, error)
}

// listing resolves a call of a table function that tells about the session; nil when it is none.
func (r *resolver) listing(name string, args int) (plan.Node, error) {
	c, ok := r.cat.(Listings)
	if !ok {
		return nil, nil
	}
	n, err := c.LookupListing(name)
	if n != nil && args > 0 {
		return nil, wrongNumArgs(name, "0", args)
	}
	return n, err
}

// variable resolves a name to a session variable; nil when there is none.
func (sc *scope) variable(parts []string) (plan.Expr, error) {
	c, ok := sc.r.cat.(Variables)
	if !ok {
		return nil, nil
	}
	for n := min(len(parts), 3); n > 0; n-- {
		if l, ok := c.LookupVariable(parts[:n]); ok {
			e, err := sc.fields(l, parts[n:])
			if err != nil {
				return nil, err
			}
			a := plan.NewAlias(plan.Trim(e), parts[len(parts)-1])
			a.Auto = true
			return a, nil
		}
	}
	return nil, nil
}

func (r *resolver) routine(parts []string) *plan.Routine {
	if c, ok := r.cat.(Routines); ok {
		return c.LookupRoutine(parts)
	}
	return nil
}

// arguments resolves the arguments of a function written in SQL, by parameter.
func (sc *scope) arguments(f *plan.Routine, args []plan.Expr, names []string, o plan.Origin) ([]plan.Expr, error) {
	shown := errclass.Ident(f.Name[len(f.Name)-1])
	required := 0
	for _, p := range f.Params {
		if p.Default == nil {
			required++
		}
	}
	if !hasNames(names) && (len(args) > len(f.Params) || len(args) < required) {
		return nil, at(errclass.New("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "functionName", shown,
			"expectedNum", strconv.Itoa(len(f.Params)), "actualNum", strconv.Itoa(len(args))), o)
	}
	params := make([]string, len(f.Params))
	for i, p := range f.Params {
		params[i] = p.Name
	}
	out, err := sc.byParameter(shown, params, args, names)
	if err != nil {
		return nil, at(err, o)
	}
	for i, a := range out {
		if a == nil {
			continue
		}
		e, err := sc.expr(a)
		if err != nil {
			return nil, err
		}
		out[i] = plan.Trim(e)
	}
	for i, p := range f.Params {
		if out[i] == nil {
			if p.Default == nil {
				return nil, at(missingArgument(shown, p.Name, i), o)
			}
			e, err := sc.r.over().expr(p.Default)
			if err != nil {
				return nil, err
			}
			out[i] = plan.Trim(e)
		}
		c := &plan.Cast{Child: out[i], To: plainText(p.Type), Mode: sc.r.mode(), Implicit: true, Origin: o}
		if types.Equal(plan.TypeOf(out[i]), c.To) {
			continue
		}
		if err := sc.castable(c); err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// inRoutine is the scope of a function's body, in which the parameters stand for the arguments.
func (r *resolver) inRoutine(f *plan.Routine, args []plan.Expr) (*scope, error) {
	text := strings.Join(f.Name, ".")
	if slices.ContainsFunc(r.views, func(v string) bool { return r.eq(v, text) }) {
		return nil, errclass.New("CYCLIC_FUNCTION_REFERENCE", "path", strings.Join(append(r.views, text), " -> "))
	}
	inner := *r
	inner.ctes, inner.outer, inner.views = nil, nil, append(slices.Clone(r.views), text)
	sc := inner.over()
	sc.first = func(parts []string) (plan.Expr, error) {
		name, rest := parts[0], parts[1:]
		if len(rest) > 0 && r.eq(name, f.Name[len(f.Name)-1]) {
			name, rest = rest[0], rest[1:]
		}
		for i, p := range f.Params {
			if r.eq(p.Name, name) {
				return sc.fields(args[i], rest)
			}
		}
		return nil, nil
	}
	return sc, nil
}

// routineCall resolves a call of a function written in SQL: its body, over the arguments.
func (sc *scope) routineCall(f *plan.Routine, call *plan.Func) (plan.Expr, error) {
	name := f.Name[len(f.Name)-1]
	if f.Class != "" {
		return nil, at(noClass(f), call.Origin)
	}
	if f.Body == nil {
		return nil, errclass.New("NOT_A_SCALAR_FUNCTION", "functionName", errclass.Ident(call.Name...))
	}
	args, err := sc.arguments(f, call.Args, call.ArgNames, call.Origin)
	if err != nil {
		return nil, err
	}
	given := args
	if !hasNames(call.ArgNames) {
		given = args[:len(call.Args)]
	}
	body, err := sc.r.inRoutine(f, args)
	if err != nil {
		return nil, err
	}
	e, err := body.expr(f.Body)
	if err != nil {
		if e, ok := errors.AsType[*errclass.Error](err); ok {
			e.Context = nil // a place in the body says nothing to the caller
		}
		return nil, at(err, call.Origin)
	}
	c := &plan.Cast{Child: plan.Trim(e), To: plainText(f.Returns), Mode: sc.r.mode(), Implicit: true}
	if err := sc.castable(c); err != nil {
		return nil, err
	}
	var x plan.Expr = c
	if types.Equal(plan.TypeOf(c.Child), c.To) {
		x = c.Child
	}
	return &plan.Cond{
		Op: plan.OpCoalesce, Args: []plan.Expr{x}, T: plan.TypeOf(x), Null: plan.NullableOf(x), Name: name, Text: callText(strings.Join(f.Name, "."), given),
	}, nil
}

// routineRows resolves a call of a table function written in SQL.
func (r *resolver) routineRows(f *plan.Routine, n *plan.TableFunc) (plan.Node, error) {
	if f.Class != "" {
		return nil, at(noClass(f), n.Origin)
	}
	if f.Query == nil {
		return nil, at(errclass.New("NOT_A_TABLE_FUNCTION", "functionName", errclass.Ident(n.Name...)), n.Origin)
	}
	args, err := r.over().arguments(f, n.Args, n.ArgNames, n.Origin)
	if err != nil {
		return nil, err
	}
	sc, err := r.inRoutine(f, args)
	if err != nil {
		return nil, err
	}
	inner := *sc.r
	inner.outer, inner.used, inner.sameLevel = sc, r.used, true
	if inner.used == nil {
		inner.used = new([]plan.Expr)
	}
	child, err := inner.node(f.Query)
	if err != nil {
		return nil, err
	}
	out := visible(child.Output())
	p := &plan.Project{Child: child}
	for i, field := range f.Columns.Fields {
		p.Cols = append(p.Cols, plan.NewAlias(r.to(out[i], field.Type), field.Name))
	}
	return &plan.Aliased{Name: f.Name[len(f.Name)-1], Child: p}, nil
}

// noClass is the error for a call of a class of the JVM.
func noClass(f *plan.Routine) error {
	return errclass.New("CANNOT_LOAD_FUNCTION_CLASS", "className", f.Class, "functionName", errclass.Ident(f.Name...))
}
