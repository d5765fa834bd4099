package fn

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// sparkVersion is what version() answers: clients look at it to see what a server can do.
const sparkVersion = "4.2.0"

func raiseFunctions() []*Function {
	return []*Function{
		{Name: "raise_error", Bind: bindRaise},
		{Name: "assert_true", Bind: bindAssert},
		{Name: "version", Bind: func(b *Binding) (*Bound, error) { return constText(sparkVersion), b.Arity(0, 0) }},
		{Name: "typeof", Bind: bindTypeof},
	}
}

// bindRaise binds raise_error(message) and raise_error(class, parameters): every row fails.
func bindRaise(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(text, anyMap)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Null, Nullable: true, NullsAreArgs: true, TakesConst: true, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			for i := range n {
				message := "null"
				if !args[0].IsNull(i) {
					message = string(args[0].BytesAt(i))
				}
				e.Errs.Add(i, errclass.New("USER_RAISED_EXCEPTION", "errorMessage", message))
			}
			return vec.NewNulls(types.Null, n)
		}
	}}, nil
}

// bindAssert binds assert_true(condition[, message]): null, or an error where the condition does not hold.
func bindAssert(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	standard := "'" + b.Args[0].SQL + "' is not true!"
	as, message := *b, standard
	if len(b.Args) == 2 {
		message = b.Args[1].SQL
	}
	as.shown = `"(IF(` + b.Args[0].SQL + ", NULL, raise_error(USER_RAISED_EXCEPTION, map(errorMessage, " + message + `))))"` // what it stands for
	if _, err := as.Accept(strict(boolean), anyType); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(boolean), text)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Null, Nullable: true, NullsAreArgs: true, TakesConst: true, CanFail: true, New: func() Kernel {
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			for i := range n {
				if !args[0].IsNull(i) && vec.At[uint8](args[0], i) != 0 {
					continue
				}
				message := standard
				if len(args) == 2 {
					message = "null"
					if !args[1].IsNull(i) {
						message = string(args[1].BytesAt(i))
					}
				}
				e.Errs.Add(i, errclass.New("USER_RAISED_EXCEPTION", "errorMessage", message))
			}
			return vec.NewNulls(types.Null, n)
		}
	}}, nil
}

func bindTypeof(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	bound := constText(b.Args[0].Type.SimpleString())
	bound.Args, bound.NullsAreArgs, bound.TakesConst = make([]types.DataType, 1), true, true
	return bound, nil
}
