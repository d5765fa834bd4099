package fn

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// Accept is a set of types that an argument may have, and what other types are cast to.
type Accept struct {
	name   string                      // in messages: "STRING", ("INT" or "BIGINT")
	has    func(t types.DataType) bool // no cast needed
	to     []types.DataType            // targets of an implicit cast, the best first
	exact  bool                        // a number is not cast to another type of number
	strict bool                        // only nulls are cast
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
	AnyType = anyType
	Boolean = boolean
	Integer = integer
	Double  = double
	Numeric = numeric
	Text    = text

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
	if a.strict || a.exact && IsNumeric(t) {
		return nil, false
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
		return isAtomic(from) || kindOf(from) == kVariant || ansi && kindOf(from) == kCalendar
	case isText(from):
		return isAtomic(to) && !isAnsiInterval(to) || !ansi && isInterval(to)
	}
	if f, ok := from.(types.ArrayType); ok {
		t, ok := to.(types.ArrayType)
		return ok && ImplicitCast(Arg{Type: f.Element}, t.Element, ansi) && nullFits(f.ContainsNull, t.ContainsNull)
	}
	if !ansi {
		switch {
		case IsNumeric(from) && IsNumeric(to), isClock(from) && isClock(to):
			return true
		}
		return false
	}
	if IsNumeric(from) && IsNumeric(to) {
		return true // what does not fit fails when it is cast
	}
	return isClock(from) && isClock(to)
}

// isClock tells dates and times. A TIME is taken where a date is wanted, and the other way round, but there is no cast, which says so.
func isClock(t types.DataType) bool { return isDateTime(t) || isTime(t) }

// SQL is the call's text as messages show it, in quotes.
func (b *Binding) SQL() string {
	if b.shown != "" {
		return b.shown
	}
	if b.Name == "time_bucket" && len(b.Args) == 2 {
		return `"time_bucket(` + b.Args[0].SQL + ", " + b.Args[1].SQL + `, TIMESTAMP '1970-01-01 00:00:00')"`
	}
	if b.Name == "array_sort" && len(b.Args) == 1 && !isArray(b.Args[0].Type) { // the comparator has no types yet
		return `"array_sort(` + b.Args[0].SQL + `, ` + untypedOrder + `)"`
	}
	name := b.Name
	if own := checkedAs[name]; own != "" {
		name = own
	}
	if name == "btrim" { // a trim of both sides
		if len(b.Args) == 1 {
			return `"trim(` + b.Args[0].SQL + `)"`
		}
		return `"TRIM(BOTH ` + b.Args[1].SQL + ` FROM ` + b.Args[0].SQL + `)"`
	}
	return `"` + CallSQL(name, b.Args) + `"`
}

// checkedAs are the functions whose arguments another one checks, by whose name messages call them.
var checkedAs = map[string]string{
	"try_aes_decrypt": "aes_decrypt", "try_element_at": "element_at", "try_make_interval": "make_interval", "try_to_binary": "to_binary",
	"try_make_timestamp": "make_timestamp", "try_make_timestamp_ltz": "make_timestamp", "try_make_timestamp_ntz": "make_timestamp_ntz",
	"try_url_decode": "url_decode", "try_to_time": "to_time",
	"make_timestamp_ltz": "make_timestamp", "try_parse_url": "parse_url", "to_varchar": "to_char",
}

// Arity checks the number of arguments.
func (b *Binding) Arity(least, most int) error {
	n := len(b.Args)
	if n >= least && (n <= most || most < 0) {
		return nil
	}
	want, name := strconv.Itoa(least), b.Name
	if name == "try_parse_url" { // it is the other that counts them
		name = "parse_url"
	}
	switch {
	case argCounts[b.Name] != "":
		want = argCounts[b.Name]
	case most < 0:
		want = "> " + strconv.Itoa(least-1)
	case most > least:
		nums := make([]string, 0, most-least+1)
		for i := least; i <= most; i++ {
			nums = append(nums, strconv.Itoa(i))
		}
		want = "[" + strings.Join(nums, ", ") + "]"
	}
	return errclass.New("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "functionName", "`"+name+"`", "expectedNum", want, "actualNum", strconv.Itoa(n))
}

// argCounts are the numbers of arguments that messages name where there are gaps between them.
var argCounts = map[string]string{
	"make_timestamp": "[1, 2, 3, 6, 7]", "try_make_timestamp": "[1, 2, 3, 6, 7]", "make_timestamp_ntz": "[2, 6]", "make_timestamp_ltz": "[2, 6]",
	"try_make_timestamp_ltz": "6", "array_sort": "[1, 2]",
}

// Accept checks the arguments from the first on and gives their casts. The last set repeats.
func (b *Binding) Accept(want ...Accept) ([]types.DataType, error) {
	casts := make([]types.DataType, len(b.Args))
	var wrong error
	for i, a := range b.Args {
		w := want[min(i, len(want)-1)]
		to, ok := w.implicit(a, b.ANSI)
		if !ok && wrong == nil {
			wrong = b.wrongType(i, w.name)
		}
		if casts[i] = to; ok && to != nil {
			if err := b.CheckImplicit(a, to); err != nil {
				return nil, err // the casts of all arguments are looked at before the call
			}
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	return casts, nil
}

// CheckImplicit refuses the implicit casts that a call may want and that do not exist: those of times to dates and back.
func (b *Binding) CheckImplicit(a Arg, to types.DataType) error {
	if !isTime(a.Type) && !isTime(to) {
		return nil
	}
	mode := CastLegacy
	if b.ANSI {
		mode = CastANSI
	}
	return CheckCast(a.Type, to, mode, a.SQL)
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

var ordinals = [...]string{"zeroth", "first", "second", "third"}

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
	case len(args) == 2 && (name == "to_char" || name == "to_varchar") && (isDateTime(args[0].Type) || isTime(args[0].Type)):
		return "date_format(" + texts[0] + ", " + texts[1] + ")"
	case len(args) == 2 && name == "to_varchar" && !isBinary(args[0].Type):
		return "to_char(" + texts[0] + ", " + texts[1] + ")"
	case len(args) == 1:
		switch name {
		case "not", "!":
			return "(NOT " + texts[0] + ")"
		case "-":
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
	if len(args) == 2 && (name == "lpad" || name == "rpad") && isBinary(args[0].Type) {
		texts = append(texts, "X'00'")
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
	if name == "+" && (isDateTime(y) && !isDateTime(x) || isTime(y) && isNull(x) || isInterval(x) && (isText(y) || isDateTime(y))) {
		x, y, l, r = y, x, r, l
	}
	_, isDate := x.(types.DateType)
	switch {
	case (name == "*" || name == "/") && kindOf(x) == kCalendar:
		return map[string]string{"*": "multiply_interval", "/": "divide_interval"}[name] + "(" + l + ", " + r + ")", true
	case name == "*" && kindOf(y) == kCalendar:
		return "multiply_interval(" + r + ", " + l + ")", true
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
	case name == "+" && (isDateTime(x) || isTime(x)) && isNull(y), name == "-" && (isTime(x) && (isNull(y) || isText(y) || isTime(y)) || (isNull(x) || isText(x)) && isTime(y)):
		return l + " " + name + " " + r, true
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

// OneOf is a set of types without casts; NULL becomes the first of them.
func OneOf(ts ...types.DataType) Accept {
	return Accept{name: alternatives(ts), has: func(t types.DataType) bool { return isOneOf(t, ts) }, to: ts[:1], strict: true}
}

// CastTo is a set of types that others are cast to, the first that can be first.
func CastTo(ts ...types.DataType) Accept {
	return Accept{name: alternatives(ts), has: func(t types.DataType) bool { return isOneOf(t, ts) }, to: ts}
}

func isOneOf(t types.DataType, ts []types.DataType) bool {
	return slices.ContainsFunc(ts, func(o types.DataType) bool { return types.SameType(t, o) || isText(t) && isText(o) })
}

func alternatives(ts []types.DataType) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = quoteType(t)
	}
	if len(ts) == 1 {
		return names[0]
	}
	return "(" + strings.Join(names, " or ") + ")"
}

// Bytes takes binary values and nothing else, not even NULL.
var Bytes = Accept{name: `"BINARY"`, has: isBinary}

// Countable is what count-min sketches count.
var Countable = Accept{
	name: `("INTEGRAL" or "STRING" or "BINARY")`, to: []types.DataType{types.Long}, strict: true,
	has: func(t types.DataType) bool { return IsIntegral(t) || isText(t) || isBinary(t) },
}

// IntegralOnly takes whole numbers, and casts nothing but NULL.
var IntegralOnly = Accept{name: `"INTEGRAL"`, has: IsIntegral, to: []types.DataType{types.Integer}, strict: true}
