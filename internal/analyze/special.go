package analyze

import (
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// special puts what a word such as today means in place of casts of constants to a date or a timestamp. It is computed with each batch,
// so that a stream knows what day it is.
func (r *resolver) special(n plan.Node) (plan.Node, error) {
	return plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		return plan.MapExprs(n, func(e plan.Expr) (plan.Expr, error) {
			return plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
				if s := r.specialConstant(e); s != nil {
					return s, nil
				}
				return e, nil
			})
		})
	})
}

// specialConstant is the meaning of a cast of a special word, nil for any other expression.
func (r *resolver) specialConstant(e plan.Expr) plan.Expr {
	text, to := r.castText(e)
	if to == nil {
		return nil
	}
	word, ok := datetime.SpecialWord(text)
	if !ok {
		return nil
	}
	if word == datetime.Epoch {
		switch to {
		case types.Date:
			return &plan.Literal{Value: types.Days(0), T: to}
		case types.Timestamp:
			return &plan.Literal{Value: types.Micros(0), T: to}
		}
		return &plan.Literal{Value: types.MicrosNTZ(0), T: to}
	}
	if word == datetime.Now && to == types.Timestamp {
		return call("now")
	}
	if word == datetime.Now && to == types.TimestampNTZ {
		return call("localtimestamp")
	}
	day := call("current_date")
	switch word {
	case datetime.Tomorrow:
		day = call("date_add", day, &plan.Literal{Value: int32(1), T: types.Integer})
	case datetime.Yesterday:
		day = call("date_add", day, &plan.Literal{Value: int32(-1), T: types.Integer})
	}
	if to == types.Date || day == nil {
		return day
	}
	return &plan.Cast{Child: day, To: to}
}

// castText is the text of a constant that is cast to a date or a timestamp; to is nil for other expressions.
func (r *resolver) castText(e plan.Expr) (text string, to types.DataType) {
	var child plan.Expr
	switch e := e.(type) {
	case *plan.Cast:
		child, to = e.Child, e.To
	case *plan.Call:
		if len(e.Args) != 1 || !castCalls[e.Fn.Name] {
			return "", nil
		}
		child, to = e.Args[0], plan.TypeOf(e)
	}
	if to != types.Date && to != types.Timestamp && to != types.TimestampNTZ || plan.TypeOf(child) != types.String {
		return "", nil
	}
	v := r.constant(child)
	if v == nil {
		return "", nil
	}
	text, _ = vec.ValueAt(v, 0).(string)
	return text, to
}

// castCalls are the functions of one argument that only cast it.
var castCalls = map[string]bool{"to_date": true, "to_timestamp": true, "to_timestamp_ltz": true, "to_timestamp_ntz": true, "try_to_date": true, "try_to_timestamp": true}

// call is a resolved call of a function that takes its arguments as they are.
func call(name string, args ...plan.Expr) plan.Expr {
	f := fn.Lookup(name)
	b := &fn.Binding{Name: name, ANSI: true}
	for _, a := range args {
		if a == nil {
			return nil
		}
		b.Args = append(b.Args, fn.Arg{Type: plan.TypeOf(a), Nullable: plan.NullableOf(a), SQL: a.SQL()})
	}
	bound, err := f.Bind(b)
	if err != nil {
		return nil
	}
	return &plan.Call{Fn: f, Bound: bound, Name: name, Args: args}
}
