package fn

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/sketch/theta"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func tupleFunctions() []*Function {
	return append(tupleFunctionsOf("_double", theta.Doubles, types.Double, func(out *vec.Builder, m theta.Mode, s *theta.Sketch[theta.Summary[float64]]) {
		out.AppendFloat64(total(m, s, func(x float64) float64 { return x }))
	}), tupleFunctionsOf("_integer", theta.Integers, types.Long, func(out *vec.Builder, m theta.Mode, s *theta.Sketch[theta.Summary[int32]]) {
		out.AppendInt64(total(m, s, func(x int32) int64 { return int64(x) }))
	})...)
}

// total puts all summaries of a sketch together. A sketch without any gives 0.
func total[N theta.Number, T int64 | float64](m theta.Mode, s *theta.Sketch[theta.Summary[N]], wide func(x N) T) T {
	sum := T(0)
	for i, x := range s.Summaries {
		switch v := wide(x.Value); {
		case m == theta.AlwaysOne:
			sum++
		case i == 0:
			sum = v
		case m == theta.Sum:
			sum += v
		case m == theta.Min:
			sum = min(sum, v)
		default:
			sum = max(sum, v)
		}
	}
	return sum
}

// tupleFunctionsOf are the functions of sketches with summaries of one type. appendTotal appends all summaries of a sketch put together.
func tupleFunctionsOf[N theta.Number](suffix string, form theta.Tuple[theta.Summary[N]], totalType types.DataType,
	appendTotal func(out *vec.Builder, m theta.Mode, s *theta.Sketch[theta.Summary[N]]),
) []*Function {
	type sketch = theta.Sketch[theta.Summary[N]]
	parse := func(b *Binding, v *vec.Vector, i int) (*sketch, error) { return ParseTuple(form, b.Name, v.BytesAt(i)) }
	one := func(name string, t types.DataType, f func(out *vec.Builder, s *sketch)) *Function {
		return &Function{Name: name + suffix, Bind: func(b *Binding) (*Bound, error) {
			return bindSketches(b, 1, exactBinary, t, func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
				s, err := parse(b, args[0], i)
				if err == nil {
					f(out, s)
				}
				return err
			})
		}}
	}
	// two is a function of a sketch and another, with the settings that come after them.
	two := func(name string, sized, withMode, withTheta bool, f func(lgK int, m theta.Mode, x, y *sketch) *sketch) *Function {
		return &Function{Name: name + suffix, Bind: func(b *Binding) (*Bound, error) {
			most, modeAt := 2, 2
			if sized {
				most, modeAt = 3, 3
			}
			if withMode {
				most++
			}
			if err := b.Arity(2, most); err != nil {
				return nil, err
			}
			settings := []Accept{exactBinary, exactBinary}
			if sized {
				settings = append(settings, OneOf(types.Integer))
			}
			c, err := b.Accept(append(settings, OneOf(types.String))...)
			if err != nil {
				return nil, err
			}
			lgK, mode := 12, theta.Sum
			if sized {
				if lgK, err = b.TupleSize(2); err != nil {
					return nil, err
				}
			}
			if withMode {
				if mode, err = b.TupleMode(modeAt); err != nil {
					return nil, err
				}
			}
			return &Bound{Args: c, Type: types.Binary, Nullable: b.nullable(c), CanFail: true, New: sketchKernel(types.Binary,
				func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
					x, err := parse(b, args[0], i)
					if err != nil {
						return err
					}
					var y *sketch
					if withTheta {
						t, err := theta.Parse(args[1].BytesAt(i))
						if err != nil {
							return BadSketch("THETA", b.Name)
						}
						y = theta.WithSummary(t, theta.Start[N](mode))
					} else if y, err = parse(b, args[1], i); err != nil {
						return err
					}
					out.CommitBytes(form.TupleImage(out.Buffer(), f(lgK, mode, x, y)))
					return nil
				})}, nil
		}}
	}
	union := func(lgK int, m theta.Mode, x, y *sketch) *sketch {
		u := theta.NewUnion(lgK, func(have *theta.Summary[N], o theta.Summary[N]) { have.Merge(m, o) })
		u.Merge(x)
		u.Merge(y)
		return u.Result()
	}
	common := func(_ int, m theta.Mode, x, y *sketch) *sketch {
		return theta.Intersect(x, y, func(s, o theta.Summary[N]) theta.Summary[N] { s.Merge(m, o); return s })
	}
	rest := func(_ int, _ theta.Mode, x, y *sketch) *sketch { return theta.Difference(x, y) }
	return []*Function{
		one("tuple_sketch_estimate", types.Double, func(out *vec.Builder, s *sketch) { out.AppendFloat64(s.Estimate()) }),
		one("tuple_sketch_theta", types.Double, func(out *vec.Builder, s *sketch) { out.AppendFloat64(s.Theta()) }),
		two("tuple_union", true, true, false, union), two("tuple_union_theta", true, true, true, union),
		two("tuple_intersection", false, true, false, common), two("tuple_intersection_theta", false, true, true, common),
		two("tuple_difference", false, false, false, rest), two("tuple_difference_theta", false, false, true, rest),
		{Name: "tuple_sketch_summary" + suffix, Bind: func(b *Binding) (*Bound, error) {
			if err := b.Arity(1, 2); err != nil {
				return nil, err
			}
			c, err := b.Accept(exactBinary, OneOf(types.String))
			if err != nil {
				return nil, err
			}
			mode, err := b.TupleMode(1)
			if err != nil {
				return nil, err
			}
			return &Bound{Args: c, Type: totalType, Nullable: b.nullable(c), CanFail: true, New: sketchKernel(totalType,
				func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
					s, err := parse(b, args[0], i)
					if err == nil {
						appendTotal(out, mode, s)
					}
					return err
				})}, nil
		}},
	}
}

// ParseTuple reads a sketch with summaries that a function was given.
func ParseTuple[S any](form theta.Tuple[S], function string, b []byte) (*theta.Sketch[S], error) {
	s, err := form.ParseTuple(b)
	switch {
	case err == nil:
		return s, nil
	case theta.IsTheta(b):
		return nil, errclass.New("TUPLE_INVALID_INPUT_SKETCH_BUFFER_FAMILY", "function", "`"+function+"`", "expected", "TUPLE", "actual", "COMPACT")
	}
	return nil, BadSketch("TUPLE", function)
}
