package fn

import (
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// CastMode says what a cast does with a value that the target cannot hold.
type CastMode uint8

// The modes.
const (
	CastANSI   CastMode = iota // the row fails
	CastLegacy                 // null, and integers wrap: spark.sql.ansi.enabled=false
	CastTry                    // null
)

// CheckCast is the error of a cast that does not exist. sql is the text of the whole cast.
func CheckCast(from, to types.DataType, mode CastMode, sql string) error {
	ansi := mode != CastLegacy
	if mode == CastTry && CanTryCast(from, to) || mode != CastTry && CanCast(from, to, ansi) {
		return nil
	}
	quoted := `"` + sql + `"`
	switch permission := castPermission(from, to, ansi); {
	case permission == onlyLegacy && mode == CastANSI:
		return errclass.New("DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION", "sqlExpr", quoted, "srcType", quoteType(from),
			"targetType", quoteType(to), "config", ansiConfig, "configVal", "'false'")
	case permission == otherWay:
		name := "`UNIX_DATE`"
		if kindOf(to) == kDate {
			name = "`DATE_FROM_UNIX_DATE`"
		}
		return errclass.New("DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION", "sqlExpr", quoted, "srcType", quoteType(from),
			"targetType", quoteType(to), "functionNames", name)
	}
	if mode == CastANSI && CanTryCast(from, to) {
		return errclass.New("DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION", "sqlExpr", quoted, "srcType", quoteType(from),
			"targetType", quoteType(to), "functionNames", "`try_cast`")
	}
	return errclass.New("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "sqlExpr", quoted, "srcType", quoteType(from), "targetType", quoteType(to))
}

// CastNullable tells whether a cast's result may be null when its argument is or is not.
func CastNullable(from, to types.DataType, mode CastMode, argument bool) bool {
	return argument || mode == CastTry && TryCastNullable(from, to) || ForcesNull(from, to)
}

// BindCast binds a cast that CheckCast allows. Nullable is for an argument that may be null; CastNullable knows better.
func BindCast(from, to types.DataType, mode CastMode, zone *time.Location) (*Bound, error) {
	if err := CheckCast(from, to, mode, "CAST(... AS "+to.SQL()+")"); err != nil {
		return nil, err
	}
	c := castEnv{mode: mode, zone: zone}
	bound := &Bound{Args: make([]types.DataType, 1), Type: to, Nullable: true, CanFail: (mode == CastANSI || mode == CastLegacy && isAnsiInterval(from) || kindOf(from) == kVariant && mode != CastTry) && c.canFail(from, to)}
	bound.New = func() Kernel { return c.kernel(from, to) }
	if types.SameShape(from, to) {
		bound.TakesConst = true
	}
	return bound, nil
}

// castEnv is what casts depend on besides the types.
type castEnv struct {
	mode CastMode
	zone *time.Location
	// exact refuses decimals that are no timestamps, of which a cast takes the low bits.
	exact bool
}

// fail deals with row i: its error under ANSI, null otherwise.
func (c castEnv) fail(e *expr.Eval, out *vec.Vector, i int, err func() error) {
	if c.mode == CastANSI {
		e.Errs.Add(i, err())
		return
	}
	setNull(out, i)
}

// canFail tells whether a cast may note errors under ANSI.
func (c castEnv) canFail(from, to types.DataType) bool {
	switch f := from.(type) {
	case types.NullType:
		return false
	case types.ArrayType:
		if t, ok := to.(types.ArrayType); ok {
			return c.canFail(f.Element, t.Element)
		}
	case types.MapType:
		if t, ok := to.(types.MapType); ok {
			return c.canFail(f.Key, t.Key) || c.canFail(f.Value, t.Value)
		}
	case types.StructType:
		if t, ok := to.(types.StructType); ok {
			for i := range f.Fields {
				if c.canFail(f.Fields[i].Type, t.Fields[i].Type) {
					return true
				}
			}
			return false
		}
	}
	if kindOf(from) == kVariant {
		return true
	}
	if isText(to) {
		return false
	}
	if IsIntegral(from) && IsIntegral(to) && rank(to) >= rank(from) || IsNumeric(from) && isFloating(to) {
		return false
	}
	return !types.SameShape(from, to)
}

// kernel makes the loop for one pair of types. Its argument is Flat.
func (c castEnv) kernel(from, to types.DataType) Kernel {
	if types.SameShape(from, to) || kindOf(from) == kText && kindOf(to) == kText || kindOf(from) == kBinary && kindOf(to) == kBinary {
		return retype(to)
	}
	if isNull(from) {
		return func(_ *expr.Eval, n int, _ []*vec.Vector, _ *vec.Vector) *vec.Vector { return vec.NewNulls(to, n) }
	}
	if kindOf(from) == kVariant {
		return c.fromVariant(to)
	}
	if kindOf(to) == kVariant {
		return toVariant(from)
	}
	if isText(to) {
		return c.toText(from)
	}
	switch kindOf(from) {
	case kText:
		return c.fromText(to)
	case kBool:
		return c.fromBool(to)
	case kInt, kFloat, kDecimal:
		return c.fromNumber(from, to)
	case kDate, kTimestamp, kNTZ, kTime:
		return c.fromTime(from, to)
	case kDayTime, kYearMonth:
		return c.fromInterval(from, to)
	case kArray:
		return c.array(from.(types.ArrayType), to.(types.ArrayType))
	case kMap:
		return c.mapping(from.(types.MapType), to.(types.MapType))
	case kStruct:
		return c.structure(from.(types.StructType), to.(types.StructType))
	case kBinary:
		return retype(to)
	}
	return retype(to)
}

// retype passes the values on under another type of the same layout.
func retype(to types.DataType) Kernel {
	return func(_ *expr.Eval, _ int, args []*vec.Vector, _ *vec.Vector) *vec.Vector { return args[0].WithType(to) }
}

func invalidInput(value string, from, to types.DataType) error {
	kind := errclass.NumberFormat
	switch kindOf(to) {
	case kTime: // texts are read as the default type first, whatever the digits
		kind, to = errclass.Runtime, types.TimeType{Precision: 6}
	case kBool:
		kind = errclass.Runtime
	case kDate, kTimestamp, kNTZ:
		kind = errclass.DateTime
	}
	return errclass.New("CAST_INVALID_INPUT", "expression", value, "sourceType", quoteType(from), "targetType", quoteType(to)).WithKind(kind)
}

func castOverflow(value string, from, to types.DataType) error {
	return errclass.New("CAST_OVERFLOW", "value", value, "sourceType", quoteType(from), "targetType", quoteType(to))
}

// quoteText prints a string as a literal.
func quoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
