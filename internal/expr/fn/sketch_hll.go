package fn

import (
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/sketch/hll"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func hllFunctions() []*Function {
	return []*Function{{Name: "hll_sketch_estimate", Bind: bindHLLEstimate}, {Name: "hll_union", Bind: bindHLLUnion}}
}

func bindHLLEstimate(b *Binding) (*Bound, error) {
	return bindSketches(b, 1, exactBinary, types.Long, func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
		s, err := hll.Parse(args[0].BytesAt(i))
		if err != nil {
			return BadSketch("HLL", b.Name)
		}
		out.AppendInt64(int64(math.Floor(s.Estimate() + 0.5)))
		return nil
	})
}

// DifferentHLL is the error of a union of sketches of different sizes.
func DifferentHLL(function string, x, y int) error {
	return errclass.New("HLL_UNION_DIFFERENT_LG_K", "function", "`"+function+"`", "left", strconv.Itoa(x), "right", strconv.Itoa(y))
}

func bindHLLUnion(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(exactBinary, exactBinary, OneOf(types.Boolean))
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Binary, Nullable: b.nullable(c), CanFail: true, New: sketchKernel(types.Binary,
		func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
			x, err1 := hll.Parse(args[0].BytesAt(i))
			y, err2 := hll.Parse(args[1].BytesAt(i))
			if err1 != nil || err2 != nil {
				return BadSketch("HLL", b.Name)
			}
			if x.LgK() != y.LgK() && (len(args) < 3 || vec.At[uint8](args[2], i) == 0) {
				return DifferentHLL(b.Name, x.LgK(), y.LgK())
			}
			u := hll.NewUnion(min(x.LgK(), y.LgK()))
			u.Add(x)
			u.Add(y)
			out.CommitBytes(u.Result().Image(out.Buffer()))
			return nil
		})}, nil
}
