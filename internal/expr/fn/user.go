package fn

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/userfunc"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// User makes a function of one that a program has brought.
func User(f userfunc.Scalar) *Function {
	sig := f.Signature()
	return &Function{Name: strings.ToLower(sig.Name), Label: sig.Name, ID: sig.ID, Bind: func(b *Binding) (*Bound, error) { return bindUser(b, f) }}
}

func bindUser(b *Binding, f userfunc.Scalar) (*Bound, error) {
	sig := f.Signature()
	casts, args, err := b.UserArgs(sig)
	if err != nil {
		return nil, err
	}
	if _, err := f.New(args); err != nil {
		return nil, err
	}
	return &Bound{
		Args: casts, Type: sig.Result, Nullable: sig.Nullable || sig.SkipsNulls && b.nullable(casts), NullsAreArgs: !sig.SkipsNulls,
		Nondeterministic: sig.Nondeterministic, CanFail: true,
		New: func() Kernel { return userKernel(f, sig, args) },
	}, nil
}

// UserArgs checks the arguments of a program's function. casts are the types that they are to be cast to, args the types that they have
// then.
func (b *Binding) UserArgs(sig userfunc.Signature) (casts, args []types.DataType, err error) {
	least, most := len(sig.Params), len(sig.Params)
	if sig.Open {
		least, most = least-1, -1
	}
	if err := b.Arity(least, most); err != nil {
		return nil, nil, err
	}
	casts, args = make([]types.DataType, len(b.Args)), make([]types.DataType, len(b.Args))
	for i, a := range b.Args {
		p := sig.Params[min(i, len(sig.Params)-1)]
		switch {
		case p.Takes(a.Type):
		case p.Type != nil && ImplicitCast(a, p.Type, b.ANSI):
			casts[i] = p.Type
		default:
			want := "another type"
			if p.Type != nil {
				want = quoteType(p.Type)
			}
			return nil, nil, b.wrongType(i, want)
		}
		args[i] = b.result(casts, i)
	}
	return casts, args, nil
}

// UserFailure is the error of a row that a program's function cannot compute.
func UserFailure(sig userfunc.Signature, args []types.DataType, err error) error {
	names := make([]string, len(args))
	for i, t := range args {
		names[i] = strings.ToLower(t.SQL())
	}
	return errclass.New("FAILED_EXECUTE_UDF", "functionName", errclass.Ident(sig.Name), "signature", strings.Join(names, ", "),
		"result", strings.ToLower(sig.Result.SQL()), "reason", err.Error()).WithCause(err)
}

// userKernel calls a worker of the function. It hands Flat vectors over as Arrow arrays, which costs nothing for most types.
func userKernel(f userfunc.Scalar, sig userfunc.Signature, argTypes []types.DataType) Kernel {
	in := UserArrays(argTypes)
	w, err := f.New(argTypes)
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		failAll := func(err error) *vec.Vector {
			for i := range n {
				e.Errs.Add(i, UserFailure(sig, argTypes, err))
			}
			return vec.NewNulls(sig.Result, n)
		}
		if err != nil {
			return failAll(err)
		}
		arrays, err := in(args)
		if err != nil {
			return failAll(err)
		}
		out, err := w.Call(arrays, n, func(row int, err error) { e.Errs.Add(row, UserFailure(sig, argTypes, err)) })
		if err == nil {
			var v *vec.Vector
			if v, err = UserResult(out, sig, n); err == nil {
				return v
			}
		}
		return failAll(err)
	}
}

// UserArrays converts vectors of some types to Arrow arrays.
func UserArrays(ts []types.DataType) func(args []*vec.Vector) ([]arrow.Array, error) {
	var s types.StructType
	for _, t := range ts {
		s.Fields = append(s.Fields, types.Field{Name: "value", Type: t, Nullable: true})
	}
	schema := types.ArrowSchema(s, types.ArrowOptions{})
	arrays := make([]arrow.Array, len(ts))
	return func(args []*vec.Vector) ([]arrow.Array, error) {
		for i, v := range args {
			if v.Phys() == vec.PhysNull {
				arrays[i] = array.MakeArrayOfNull(memory.DefaultAllocator, schema.Field(i).Type, v.Len())
				continue
			}
			var err error
			if arrays[i], err = vec.ToArrowArray(v.Flatten(), schema.Field(i).Type); err != nil {
				return nil, err
			}
		}
		return arrays, nil
	}
}

// UserResult converts what a program's function gave for n rows.
func UserResult(a arrow.Array, sig userfunc.Signature, n int) (*vec.Vector, error) {
	if a == nil || a.Len() != n {
		got := 0
		if a != nil {
			got = a.Len()
		}
		return nil, errclass.New("UDF_RESULT", "functionName", errclass.Ident(sig.Name), "reason", "it gave "+itoa(got)+" values for "+itoa(n)+" rows")
	}
	want := types.ArrowSchema(types.StructType{Fields: []types.Field{{Name: "value", Type: sig.Result, Nullable: true}}}, types.ArrowOptions{}).Field(0).Type
	if !arrow.TypeEqual(a.DataType(), want) {
		return nil, errclass.New("UDF_RESULT", "functionName", errclass.Ident(sig.Name), "reason", "it gave an array of "+a.DataType().String()+", not of "+want.String())
	}
	return vec.FromArrowArray(a, sig.Result)
}
