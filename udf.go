package millrace

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/userfunc"
	"github.com/millrace/millrace/types"
)

// UDF is a function of the program that expressions can call: one of rows (UDF1 and its like, VectorUDF) or of groups of rows (UDAF). It is
// made once, does not change, and can be used in any number of sessions.
//
// It runs inside the engine, which must be the one in this process ("local[4]"): a Go function cannot be sent to a server. A program that
// is the server itself can have functions that all of its clients call: engine.Options.Functions.
type UDF struct {
	id        string
	name      string
	nondeterm bool
	result    types.DataType // nil for that of the Go type
	make      func(u *UDF) (any, error)
	f         any // a userfunc.Scalar or userfunc.Aggregate
	err       error
}

func newUDF(make func(u *UDF) (any, error)) *UDF { return (&UDF{name: "udf", make: make}).finished() }

// finished builds what the engine calls.
func (u *UDF) finished() *UDF {
	u.id = "go:" + uuid.NewString()
	u.f, u.err = u.make(u)
	u.err = mistake(u.err)
	return u
}

// WithName is the function under another name: that of the columns that calls make, and the one by which a checkpoint knows an aggregate.
func (u *UDF) WithName(name string) *UDF {
	c := *u
	c.name = name
	return c.finished()
}

// AsNondeterministic is the function for one that may give different results for the same arguments. The engine then neither computes it
// in advance nor moves it, and calls it once for each row.
func (u *UDF) AsNondeterministic() *UDF {
	c := *u
	c.nondeterm = true
	return c.finished()
}

// Returns is the function with another type of its result, to which its Go values must fit: decimals of another precision, or the struct
// that Rows are.
func (u *UDF) Returns(t types.DataType) *UDF {
	c := *u
	c.result = t
	return c.finished()
}

// Name is the function's name.
func (u *UDF) Name() string { return u.name }

// Function is what the engine calls. See engine.Options.Functions.
func (u *UDF) Function() any {
	if u.err != nil {
		return nil
	}
	return u.f
}

// signature is what all functions have in common.
func (u *UDF) signature() userfunc.Signature {
	return userfunc.Signature{Name: u.name, ID: u.id, Nondeterministic: u.nondeterm}
}

// Call is a call of the function. Arguments are Columns or names of columns.
func (u *UDF) Call(args ...any) Column { return u.call(false, args) }

// CallDistinct is Call of an aggregate that takes each value of its arguments once.
func (u *UDF) CallDistinct(args ...any) Column { return u.call(true, args) }

func (u *UDF) call(distinct bool, args []any) Column {
	exprs, err := expressions(columns(args))
	e := placedAt(&connectpb.Expression{ExprType: &connectpb.Expression_CommonInlineUserDefinedFunction{
		CommonInlineUserDefinedFunction: &connectpb.CommonInlineUserDefinedFunction{
			FunctionName: u.id, Deterministic: !u.nondeterm, Arguments: exprs, IsDistinct: distinct,
		},
	}})
	called.retain(u)
	runtime.AddCleanup(e, called.release, u.id)
	return Column{expr: e, err: firstError(u.err, err)}
}

// UDFRegistration gives functions names in a session.
type UDFRegistration struct{ s *Session }

// UDF registers functions of the program for SQL.
func (s *Session) UDF() UDFRegistration { return UDFRegistration{s} }

// Register makes a function known in the session by a name, for SQL and for Call. It takes the place of another function of that
// name, be it a built-in one.
func (r UDFRegistration) Register(name string, u *UDF) error {
	switch {
	case u == nil:
		return mistake(errclass.New("CANNOT_BE_EMPTY", "item", "function"))
	case u.err != nil:
		return u.err
	case name == "":
		return mistake(errclass.New("CANNOT_BE_EMPTY", "item", "name"))
	}
	functions, ok := r.s.backend.Backend.(backend.Functions)
	if !ok {
		return mistake(errclass.New("UNSUPPORTED_FEATURE.GO_FUNCTION", "functionName", errclass.Ident(name)))
	}
	if err := r.s.open(); err != nil {
		return err
	}
	return functions.NameFunction(backend.Session{ID: r.s.id, UserID: r.s.user}, name, u.f)
}

// called are the functions that expressions of the program call, by id: an expression holds the id only, since it may be sent anywhere. A
// function stays as long as any of its calls.
var called = &calls{list: map[string]*callRef{}}

type calls struct {
	mu   sync.Mutex
	list map[string]*callRef
}

type callRef struct {
	u    *UDF
	refs int
}

func (c *calls) retain(u *UDF) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.list[u.id]
	if r == nil {
		r = &callRef{u: u}
		c.list[u.id] = r
	}
	r.refs++
}

func (c *calls) release(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.list[id]; r != nil {
		if r.refs--; r.refs == 0 {
			delete(c.list, id)
		}
	}
}

func (c *calls) none() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.list) == 0
}

func (c *calls) find(id string) *UDF {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.list[id]; r != nil {
		return r.u
	}
	return nil
}

// bringFunctions makes the functions that a message calls known where it is sent. Where they cannot go the message must not go.
func (s *Session) bringFunctions(m proto.Message) error {
	if called.none() {
		return nil
	}
	var err error
	eachCall(m.ProtoReflect(), func(f *connectpb.CommonInlineUserDefinedFunction) {
		u := called.find(f.GetFunctionName())
		if u == nil || err != nil {
			return
		}
		functions, ok := s.backend.Backend.(backend.Functions)
		if !ok {
			err = errclass.New("UNSUPPORTED_FEATURE.GO_FUNCTION", "functionName", errclass.Ident(u.name))
			return
		}
		err = functions.RegisterFunction(backend.Session{ID: s.id, UserID: s.user}, u.id, u.f)
	})
	return err
}

// eachCall goes through the calls of functions in a message.
func eachCall(m protoreflect.Message, f func(*connectpb.CommonInlineUserDefinedFunction)) {
	switch v := m.Interface().(type) {
	case *connectpb.CommonInlineUserDefinedFunction:
		f(v)
	case *anypb.Any: // of our own making, or nothing that we know
		if inner, err := v.UnmarshalNew(); err == nil {
			eachCall(inner.ProtoReflect(), f)
		}
		return
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil || fd.IsMap() && fd.MapValue().Message() == nil:
		case fd.IsMap():
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				eachCall(v.Message(), f)
				return true
			})
		case fd.IsList():
			for i := range v.List().Len() {
				eachCall(v.List().Get(i).Message(), f)
			}
		default:
			eachCall(v.Message(), f)
		}
		return true
	})
}

// VectorUDF makes a function of one that takes whole columns: some thousand rows at a time, an Arrow array for each argument. It gives an array
// of as many values, of the Arrow type that types.ArrowSchema maps result to. Nulls are its own business, and it must leave
// the arrays as they are. Arguments are cast to the types of the parameters; a nil type takes any argument as it is. An error fails all
// the rows; so it is as good to make bad rows null.
//
// The function may be called by several goroutines at once.
func VectorUDF(f func(args []arrow.Array) (arrow.Array, error), result types.DataType, params ...types.DataType) *UDF {
	return newUDF(func(u *UDF) (any, error) {
		v := &vectorFunc{f: f, sig: u.signature()}
		v.sig.Result, v.sig.Nullable = result, true
		if u.result != nil {
			v.sig.Result = u.result
		}
		if f == nil || v.sig.Result == nil {
			return nil, errclass.New("CANNOT_BE_EMPTY", "item", "function or type of its result")
		}
		for _, t := range params {
			v.sig.Params = append(v.sig.Params, userfunc.Param{Type: t, Takes: func(o types.DataType) bool { return t == nil || types.SameType(o, t) }})
		}
		return v, nil
	})
}

// vectorFunc implements userfunc.Scalar, and userfunc.Worker for any types of arguments.
type vectorFunc struct {
	f   func(args []arrow.Array) (arrow.Array, error)
	sig userfunc.Signature
}

// Signature implements userfunc.Scalar.
func (v *vectorFunc) Signature() userfunc.Signature { return v.sig }

// New implements userfunc.Scalar.
func (v *vectorFunc) New([]types.DataType) (userfunc.Worker, error) { return v, nil }

// Call implements userfunc.Worker.
func (v *vectorFunc) Call(args []arrow.Array, _ int, _ userfunc.Fail) (out arrow.Array, err error) {
	defer recovered(&err)
	if out, err = v.f(args); err == nil && out == nil {
		err = fmt.Errorf("it gave no array")
	}
	return out, err
}
