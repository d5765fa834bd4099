package agg

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// objects are the states of aggregates that keep something of their own, such as a sketch, for each group, and whose partial results
// are bytes. nil stands for a group without rows.
type objects[S any] struct {
	groups []*S
	kind   *objectKind[S]
	buf    []byte
}

// objectKind is what an aggregate does with its objects. It is shared by all workers and keeps nothing itself.
type objectKind[S any] struct {
	result types.DataType
	fresh  func() *S
	// update adds rows. get returns a group's object, which is there from then on.
	update func(e *expr.Eval, get func(g uint32) *S, groups []uint32, args []*vec.Vector)
	// merge adds a partial result to an object, which is nil for the first one of a group.
	merge func(s *S, image []byte) (*S, error)
	// save appends an object as a partial result.
	save func(b []byte, s *S) []byte
	// emit appends the result of an object, which is nil for a group without rows, to out.
	emit func(out *vec.Builder, s *S) error
	size func(s *S) int64
}

// bound makes an aggregate of objects.
func (k *objectKind[S]) bound(casts []types.DataType, nullable bool) *Bound {
	return &Bound{
		Args: casts, Type: k.result, Nullable: nullable, State: []types.Field{field("buf", types.Binary, true)},
		New: func() States { return &objects[S]{kind: k} },
	}
}

func (s *objects[S]) Grow(n int) { s.groups = grown(s.groups, n) }

func (s *objects[S]) get(g uint32) *S {
	if s.groups[g] == nil {
		s.groups[g] = s.kind.fresh()
	}
	return s.groups[g]
}

func (s *objects[S]) Update(e *expr.Eval, groups []uint32, args []*vec.Vector) {
	s.kind.update(e, s.get, groups, args)
}

func (s *objects[S]) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	v := partial[0]
	for i, g := range groups {
		if v.IsNull(i) {
			continue
		}
		merged, err := s.kind.merge(s.groups[g], v.BytesAt(i))
		if err != nil {
			e.Errs.Add(i, err)
			continue
		}
		s.groups[g] = merged
	}
}

func (s *objects[S]) Emit(e *expr.Eval, groups []uint32) *vec.Vector {
	out := vec.NewBuilder(s.kind.result)
	for i, g := range groups {
		if err := s.kind.emit(out, s.groups[g]); err != nil {
			out.AppendNull()
			e.Errs.Add(i, err)
		}
	}
	return out.Finish()
}

func (s *objects[S]) Save(groups []uint32) []*vec.Vector {
	out := vec.NewBuilder(types.Binary)
	for _, g := range groups {
		if s.groups[g] == nil {
			out.AppendNull()
			continue
		}
		s.buf = s.kind.save(s.buf[:0], s.groups[g])
		out.AppendBytes(s.buf)
	}
	return []*vec.Vector{out.Finish()}
}

func (s *objects[S]) Clear(groups []uint32) {
	for _, g := range groups {
		s.groups[g] = nil
	}
}

func (s *objects[S]) Bytes() int64 {
	n := int64(cap(s.groups)) * 8
	for _, o := range s.groups {
		if o != nil {
			n += s.kind.size(o)
		}
	}
	return n
}

// appendImage appends bytes that f appends to a buffer.
func appendImage(out *vec.Builder, f func(b []byte) []byte) { out.CommitBytes(f(out.Buffer())) }
