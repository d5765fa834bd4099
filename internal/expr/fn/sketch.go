package fn

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/sketch/theta"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func sketchFunctions() []*Function {
	return append(append(append(hllFunctions(), thetaFunctions()...), tupleFunctions()...), kllFunctions()...)
}

// BadSketch is the error of a call that was given bytes that are not the sketch it wants; family is HLL, THETA, TUPLE or KLL.
func BadSketch(family, function string) error {
	return errclass.New(family+"_INVALID_INPUT_SKETCH_BUFFER", "function", "`"+function+"`")
}

// BadSize is the error of a lgNomEntries out of range.
func BadSize(function string, lgK int64) error {
	return errclass.New("SKETCH_INVALID_LG_NOM_ENTRIES", "function", "`"+function+"`", "min", strconv.Itoa(theta.MinLgK),
		"max", strconv.Itoa(theta.MaxLgK), "value", strconv.FormatInt(lgK, 10))
}

// ConstLong reads a constant number as a whole one, as a cast would make it; ok is false for NULL and for what is not constant.
func ConstLong(a Arg) (x int64, ok bool) {
	v := a.Const
	if v == nil || v.IsNull(0) {
		return 0, false
	}
	bound, err := BindCast(v.Type(), types.Long, CastANSI, nil)
	if err != nil {
		return 0, false
	}
	out, err := castConst(bound, v)
	if err != nil || out.IsNull(0) {
		return 0, false
	}
	return vec.At[int64](out, 0), true
}

// ConstDoubles reads a constant number, or an array of them, as a cast to DOUBLE would make them; ok is false for NULL and for what
// cannot be cast.
func ConstDoubles(a Arg) (fs []float64, many, ok bool) {
	to := types.DataType(types.Double)
	if _, many = a.Type.(types.ArrayType); many {
		to = types.ArrayType{Element: to, ContainsNull: true}
	}
	if a.Const == nil || a.Const.IsNull(0) {
		return nil, many, false
	}
	bound, err := BindCast(a.Const.Type(), to, CastANSI, nil)
	if err != nil {
		return nil, many, false
	}
	v, err := castConst(bound, a.Const)
	if err != nil {
		return nil, many, false
	}
	span := vec.Span{Len: 1}
	if many {
		var owner *vec.Vector
		span, owner = v.SpanAt(0)
		v = owner.Kids()[0]
	}
	for k := int(span.Off); k < int(span.Off+span.Len); k++ {
		if v.IsNull(k) {
			return nil, many, false
		}
		fs = append(fs, vec.At[float64](v, k))
	}
	return fs, many, true
}

// ConstText reads a constant as text.
func ConstText(a Arg) (s string, ok bool) {
	v := a.Const
	if v == nil || v.IsNull(0) {
		return "", false
	}
	bound, err := BindCast(v.Type(), types.String, CastANSI, nil)
	if err != nil {
		return "", false
	}
	out, err := castConst(bound, v)
	if err != nil || out.IsNull(0) {
		return "", false
	}
	return string(out.BytesAt(0)), true
}

func castConst(bound *Bound, v *vec.Vector) (*vec.Vector, error) {
	e := &expr.Eval{}
	out := NewNode(bound, []expr.Node{expr.NewColumn(0, v.Type())}).Eval(e, vec.NewBatch(1, v.Flatten()))
	if _, err, ok := e.Errs.First(); ok {
		return nil, err
	}
	return out, nil
}

// NotFoldable is the error of an argument that has to be constant, Spark's type of it as given.
func (b *Binding) NotFoldable(i int, name, want string) error {
	return errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.SQL(), "inputName", name, "inputType", want,
		"inputExpr", `"`+b.Args[i].SQL+`"`)
}

// IsNull is the error of an argument that must not be NULL.
func (b *Binding) IsNull(name string) error {
	return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_NULL", "sqlExpr", b.SQL(), "exprName", name)
}

// Hint is the error of a call whose constant arguments do not do, for a reason that is an error of its own.
func (b *Binding) Hint(cause error) error {
	return errclass.New("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT", "sqlExpr", b.SQL(), "msg", cause.Error(), "hint", "")
}

// TupleSize reads argument i as the constant lgNomEntries of a tuple function; it is 12 when left out.
func (b *Binding) TupleSize(i int) (int, error) {
	if i >= len(b.Args) {
		return 12, nil
	}
	if b.Args[i].Const == nil {
		return 0, b.NotFoldable(i, "lgNomEntries", "int")
	}
	lgK, ok := ConstLong(b.Args[i])
	if !ok {
		return 0, b.IsNull("lgNomEntries")
	}
	if lgK < theta.MinLgK || lgK > theta.MaxLgK {
		return 0, b.Hint(BadSize(b.Name, lgK))
	}
	return int(lgK), nil
}

// TupleMode reads argument i as the constant mode of a tuple function; it is sum when left out.
func (b *Binding) TupleMode(i int) (theta.Mode, error) {
	if i >= len(b.Args) {
		return theta.Sum, nil
	}
	if b.Args[i].Const == nil {
		return 0, b.NotFoldable(i, "mode", "string")
	}
	name, ok := ConstText(b.Args[i])
	if !ok {
		return 0, b.IsNull("mode")
	}
	m, ok := theta.Modes[strings.ToLower(name)]
	if !ok {
		return 0, b.Hint(errclass.New("TUPLE_INVALID_SKETCH_MODE", "function", "`"+b.Name+"`", "mode", name,
			"validModes", "sum, min, max, alwaysone"))
	}
	return m, nil
}

// sketchKernel computes a value of each row of binary arguments. one appends the row's result to out, or notes an error.
func sketchKernel(t types.DataType, one func(e *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error) func() Kernel {
	return func() Kernel {
		b := vec.NewBuilder(t)
		return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			b.Reset()
			for i := range n {
				if anyNull(args, i) {
					b.AppendNull()
					continue
				}
				if err := one(e, b, i, args); err != nil {
					e.Errs.Add(i, err)
					b.AppendNull()
				}
			}
			return b.Borrow()
		}
	}
}

// bindSketches binds a function of sketches without further arguments.
func bindSketches(b *Binding, n int, want Accept, t types.DataType, one func(e *expr.Eval, out *vec.Builder, i int, args []*vec.Vector) error) (*Bound, error) {
	if err := b.Arity(n, n); err != nil {
		return nil, err
	}
	c, err := b.Accept(want)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), CanFail: true, New: sketchKernel(t, one)}, nil
}

// exactBinary takes binary values and NULL, and casts nothing.
var exactBinary = OneOf(types.Binary)

// DecimalOf is a double as one decimal of type t, NULL where it does not fit.
func DecimalOf(x float64, t types.DataType) (*vec.Vector, error) {
	v, err := vec.FromValues(types.Double, x)
	if err != nil {
		return nil, err
	}
	bound, err := BindCast(types.Double, t, CastLegacy, nil)
	if err != nil {
		return nil, err
	}
	return castConst(bound, v)
}
