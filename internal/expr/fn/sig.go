package fn

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// Accept is a set of types that an argument may have, and what other types are cast to.
type Accept struct {
	name  string                      // in messages: "STRING", ("INT" or "BIGINT")
	has   func(t types.DataType) bool // no cast needed
	to    []types.DataType            // targets of an implicit cast, the best first
	exact bool                        // no integer literal is narrowed
}

// Only is the set of one type.
func only(t types.DataType) Accept {
	return Accept{name: quoteType(t), has: func(o types.DataType) bool { return types.SameType(o, t) }, to: []types.DataType{t}}
}

var (
	anyType   = Accept{name: `"ANY"`, has: func(types.DataType) bool { return true }}
	text      = Accept{name: `"STRING"`, has: isText, to: []types.DataType{types.String}}
	boolean   = only(types.Boolean)
	integer   = only(types.Integer)
	bigint    = only(types.Long)
	double    = only(types.Double)
	binaryArg = only(types.Binary)
	date      = only(types.Date)
	timestamp = only(types.Timestamp)
	numeric   = Accept{name: `"NUMERIC"`, has: IsNumeric, to: []types.DataType{types.Double}}
	integral  = Accept{name: `"INTEGRAL"`, has: IsIntegral, to: []types.DataType{types.Long}}
	smallInt  = Accept{
		name: `("INT" or "SMALLINT" or "TINYINT")`, exact: true, to: []types.DataType{types.Integer},
		has: func(t types.DataType) bool { r := rank(t); return r >= 1 && r <= 3 },
	}
	textOrBinary = Accept{
		name: `("STRING" or "BINARY")`, to: []types.DataType{types.String},
		has: func(t types.DataType) bool { return isText(t) || isBinary(t) },
	}
	anyTimestamp = Accept{name: `"(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)"`, has: isTimestamp, to: []types.DataType{types.Timestamp}}
	anyArray     = Accept{name: `"ARRAY"`, has: isArray}
	anyMap       = Accept{name: `"MAP"`, has: isMap}
)

// Sets of types for the aggregate functions.
var (
	AnyType  = anyType
	Boolean  = boolean
	Integer  = integer
	Double   = double
	Numeric  = numeric
	Integral = integral
	Text     = text

	// NumericOrInterval is what can be summed.
	NumericOrInterval = Accept{
		name: `"NUMERIC" or "ANSI INTERVAL"`, to: []types.DataType{types.Double},
		has: func(t types.DataType) bool { return IsNumeric(t) || isAnsiInterval(t) },
	}
)

func isArray(t types.DataType) bool { _, ok := t.(types.ArrayType); return ok }

func isMap(t types.DataType) bool { _, ok := t.(types.MapType); return ok }

// implicit gives the type that an argument of type t is cast to, nil for no cast; ok is false when it is not accepted.
func (a Accept) implicit(arg Arg, ansi bool) (to types.DataType, ok bool) {
	t := arg.Type
	if a.has(t) && !isNull(t) {
		return nil, true
	}
	if len(a.to) == 0 {
		return nil, a.has(t)
	}
	if isNull(t) {
		return a.to[0], true
	}
	if a.exact {
		arg.Const = nil
	}
	for _, to := range a.to {
		if ImplicitCast(arg, to, ansi) {
			return to, true
		}
	}
	return nil, false
}

// ImplicitCast tells whether a function that wants type to takes an argument of another type.
func ImplicitCast(arg Arg, to types.DataType, ansi bool) bool {
	from := arg.Type
	if types.SameType(from, to) || isNull(from) {
		return true
	}
	switch {
	case isText(to):
		return isAtomic(from)
	case isText(from):
		return isAtomic(to) && !isAnsiInterval(to) || !ansi && isInterval(to)
	}
	if f, ok := from.(types.ArrayType); ok {
		t, ok := to.(types.ArrayType)
		return ok && ImplicitCast(Arg{Type: f.Element}, t.Element, ansi) && nullFits(f.ContainsNull, t.ContainsNull)
	}
	if !ansi {
		switch {
		case IsNumeric(from) && IsNumeric(to), isDateTime(from) && isDateTime(to):
			return true
		}
		return false
	}
	switch {
	case IsNumeric(from) && IsNumeric(to):
		if IsIntegral(from) && IsIntegral(to) && arg.Const != nil {
			return true // a literal: its value is looked at by the cast
		}
		w, _ := WiderType(from, to, true)
		return types.Equal(w, to) || isDecimal(from) && isFloating(to) || isDecimal(to) && IsIntegral(from) || IsIntegral(from) && isFloating(to)
	}
	return isDateTime(from) && isDateTime(to)
}

// SQL is the call's text as messages show it, in quotes.
func (b *Binding) SQL() string { return `"` + CallSQL(b.Name, b.Args) + `"` }

// Arity checks the number of arguments.
func (b *Binding) Arity(least, most int) error {
	n := len(b.Args)
	if n >= least && (n <= most || most < 0) {
		return nil
	}
	want := strconv.Itoa(least)
	switch {
	case most < 0:
		want = "> " + strconv.Itoa(least-1)
	case most > least:
		nums := make([]string, 0, most-least+1)
		for i := least; i <= most; i++ {
			nums = append(nums, strconv.Itoa(i))
		}
		want = "[" + strings.Join(nums, ", ") + "]"
	}
	return errclass.New("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "functionName", "`"+b.Name+"`", "expectedNum", want, "actualNum", strconv.Itoa(n))
}

// Accept checks the arguments from the first on and gives their casts. The last set repeats.
func (b *Binding) Accept(want ...Accept) ([]types.DataType, error) {
	casts := make([]types.DataType, len(b.Args))
	for i, a := range b.Args {
		w := want[min(i, len(want)-1)]
		to, ok := w.implicit(a, b.ANSI)
		if !ok {
			return nil, b.wrongType(i, w.name)
		}
		casts[i] = to
	}
	return casts, nil
}

func (b *Binding) wrongType(i int, required string) error {
	return errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", b.SQL(), "paramIndex", ordinal(i+1),
		"requiredType", required, "inputSql", `"`+b.Args[i].SQL+`"`, "inputType", quoteType(b.Args[i].Type))
}

// result is the type of argument i after its cast.
func (b *Binding) result(casts []types.DataType, i int) types.DataType {
	if casts[i] != nil {
		return casts[i]
	}
	return b.Args[i].Type
}

// nullable tells whether any argument, cast as given, may be null.
func (b *Binding) nullable(casts []types.DataType) bool {
	for i, a := range b.Args {
		if a.Nullable || casts != nil && casts[i] != nil && ForcesNull(a.Type, casts[i]) {
			return true
		}
	}
	return false
}

// argNullable is nullable for argument i alone.
func (b *Binding) argNullable(casts []types.DataType, i int) bool {
	return b.Args[i].Nullable || casts[i] != nil && ForcesNull(b.Args[i].Type, casts[i])
}

var ordinals = [...]string{
	"zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
	"eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth",
}

func ordinal(n int) string {
	if n < len(ordinals) {
		return ordinals[n]
	}
	return strconv.Itoa(n) + "th"
}

// quoteType prints a type as messages show it.
func quoteType(t types.DataType) string { return `"` + t.SQL() + `"` }

// infix are the functions that are written between their arguments.
var infix = map[string]string{
	"+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "div": "div", "==": "=", "=": "=", "<=>": "<=>", "<": "<", "<=": "<=",
	">": ">", ">=": ">=", "!=": "!=", "<>": "!=", "&": "&", "|": "|", "^": "^", "<<": "<<", ">>": ">>", ">>>": ">>>", "and": "AND", "or": "OR",
}

// CallSQL is the text by which Spark names a call: automatic column names and messages use it.
func CallSQL(name string, args []Arg) string {
	name = strings.ToLower(name)
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.SQL
	}
	switch {
	case len(args) == 2 && infix[name] != "":
		if name == "!=" || name == "<>" {
			return "(NOT (" + texts[0] + " = " + texts[1] + "))"
		}
		if s, ok := temporalSQL(name, args, texts); ok {
			return s
		}
		return "(" + texts[0] + " " + infix[name] + " " + texts[1] + ")"
	case len(args) == 1:
		switch name {
		case "not", "!":
			return "(NOT " + texts[0] + ")"
		case "negative", "-":
			return "(- " + texts[0] + ")"
		case "positive", "+":
			return "(+ " + texts[0] + ")"
		case "~":
			return "~" + texts[0]
		case "isnull":
			return "(" + texts[0] + " IS NULL)"
		case "isnotnull":
			return "(" + texts[0] + " IS NOT NULL)"
		}
	case name == "in" && len(args) > 0:
		return "(" + texts[0] + " IN (" + strings.Join(texts[1:], ", ") + "))"
	case (name == "like" || name == "ilike") && len(args) == 3:
		op := strings.ToUpper(name)
		if name == "like" {
			return texts[0] + " " + op + " " + texts[1] + " ESCAPE '" + texts[2] + "'"
		}
		return name + "(" + texts[0] + ", " + texts[1] + ") ESCAPE '" + texts[2] + "'"
	case name == "getitem" && len(args) == 2:
		return texts[0] + "[" + texts[1] + "]"
	case name == "like" && len(args) == 2:
		return texts[0] + " LIKE " + texts[1]
	}
	if text, ok := Shown(name, texts); ok {
		return text
	}
	return name + "(" + strings.Join(texts, ", ") + ")"
}

// temporalSQL shows operators on dates, times and intervals, which stand for other functions.
func temporalSQL(name string, args []Arg, texts []string) (string, bool) {
	x, y := args[0].Type, args[1].Type
	l, r := texts[0], texts[1]
	if name == "+" && (isDateTime(y) && !isDateTime(x) || isInterval(x) && (isText(y) || isDateTime(y))) {
		x, y, l, r = y, x, r, l
	}
	_, isDate := x.(types.DateType)
	switch {
	case name != "+" && name != "-":
		if name == "*" && isInterval(y) && IsNumeric(x) {
			return "(" + r + " * " + l + ")", true
		}
		return "", false
	case isDate && IsIntegral(y):
		return map[string]string{"+": "date_add", "-": "date_sub"}[name] + "(" + l + ", " + r + ")", true
	case isDate && name == "+" && y == types.DataType(types.DayTimeIntervalType{}):
		return "date_add(" + l + ", extractansiintervaldays(" + r + "))", true
	case isDate && name == "-" && y == types.DataType(types.DayTimeIntervalType{}):
		return "date_add(" + l + ", (- extractansiintervaldays(" + r + ")))", true
	case (isDateTime(x) || isText(x)) && isInterval(y):
		return l + " " + name + " " + r, true
	}
	return "", false
}

// NumericOrTime is what approximate percentiles are taken of.
var NumericOrTime = Accept{
	name: `("NUMERIC" or "DATE" or "TIMESTAMP" or "TIMESTAMP_NTZ" or "INTERVAL YEAR TO MONTH" or "INTERVAL DAY TO SECOND")`,
	to:   []types.DataType{types.Double},
	has:  func(t types.DataType) bool { return IsNumeric(t) || isDateTime(t) || isAnsiInterval(t) },
}
