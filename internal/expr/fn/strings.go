package fn

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func stringFunctions() []*Function {
	return joined(sliceFunctions(), caseFunctions(), searchFunctions(), buildFunctions(), codeFunctions(), utf8Functions(), urlFunctions(),
		regexpFunctions(), hashFunctions())
}

func joined(families ...[]*Function) (all []*Function) {
	for _, f := range families {
		all = append(all, f...)
	}
	return all
}

// writeText appends the text of row i, which has no null argument; ok false makes the row null.
type writeText func(e *expr.Eval, b []byte, args []*vec.Vector, i int) (text []byte, ok bool)

// textKernel writes texts one after the other. Functions whose work on a row is much more than a call are made with it.
func textKernel(write writeText) Kernel {
	var (
		buf     []byte
		scratch vec.Bitmap
	)
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		spans := out.ResetBytes(n, nil)
		valid := live(args, n, &scratch)
		buf = buf[:0]
		for i := range spans {
			at := len(buf)
			if valid.Get(i) {
				b, ok := write(e, buf, args, i)
				if ok {
					buf = b
				} else {
					buf = b[:at]
					setNull(out, i)
				}
			}
			spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
		}
		out.SetBytes(buf)
		return out
	}
}

// textKernelWithNulls is textKernel for functions that look at null arguments themselves.
func textKernelWithNulls(write writeText) Kernel {
	var buf []byte
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		spans := out.ResetBytes(n, nil)
		buf = buf[:0]
		for i := range spans {
			at := len(buf)
			b, ok := write(e, buf, args, i)
			if ok {
				buf = b
			} else {
				buf = b[:at]
				setNull(out, i)
			}
			spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
		}
		out.SetBytes(buf)
		return out
	}
}

// fixedKernel computes a value of fixed width for each row that has no null argument; ok false makes the row null.
func fixedKernel[T vec.FixedWidth](f func(e *expr.Eval, args []*vec.Vector, i int) (v T, ok bool)) Kernel {
	var scratch vec.Bitmap
	return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[T](out)
		valid := live(args, n, &scratch)
		for i := range dst {
			if !valid.Get(i) {
				continue
			}
			v, ok := f(e, args, i)
			if !ok {
				setNull(out, i)
			}
			dst[i] = v
		}
		return out
	}
}

// simple makes a function of a fixed signature. The last accepted set repeats up to most arguments; most < 0 is without limit.
type simple struct {
	name     string
	aliases  []string
	least    int
	most     int
	args     []Accept
	result   types.DataType
	nullable bool // also without null arguments
	canFail  bool
	tryArgs  bool                  // an argument that cannot be computed is null
	swapped  bool                  // of two arguments the second is checked first, and is called the first
	drawn    func(b *Binding) bool // whether two calls with the same arguments may differ; never if nil
	kernel   func(b *Binding) Kernel
}

func (s simple) function() *Function {
	return &Function{Name: s.name, Aliases: s.aliases, Bind: func(b *Binding) (*Bound, error) {
		if err := b.Arity(s.least, s.most); err != nil {
			return nil, err
		}
		c := make([]types.DataType, len(b.Args))
		if len(s.args) > 0 {
			var err error
			if s.swapped && len(b.Args) == 2 {
				as := *b
				as.Args, as.shown = []Arg{b.Args[1], b.Args[0]}, b.SQL()
				if c, err = as.Accept(s.args...); err != nil {
					return nil, err
				}
				c[0], c[1] = c[1], c[0]
			} else if c, err = b.Accept(s.args...); err != nil {
				return nil, err
			}
		}
		return &Bound{
			Args: c, Type: s.result, Nullable: s.nullable || b.nullable(c), TakesConst: true, CanFail: s.canFail, TryArgs: s.tryArgs,
			Nondeterministic: s.drawn != nil && s.drawn(b),
			New:              func() Kernel { return s.kernel(b) },
		}, nil
	}}
}

func simples(all ...simple) []*Function {
	fs := make([]*Function, len(all))
	for i, s := range all {
		fs[i] = s.function()
	}
	return fs
}

// textTo is a simple function of texts to text.
func textTo(name string, least, most int, write writeText, args ...Accept) simple {
	if len(args) == 0 {
		args = []Accept{text}
	}
	return simple{
		name: name, least: least, most: most, args: args, result: types.String,
		kernel: func(*Binding) Kernel { return textKernel(write) },
	}
}

func int32At(v *vec.Vector, i int) int { return int(vec.At[int32](v, i)) }

// rowTexts prints every value of one argument, null as nothing at all: bind is told the values of a batch, and write adds the text of one.
func rowTexts(bind func(v *vec.Vector), write func(buf []byte, i int) []byte) Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		spans := out.ResetBytes(n, nil)
		buf := out.Buffer()
		v := args[0].Flatten()
		bind(v)
		for i := range spans {
			at := len(buf)
			if !v.IsNull(i) {
				buf = write(buf, i)
			}
			spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
		}
		out.SetBuffer(buf)
		return out
	}
}
