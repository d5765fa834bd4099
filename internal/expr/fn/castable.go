package fn

import "github.com/millrace/millrace/types"

// kind groups types by what they can be cast to.
type kind uint8

const (
	kNull kind = iota
	kBool
	kInt // the four integer types
	kFloat
	kDecimal
	kText
	kBinary
	kDate
	kTimestamp
	kNTZ
	kTime
	kCalendar
	kDayTime
	kYearMonth
	kArray
	kMap
	kStruct
	kVariant
	kOther
)

func kindOf(t types.DataType) kind {
	switch t.(type) {
	case types.NullType:
		return kNull
	case types.BooleanType:
		return kBool
	case types.ByteType, types.ShortType, types.IntegerType, types.LongType:
		return kInt
	case types.FloatType, types.DoubleType:
		return kFloat
	case types.DecimalType:
		return kDecimal
	case types.StringType, types.CharType, types.VarcharType:
		return kText
	case types.BinaryType:
		return kBinary
	case types.DateType:
		return kDate
	case types.TimestampType:
		return kTimestamp
	case types.TimestampNTZType:
		return kNTZ
	case types.TimeType:
		return kTime
	case types.CalendarIntervalType:
		return kCalendar
	case types.DayTimeIntervalType:
		return kDayTime
	case types.YearMonthIntervalType:
		return kYearMonth
	case types.ArrayType:
		return kArray
	case types.MapType:
		return kMap
	case types.StructType:
		return kStruct
	case types.VariantType:
		return kVariant
	}
	return kOther
}

// permission is the answer to whether a cast exists.
type permission uint8

const (
	forbidden  permission = iota
	allowed               //
	onlyLegacy            // only outside of ANSI mode; there is no function that does it either
	otherWay              // only outside of ANSI mode, and a function does it
)

// kinds is a set of kinds.
type kinds uint32

func set(ks ...kind) (s kinds) {
	for _, k := range ks {
		s |= 1 << k
	}
	return s
}

func (s kinds) has(k kind) bool { return s>>k&1 != 0 }

var (
	numberKinds = set(kInt, kFloat, kDecimal)

	// common are the kinds that a kind can be cast to in any mode.
	common = [...]kinds{
		kBool:      set(kBool, kInt, kFloat, kDecimal, kText),
		kInt:       set(kBool, kInt, kFloat, kDecimal, kText, kTimestamp, kDayTime, kYearMonth),
		kFloat:     set(kBool, kInt, kFloat, kDecimal, kText, kTimestamp),
		kDecimal:   set(kBool, kInt, kFloat, kDecimal, kText, kTimestamp, kDayTime, kYearMonth),
		kText:      set(kBool, kInt, kFloat, kDecimal, kText, kBinary, kDate, kTimestamp, kNTZ, kTime, kCalendar, kDayTime, kYearMonth),
		kBinary:    set(kText, kBinary),
		kDate:      set(kText, kDate, kTimestamp, kNTZ),
		kTimestamp: set(kInt, kFloat, kDecimal, kText, kDate, kTimestamp, kNTZ),
		kNTZ:       set(kText, kDate, kTimestamp, kNTZ),
		kTime:      set(kInt, kDecimal, kText, kTime),
		kCalendar:  set(kText, kCalendar),
		kDayTime:   set(kInt, kDecimal, kText, kDayTime),
		kYearMonth: set(kInt, kDecimal, kText, kYearMonth),
		kArray:     set(kText, kArray),
		kMap:       set(kText, kMap),
		kStruct:    set(kText, kStruct),
		kOther:     set(kText),
	}
)

// castPermission looks at the outermost types only.
func castPermission(from, to types.DataType, ansi bool) permission {
	f, t := kindOf(from), kindOf(to)
	if f == kNull {
		return allowed
	}
	if f == kVariant || t == kVariant {
		if f == kVariant && fromVariantAllowed(to) || t == kVariant && toVariantAllowed(from, false) {
			return allowed
		}
		return forbidden
	}
	if int(f) < len(common) && common[f].has(t) {
		return allowed
	}
	legacy := forbidden
	switch {
	case f == kBool && t == kTimestamp:
		legacy = onlyLegacy
	case f == kInt && t == kBinary:
		legacy = onlyLegacy
	case numberKinds.has(f) && t == kDate && ansi:
		return otherWay // outside of ANSI mode nothing is suggested
	case f == kDate && (t == kBool || numberKinds.has(t)):
		legacy = otherWay
		if t == kBool {
			legacy = onlyLegacy
		}
	case f == kTimestamp && t == kBool:
		legacy = onlyLegacy
	}
	if legacy != forbidden && !ansi {
		return allowed
	}
	return legacy
}

// CanTryCast is CanCast for try_cast: inside of others values are cast as outside of ANSI mode.
func CanTryCast(from, to types.DataType) bool {
	switch to.(type) {
	case types.ArrayType, types.MapType, types.StructType:
		return CanCast(from, to, false)
	}
	return CanCast(from, to, true)
}

// CanCast tells whether an explicit cast exists between two types, parts included.
func CanCast(from, to types.DataType, ansi bool) bool {
	if types.Equal(from, to) {
		return true
	}
	if castPermission(from, to, ansi) != allowed {
		return false
	}
	// Under ANSI a part that cannot be cast fails; otherwise it becomes null, and the target must have room for that.
	fits := func(null bool, f, t types.DataType, room bool) bool {
		return room || !null && (ansi || !ForcesNull(f, t))
	}
	switch t := to.(type) {
	case types.ArrayType:
		if f, ok := from.(types.ArrayType); ok {
			return CanCast(f.Element, t.Element, ansi) && fits(f.ContainsNull, f.Element, t.Element, t.ContainsNull)
		}
	case types.MapType:
		if f, ok := from.(types.MapType); ok {
			return CanCast(f.Key, t.Key, ansi) && fits(false, f.Key, t.Key, false) &&
				CanCast(f.Value, t.Value, ansi) && fits(f.ValueContainsNull, f.Value, t.Value, t.ValueContainsNull)
		}
	case types.StructType:
		if f, ok := from.(types.StructType); ok {
			if len(f.Fields) != len(t.Fields) {
				return false
			}
			for i, x := range f.Fields {
				y := t.Fields[i]
				if !CanCast(x.Type, y.Type, ansi) || !fits(x.Nullable, x.Type, y.Type, y.Nullable) {
					return false
				}
			}
		}
	}
	return true
}

func nullFits(null, allowed bool) bool { return !null || allowed }

// ForcesNull tells whether a cast may give null for a value that is not null, by the types alone. Spark marks such a cast as
// nullable also where it would rather fail.
func ForcesNull(from, to types.DataType) bool {
	if types.Equal(from, to) {
		return false
	}
	f, t := kindOf(from), kindOf(to)
	switch {
	case f == kNull:
		return false
	case f == kVariant:
		return t != kVariant
	case f == kText:
		return t != kText && t != kBinary
	case t == kText || t == kVariant && f != kDate:
		return false
	case t == kCalendar:
		return true
	case t == kDecimal:
		return f == kTimestamp || f == kTime || f == kDayTime || f == kYearMonth || f == kDate || !decimalHolds(from, to.(types.DecimalType))
	case f == kFloat:
		return t == kInt || t == kTimestamp
	case f == kDecimal:
		return t == kInt
	case f == kTimestamp:
		r := rank(to)
		return t == kInt && r < 4
	case f == kTime:
		return t == kInt && rank(to) < 3
	case f == kNTZ:
		return t == kDate
	case t == kDate:
		return f != kTimestamp
	case f == kDate:
		return t != kTimestamp
	}
	return false
}

// decimalHolds tells whether every value of a type fits a decimal type.
func decimalHolds(from types.DataType, to types.DecimalType) bool {
	if kindOf(from) == kFloat {
		return false
	}
	if kindOf(from) == kBool {
		return to.Precision > to.Scale
	}
	d := DecimalFor(from)
	if kindOf(from) == kDecimal && to.Scale < d.Scale { // rounding may carry into one more digit
		return to.Precision-to.Scale > d.Precision-d.Scale
	}
	return to.Precision-to.Scale >= d.Precision-d.Scale && to.Scale >= d.Scale
}

// TryCastNullable tells whether try_cast may give null for a value that is not null, as Spark has it: a text as bytes never is, but the
// texts in an array might.
func TryCastNullable(from, to types.DataType) bool {
	return !(kindOf(from) == kText && kindOf(to) == kBinary || upCast(from, to))
}

// upCast tells whether every value of a type has an equal one in another, or a text that says all of it, parts included.
func upCast(from, to types.DataType) bool {
	if types.Equal(from, to) {
		return true
	}
	f, t := kindOf(from), kindOf(to)
	switch {
	case f == kNull:
		return true
	case f == kText:
		return t == kText
	case t == kText:
		return f < kArray
	case f == kDate:
		return t == kTimestamp || t == kNTZ
	case f == kNTZ || f == kTimestamp:
		return t == kTimestamp || t == kNTZ || f == kTimestamp && t == kInt && rank(to) == 4
	case f == kInt && t == kTimestamp:
		return rank(from) == 4
	case f == kInt && t == kInt, f == kFloat && t == kFloat:
		return rank(from) <= rank(to)
	case f == kInt && t == kFloat:
		return true
	case (f == kInt || f == kDecimal) && t == kDecimal:
		d := DecimalFor(from)
		to := to.(types.DecimalType)
		return to.Precision-to.Scale >= d.Precision-d.Scale && to.Scale >= d.Scale
	case f == kDayTime || f == kYearMonth:
		return f == t
	}
	part := func(null bool, f, t types.DataType, room bool) bool { return (room || !null) && upCast(f, t) }
	switch f := from.(type) {
	case types.ArrayType:
		t, ok := to.(types.ArrayType)
		return ok && part(f.ContainsNull, f.Element, t.Element, t.ContainsNull)
	case types.MapType:
		t, ok := to.(types.MapType)
		return ok && upCast(f.Key, t.Key) && part(f.ValueContainsNull, f.Value, t.Value, t.ValueContainsNull)
	case types.StructType:
		t, ok := to.(types.StructType)
		if !ok || len(f.Fields) != len(t.Fields) {
			return false
		}
		for i, x := range f.Fields {
			if y := t.Fields[i]; !part(x.Nullable, x.Type, y.Type, y.Nullable) {
				return false
			}
		}
		return true
	}
	return false
}
