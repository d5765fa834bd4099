package agg

import (
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/userfunc"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// User makes an aggregate function of one that a program has brought.
func User(f userfunc.Aggregate) *Function {
	sig := f.Signature()
	return &Function{Name: strings.ToLower(sig.Name), Label: sig.Name, ID: sig.ID, Bind: func(b *Binding) (*Bound, error) {
		casts, args, err := b.call().UserArgs(sig)
		if err != nil {
			return nil, err
		}
		if _, err := f.New(args); err != nil {
			return nil, err
		}
		return &Bound{
			Args: casts, Type: sig.Result, Nullable: sig.Nullable,
			// The bytes do not tell what they hold; the name of their column does, so that a checkpoint is not read as something else.
			State: []types.Field{field("buf "+f.Buffer(), types.Binary, true)},
			New:   func() States { return newUser(f, sig, args) },
		}, nil
	}}
}

// user are the States of a program's aggregate. What goes wrong where there is no row to blame is kept for Emit.
type user struct {
	sig     userfunc.Signature
	args    []types.DataType
	in      func(args []*vec.Vector) ([]arrow.Array, error)
	buffers userfunc.Buffers
	flat    []*vec.Vector
	buf     []byte
	err     error
}

func newUser(f userfunc.Aggregate, sig userfunc.Signature, args []types.DataType) *user {
	u := &user{sig: sig, args: args, in: fn.UserArrays(args), flat: make([]*vec.Vector, len(args))}
	u.buffers, u.err = f.New(args)
	return u
}

func (u *user) failure(err error) error { return fn.UserFailure(u.sig, u.args, err) }

func (u *user) Grow(n int) {
	if u.buffers != nil {
		u.buffers.Grow(n)
	}
}

func (u *user) Update(e *expr.Eval, groups []uint32, args []*vec.Vector) {
	if u.err != nil || len(groups) == 0 {
		return
	}
	for i, v := range args {
		u.flat[i] = v.Flatten()
	}
	arrays, err := u.in(u.flat)
	if err == nil {
		err = u.buffers.Update(groups, arrays, func(row int, err error) { e.Errs.Add(row, u.failure(err)) })
	}
	if err != nil {
		e.Errs.Add(0, u.failure(err))
	}
}

func (u *user) Merge(e *expr.Eval, groups []uint32, partial []*vec.Vector) {
	if u.err != nil {
		return
	}
	v := partial[0]
	for i, g := range groups {
		if v.IsNull(i) {
			continue
		}
		if err := u.buffers.Merge(g, v.BytesAt(i)); err != nil {
			if _, damaged := errors.AsType[*errclass.Error](err); !damaged {
				err = u.failure(err)
			}
			e.Errs.Add(i, err)
		}
	}
}

func (u *user) Emit(e *expr.Eval, groups []uint32) *vec.Vector {
	fail := func(err error) *vec.Vector {
		for i := range groups {
			e.Errs.Add(i, u.failure(err))
		}
		return vec.NewNulls(u.sig.Result, len(groups))
	}
	if u.err != nil {
		return fail(u.err)
	}
	out, err := u.buffers.Finish(groups, func(i int, err error) { e.Errs.Add(i, u.failure(err)) })
	if err != nil {
		return fail(err)
	}
	v, err := fn.UserResult(out, u.sig, len(groups))
	if err != nil {
		return fail(err)
	}
	return v
}

// Save panics on a buffer that cannot be written: no row is at fault, and the query must not go on without it.
func (u *user) Save(groups []uint32) []*vec.Vector {
	out := vec.NewBuilder(types.Binary)
	for _, g := range groups {
		if u.buffers == nil {
			out.AppendNull()
			continue
		}
		image, ok, err := u.buffers.Save(g, u.buf[:0])
		if err != nil {
			panic(u.failure(err))
		}
		if !ok {
			out.AppendNull()
			continue
		}
		out.AppendBytes(image)
		u.buf = image
	}
	return []*vec.Vector{out.Finish()}
}

func (u *user) Clear(groups []uint32) {
	if u.buffers != nil {
		u.buffers.Clear(groups)
	}
}

func (u *user) Bytes() int64 {
	if u.buffers == nil {
		return 0
	}
	return u.buffers.Bytes()
}
