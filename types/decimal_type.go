package types

// Limits of DECIMAL.
const (
	MaxPrecision = 38
	MaxScale     = 38
)

// The types that stand in for a decimal without parameters.
var (
	DecimalDefault = DecimalType{10, 0}  // DECIMAL in SQL
	DecimalSystem  = DecimalType{38, 18} // decimals of a program whose size is not known
)

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
