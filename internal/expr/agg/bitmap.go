package agg

import (
	"encoding/binary"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

const bitmapBytes = fn.BitmapBits / 8

func bitmapFunctions() []*Function {
	return []*Function{
		{Name: "bitmap_construct_agg", Bind: bindBitmapConstruct},
		{Name: "bitmap_or_agg", Bind: func(b *Binding) (*Bound, error) { return bindBitmaps(b, false) }},
		{Name: "bitmap_and_agg", Bind: func(b *Binding) (*Bound, error) { return bindBitmaps(b, true) }},
	}
}

type bitmap [bitmapBytes]byte

// mix puts another bitmap to this one. A shorter one has zeros at its end.
func (m *bitmap) mix(o []byte, and bool) {
	n := min(len(o), len(m))
	i := 0
	if and {
		for ; i+8 <= n; i += 8 {
			binary.LittleEndian.PutUint64(m[i:], binary.LittleEndian.Uint64(m[i:])&binary.LittleEndian.Uint64(o[i:]))
		}
		for ; i < n; i++ {
			m[i] &= o[i]
		}
		clear(m[n:])
		return
	}
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(m[i:], binary.LittleEndian.Uint64(m[i:])|binary.LittleEndian.Uint64(o[i:]))
	}
	for ; i < n; i++ {
		m[i] |= o[i]
	}
}

func bitmapKind(and bool) *objectKind[bitmap] {
	k := &objectKind[bitmap]{
		result: types.Binary,
		fresh: func() *bitmap {
			m := new(bitmap)
			if and {
				for i := range m {
					m[i] = 0xff
				}
			}
			return m
		},
		save: func(b []byte, m *bitmap) []byte { return append(b, m[:]...) },
		size: func(*bitmap) int64 { return bitmapBytes },
	}
	k.merge = func(m *bitmap, image []byte) (*bitmap, error) {
		if m == nil {
			m = k.fresh()
		}
		m.mix(image, and)
		return m, nil
	}
	k.emit = func(out *vec.Builder, m *bitmap) error {
		if m == nil {
			m = k.fresh()
		}
		out.AppendBytes(m[:])
		return nil
	}
	return k
}

// bindBitmapConstruct binds the bitmap of positions, which bitmap_bit_position gives.
func bindBitmapConstruct(b *Binding) (*Bound, error) {
	if err := b.call().Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := b.call().Accept(fn.CastTo(types.Long))
	if err != nil {
		return nil, err
	}
	k := bitmapKind(false)
	k.update = func(e *expr.Eval, get func(g uint32) *bitmap, groups []uint32, args []*vec.Vector) {
		v := flatten(args[0])
		x := vec.Fixed[int64](v)
		for i, g := range groups {
			switch {
			case v.IsNull(i):
			case x[i] < 0 || x[i] >= fn.BitmapBits:
				e.Errs.Add(i, errclass.New("INVALID_BITMAP_POSITION", "bitPosition", strconv.FormatInt(x[i], 10),
					"bitmapNumBytes", strconv.Itoa(bitmapBytes), "bitmapNumBits", strconv.Itoa(fn.BitmapBits)))
			default:
				get(g)[x[i]/8] |= 1 << (x[i] % 8)
			}
		}
	}
	return k.bound(casts, false), nil
}

// bindBitmaps binds what all bitmaps of a group, or any of them, have.
func bindBitmaps(b *Binding, and bool) (*Bound, error) {
	if err := b.call().Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := b.call().Accept(fn.Bytes)
	if err != nil {
		return nil, err
	}
	k := bitmapKind(and)
	k.update = func(_ *expr.Eval, get func(g uint32) *bitmap, groups []uint32, args []*vec.Vector) {
		for i, g := range groups {
			if !args[0].IsNull(i) {
				get(g).mix(args[0].BytesAt(i), and)
			}
		}
	}
	return k.bound(casts, false), nil
}
