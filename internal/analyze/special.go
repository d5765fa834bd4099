package analyze

import (
	"github.com/millrace/millrace/internal/datetime"
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
				return r.specialConstant(e)
			})
		})
	})
}

// specialConstant is the meaning of a cast of a special word; any other expression stays as it is.
func (r *resolver) specialConstant(e plan.Expr) (plan.Expr, error) {
	text, to := r.castText(e)
	word, ok := datetime.SpecialWord(text)
	if !ok {
		return e, nil
	}
	call := func(name string, args ...plan.Expr) (plan.Expr, error) {
		return r.over().call(name, args, plan.Origin{})
	}
	switch {
	case word == datetime.Epoch && to == types.Date:
		return &plan.Literal{Value: types.Days(0), T: to}, nil
	case word == datetime.Epoch && to == types.Timestamp:
		return &plan.Literal{Value: types.Micros(0), T: to}, nil
	case word == datetime.Epoch:
		return &plan.Literal{Value: types.MicrosNTZ(0), T: to}, nil
	case word == datetime.Now && to == types.Timestamp:
		return call("now")
	case word == datetime.Now && to == types.TimestampNTZ:
		return call("localtimestamp")
	}
	day, err := call("current_date")
	if n := map[string]int32{datetime.Tomorrow: 1, datetime.Yesterday: -1}[word]; n != 0 && err == nil {
		day, err = call("date_add", day, &plan.Literal{Value: n, T: types.Integer})
	}
	if err != nil || to == types.Date {
		return day, err
	}
	return &plan.Cast{Child: day, To: to}, nil
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
