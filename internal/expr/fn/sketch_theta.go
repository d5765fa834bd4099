package fn

import (
	"math"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/sketch/theta"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func thetaFunctions() []*Function {
	both := func(name string, f func(x, y *theta.Sketch[theta.None]) *theta.Sketch[theta.None]) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) {
			return bindSketches(b, 2, exactBinary, types.Binary, func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
				x, y, err := twoThetas(b, args, i)
				if err == nil {
					out.CommitBytes(theta.Image(out.Buffer(), f(x, y)))
				}
				return err
			})
		}}
	}
	return []*Function{
		{Name: "theta_sketch_estimate", Bind: bindThetaEstimate},
		{Name: "theta_union", Bind: bindThetaUnion},
		both("theta_intersection", func(x, y *theta.Sketch[theta.None]) *theta.Sketch[theta.None] {
			return theta.Intersect(x, y, func(s, _ theta.None) theta.None { return s })
		}),
		both("theta_difference", theta.Difference[theta.None, theta.None]),
	}
}

func twoThetas(b *Binding, args []*vec.Vector, i int) (x, y *theta.Sketch[theta.None], err error) {
	x, err1 := theta.Parse(args[0].BytesAt(i))
	y, err2 := theta.Parse(args[1].BytesAt(i))
	if err1 != nil || err2 != nil {
		return nil, nil, BadSketch("THETA", b.Name)
	}
	return x, y, nil
}

func bindThetaEstimate(b *Binding) (*Bound, error) {
	return bindSketches(b, 1, exactBinary, types.Long, func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
		s, err := theta.Parse(args[0].BytesAt(i))
		if err != nil {
			return BadSketch("THETA", b.Name)
		}
		out.AppendInt64(int64(math.Floor(s.Estimate() + 0.5)))
		return nil
	})
}

func bindThetaUnion(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(exactBinary, exactBinary, OneOf(types.Integer))
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Binary, Nullable: b.nullable(c), CanFail: true, New: sketchKernel(types.Binary,
		func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
			lgK := int32(12)
			if len(args) > 2 {
				lgK = vec.At[int32](args[2], i)
			}
			if lgK < theta.MinLgK || lgK > theta.MaxLgK {
				return BadSize(b.Name, int64(lgK))
			}
			x, y, err := twoThetas(b, args, i)
			if err != nil {
				return err
			}
			u := theta.NewUnion(int(lgK), func(*theta.None, theta.None) {})
			u.Merge(x)
			u.Merge(y)
			out.CommitBytes(theta.Image(out.Buffer(), u.Result()))
			return nil
		})}, nil
}
