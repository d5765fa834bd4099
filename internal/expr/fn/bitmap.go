package fn

import (
	"encoding/binary"
	"math/bits"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// BitmapBits is how many numbers one bitmap stands for.
const BitmapBits = 8 * 4096

// bitmapFunctions deal with sets of numbers as bitmaps: a number has a bucket, counted from 1, and a position in its bucket's bitmap.
func bitmapFunctions() []*Function {
	long := func(name string, f func(x int64) int64) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) {
			if err := b.Arity(1, 1); err != nil {
				return nil, err
			}
			c, err := b.Accept(bigint)
			if err != nil {
				return nil, err
			}
			return &Bound{Args: c, Type: types.Long, Nullable: b.nullable(c), New: func() Kernel {
				return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
					out.ResetFixed(n)
					dst := vec.Fixed[int64](out)
					for i, x := range vec.Fixed[int64](args[0])[:n] {
						dst[i] = f(x)
					}
					return out
				}
			}}, nil
		}}
	}
	return []*Function{
		long("bitmap_bit_position", func(x int64) int64 {
			if x > 0 {
				return (x - 1) % BitmapBits
			}
			return int64(uint64(-x) % BitmapBits)
		}),
		long("bitmap_bucket_number", func(x int64) int64 {
			if x > 0 {
				return 1 + (x-1)/BitmapBits
			}
			return x / BitmapBits
		}),
		{Name: "bitmap_count", Bind: bindBitmapCount},
	}
}

func bindBitmapCount(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	if !isBinary(b.Args[0].Type) {
		return nil, b.wrongType(0, binaryArg.name)
	}
	return &Bound{Args: make([]types.DataType, 1), Type: types.Long, Nullable: b.nullable(nil), New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[int64](out)
			for i := range dst[:n] {
				count := 0
				if !args[0].IsNull(i) {
					p := args[0].BytesAt(i)
					for ; len(p) >= 8; p = p[8:] {
						count += bits.OnesCount64(binary.LittleEndian.Uint64(p))
					}
					for _, x := range p {
						count += bits.OnesCount8(x)
					}
				}
				dst[i] = int64(count)
			}
			return out
		}
	}}, nil
}
