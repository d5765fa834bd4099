package fn

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/sketch/kll"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func kllFunctions() []*Function {
	all := kllFunctionsOf("_bigint", types.Long, func(b *vec.Builder, x int64) { b.AppendInt64(x) }, func(x int64) string { return strconv.FormatInt(x, 10) })
	all = append(all, kllFunctionsOf("_double", types.Double, func(b *vec.Builder, x float64) { b.AppendFloat64(x) }, doubleText)...)
	return append(all, kllFunctionsOf("_float", types.Float, func(b *vec.Builder, x float32) { b.AppendFloat32(x) }, floatText)...)
}

func doubleText(x float64) string { return itemText(types.Double, x) }

func floatText(x float32) string { return itemText(types.Float, x) }

// itemText is a number as a cast to text writes it.
func itemText(t types.DataType, x any) string {
	v, err := vec.FromValues(t, x)
	if err != nil {
		return ""
	}
	s, _ := ConstText(Arg{Const: v})
	return s
}

// kllFunctionsOf are the functions of sketches of one type of items.
func kllFunctionsOf[T kll.Item](suffix string, item types.DataType, put func(b *vec.Builder, x T), show func(x T) string) []*Function {
	parse := func(b *Binding, v *vec.Vector, i int) (*kll.Sketch[T], error) {
		s, err := kll.Parse[T](v.BytesAt(i))
		if err != nil {
			return nil, BadSketch("KLL", b.Name)
		}
		return s, nil
	}
	one := func(name string, t types.DataType, f func(out *vec.Builder, s *kll.Sketch[T])) *Function {
		return &Function{Name: name + suffix, Bind: func(b *Binding) (*Bound, error) {
			return bindSketches(b, 1, binaryArg, t, func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
				s, err := parse(b, args[0], i)
				if err == nil {
					f(out, s)
				}
				return err
			})
		}}
	}
	// ask is a function that asks a sketch one question or an array of them.
	ask := func(name string, question, answer types.DataType, param string, f func(b *Binding, out *vec.Builder, v *kll.View[T], q *vec.Vector, i int) error) *Function {
		return &Function{Name: name + suffix, Bind: func(b *Binding) (*Bound, error) {
			if err := b.Arity(2, 2); err != nil {
				return nil, err
			}
			if b.Args[1].Const == nil {
				return nil, b.NotFoldable(1, "`"+param+"`", quoteType(question))
			}
			c, err := b.Accept(binaryArg, CastTo(question, types.ArrayType{Element: question, ContainsNull: true}))
			if err != nil {
				return nil, err
			}
			t := answer
			_, many := b.result(c, 1).(types.ArrayType)
			if many {
				t = types.ArrayType{Element: answer}
			}
			return &Bound{Args: c, Type: t, Nullable: b.nullable(c), CanFail: true, New: sketchKernel(t,
				func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
					s, err := parse(b, args[0], i)
					if err != nil {
						return err
					}
					if s.N() == 0 {
						return BadSketch("KLL", b.Name)
					}
					v := s.View()
					if !many {
						return f(b, out, v, args[1], i)
					}
					span, owner := args[1].SpanAt(i)
					for k := span.Off; k < span.Off+span.Len && err == nil; k++ {
						if k == span.Off {
							out.StartList()
						}
						err = f(b, out.Child(0), v, owner.Kids()[0], int(k))
					}
					if span.Len == 0 {
						out.StartList()
					}
					if err == nil {
						out.EndList()
					}
					return err
				})}, nil
		}}
	}
	return []*Function{
		one("kll_sketch_get_n", types.Long, func(out *vec.Builder, s *kll.Sketch[T]) { out.AppendInt64(s.N()) }),
		one("kll_sketch_to_string", types.String, func(out *vec.Builder, s *kll.Sketch[T]) { out.AppendString(s.Describe(show)) }),
		{Name: "kll_sketch_merge" + suffix, Bind: func(b *Binding) (*Bound, error) {
			return bindSketches(b, 2, binaryArg, types.Binary, func(_ *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error {
				x, err := parse(b, args[0], i)
				if err != nil {
					return err
				}
				y, err := parse(b, args[1], i)
				if err != nil {
					return err
				}
				x.Merge(y)
				out.CommitBytes(x.Image(out.Buffer()))
				return nil
			})
		}},
		ask("kll_sketch_get_quantile", types.Double, item, "rank", func(b *Binding, out *vec.Builder, v *kll.View[T], q *vec.Vector, i int) error {
			rank := 0.0 // which is what NULL in an array stands for
			if !q.IsNull(i) {
				rank = vec.At[float64](q, i)
			}
			if !(rank >= 0 && rank <= 1) {
				return errclass.New("KLL_SKETCH_INVALID_QUANTILE_RANGE", "functionName", "`"+b.Name+"`")
			}
			put(out, v.Quantile(rank))
			return nil
		}),
		ask("kll_sketch_get_rank", item, types.Double, "quantile", func(_ *Binding, out *vec.Builder, v *kll.View[T], q *vec.Vector, i int) error {
			var x T
			if !q.IsNull(i) {
				x = vec.At[T](q, i)
			}
			out.AppendFloat64(v.Rank(x))
			return nil
		}),
	}
}
