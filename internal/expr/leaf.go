package expr

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// column passes an input column through.
type column struct {
	i int
	t types.DataType
}

// NewColumn returns the node of input column i.
func NewColumn(i int, t types.DataType) Node { return &column{i, t} }

func (c *column) Type() types.DataType                    { return c.t }
func (c *column) Eval(_ *Eval, in *vec.Batch) *vec.Vector { return in.Cols[c.i] }
func (c *column) Operands() []Node                        { return nil }
func (c *column) CannotFail() bool                        { return true }

// constant is one value for all rows.
type constant struct {
	v   *vec.Vector
	err error
}

// NewLiteral returns the node of a value that follows the conventions of package types; nil is null. A value that is not of
// the type makes a node that fails on every row.
func NewLiteral(value any, t types.DataType) Node {
	one, err := vec.FromValues(t, value)
	if err != nil {
		return &constant{vec.NewNulls(t, 1), err}
	}
	return &constant{vec.NewConst(one, 1), nil}
}

func (c *constant) Type() types.DataType { return c.v.Type() }

func (c *constant) Eval(e *Eval, in *vec.Batch) *vec.Vector {
	if c.v.Len() != in.N {
		c.v = vec.NewConst(c.v, in.N)
	}
	if c.err != nil {
		for i := range in.N {
			e.Errs.Add(i, c.err)
		}
	}
	return c.v
}

func (c *constant) Operands() []Node { return nil }
func (c *constant) CannotFail() bool { return c.err == nil }

// field takes one field of a struct.
type field struct {
	child   Node
	ordinal int
	t       types.DataType
	valid   vec.Bitmap
}

// NewField returns the node of field ordinal of a struct. A field of a null struct is null.
func NewField(child Node, ordinal int) Node {
	return &field{child: child, ordinal: ordinal, t: vec.KidTypes(child.Type())[ordinal]}
}

func (f *field) Type() types.DataType { return f.t }

func (f *field) Eval(e *Eval, in *vec.Batch) *vec.Vector {
	s := f.child.Eval(e, in)
	switch s.Encoding() {
	case vec.Const:
		if s.IsNull(0) {
			return vec.NewNulls(f.t, s.Len())
		}
		return vec.NewConst(s.Kids()[f.ordinal], s.Len())
	case vec.Dict:
		base := f.of(s.Base())
		d := vec.NewDict(base, s.Index(), s.Validity())
		d.SetBorrowed(true)
		return d
	}
	return f.of(s)
}

// of takes the field of a Flat struct. The result shares the field's values; its validity is the struct's too.
func (f *field) of(s *vec.Vector) *vec.Vector {
	kid := s.Kids()[f.ordinal]
	if s.Validity() == nil {
		return kid
	}
	f.valid = vec.AndInto(f.valid, s.Validity(), kid.Validity(), s.Len())
	v := kid.WithType(f.t)
	v.SetValidity(f.valid)
	v.SetBorrowed(true)
	return v
}

func (f *field) Operands() []Node { return []Node{f.child} }
func (f *field) CannotFail() bool { return CannotFail(f.child) }
