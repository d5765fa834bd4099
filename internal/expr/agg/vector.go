package agg

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func vectorFunctions() []*Function {
	return []*Function{
		{Name: "vector_sum", Bind: func(b *Binding) (*Bound, error) { return bindVector(b, false) }},
		{Name: "vector_avg", Bind: func(b *Binding) (*Bound, error) { return bindVector(b, true) }},
	}
}

// vector is the sum or the mean of vectors, element by element.
type vector struct {
	x []float32
	n int64 // vectors in it
}

// bindVector binds the sum or the mean of arrays of FLOAT that have one length. Those with a null among their elements are left out.
func bindVector(b *Binding, mean bool) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 1); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.FloatVector)
	if err != nil {
		return nil, err
	}
	differ := func(x, y int) error {
		return errclass.New("VECTOR_DIMENSION_MISMATCH", "functionName", "`"+b.Name+"`", "leftDim", strconv.Itoa(x), "rightDim", strconv.Itoa(y))
	}
	k := &objectKind[vector]{
		result: types.ArrayType{Element: types.Float},
		fresh:  func() *vector { return &vector{} },
		update: func(e *expr.Eval, get func(uint32) *vector, groups []uint32, args []*vec.Vector) {
			for i, g := range groups {
				if args[0].IsNull(i) {
					continue
				}
				x, whole := fn.VectorAt(args[0], i)
				if !whole {
					continue
				}
				if s := get(g); s.n > 0 && len(s.x) != len(x) {
					e.Errs.Add(i, differ(len(s.x), len(x)))
				} else {
					s.add(x, mean)
				}
			}
		},
		merge: func(s *vector, image []byte) (*vector, error) {
			o, err := vectorOf(image)
			switch {
			case err != nil || s == nil || s.n == 0:
				return o, err
			case len(s.x) != len(o.x):
				return nil, differ(len(s.x), len(o.x))
			}
			s.merge(o, mean)
			return s, nil
		},
		save: func(b []byte, s *vector) []byte {
			b = binary.LittleEndian.AppendUint64(b, uint64(s.n))
			for _, x := range s.x {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			return b
		},
		emit: func(out *vec.Builder, s *vector) error {
			if s == nil {
				out.AppendNull()
				return nil
			}
			out.StartList()
			for _, x := range s.x {
				out.Child(0).AppendFloat32(x)
			}
			out.EndList()
			return nil
		},
		size: func(s *vector) int64 { return int64(cap(s.x))*4 + 32 },
	}
	return k.bound(casts, true), nil
}

func (s *vector) add(x []float32, mean bool) {
	if s.n++; s.n == 1 {
		s.x = append(s.x[:0], x...)
		return
	}
	share := float32(1)
	if mean {
		share = 1 / float32(s.n)
	}
	for i, v := range x {
		if mean {
			v -= s.x[i]
		}
		s.x[i] += float32(v * share) // rounded by itself: on some machines the two are one instruction
	}
}

func (s *vector) merge(o *vector, mean bool) {
	left, right := float32(1), float32(1)
	if s.n += o.n; mean {
		left, right = float32(s.n-o.n)/float32(s.n), float32(o.n)/float32(s.n)
	}
	for i, v := range o.x {
		s.x[i] = float32(s.x[i]*left) + float32(v*right)
	}
}

// vectorOf reads what save has written.
func vectorOf(image []byte) (*vector, error) {
	if len(image) < 8 || len(image)%4 != 0 {
		return nil, errors.New("agg: the partial result of a vector is cut off")
	}
	s := &vector{n: int64(binary.LittleEndian.Uint64(image))}
	for b := image[8:]; len(b) > 0; b = b[4:] {
		s.x = append(s.x, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return s, nil
}
