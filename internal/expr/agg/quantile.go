package agg

import (
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/sketch/quantile"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func quantileFunctions() []*Function {
	return []*Function{{Name: "percentile_approx", Aliases: []string{"approx_percentile"}, Bind: bindPercentileApprox}}
}

// bindPercentileApprox binds percentile_approx(x, fractions[, accuracy]): the smallest value that is not below so many of the others, whose
// rank may be off by the number of values divided by the accuracy.
func bindPercentileApprox(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(2, 3); err != nil {
		return nil, err
	}
	fs, many, err := b.fractions(1)
	if err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.NumericOrTime, fn.AnyType, fn.IntegralOnly)
	if err != nil {
		return nil, err
	}
	if len(b.Args) == 3 && b.Args[2].Const == nil {
		return nil, c.NotFoldable(2, "`accuracy`", `"INTEGRAL"`)
	}
	accuracy := int64(10_000)
	if len(b.Args) == 3 {
		var ok bool
		switch accuracy, ok = fn.ConstLong(b.Args[2]); {
		case !ok:
			return nil, c.IsNull("accuracy")
		case accuracy <= 0 || accuracy > math.MaxInt32:
			return nil, errclass.New("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "sqlExpr", c.SQL(), "exprName", "accuracy", "valueRange", "(0, 2147483647]",
				"currentValue", strconv.FormatInt(accuracy, 10)+"L")
		}
	}
	return quantiles(b.arg(casts, 0), 1/float64(accuracy), fs, many).bound(casts, true), nil
}

// quantiles are the summaries of values of type t, all of which become doubles.
func quantiles(t types.DataType, relative float64, fs []float64, many bool) *objectKind[quantile.Summary] {
	put := appendCentre(t)
	return &objectKind[quantile.Summary]{
		result: resultOf(t, many),
		fresh:  func() *quantile.Summary { return quantile.New(relative) },
		update: func(_ *expr.Eval, get func(g uint32) *quantile.Summary, groups []uint32, args []*vec.Vector) {
			v := flatten(args[0])
			x := doubles(v)
			for i, g := range groups {
				if !v.IsNull(i) {
					get(g).Add(x(i))
				}
			}
		},
		merge: func(s *quantile.Summary, image []byte) (*quantile.Summary, error) {
			o, err := quantile.Parse(image)
			if err != nil || s == nil {
				return o, err
			}
			s.Merge(o)
			return s, nil
		},
		save: func(b []byte, s *quantile.Summary) []byte { return s.Image(b) },
		emit: func(out *vec.Builder, s *quantile.Summary) error {
			if s == nil {
				out.AppendNull()
				return nil
			}
			values, _ := s.Quantiles(fs)
			appendResults(out, many, values, put)
			return nil
		},
		size: func(s *quantile.Summary) int64 { return s.Size() },
	}
}
