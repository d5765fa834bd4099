package fn

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// operators are those that functions stand for.
var operators = map[string]string{
	"try_add": "+", "try_subtract": "-", "try_multiply": "*", "try_divide": "/", "try_mod": "%", "mod": "%", "equal_null": "<=>",
}

func arithmeticFunctions() []*Function {
	arith := func(name string, try bool, aliases ...string) *Function {
		op := operators[name]
		if op == "" {
			op = name
		}
		return &Function{Name: name, Aliases: aliases, Bind: func(b *Binding) (*Bound, error) { return bindArithmetic(b, op, try) }}
	}
	return []*Function{
		arith("+", false), arith("-", false), arith("*", false), arith("/", false), arith("%", false, "mod"), arith("div", false),
		arith("pmod", false),
		arith("try_add", true), arith("try_subtract", true), arith("try_multiply", true), arith("try_divide", true), arith("try_mod", true),
	}
}

const (
	numberOrInterval = `("NUMERIC" or "INTERVAL DAY TO SECOND" or "INTERVAL YEAR TO MONTH" or "INTERVAL")`
	doubleOrDecimal  = `("DOUBLE" or "DECIMAL")`
	longOrDecimal    = `("BIGINT" or "DECIMAL" or "INTERVAL YEAR TO MONTH" or "INTERVAL DAY TO SECOND")`
)

// bindArithmetic binds a binary operator.
func bindArithmetic(b *Binding, op string, try bool) (*Bound, error) {
	if len(b.Args) == 1 && (op == "-" || op == "+") && !try {
		if op == "-" {
			return bindNegative(b)
		}
		return bindPositive(b)
	}
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	if bound, done, err := bindTimeArithmetic(b, op, try); done {
		return bound, err
	}
	if bound, done, err := bindTemporal(b, op, try); done {
		return bound, err
	}
	x, y, err := operandTypes(b, op)
	if err != nil {
		return nil, err
	}
	bound := &Bound{Args: casts(b, x, y), TakesConst: true, TryArgs: try && (isText(b.Args[0].Type) || isText(b.Args[1].Type))}
	if op == "/" || op == "%" || op == "div" || op == "pmod" {
		bound.First = 1 // a divisor is looked at before what it divides
	}
	bound.Nullable = try || op == "/" || op == "%" || op == "div" || op == "pmod" || b.nullable(bound.Args)
	mode := b.Mode()
	if try {
		mode = expr.Null
	}
	if bound.First == 1 && mode == expr.Null {
		bound.Needs = func(divisor *vec.Vector, row int) bool { return !isZero(divisor, row) }
	}
	dx, isDec := x.(types.DecimalType)
	dy, _ := y.(types.DecimalType)
	if isDec {
		return bindDecimal(bound, op, dx, dy, mode, try)
	}
	bound.Type = x
	over := overflowMode(b.ANSI, try)
	switch op {
	case "+", "-", "*":
		o := map[string]intOp{"+": opAdd, "-": opSub, "*": opMul}[op]
		bound.CanFail = over == raise && IsIntegral(x)
		bound.New = func() Kernel { return sumKernel(x, o, over) }
	case "/":
		bound.CanFail = mode == expr.Raise
		bound.New = func() Kernel { return divFloats(mode) }
		for i, a := range b.Args {
			if b.ANSI && isText(a.Type) && IsIntegral(b.Args[1-i].Type) { // the text has to be a whole number first
				bound.Args[i] = types.Long
				bound.New = func() Kernel { return fromLong(i, divFloats(mode)) }
			}
		}
	case "div":
		bound.CanFail = mode == expr.Raise
		bound.New = func() Kernel { return divInts(mode, over == wrap) }
	default:
		bound.CanFail = mode == expr.Raise
		bound.New = func() Kernel { return remKernel(x, mode, op == "pmod") }
	}
	if over == null && (op == "+" || op == "-" || op == "*") {
		bound.Nullable = true
	}
	return bound, nil
}

func overflowMode(ansi, try bool) onOverflow {
	switch {
	case try:
		return null
	case ansi:
		return raise
	}
	return wrap
}

func sumKernel(t types.DataType, op intOp, over onOverflow) Kernel {
	switch vec.PhysOf(t) {
	case vec.PhysInt8:
		return intKernel[int8](op, over)
	case vec.PhysInt16:
		return intKernel[int16](op, over)
	case vec.PhysInt32:
		return intKernel[int32](op, over)
	case vec.PhysInt64:
		return intKernel[int64](op, over)
	case vec.PhysFloat32:
		return floatKernel[float32](op)
	}
	return floatKernel[float64](op)
}

func remKernel(t types.DataType, mode expr.Mode, positive bool) Kernel {
	switch vec.PhysOf(t) {
	case vec.PhysInt8:
		return remInts[int8](mode, positive)
	case vec.PhysInt16:
		return remInts[int16](mode, positive)
	case vec.PhysInt32:
		return remInts[int32](mode, positive)
	case vec.PhysInt64:
		return remInts[int64](mode, positive)
	case vec.PhysFloat32:
		return remFloats[float32](mode, positive)
	}
	return remFloats[float64](mode, positive)
}

func bindDecimal(bound *Bound, op string, x, y types.DecimalType, mode expr.Mode, try bool) (*Bound, error) {
	if op == "div" {
		bound.Type, bound.CanFail = types.Long, mode == expr.Raise
		bound.New = func() Kernel { return decimalDiv(x, y, mode) }
		return bound, nil
	}
	o := map[string]decOp{"+": decAdd, "-": decSub, "*": decMul, "/": decDiv, "%": decRem, "pmod": decPmod}[op]
	r := decimalResult(o, x, y)
	bound.Type = r
	bound.CanFail = mode == expr.Raise && (o >= decDiv || r.Precision == 38)
	if mode == expr.Null {
		bound.Nullable = true
	}
	bound.New = func() Kernel { return decimalKernel(o, x, y, r, mode) }
	return bound, nil
}

// casts gives the casts that bring the two operands to types x and y.
func casts(b *Binding, want ...types.DataType) []types.DataType {
	c := make([]types.DataType, len(b.Args))
	for i, w := range want {
		if w != nil && !types.Equal(w, b.Args[i].Type) {
			c[i] = w
		}
	}
	return c
}

// operandTypes settles the types in which two numbers, or strings that stand for some, are computed with.
func operandTypes(b *Binding, op string) (x, y types.DataType, err error) {
	x, y = b.Args[0].Type, b.Args[1].Type
	if isNull(x) && isNull(y) {
		x, y = types.Double, types.Double
	}
	if isNull(x) {
		x = y
	}
	if isNull(y) {
		y = x
	}
	textX, textY := isText(x), isText(y)
	switch {
	case textX && textY:
		if b.ANSI {
			return nil, nil, b.wrongOperator(op, x)
		}
		x, y = types.Double, types.Double
	case textX && IsNumeric(y):
		x = stringOperand(b.ANSI, y)
	case textY && IsNumeric(x):
		y = stringOperand(b.ANSI, x)
	}
	if !IsNumeric(x) || !IsNumeric(y) {
		if types.SameType(x, y) && !isNull(b.Args[0].Type) && !isNull(b.Args[1].Type) {
			return nil, nil, b.wrongOperator(op, x)
		}
		if b.ANSI && textX != textY { // the string is of the other's type first
			other := x
			if textX {
				other = y
			}
			if _, ok := promoteString(nil, other); ok {
				return nil, nil, b.wrongOperator(op, other)
			}
		}
		return nil, nil, b.differentOperands(b.asOperand(op, b.Args[0].Type), b.asOperand(op, b.Args[1].Type))
	}
	if isDecimal(x) || isDecimal(y) {
		if isFloating(x) || isFloating(y) || op == "/" && isNull(b.Args[0].Type) {
			x, y = types.Double, types.Double
		} else {
			return literalDecimal(b.Args[0], x), literalDecimal(b.Args[1], y), nil
		}
	}
	if op == "div" {
		if isFloating(x) || isFloating(y) {
			if types.SameType(x, y) {
				return nil, nil, b.wrongOperator(op, x)
			}
			return nil, nil, b.differentOperands(b.asOperand(op, x), b.asOperand(op, y))
		}
		return types.Long, types.Long, nil
	}
	if op == "/" {
		return types.Double, types.Double, nil
	}
	t, _ := WiderType(x, y, b.ANSI)
	return t, t, nil
}

// stringOperand is the type of a string that meets a number.
func stringOperand(ansi bool, other types.DataType) types.DataType {
	if ansi && IsIntegral(other) {
		return types.Long
	}
	return types.Double
}

// asOperand is the type that an operand has by the time at which its like is looked for.
func (b *Binding) asOperand(op string, t types.DataType) types.DataType {
	switch {
	case isText(t) && !b.ANSI && !((op == "+" || op == "-") && (isInterval(b.Args[0].Type) || isInterval(b.Args[1].Type))):
		return types.Double
	case op == "div" && IsIntegral(t):
		return types.Long
	}
	return t
}

// literalDecimal is the decimal type of an integer operand: no wider than its value when it is a literal.
func literalDecimal(a Arg, t types.DataType) types.DataType {
	if !IsIntegral(t) {
		return t
	}
	if v, ok := integerLiteral(a); ok {
		return types.DecimalType{Precision: len(strconv.FormatUint(magnitude(v), 10))}
	}
	return DecimalFor(t)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// integerLiteral gives the value of an argument that was written as a number of at least 16 bits. Folded expressions do not count.
func integerLiteral(a Arg) (int64, bool) {
	if a.Const == nil || a.Const.IsNull(0) {
		return 0, false
	}
	var v int64
	switch a.Const.Phys() {
	case vec.PhysInt16:
		v = int64(vec.At[int16](a.Const, 0))
	case vec.PhysInt32:
		v = int64(vec.At[int32](a.Const, 0))
	case vec.PhysInt64:
		v = vec.At[int64](a.Const, 0)
	default:
		return 0, false
	}
	return v, a.SQL == strconv.FormatInt(v, 10)
}

func (b *Binding) wrongOperator(op string, t types.DataType) error {
	want := numberOrInterval
	switch op {
	case "/":
		want = doubleOrDecimal
	case "div":
		want = longOrDecimal
	case "*", "%", "pmod":
		want = `"NUMERIC"`
	}
	return errclass.New("DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE", "sqlExpr", b.operatorSQL(), "inputType", want, "actualDataType", quoteType(t))
}

// operatorSQL is SQL for an operator that has not found out what its operands are to each other.
func (b *Binding) operatorSQL() string {
	op := infix[b.Name]
	if own := operators[b.Name]; own != "" {
		op = own
	}
	if op == "" || len(b.Args) != 2 {
		return b.SQL()
	}
	return `"(` + b.Args[0].SQL + " " + op + " " + b.Args[1].SQL + `)"`
}

func (b *Binding) differentTypes() error {
	return b.differentOperands(b.Args[0].Type, b.Args[1].Type)
}

func (b *Binding) differentOperands(x, y types.DataType) error {
	return errclass.New("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "sqlExpr", b.operatorSQL(), "left", quoteType(x), "right", quoteType(y))
}

// isZero tells whether the number of a row is zero.
func isZero(v *vec.Vector, row int) bool {
	v, row = v.Stored(row)
	switch v.Phys() {
	case vec.PhysInt8:
		return vec.At[int8](v, row) == 0
	case vec.PhysInt16:
		return vec.At[int16](v, row) == 0
	case vec.PhysInt32:
		return vec.At[int32](v, row) == 0
	case vec.PhysInt64:
		return vec.At[int64](v, row) == 0
	case vec.PhysInt128:
		return vec.At[vec.Int128](v, row) == vec.Int128{}
	case vec.PhysFloat32:
		return vec.At[float32](v, row) == 0
	case vec.PhysFloat64:
		return vec.At[float64](v, row) == 0
	}
	return false
}
