package analyze

import (
	"math/big"

	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// ordering are the comparisons that ask for an order, with the one that holds when the sides are swapped.
var ordering = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<="}

// wholeBound is what a comparison of whole numbers with a decimal in the text of the query means in Spark: a comparison with the whole
// number next to the decimal, which is what it is called by, too. Where no number of 64 bits is beyond the decimal, the comparison is true
// or false for all rows, also where there is no number: all is that constant.
func wholeBound(name string, args []plan.Expr) (with []plan.Expr, all *plan.Literal) {
	if ordering[name] == "" || len(args) != 2 {
		return args, nil
	}
	at := 1 // of the literal
	if _, ok := args[0].(*plan.Literal); ok && fn.IsIntegral(plan.TypeOf(args[1])) {
		at, name = 0, ordering[name]
	}
	l, ok := args[at].(*plan.Literal)
	if !ok || !fn.IsIntegral(plan.TypeOf(args[1-at])) {
		return args, nil
	}
	d, ok := l.Value.(types.Decimal)
	if !ok {
		return args, nil
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(d.Scale)), nil)
	floor, rest := new(big.Int).DivMod(d.Unscaled.BigInt(), scale, new(big.Int))
	ceil := new(big.Int).Set(floor)
	if rest.Sign() > 0 {
		ceil.Add(ceil, big.NewInt(1))
	}
	if !floor.IsInt64() || !ceil.IsInt64() {
		less := name == "<" || name == "<="
		return nil, &plan.Literal{T: types.Boolean, Value: less == (d.Unscaled.Sign() > 0)}
	}
	n := floor
	if name == ">=" || name == "<" {
		n = ceil
	}
	with = []plan.Expr{args[0], args[1]}
	with[at] = &plan.Literal{T: types.Long, Value: n.Int64(), Origin: l.Origin}
	return with, nil
}
