package fn

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/random"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func randomFunctions() []*Function {
	return []*Function{
		{Name: "rand", Aliases: []string{"random"}, Bind: func(b *Binding) (*Bound, error) { return bindRand(b, (*random.XORShift).Float64) }},
		{Name: "randn", Bind: func(b *Binding) (*Bound, error) { return bindRand(b, (*random.XORShift).Gaussian) }},
		{Name: "uuid", Bind: bindUUID},
		{Name: "randstr", Bind: bindRandText},
		{Name: "uniform", Bind: bindUniform},
		{Name: "monotonically_increasing_id", Bind: bindRowID},
		{Name: "spark_partition_id", Bind: bindPartitionID},
	}
}

// seedOf is the constant seed that is argument i of a call, or one that is drawn for it; drawn ones change from batch to batch.
func (b *Binding) seedOf(i int) (seed int64, drawn bool, err error) {
	if len(b.Args) <= i {
		return rand.Int64(), true, nil
	}
	a := b.Args[i]
	if r := rank(a.Type); r != 3 && r != 4 && !isNull(a.Type) {
		return 0, false, b.wrongType(i, `("INT" or "BIGINT")`)
	}
	if a.Const == nil && strings.HasPrefix(b.Name, "rand") && b.Name != "randstr" {
		return 0, false, errclass.New("SEED_EXPRESSION_IS_UNFOLDABLE", "seedExpr", `"`+a.SQL+`"`, "exprWithSeed", b.SQL())
	}
	if a.Const == nil {
		return 0, false, b.notConst(i, "seed", `("INT" or "BIGINT")`)
	}
	if a.Const.IsNull(0) {
		return 0, false, nil
	}
	return loadInt(a.Const, 0), false, nil
}

// rowGen is a generator for each part, from which the rows of the part draw one after the other.
type rowGen[G any] struct {
	seed  int64
	drawn bool
	make  func(seed int64) G
	gen   G
	have  bool
	part  int
	row   int64 // that gen draws for next
	base  int64
}

// at gives the generator for the next n rows of e. skip draws for a row that the call was not asked for.
func (r *rowGen[G]) at(e *expr.Eval, n int, skip func(G)) G {
	from := r.seed
	if r.drawn && e.Batch != nil {
		from += e.Batch.Seed * 0x5DEECE66D
	}
	if !r.have || r.part != e.Part || r.row > e.Row || r.base != from {
		r.gen, r.have, r.part, r.row, r.base = r.make(from+int64(e.Part)), true, e.Part, 0, from
	}
	for ; r.row < e.Row; r.row++ {
		skip(r.gen)
	}
	r.row += int64(n)
	return r.gen
}

// bindRand binds numbers that depend on the seed, the part and the number of the row in it.
func bindRand(b *Binding, draw func(*random.XORShift) float64) (*Bound, error) {
	if err := b.Arity(0, 1); err != nil {
		return nil, err
	}
	if len(b.Args) == 1 && b.Args[0].Const == nil && IsIntegral(b.Args[0].Type) {
		return nil, errclass.New("SEED_EXPRESSION_IS_UNFOLDABLE", "seedExpr", `"`+b.Args[0].SQL+`"`, "exprWithSeed", b.SQL())
	}
	seed, drawn, err := b.seedOf(0)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: make([]types.DataType, len(b.Args)), Type: types.Double, Nondeterministic: true, NullsAreArgs: true, TakesConst: true,
		New: func() Kernel {
			rows := &rowGen[*random.XORShift]{seed: seed, drawn: drawn, make: random.NewXORShift}
			return func(e *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
				out.ResetFixed(n)
				gen := rows.at(e, n, func(g *random.XORShift) { draw(g) })
				dst := vec.Fixed[float64](out)
				for i := range dst {
					dst[i] = draw(gen)
				}
				return out
			}
		},
	}, nil
}

func (b *Binding) notConst(i int, name, want string) error {
	return errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.SQL(), "inputName", "`"+name+"`",
		"inputType", want, "inputExpr", `"`+b.Args[i].SQL+`"`)
}

// bindRandText binds randstr(length[, seed]): letters and digits.
func bindRandText(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	c := make([]types.DataType, len(b.Args))
	length := integer
	length.name = `"INT" or "SMALLINT"`
	to, ok := length.implicit(b.Args[0], b.ANSI)
	if !ok {
		return nil, b.wrongType(0, length.name)
	}
	c[0] = to
	if b.Args[0].Const == nil {
		return nil, b.notConst(0, "length", length.name)
	}
	seed, drawn, err := b.seedOf(1)
	if err != nil {
		return nil, err
	}
	return &Bound{
		Args: c, Type: types.String, Nondeterministic: true, NullsAreArgs: true, TakesConst: true, CanFail: true,
		New: func() Kernel {
			rows := &rowGen[*random.XORShift]{seed: seed, drawn: drawn, make: random.NewXORShift}
			var buf []byte
			return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
				spans := out.ResetBytes(n, nil)
				buf = buf[:0]
				size := 0
				if n > 0 && !args[0].IsNull(0) {
					size = int32At(args[0], 0)
				}
				if size < 0 {
					for i := range n {
						e.Errs.Add(i, errclass.New("INVALID_PARAMETER_VALUE.LENGTH", "functionName", "`randstr`", "parameter", "`length`", "length", itoa(size)))
					}
					out.SetBytes(buf)
					return out
				}
				gen := rows.at(e, n, func(g *random.XORShift) {
					for range size {
						g.Bits(32)
					}
				})
				for i := range spans {
					spans[i] = vec.Span{Off: uint32(len(buf)), Len: uint32(size)}
					for range size {
						buf = append(buf, randomLetter(gen))
					}
				}
				out.SetBytes(buf)
				return out
			}
		},
	}, nil
}

const randomLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func randomLetter(g *random.XORShift) byte {
	v := g.Bits(32) % int64(len(randomLetters))
	return randomLetters[max(v, -v)]
}

// bindUniform binds uniform(least, most[, seed]): numbers of the type in which the bounds meet.
func bindUniform(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	null := false
	var common types.DataType = types.Null
	for i, name := range []string{"min", "max"} {
		a := b.Args[i]
		if !IsNumeric(a.Type) && !isNull(a.Type) {
			return nil, b.wrongType(i, "integer or floating-point")
		}
		if a.Const == nil {
			return nil, b.notConst(i, name, "integer or floating-point")
		}
		null = null || a.Const.IsNull(0)
		common, _ = CommonType(common, a.Type, false)
	}
	seed, drawn, err := b.seedOf(2)
	if err != nil {
		return nil, err
	}
	if isNull(b.Args[0].Type) || isNull(b.Args[1].Type) {
		common = types.Double
	}
	if isDecimal(common) {
		common = uniformDecimal(b)
	}
	work, err := BindCast(types.Double, common, CastLegacy, b.Zone)
	if err != nil {
		return nil, err
	}
	want := make([]types.DataType, len(b.Args))
	want[0], want[1] = types.Double, types.Double
	return &Bound{
		Args: casts(b, append(want[:2], argTypes(b.Args[2:])...)...), Type: common, Nondeterministic: true, NullsAreArgs: true, TakesConst: true,
		New: func() Kernel {
			rows := &rowGen[*random.XORShift]{seed: seed, drawn: drawn, make: random.NewXORShift}
			cast := work.New()
			var drawnVec vec.Vector
			return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
				if null || n == 0 {
					return vec.NewNulls(common, n)
				}
				gen := rows.at(e, n, func(g *random.XORShift) { g.Float64() })
				low, high := vec.At[float64](args[0], 0), vec.At[float64](args[1], 0)
				drawnVec.Retype(types.Double)
				drawnVec.ResetFixed(n)
				dst := vec.Fixed[float64](&drawnVec)
				for i := range dst {
					dst[i] = low + (high-low)*gen.Float64()
				}
				if isDouble(common) {
					return &drawnVec
				}
				return cast(e, n, []*vec.Vector{&drawnVec}, out)
			}
		},
	}, nil
}

func isDouble(t types.DataType) bool { return rank(t) == 6 }

func argTypes(args []Arg) []types.DataType {
	ts := make([]types.DataType, len(args))
	for i, a := range args {
		ts[i] = a.Type
	}
	return ts
}

// uniformDecimal is the type of the bound with more digits.
func uniformDecimal(b *Binding) types.DataType {
	x, y := DecimalFor(b.Args[0].Type), DecimalFor(b.Args[1].Type)
	if x.Precision > y.Precision {
		return x
	}
	return y
}

// rowSource is a generator of its own for a row.
func rowSource(e *expr.Eval, i int, seed int64) rand.Source {
	if e.Batch != nil {
		seed ^= e.Batch.Seed
	}
	return rand.NewPCG(uint64(seed), uint64(e.Part)<<40^uint64(e.Row+int64(i)))
}

// bindUUID binds uuid([seed]). With a seed the numbers come from the generator of the part, as in Spark.
func bindUUID(b *Binding) (*Bound, error) {
	if err := b.Arity(0, 1); err != nil {
		return nil, err
	}
	seed, drawn, err := b.seedOf(0)
	if err != nil {
		return nil, err
	}
	draw := func(g *twister) (hi, lo uint64) {
		hi = g.uint64()&^0xf000 | 0x4000
		return hi, (g.uint64() | 1<<63) &^ (1 << 62)
	}
	return &Bound{
		Args: make([]types.DataType, len(b.Args)), Type: types.String, Nondeterministic: true, NullsAreArgs: true, TakesConst: true,
		New: func() Kernel {
			rows := &rowGen[*twister]{seed: seed, make: newTwister}
			return func(e *expr.Eval, n int, _ []*vec.Vector, out *vec.Vector) *vec.Vector {
				spans := out.ResetBytes(n, nil)
				buf := make([]byte, 0, 36*n)
				var gen *twister
				if !drawn {
					gen = rows.at(e, n, func(g *twister) { draw(g) })
				}
				for i := range spans {
					spans[i] = vec.Span{Off: uint32(len(buf)), Len: 36}
					if drawn {
						src := rowSource(e, i, seed)
						buf = appendUUID(buf, src.Uint64()&^0xf000|0x4000, src.Uint64()&^(3<<62)|2<<62)
						continue
					}
					hi, lo := draw(gen)
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
