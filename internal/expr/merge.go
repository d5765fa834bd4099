package expr

import (
	"slices"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// merger puts a column together from pieces, each of which has the values of some of its rows. Rows of no piece are null. A row
// that is null in one piece may be in a later one again.
type merger struct {
	n      int
	pieces []piece
	out    vec.Vector
	flat   []*vec.Vector // scratch for dictionary pieces
	valid  vec.Bitmap
	idx    []uint32
}

// piece is a Flat or Const vector whose value k is row rows[k].
type piece struct {
	v    *vec.Vector
	rows []uint32
}

// start begins a column of n rows.
func (m *merger) start(t types.DataType, n int) {
	m.n, m.pieces = n, m.pieces[:0]
	m.out.Retype(t)
}

// add takes the values of some rows. The vector must stay valid until finish.
func (m *merger) add(v *vec.Vector, rows []uint32) {
	if v.Encoding() == vec.Dict {
		k := len(m.pieces)
		for len(m.flat) <= k {
			m.flat = append(m.flat, &vec.Vector{})
		}
		v = v.FlattenInto(m.flat[k])
	}
	if v.Phys() != vec.PhysNull { // a void operand says no more than that its rows are null
		m.pieces = append(m.pieces, piece{v, rows})
	}
}

func (m *merger) finish() *vec.Vector {
	m.out.SetBorrowed(true)
	switch m.out.Phys() {
	case vec.PhysNull:
		return vec.NewNulls(types.Null, m.n)
	case vec.PhysBool, vec.PhysInt8:
		mergeFixed[uint8](m)
	case vec.PhysInt16:
		mergeFixed[int16](m)
	case vec.PhysInt32, vec.PhysFloat32:
		mergeFixed[int32](m)
	case vec.PhysInt64, vec.PhysFloat64:
		mergeFixed[int64](m)
	case vec.PhysInt128, vec.PhysInterval:
		mergeFixed[vec.Int128](m)
	case vec.PhysBytes:
		m.mergeBytes()
	default:
		return m.mergeNested()
	}
	m.mergeValidity()
	return &m.out
}

func mergeFixed[T vec.FixedWidth](m *merger) {
	m.out.ResetFixed(m.n)
	dst := vec.Fixed[T](&m.out)
	for _, p := range m.pieces {
		src := vec.Fixed[T](p.v)
		if p.v.Encoding() == vec.Const {
			x := src[0]
			for _, i := range p.rows {
				dst[i] = x
			}
			continue
		}
		src = src[:len(p.rows)]
		for k, i := range p.rows {
			dst[i] = src[k]
		}
	}
}

// mergeBytes copies the pieces' bytes into one buffer, a constant's once.
func (m *merger) mergeBytes() {
	buf := m.out.Buffer()
	spans := m.out.ResetBytes(m.n, nil)
	clear(spans)
	for _, p := range m.pieces {
		src := p.v.Bytes()
		if p.v.Encoding() == vec.Const {
			if p.v.IsNull(0) || len(p.rows) == 0 {
				continue
			}
			at := len(buf)
			buf = append(buf, p.v.BytesAt(0)...)
			s := vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
			for _, i := range p.rows {
				spans[i] = s
			}
			continue
		}
		valid := p.v.Validity()
		for k, s := range p.v.Spans() {
			if valid.Get(k) {
				spans[p.rows[k]] = vec.Span{Off: uint32(len(buf)), Len: s.Len}
				buf = append(buf, src[s.Off:s.Off+s.Len]...)
			}
		}
	}
	m.out.SetBuffer(buf)
}

// mergeValidity sets the result's bitmap from the pieces'.
func (m *merger) mergeValidity() {
	covered := 0
	nulls := false
	for _, p := range m.pieces {
		covered += len(p.rows)
		nulls = nulls || p.v.HasNulls()
	}
	if !nulls && covered == m.n {
		return
	}
	m.valid = vec.GrowBitmap(m.valid, m.n)
	clear(m.valid)
	for _, p := range m.pieces {
		valid := p.v.Validity()
		if p.v.Encoding() == vec.Const {
			if !valid.Get(0) {
				continue
			}
			valid = nil
		}
		for k, i := range p.rows {
			if valid.Get(k) {
				m.valid.Set(int(i))
			}
		}
	}
	m.out.SetValidity(m.valid)
}

// mergeNested joins the pieces and gathers their rows.
func (m *merger) mergeNested() *vec.Vector {
	if len(m.pieces) == 0 {
		return vec.NewNulls(m.out.Type(), m.n)
	}
	m.idx = slices.Grow(m.idx[:0], m.n)[:m.n]
	for i := range m.idx {
		m.idx[i] = vec.NoRow
	}
	vs := make([]*vec.Vector, len(m.pieces))
	at := uint32(0)
	for j, p := range m.pieces {
		if p.v.Encoding() == vec.Const { // one stored row is enough
			vs[j] = p.v.Slice(0, 1)
			for _, i := range p.rows {
				m.idx[i] = at
			}
			at++
			continue
		}
		vs[j] = p.v
		for k, i := range p.rows {
			m.idx[i] = at + uint32(k)
		}
		at += uint32(len(p.rows))
	}
	return vec.Take(vec.Concat(vs), m.idx, &m.out)
}
