package fn

import (
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// A javaMethod is a static method of Java's library that reflect knows. There is no JVM: any other is refused by its name.
type javaMethod struct {
	args []types.DataType
	call func(e *expr.Eval, b []byte, args []*vec.Vector, i int) (text []byte, ok bool)
}

func reflectFunctions() []*Function {
	methods := javaMethods()
	call := func(try bool) func(b *Binding) (*Bound, error) {
		return func(b *Binding) (*Bound, error) { return bindReflect(b, methods, try) }
	}
	return []*Function{
		{Name: "reflect", Aliases: []string{"java_method"}, Bind: call(false)},
		{Name: "try_reflect", Bind: call(true)},
	}
}

// bindReflect binds reflect(class, method, arguments...), whose result is the text of the method's.
func bindReflect(b *Binding, methods map[string][]javaMethod, try bool) (*Bound, error) {
	if err := b.Arity(2, -1); err != nil {
		return nil, err
	}
	var name [2]string
	for i, what := range []string{"class", "method"} {
		a := b.Args[i]
		if !isText(a.Type) && !isNull(a.Type) {
			return nil, b.wrongType(i, `"STRING"`)
		}
		if a.Const == nil || a.Const.IsNull(0) {
			return nil, b.notConst(i, what, `"STRING"`)
		}
		name[i] = string(a.Const.BytesAt(0))
	}
	for i, a := range b.Args[2:] {
		if r := rank(a.Type); r == 0 && !isText(a.Type) && !isBoolean(a.Type) {
			return nil, b.wrongType(i+2, `("BOOLEAN" or "TINYINT" or "SMALLINT" or "INT" or "BIGINT" or "FLOAT" or "DOUBLE" or "STRING")`)
		}
	}
	known, found := methods[name[0]+"."+name[1]]
	for _, m := range known {
		if sameTypes(m.args, b.Args[2:]) {
			return &Bound{
				Args: make([]types.DataType, len(b.Args)), Type: types.String, Nullable: true, Nondeterministic: true, TakesConst: true, CanFail: !try,
				New: func() Kernel {
					return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
						at := len(b)
						out, ok := m.call(e, b, args[2:], i)
						if !ok && !try {
							e.Errs.Add(i, errclass.New("INVALID_PARAMETER_VALUE.VALUE", "functionName", "`reflect`", "parameter", "`arguments`",
								"value", name[0]+"."+name[1]+" does not take them"))
							return b[:at], true
						}
						return out, ok
					})
				},
			}, nil
		}
	}
	if found {
		return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_STATIC_METHOD", "sqlExpr", b.SQL(), "methodName", name[1], "className", name[0])
	}
	return nil, errclass.New("UNSUPPORTED_FEATURE.SCALA_FUNCTION", "functionName", "`"+name[0]+"."+name[1]+"`")
}

func sameTypes(want []types.DataType, args []Arg) bool {
	if len(want) != len(args) {
		return false
	}
	for i, w := range want {
		if !types.SameType(w, args[i].Type) {
			return false
		}
	}
	return true
}

// javaMethods are the methods by class and name.
func javaMethods() map[string][]javaMethod {
	all := map[string][]javaMethod{}
	add := func(name string, call func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool), args ...types.DataType) {
		all[name] = append(all[name], javaMethod{args: args, call: call})
	}
	texts := func(name string, f func(s string) (string, bool)) {
		add(name, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			s, ok := f(args[0].StringAt(i))
			return append(b, s...), ok
		}, types.String)
	}
	add("java.util.UUID.randomUUID", func(e *expr.Eval, b []byte, _ []*vec.Vector, i int) ([]byte, bool) {
		src := rowSource(e, i, 1)
		return appendUUID(b, src.Uint64()&^0xf000|0x4000, src.Uint64()&^(3<<62)|2<<62), true
	})
	texts("java.util.UUID.fromString", parseUUID)
	texts("java.net.URLEncoder.encode", func(s string) (string, bool) { return string(appendFormEncoded(nil, []byte(s))), true })
	texts("java.net.URLDecoder.decode", func(s string) (string, bool) {
		out, err := url.QueryUnescape(s)
		return out, err == nil
	})
	add("scala.Predef.require", func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
		return append(b, "null"...), vec.At[uint8](args[0], i) != 0 // it gives nothing, or fails
	}, types.Boolean)
	integers := func(class string, t types.DataType, bits int) {
		parse := func(s string) (string, bool) {
			v, err := strconv.ParseInt(s, 10, bits)
			return strconv.FormatInt(v, 10), err == nil
		}
		texts(class+".valueOf", parse)
		texts(class+".parse"+map[int]string{32: "Int", 64: "Long"}[bits], parse)
		for name, base := range map[string]int{"toBinaryString": 2, "toOctalString": 8, "toHexString": 16} {
			add(class+"."+name, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
				return strconv.AppendUint(b, uint64(loadInt(args[0], i))&(math.MaxUint64>>(64-bits)), base), true
			}, t)
		}
		for name, f := range map[string]func(x, y int64) int64{"max": func(x, y int64) int64 { return max(x, y) }, "min": func(x, y int64) int64 { return min(x, y) }} {
			add("java.lang.Math."+name, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
				return strconv.AppendInt(b, f(loadInt(args[0], i), loadInt(args[1], i)), 10), true
			}, t, t)
		}
		add("java.lang.Math.abs", func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			x := loadInt(args[0], i)
			return strconv.AppendInt(b, max(x, -x), 10), true
		}, t)
		add("java.lang.String.valueOf", func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return strconv.AppendInt(b, loadInt(args[0], i), 10), true
		}, t)
	}
	integers("java.lang.Integer", types.Integer, 32)
	integers("java.lang.Long", types.Long, 64)
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "cbrt": math.Cbrt, "sin": math.Sin, "cos": math.Cos, "tan": tangent, "exp": math.Exp, "log": ln,
		"log10": log10, "ceil": math.Ceil, "floor": math.Floor, "abs": math.Abs, "rint": math.RoundToEven, "toDegrees": degrees, "toRadians": radians,
	} {
		add("java.lang.Math."+name, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return numtext.AppendFloat(b, f(vec.At[float64](args[0], i)), 64), true
		}, types.Double)
	}
	for name, f := range map[string]func(x, y float64) float64{"pow": power, "max": math.Max, "min": math.Min, "atan2": math.Atan2, "hypot": math.Hypot} {
		add("java.lang.Math."+name, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return numtext.AppendFloat(b, f(vec.At[float64](args[0], i), vec.At[float64](args[1], i)), 64), true
		}, types.Double, types.Double)
	}
	return all
}

func degrees(x float64) float64 { return x * (180 / math.Pi) }

func radians(x float64) float64 { return x * (math.Pi / 180) }

// parseUUID takes five numbers of up to 8, 4, 4, 4 and 12 hexadecimal digits.
func parseUUID(s string) (string, bool) {
	parts := strings.Split(s, "-")
	if len(parts) != 5 || len(s) > 36 {
		return "", false
	}
	for i, bits := range []int{32, 16, 16, 16, 48} {
		v, err := strconv.ParseUint(parts[i], 16, 64)
		if err != nil {
			return "", false
		}
		digits := strconv.FormatUint(v&(1<<bits-1), 16)
		parts[i] = strings.Repeat("0", bits/4-len(digits)) + digits
	}
	return strings.Join(parts, "-"), true
}
