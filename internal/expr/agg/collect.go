package agg

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func collectFunctions() []*Function {
	return []*Function{
		{Name: "collect_list", Aliases: []string{"array_agg"}, Bind: func(b *Binding) (*Bound, error) { return bindCollect(b, false) }},
		{Name: "collect_set", Bind: func(b *Binding) (*Bound, error) { return bindCollect(b, true) }},
	}
}

// bindCollect binds the array of all values, or of all different ones, that are not null.
func bindCollect(b *Binding, set bool) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	e := b.Args[0].Type
	if set && hasMap(e) {
		return nil, errclass.New("DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE", "sqlExpr", c.SQL(), "functionName", "`collect_set`",
			"dataType", `"MAP" or "COLLATED STRING"`)
	}
	t := types.ArrayType{Element: e}
	return &Bound{
		Args: make([]types.DataType, 1), Type: t, State: []types.Field{field("buf", t, false)},
		New: func() States {
			s := &lists{t: t}
			if set {
				s.sets = []map[string]struct{}{}
			}
			return s
		},
	}, nil
}

func hasMap(t types.DataType) bool {
	switch t := t.(type) {
	case types.MapType:
		return true
	case types.ArrayType:
		return hasMap(t.Element)
	case types.StructType:
		for _, f := range t.Fields {
			if hasMap(f.Type) {
				return true
			}
		}
	}
	return false
}

// lists collect values. The values of all groups lie in chunks in the order in which they came; a group knows where its own are. The last
// chunk is open: it is a list of pieces until it is large, because moving values means to look at all groups.
type lists struct {
	t        types.ArrayType
	chunks   []*vec.Vector
	open     []*vec.Vector
	starts   []uint32 // of the pieces, within the open chunk
	openRows uint32
	total    int                   // values in all chunks
	live     int                   // those that still belong to a group
	refs     [][]ref               // by group
	sets     []map[string]struct{} // by group: the values as keys, when only different ones are wanted
	keys     vec.KeyBuffer
	bytes    int64
}

// ref is where a value lies.
type ref struct{ chunk, row uint32 }

func (s *lists) Grow(n int) {
	s.refs = grown(s.refs, n)
	if s.sets != nil {
		s.sets = grown(s.sets, n)
	}
}

func (s *lists) Update(_ *expr.Eval, groups []uint32, args []*vec.Vector) { s.add(groups, args[0]) }

// add appends row i of v to group groups[i].
func (s *lists) add(groups []uint32, v *vec.Vector) {
	if v.Phys() == vec.PhysNull {
		return
	}
	if s.sets != nil {
		vec.EncodeKeys([]*vec.Vector{v}, len(groups), &s.keys)
	}
	chunk := uint32(len(s.chunks))
	rows := make([]uint32, 0, len(groups))
	for i, g := range groups {
		if v.IsNull(i) {
			continue
		}
		if s.sets != nil {
			key := s.keys.Key(i)
			set := s.sets[g]
			if set == nil {
				set = map[string]struct{}{}
				s.sets[g] = set
			}
			if _, ok := set[string(key)]; ok {
				continue
			}
			set[string(key)] = struct{}{}
			s.bytes += int64(len(key)) + 48
		}
		s.refs[g] = append(s.refs[g], ref{chunk, s.openRows + uint32(len(rows))})
		rows = append(rows, uint32(i))
	}
	if len(rows) == 0 {
		return
	}
	values := vec.Take(v, rows, nil).Flatten().Own()
	if s.sets != nil {
		positiveZeros(values)
	}
	s.open, s.starts = append(s.open, values), append(s.starts, s.openRows)
	s.openRows += uint32(len(rows))
	s.total += len(rows)
	s.live += len(rows)
	s.bytes += int64(values.SizeBytes()) + int64(len(rows))*8
	switch {
	case s.total >= 1024 && s.live*2 < s.total:
		s.compact()
	case int(s.openRows) >= max(chunkRows, s.total/maxShare):
		s.seal()
	}
}

// positiveZeros makes 0 of -0 in values of fractions and in what holds them: as they are equal, a set has the one for both.
func positiveZeros(v *vec.Vector) {
	switch v.Phys() {
	case vec.PhysFloat64:
		addZero(vec.Fixed[float64](v))
	case vec.PhysFloat32:
		addZero(vec.Fixed[float32](v))
	}
	for _, kid := range v.Kids() {
		positiveZeros(kid)
	}
}

func addZero[T float32 | float64](x []T) {
	for i := range x {
		if x[i] == 0 {
			x[i] = 0
		}
	}
}

func (s *lists) Merge(_ *expr.Eval, groups []uint32, partial []*vec.Vector) {
	v := flatten(partial[0])
	var rows, owners []uint32
	for i, g := range groups {
		if v.IsNull(i) {
			continue
		}
		span, _ := v.SpanAt(i)
		for k := range span.Len {
			rows = append(rows, span.Off+k)
			owners = append(owners, g)
		}
	}
	if len(rows) > 0 {
		s.add(owners, vec.Take(v.Kids()[0], rows, nil))
	}
}

// A chunk has chunkRows at least, and one in maxShare of all values: there are not many of them.
const chunkRows, maxShare = 1 << 16, 64

// fold makes one piece of the open chunk.
func (s *lists) fold() {
	if len(s.open) < 2 {
		return
	}
	for _, v := range s.open {
		s.bytes -= int64(v.SizeBytes())
	}
	all := vec.Concat(s.open).Own()
	s.bytes += int64(all.SizeBytes())
	clear(s.open)
	s.open, s.starts = append(s.open[:0], all), s.starts[:1]
}

// find returns the vector and its row that a value lies in.
func (s *lists) find(r ref) (*vec.Vector, int) {
	if int(r.chunk) < len(s.chunks) {
		return s.chunks[r.chunk], int(r.row)
	}
	i, exact := slices.BinarySearch(s.starts, r.row)
	if !exact {
		i--
	}
	return s.open[i], int(r.row - s.starts[i])
}

// seal closes the open chunk.
func (s *lists) seal() {
	s.fold()
	s.chunks = append(s.chunks, s.open...)
	s.open, s.starts, s.openRows = nil, nil, 0
}

// compact makes one chunk of all, without the values that no group has any more.
func (s *lists) compact() {
	s.seal()
	base := vec.Concat(s.chunks)
	offsets := make([]uint32, len(s.chunks))
	n := uint32(0)
	for i, c := range s.chunks {
		offsets[i] = n
		n += uint32(c.Len())
		s.bytes -= int64(c.SizeBytes())
	}
	rows := make([]uint32, 0, s.live)
	for g := range s.refs {
		for k, r := range s.refs[g] {
			s.refs[g][k] = ref{0, uint32(len(rows))}
			rows = append(rows, offsets[r.chunk]+r.row)
		}
	}
	values := vec.Take(base, rows, nil).Flatten().Own()
	s.bytes += int64(values.SizeBytes())
	s.chunks = append(s.chunks[:0], values)
	s.total = len(rows)
}

func (s *lists) Emit(_ *expr.Eval, groups []uint32) *vec.Vector {
	spans := make([]vec.Span, len(groups))
	n := 0
	for i, g := range groups {
		spans[i] = vec.Span{Off: uint32(n), Len: uint32(len(s.refs[g]))}
		n += len(s.refs[g])
	}
	return vec.NewList(s.t, spans, s.gather(groups, n))
}

// gather returns the n values of some groups, one group after the other.
func (s *lists) gather(groups []uint32, n int) *vec.Vector {
	if n == 0 {
		return vec.NewBuilder(s.t.Element).Finish()
	}
	s.fold()
	chunks := append(s.chunks[:len(s.chunks):len(s.chunks)], s.open...)
	// Values of one chunk are taken together, then all are brought into order.
	perChunk := make([][]uint32, len(chunks))
	for _, g := range groups {
		for _, r := range s.refs[g] {
			perChunk[r.chunk] = append(perChunk[r.chunk], r.row)
		}
	}
	starts := make([]uint32, len(chunks))
	parts := make([]*vec.Vector, 0, len(s.chunks))
	at := uint32(0)
	for c, rows := range perChunk {
		starts[c] = at
		if len(rows) > 0 {
			parts = append(parts, vec.Take(chunks[c], rows, nil))
			at += uint32(len(rows))
		}
	}
	if len(parts) == 1 {
		return parts[0].Flatten().Own()
	}
	order := make([]uint32, 0, n)
	for _, g := range groups {
		for _, r := range s.refs[g] {
			order = append(order, starts[r.chunk])
			starts[r.chunk]++
		}
	}
	return vec.Take(vec.Concat(parts), order, nil).Flatten().Own()
}

func (s *lists) Save(groups []uint32) []*vec.Vector { return []*vec.Vector{s.Emit(nil, groups)} }

func (s *lists) Clear(groups []uint32) {
	for _, g := range groups {
		s.live -= len(s.refs[g])
		s.bytes -= int64(len(s.refs[g])) * 8
		s.refs[g] = nil
		if s.sets != nil {
			for k := range s.sets[g] {
				s.bytes -= int64(len(k)) + 48
			}
			s.sets[g] = nil
		}
	}
}

func (s *lists) Bytes() int64 { return s.bytes + int64(cap(s.refs))*24 }
