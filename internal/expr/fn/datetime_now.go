package fn

import (
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func nowFunctions() []*Function {
	now := func(t types.DataType, value func(b *expr.BatchParams) int64, name string, aliases ...string) *Function {
		return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindNow(b, t, value) }}
	}
	return []*Function{
		now(types.Timestamp, func(b *expr.BatchParams) int64 { return b.Now }, "current_timestamp"),
		now(types.Timestamp, func(b *expr.BatchParams) int64 { return b.Wall() }, "now"),
		now(types.TimestampNTZ, localNow, "localtimestamp"),
		now(types.Date, func(b *expr.BatchParams) int64 { return datetime.FloorDiv(localNow(b), datetime.Day) }, "current_date", "curdate"),
		{Name: "current_timezone", Bind: bindCurrentTimezone},
	}
}

func localNow(b *expr.BatchParams) int64 { return datetime.NewZone(b.Zone).Local(b.Now) }

// bindNow binds a value that is the same for all rows of a query or micro-batch.
func bindNow(b *Binding, t types.DataType, value func(b *expr.BatchParams) int64) (*Bound, error) {
	if err := b.Arity(0, 0); err != nil {
		return nil, err
	}
	return &Bound{Type: t, New: func() Kernel {
		return func(e *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			v := value(e.Batch)
			for i := range n {
				storeInt(out, i, v)
			}
			return out
		}
	}}, nil
}

func bindCurrentTimezone(b *Binding) (*Bound, error) {
	if err := b.Arity(0, 0); err != nil {
		return nil, err
	}
	name := "UTC"
	if b.Zone != nil {
		name = b.Zone.String()
	}
	return constText(name), nil
}

// constText is a call without arguments that always gives the same text.
func constText(s string) *Bound {
	return &Bound{Type: types.String, New: func() Kernel {
		return func(_ *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
			fill(out.ResetBytes(n, []byte(s)), vec.Span{Len: uint32(len(s))})
			return out
		}
	}}
}
