package fn

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func hashFunctions() []*Function {
	return []*Function{
		{Name: "hash", Bind: func(b *Binding) (*Bound, error) { return bindHash(b, types.Integer, murmurKernel) }},
		{Name: "xxhash64", Bind: func(b *Binding) (*Bound, error) { return bindHash(b, types.Long, xxhashKernel) }},
	}
}

// hashSeed is the seed of Spark's hash functions.
const hashSeed = 42

// bindHash binds a hash of all arguments; nulls do not change it.
func bindHash(b *Binding, t types.DataType, kernel func() Kernel) (*Bound, error) {
	if err := b.Arity(1, -1); err != nil {
		return nil, err
	}
	for _, a := range b.Args {
		if !types.IsGroupable(a.Type) {
			return nil, errclass.New("DATATYPE_MISMATCH.HASH_VARIANT_TYPE", "sqlExpr", b.SQL(), "functionName", "`"+b.Name+"`")
		}
		if hashesMap(a.Type) {
			return nil, errclass.New("DATATYPE_MISMATCH.HASH_MAP_TYPE", "sqlExpr", b.SQL(), "functionName", "`"+b.Name+"`")
		}
	}
	return &Bound{Args: make([]types.DataType, len(b.Args)), Type: t, NullsAreArgs: true, New: kernel}, nil
}

func hashesMap(t types.DataType) bool {
	switch t := t.(type) {
	case types.MapType:
		return true
	case types.ArrayType:
		return hashesMap(t.Element)
	case types.StructType:
		for _, f := range t.Fields {
			if hashesMap(f.Type) {
				return true
			}
		}
	}
	return false
}

func murmurKernel() Kernel {
	var hashes []uint32
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		hashes = vec.PartitionHash(args, n, hashes[:0])
		for i, h := range hashes {
			vec.Fixed[int32](out)[i] = int32(h)
		}
		return out
	}
}

func xxhashKernel() Kernel {
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		dst := vec.Fixed[int64](out)
		for i := range dst {
			h := uint64(hashSeed)
			for _, a := range args {
				h = XXHashRow(a, i, h)
			}
			dst[i] = int64(h)
		}
		return out
	}
}
