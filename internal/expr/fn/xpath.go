package fn

import (
	"math"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/xmlpath"
	"github.com/millrace/millrace/types"
)

func xpathFunctions() []*Function {
	return []*Function{
		xpathFunction("xpath", types.ArrayOf(types.String), func(out *vec.Builder, r xmlpath.Result) error {
			values, err := r.Values()
			if err != nil {
				return err
			}
			out.StartList()
			for _, v := range values {
				if v == nil {
					out.Child(0).AppendNull()
				} else {
					out.Child(0).AppendString(*v)
				}
			}
			out.EndList()
			return nil
		}),
		xpathFunction("xpath_boolean", types.Boolean, func(out *vec.Builder, r xmlpath.Result) error { out.AppendBool(r.Bool()); return nil }),
		xpathFunction("xpath_string", types.String, func(out *vec.Builder, r xmlpath.Result) error { out.AppendString(r.String()); return nil }),
		xpathFunction("xpath_double", types.Double, func(out *vec.Builder, r xmlpath.Result) error { out.AppendFloat64(r.Number()); return nil }),
		xpathFunction("xpath_number", types.Double, func(out *vec.Builder, r xmlpath.Result) error { out.AppendFloat64(r.Number()); return nil }),
		xpathFunction("xpath_float", types.Float, func(out *vec.Builder, r xmlpath.Result) error {
			out.AppendFloat32(float32(r.Number()))
			return nil
		}),
		xpathFunction("xpath_int", types.Integer, func(out *vec.Builder, r xmlpath.Result) error {
			out.AppendInt32(int32(clamped(r.Number(), math.MinInt32, math.MaxInt32)))
			return nil
		}),
		xpathFunction("xpath_long", types.Long, func(out *vec.Builder, r xmlpath.Result) error {
			out.AppendInt64(clamped(r.Number(), math.MinInt64, math.MaxInt64))
			return nil
		}),
		xpathFunction("xpath_short", types.Short, func(out *vec.Builder, r xmlpath.Result) error {
			out.AppendInt16(int16(clamped(r.Number(), math.MinInt32, math.MaxInt32)))
			return nil
		}),
	}
}

// clamped is a number as a whole one, as Java converts it.
func clamped(f float64, least, most int64) int64 {
	switch {
	case f != f:
		return 0
	case f <= float64(least):
		return least
	case f >= float64(most):
		return most
	}
	return int64(f)
}

// xpathFunction is a function of a document and a path, which must be a constant.
func xpathFunction(name string, t types.DataType, put func(out *vec.Builder, r xmlpath.Result) error) *Function {
	return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) {
		if err := b.Arity(2, 2); err != nil {
			return nil, err
		}
		path := b.Args[1].Const
		if path == nil {
			return nil, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.SQL(), "inputName", "`path`", "inputType", `"STRING"`,
				"inputExpr", `"`+b.Args[1].SQL+`"`)
		}
		c, err := b.Accept(strict(text))
		if err != nil {
			return nil, err
		}
		expression := ""
		if isText(path.Type()) && !path.IsNull(0) {
			expression = string(path.BytesAt(0))
		}
		return &Bound{Args: c, Type: t, Nullable: true, TakesConst: true, CanFail: true, New: func() Kernel {
			return xpathKernel(name, expression, t, put)
		}}, nil
	}}
}

func xpathKernel(name, expression string, t types.DataType, put func(out *vec.Builder, r xmlpath.Result) error) Kernel {
	path, pathErr := xmlpath.Compile(expression)
	out := vec.NewBuilder(t)
	one := func(text []byte) error {
		if pathErr != nil {
			return pathErr
		}
		doc, err := xmlpath.Parse(text)
		if err != nil {
			return err
		}
		r, err := path.Eval(doc)
		if err != nil {
			return err
		}
		return put(out, r)
	}
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		out.Reset()
		for i := range n {
			if expression == "" || args[0].IsNull(i) || len(args[0].BytesAt(i)) == 0 {
				out.AppendNull()
				continue
			}
			if err := one(args[0].BytesAt(i)); err != nil {
				failed := errclass.New("INVALID_XPATH", "functionName", "`"+name+"`", "path", expression)
				failed.Cause = err
				e.Errs.Add(i, failed)
				out.Truncate(i)
				out.AppendNull()
			}
		}
		return out.Borrow()
	}
}
