package types

// Limits of DECIMAL.
const (
	MaxPrecision = 38
	MaxScale     = 38
	// minAdjustedScale is how many digits behind the point survive when a result type has to
	// give up precision.
	minAdjustedScale = 6
)

// The types that stand in for a decimal without parameters.
var (
	DecimalDefault = DecimalType{10, 0}  // DECIMAL in SQL
	DecimalSystem  = DecimalType{38, 18} // decimals of a program whose size is not known
)

// BoundedDecimal cuts precision and scale to the limits.
func BoundedDecimal(precision, scale int) DecimalType {
	return DecimalType{min(precision, MaxPrecision), min(scale, MaxScale)}
}

// BoundedPreferIntegral keeps the digits before the point when the limit is passed.
func BoundedPreferIntegral(precision, scale int) DecimalType {
	if precision <= MaxPrecision {
		return DecimalType{precision, scale}
	}
	return DecimalType{MaxPrecision, max(0, scale-(precision-MaxPrecision))}
}

// AdjustDecimal is the result type of arithmetic that may lose precision: digits before the
// point are kept, and of those behind it at least six (or all, if there are fewer).
func AdjustDecimal(precision, scale int) DecimalType {
	switch {
	case precision <= MaxPrecision:
		return DecimalType{precision, scale}
	case scale < 0:
		return DecimalType{MaxPrecision, scale}
	}
	whole := precision - scale
	return DecimalType{MaxPrecision, max(MaxPrecision-whole, min(scale, minAdjustedScale))}
}

// DecimalFor is the smallest decimal that holds every value of a number type, and for FLOAT
// and DOUBLE the customary one.
func DecimalFor(t DataType) (DecimalType, bool) {
	switch t := t.(type) {
	case DecimalType:
		return t, true
	case ByteType:
		return DecimalType{3, 0}, true
	case ShortType:
		return DecimalType{5, 0}, true
	case IntegerType:
		return DecimalType{10, 0}, true
	case LongType:
		return DecimalType{20, 0}, true
	case FloatType:
		return DecimalType{14, 7}, true
	case DoubleType:
		return DecimalType{30, 15}, true
	}
	return DecimalType{}, false
}

// WiderDecimal is the common type of two decimals: all digits before and behind the point, the
// first preferred when both do not fit.
func WiderDecimal(a, b DecimalType) DecimalType {
	scale := max(a.Scale, b.Scale)
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	return BoundedPreferIntegral(whole+scale, scale)
}

// Holds reports whether every value of another number type fits without loss.
func (t DecimalType) Holds(other DataType) bool {
	d, ok := DecimalFor(other)
	if !ok {
		return false
	}
	switch other.(type) {
	case FloatType, DoubleType:
		return false
	}
	return t.Precision-t.Scale >= d.Precision-d.Scale && t.Scale >= d.Scale
}

// DecimalOp is an arithmetic operation, for DecimalResult.
type DecimalOp uint8

// The arithmetic operations on decimals.
const (
	DecimalAdd DecimalOp = iota // + and -
	DecimalMultiply
	DecimalDivide
	DecimalRemainder      // % and pmod
	DecimalIntegralDivide // div: the type of the quotient before it becomes BIGINT
)

// DecimalResult is the type of an operation on two decimals. With allowLoss, Spark's default
// (spark.sql.decimalOperations.allowPrecisionLoss), digits behind the point give way.
func DecimalResult(op DecimalOp, a, b DecimalType, allowLoss bool) DecimalType {
	fit := BoundedDecimal
	if allowLoss {
		fit = AdjustDecimal
	}
	switch op {
	case DecimalMultiply:
		return fit(a.Precision+b.Precision+1, a.Scale+b.Scale)
	case DecimalDivide:
		if allowLoss {
			whole := a.Precision - a.Scale + b.Scale
			scale := max(minAdjustedScale, a.Scale+b.Precision+1)
			return fit(whole+scale, scale)
		}
		whole := min(MaxPrecision, a.Precision-a.Scale+b.Scale)
		scale := min(MaxScale, max(minAdjustedScale, a.Scale+b.Precision+1))
		if over := whole + scale - MaxPrecision; over > 0 {
			scale -= over/2 + 1
			whole = MaxPrecision - scale
		}
		return fit(whole+scale, scale)
	case DecimalRemainder:
		scale := max(a.Scale, b.Scale)
		return fit(min(a.Precision-a.Scale, b.Precision-b.Scale)+scale, scale)
	case DecimalIntegralDivide:
		whole := a.Precision - a.Scale + b.Scale
		if whole == 0 {
			whole = 1
		}
		return BoundedDecimal(whole, 0)
	default:
		scale := max(a.Scale, b.Scale)
		return fit(max(a.Precision-a.Scale, b.Precision-b.Scale)+scale+1, scale)
	}
}
