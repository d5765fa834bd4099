package fn

import (
	"strings"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// bindFormatNumber binds format_number(number, places) and format_number(number, pattern).
func bindFormatNumber(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(numeric), Accept{
		name: `("INT" or "STRING")`, strict: true, to: []types.DataType{types.Integer},
		has: func(t types.DataType) bool { return isText(t) || types.Equal(t, types.Integer) },
	})
	if err != nil {
		return nil, err
	}
	pattern := isText(b.result(c, 1))
	return &Bound{Args: c, Type: types.String, Nullable: true, TakesConst: true, CanFail: pattern, New: func() Kernel {
		var (
			format *numtext.NumberFormat
			known  string
			places = -1
		)
		return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			switch {
			case pattern:
				p := args[1].StringAt(i)
				if format == nil || p != known {
					known = strings.Clone(p)
					if p == "" {
						p = "#,##0"
					}
					f, ok := numtext.ParseNumberFormat(p)
					if !ok {
						format = nil
						e.Errs.Add(i, badFormat(known, known))
						return b, true
					}
					format = f
				}
			default:
				n := int32At(args[1], i)
				if n < 0 {
					return b, false
				}
				if format == nil || n != places {
					places = n
					p := "#,##0"
					if n > 0 {
						p += "." + strings.Repeat("0", n)
					}
					format, _ = numtext.ParseNumberFormat(p)
				}
			}
			v := args[0]
			if d, ok := v.Type().(types.DecimalType); ok {
				return format.AppendDecimal(b, loadDecimal(v, i), d.Scale), true
			}
			if f, ok := floatOf(v, i); ok {
				return format.AppendFloat(b, f), true
			}
			return format.AppendDecimal(b, decimal.FromInt64(loadInt(v, i)), 0), true
		})
	}}, nil
}
