package group

import (
	"math"
	"math/bits"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// words is the table for keys of several columns of fixed width, or of one that is no integer: a key is a few words of eight bytes,
// which lie together. When there are nulls, one more word has a bit for each null column and field; their values are 0 then, so that
// keys are equal when their words are.
type words struct {
	index
	layout    *wordsOf
	nulls     bool // keys have the word for nulls
	stride    int
	keys      []uint64 // by group, stride for each
	buf       []uint64 // those of the rows at hand
	rowHashes []uint64
}

// wordsOf says which words of a key the columns are.
type wordsOf struct {
	cols  []wordColumn
	count int // without the one for nulls
	bits  int
}

// wordColumn is one column or field.
type wordColumn struct {
	typ  types.DataType
	phys vec.Phys
	word int // the first of its words
	bit  int // that is set when it is null
	kids []wordColumn
}

// maxWords keeps very wide keys from being copied as words; their strings of bytes are hardly larger.
const maxWords = 8

// wordLayout returns nil for keys that have columns of another kind.
func wordLayout(keyTypes []types.DataType) *wordsOf {
	l := &wordsOf{}
	var ok bool
	if l.cols, ok = l.columns(keyTypes); !ok || l.count == 0 || l.count > maxWords || l.bits > 64 {
		return nil
	}
	return l
}

func (l *wordsOf) columns(ts []types.DataType) ([]wordColumn, bool) {
	cols := make([]wordColumn, len(ts))
	for i, t := range ts {
		c := wordColumn{typ: t, phys: vec.PhysOf(t), word: l.count, bit: l.bits}
		l.bits++
		switch c.phys {
		case vec.PhysStruct:
			var ok bool
			if c.kids, ok = l.columns(vec.KidTypes(t)); !ok {
				return nil, false
			}
		case vec.PhysInt128, vec.PhysInterval:
			l.count += 2
		case vec.PhysBool, vec.PhysInt8, vec.PhysInt16, vec.PhysInt32, vec.PhysInt64, vec.PhysFloat32, vec.PhysFloat64:
			l.count++
		default:
			return nil, false
		}
		cols[i] = c
	}
	return cols, true
}

func newWords(l *wordsOf) *words {
	x := &words{layout: l, stride: l.count}
	x.init()
	return x
}

// Resolve implements Table.
func (x *words) Resolve(cols []*vec.Vector, n int, insert bool, ids, fresh []uint32) []uint32 {
	if !x.nulls && mayBeNull(cols) {
		x.widen()
	}
	x.encode(cols, n)
	x.refresh()
	if insert {
		x.reserve(n + 1)
	}
	st := x.stride
	for i, h := range x.rowHashes {
		row := x.buf[i*st : i*st+st : i*st+st]
		tag := uint32(h)
		put := ^uint64(0)
	probe:
		for s := h & x.mask; ; s = (s + 1) & x.mask {
			e := x.slots[s]
			if e == 0 {
				if !insert {
					ids[i] = None
					break
				}
				if put != ^uint64(0) {
					s = put
				} else {
					x.used++
				}
				id := x.add(tag)
				x.slots[s] = slotOf(tag, id)
				x.keys = append(x.keys, row...)
				fresh = append(fresh, id)
				ids[i] = id
				break
			}
			if uint32(e>>32) != tag || e == tombstone {
				if e == tombstone && put == ^uint64(0) {
					put = s
				}
				continue
			}
			g := uint32(e) - 1
			for k, w := range x.keys[int(g)*st : int(g)*st+st] {
				if w != row[k] {
					continue probe
				}
			}
			ids[i] = g
			break
		}
	}
	return fresh
}

// mayBeNull tells whether a column or field of a struct has nulls.
func mayBeNull(cols []*vec.Vector) bool {
	for _, v := range cols {
		stored := v.Len()
		if v.Encoding() == vec.Const {
			stored = 1
		}
		if !v.Validity().All(stored) || mayBeNull(v.Kids()) {
			return true
		}
	}
	return false
}

// widen gives all keys the word for nulls.
func (x *words) widen() {
	was := x.stride
	x.nulls, x.stride = true, was+1
	keys := make([]uint64, 0, len(x.keys)/was*x.stride)
	for k := x.keys; len(k) > 0; k = k[was:] {
		keys = append(append(keys, k[:was]...), 0)
	}
	x.keys = keys
}

// encode fills buf and hashes for n rows.
func (x *words) encode(cols []*vec.Vector, n int) {
	if cap(x.buf) < n*x.stride {
		x.buf = make([]uint64, n*x.stride+n)
	}
	x.buf = x.buf[:n*x.stride]
	if x.nulls {
		clear(x.buf)
	}
	x.put(x.layout.cols, cols, n, nil)
	if cap(x.rowHashes) < n {
		x.rowHashes = make([]uint64, n+n/4)
	}
	x.rowHashes = x.rowHashes[:n]
	count := x.layout.count
	for i := range x.rowHashes {
		row := x.buf[i*x.stride : i*x.stride+x.stride]
		h := uint64(hashSeed)
		for _, w := range row[:count] {
			h = mix(h, w)
		}
		if x.nulls && row[count] != 0 {
			h = mix(h, row[count])
		}
		x.rowHashes[i] = h ^ h>>32
	}
}

const (
	hashSeed = 0x9e3779b97f4a7c15
	hashMix  = 0xd6e8feb86659fd93
)

// mix takes one more word into a hash.
func mix(h, w uint64) uint64 {
	hi, lo := bits.Mul64(h^w, hashMix)
	return hi ^ lo + hashSeed
}

// put writes columns, which are fields of structs that may be null by outer.
func (x *words) put(cols []wordColumn, vs []*vec.Vector, n int, outer vec.Bitmap) {
	for i := range cols {
		c, v := &cols[i], vs[i]
		valid := isPresent(v, outer, n)
		if valid != nil {
			x.putNulls(c, valid, n)
		}
		switch c.phys {
		case vec.PhysStruct:
			kids := make([]*vec.Vector, len(v.Kids()))
			for k, kid := range v.Kids() {
				kids[k] = constLike(kid, v)
			}
			x.put(c.kids, kids, n, valid)
		case vec.PhysBool, vec.PhysInt8:
			putWords(x, c.word, vec.Fixed[uint8](v), v.Encoding() == vec.Const, valid, n)
		case vec.PhysInt16:
			putWords(x, c.word, vec.Fixed[int16](v), v.Encoding() == vec.Const, valid, n)
		case vec.PhysInt32:
			putWords(x, c.word, vec.Fixed[uint32](v), v.Encoding() == vec.Const, valid, n)
		case vec.PhysInt64:
			putWords(x, c.word, vec.Fixed[uint64](v), v.Encoding() == vec.Const, valid, n)
		default:
			x.putOther(c, v, valid, n)
		}
	}
}

func (x *words) putNulls(c *wordColumn, valid vec.Bitmap, n int) {
	at := x.layout.count
	for i := range n {
		if !valid.Get(i) {
			x.buf[i*x.stride+at] |= 1 << c.bit
		}
	}
}

// putWords writes integers. Null rows are 0 already.
func putWords[T uint8 | int16 | uint32 | uint64](x *words, word int, xs []T, one bool, valid vec.Bitmap, n int) {
	buf, st := x.buf[word:], x.stride
	switch {
	case valid != nil:
		for i := range n {
			if valid.Get(i) {
				buf[i*st] = uint64(xs[pick(i, one)])
			}
		}
	case one:
		for i := range n {
			buf[i*st] = uint64(xs[0])
		}
	default:
		for i, v := range xs[:n] {
			buf[i*st] = uint64(v)
		}
	}
}

// putOther writes what takes more than a conversion.
func (x *words) putOther(c *wordColumn, v *vec.Vector, valid vec.Bitmap, n int) {
	one := v.Encoding() == vec.Const
	for i := range n {
		if !valid.Get(i) {
			continue
		}
		to, from := x.buf[i*x.stride+c.word:], pick(i, one)
		switch c.phys {
		case vec.PhysFloat32:
			to[0] = uint64(bits32(vec.Fixed[float32](v)[from]))
		case vec.PhysFloat64:
			to[0] = bits64(vec.Fixed[float64](v)[from])
		case vec.PhysInt128:
			d := vec.Fixed[vec.Int128](v)[from]
			to[0], to[1] = d.Lo, uint64(d.Hi)
		case vec.PhysInterval:
			d := vec.Fixed[vec.Interval](v)[from]
			to[0], to[1] = uint64(uint32(d.Months))|uint64(uint32(d.Days))<<32, uint64(d.Micros)
		}
	}
}

// Keys implements Table.
func (x *words) Keys(ids []uint32) []*vec.Vector {
	out := make([]*vec.Vector, len(x.layout.cols))
	for i := range out {
		out[i] = x.column(&x.layout.cols[i], ids)
	}
	return out
}

func (x *words) column(c *wordColumn, ids []uint32) *vec.Vector {
	var v *vec.Vector
	keys, st := x.keys, x.stride
	if len(ids) > 0 {
		keys = keys[c.word:]
	}
	switch c.phys {
	case vec.PhysStruct:
		kids := make([]*vec.Vector, len(c.kids))
		for k := range kids {
			kids[k] = x.column(&c.kids[k], ids)
		}
		v = vec.NewStruct(c.typ, len(ids), kids)
	default:
		v = vec.NewFixed(c.typ, len(ids))
		switch c.phys {
		case vec.PhysBool, vec.PhysInt8:
			getWords(vec.Fixed[uint8](v), keys, st, ids)
		case vec.PhysInt16:
			getWords(vec.Fixed[int16](v), keys, st, ids)
		case vec.PhysInt32:
			getWords(vec.Fixed[uint32](v), keys, st, ids)
		case vec.PhysInt64:
			getWords(vec.Fixed[uint64](v), keys, st, ids)
		case vec.PhysFloat32:
			for i, g := range ids {
				vec.Fixed[float32](v)[i] = math.Float32frombits(uint32(keys[int(g)*st]))
			}
		case vec.PhysFloat64:
			for i, g := range ids {
				vec.Fixed[float64](v)[i] = math.Float64frombits(keys[int(g)*st])
			}
		case vec.PhysInt128:
			for i, g := range ids {
				vec.Fixed[vec.Int128](v)[i] = vec.Int128{Lo: keys[int(g)*st], Hi: int64(keys[int(g)*st+1])}
			}
		case vec.PhysInterval:
			for i, g := range ids {
				w := keys[int(g)*st]
				vec.Fixed[vec.Interval](v)[i] = vec.Interval{Months: int32(uint32(w)), Days: int32(w >> 32), Micros: int64(keys[int(g)*st+1])}
			}
		}
	}
	if x.nulls {
		x.setNulls(v, c.bit, ids)
	}
	return v
}

func getWords[T uint8 | int16 | uint32 | uint64](dst []T, keys []uint64, st int, ids []uint32) {
	dst = dst[:len(ids)]
	for i, g := range ids {
		dst[i] = T(keys[int(g)*st])
	}
}

func (x *words) setNulls(v *vec.Vector, bit int, ids []uint32) {
	var valid vec.Bitmap
	for i, g := range ids {
		if x.keys[int(g)*x.stride+x.layout.count]>>bit&1 == 0 {
			continue
		}
		if valid == nil {
			valid = vec.NewBitmapSet(len(ids))
		}
		valid.Clear(i)
	}
	if valid != nil {
		v.SetValidity(valid)
	}
}

// Delete implements Table.
func (x *words) Delete(ids []uint32) { x.remove(ids) }

// Compact implements Table.
func (x *words) Compact() {
	old := x.compact()
	x.keys = keepRows(x.keys, old, x.stride)
}

// Bytes implements Table.
func (x *words) Bytes() int64 { return x.bytes() + int64(cap(x.keys))*8 }

// Probe implements Table.
func (x *words) Probe() Table {
	x.refresh()
	y := *x
	y.buf, y.rowHashes = nil, nil
	return &y
}
