package fn

import (
	"encoding/hex"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func randomFunctions() []*Function {
	return []*Function{
		{Name: "rand", Aliases: []string{"random"}, Bind: func(b *Binding) (*Bound, error) { return bindRand(b, (*xorShift).double) }},
		{Name: "randn", Bind: func(b *Binding) (*Bound, error) { return bindRand(b, (*xorShift).gaussian) }},
		{Name: "uuid", Bind: bindUUID},
		{Name: "monotonically_increasing_id", Bind: bindRowID},
		{Name: "spark_partition_id", Bind: bindPartitionID},
	}
}

// xorShift is the generator of Spark's rand, so that a seed gives the numbers that it gives there.
type xorShift struct {
	seed int64
	next float64 // of gaussian, which makes them in pairs
	have bool
}

// newXorShift scrambles a seed, because seeds that are near one another would give numbers that are.
func newXorShift(seed int64) *xorShift {
	var b [64]byte
	for i := range 8 {
		b[i] = byte(seed >> (56 - 8*i))
	}
	low := murmur3(b[:], 0x3c074a61)
	high := murmur3(b[:], low)
	return &xorShift{seed: int64(uint64(high)<<32 | uint64(low))}
}

// murmur3 is the plain 32-bit MurmurHash3 of bytes whose number is a multiple of four.
func murmur3(b []byte, seed uint32) uint32 {
	h := seed
	for i := 0; i < len(b); i += 4 {
		k := uint32(b[i]) | uint32(b[i+1])<<8 | uint32(b[i+2])<<16 | uint32(b[i+3])<<24
		k = bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593
		h = bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64
	}
	h ^= uint32(len(b))
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

func (r *xorShift) bits(n uint) int64 {
	s := r.seed ^ r.seed<<21
	s ^= int64(uint64(s) >> 35)
	s ^= s << 4
	r.seed = s
	return int64(int32(s & (1<<n - 1)))
}

func (r *xorShift) double() float64 {
	high := r.bits(26) << 27
	return float64(high+r.bits(27)) * 0x1p-53
}

// gaussian makes normally distributed numbers by the polar method.
func (r *xorShift) gaussian() float64 {
	if r.have {
		r.have = false
		return r.next
	}
	for {
		x, y := 2*r.double()-1, 2*r.double()-1
		if s := x*x + y*y; s < 1 && s != 0 {
			m := math.Sqrt(-2 * math.Log(s) / s)
			r.next, r.have = y*m, true
			return x * m
		}
	}
}

// seedOf is the constant seed of a call, or one that is drawn for it; drawn ones change from batch to batch.
func (b *Binding) seedOf() (seed int64, drawn bool, err error) {
	if err := b.Arity(0, 1); err != nil {
		return 0, false, err
	}
	if len(b.Args) == 0 {
		return rand.Int64(), true, nil
	}
	a := b.Args[0]
	if a.Const == nil || !IsIntegral(a.Type) && !isNull(a.Type) {
		if a.Const != nil {
			return 0, false, b.wrongType(0, `("INT" or "BIGINT")`)
		}
		return 0, false, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.SQL(), "inputName", "`seed`",
			"inputType", `("INT" or "BIGINT")`, "inputExpr", `"`+a.SQL+`"`)
	}
	if a.Const.IsNull(0) {
		return 0, false, nil
	}
	return loadInt(a.Const, 0), false, nil
}

// bindRand binds numbers that depend on the seed, the part and the number of the row in it.
func bindRand(b *Binding, draw func(*xorShift) float64) (*Bound, error) {
	seed, drawn, err := b.seedOf()
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: make([]types.DataType, len(b.Args)), Type: types.Double, Nondeterministic: true, NullsAreArgs: true, TakesConst: true,
		New: func() Kernel {
			var (
				gen  *xorShift
				part int
				row  int64 // that gen makes next
				base int64
			)
			return func(e *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
				out.ResetFixed(n)
				from := seed
				if drawn && e.Batch != nil {
					from += e.Batch.Seed * 0x5DEECE66D
				}
				if gen == nil || part != e.Part || row > e.Row || base != from {
					gen, part, row, base = newXorShift(from+int64(e.Part)), e.Part, 0, from
				}
				for ; row < e.Row; row++ { // rows that this call was not asked for
					draw(gen)
				}
				dst := vec.Fixed[float64](out)
				for i := range dst {
					dst[i] = draw(gen)
				}
				row += int64(n)
				return out
			}
		},
	}, nil
}

// rowSource is a generator of its own for a row.
func rowSource(e *expr.Eval, i int, seed int64) rand.Source {
	if e.Batch != nil {
		seed ^= e.Batch.Seed
	}
	return rand.NewPCG(uint64(seed), uint64(e.Part)<<40^uint64(e.Row+int64(i)))
}

func bindUUID(b *Binding) (*Bound, error) {
	seed, _, err := b.seedOf()
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: make([]types.DataType, len(b.Args)), Type: types.String, Nondeterministic: true, NullsAreArgs: true, TakesConst: true,
		New: func() Kernel {
			return func(e *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
				spans := out.ResetBytes(n, nil)
				buf := make([]byte, 0, 36*n)
				for i := range spans {
					spans[i] = vec.Span{Off: uint32(len(buf)), Len: 36}
					src := rowSource(e, i, seed)
					hi, lo := src.Uint64()&^0xf000|0x4000, src.Uint64()&^(3<<62)|2<<62
					buf = appendUUID(buf, hi, lo)
				}
				out.SetBytes(buf)
				return out
			}
		},
	}, nil
}

func appendUUID(b []byte, hi, lo uint64) []byte {
	var raw [16]byte
	for i := range 8 {
		raw[i], raw[8+i] = byte(hi>>(56-8*i)), byte(lo>>(56-8*i))
	}
	for i, part := range [][]byte{raw[:4], raw[4:6], raw[6:8], raw[8:10], raw[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return b
}

// bindRowID binds numbers that are unique: the part in the upper 31 bits, the row in it in the lower 33.
func bindRowID(b *Binding) (*Bound, error) {
	if err := b.Arity(0, 0); err != nil {
		return nil, err
	}
	return &Bound{Type: types.Long, Nondeterministic: true, New: func() Kernel {
		return func(e *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[int64](out)
			for i := range dst {
				dst[i] = int64(e.Part)<<33 + e.Row + int64(i)
			}
			return out
		}
	}}, nil
}

func bindPartitionID(b *Binding) (*Bound, error) {
	if err := b.Arity(0, 0); err != nil {
		return nil, err
	}
	return &Bound{Type: types.Integer, Nondeterministic: true, New: func() Kernel {
		return func(e *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			fill(vec.Fixed[int32](out), int32(e.Part))
			return out
		}
	}}, nil
}
