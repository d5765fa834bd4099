package files

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// MayMatch tells whether a value may fulfil a filter. It says yes to whatever it does not understand.
func MayMatch(f source.Filter, v any) bool {
	switch f.Op {
	case source.IsNull:
		return v == nil
	case source.IsNotNull:
		return v != nil
	}
	if v == nil {
		return false
	}
	if f.Op == source.In {
		for _, x := range f.Values {
			if c, ok := compare(v, x); !ok || c == 0 {
				return true
			}
		}
		return false
	}
	if len(f.Values) != 1 {
		return true
	}
	c, ok := compare(v, f.Values[0])
	if !ok {
		return true
	}
	switch f.Op {
	case source.Equal:
		return c == 0
	case source.NotEqual:
		return c != 0
	case source.Less:
		return c < 0
	case source.LessEqual:
		return c <= 0
	case source.Greater:
		return c > 0
	case source.GreaterEqual:
		return c >= 0
	}
	return true
}

// MayMatchWithin tells whether a value from low to high may meet a comparison.
func MayMatchWithin(f source.Filter, low, high any) bool {
	for _, v := range f.Values {
		if valueWithin(f.Op, v, low, high) {
			return true
		}
	}
	return len(f.Values) == 0
}

func valueWithin(op source.FilterOp, v, low, high any) bool {
	cLow, ok1 := compare(low, v)
	cHigh, ok2 := compare(high, v)
	if !ok1 || !ok2 {
		return true
	}
	switch op {
	case source.Equal, source.In:
		return cLow <= 0 && cHigh >= 0
	case source.NotEqual:
		return cLow != 0 || cHigh != 0
	case source.Less:
		return cLow < 0
	case source.LessEqual:
		return cLow <= 0
	case source.Greater:
		return cHigh > 0
	case source.GreaterEqual:
		return cHigh >= 0
	}
	return true
}

// compare orders two values of the conventions of package types; ok is false when they cannot be compared, which NaN makes so too.
func compare(a, b any) (c int, ok bool) {
	switch a := a.(type) {
	case bool:
		b, ok := b.(bool)
		return boolInt(a) - boolInt(b), ok
	case int8:
		return compareAs(a, b)
	case int16:
		return compareAs(a, b)
	case int32:
		return compareAs(a, b)
	case int64:
		return compareAs(a, b)
	case float32:
		return compareFloat(a, b)
	case float64:
		return compareFloat(a, b)
	case types.Days:
		return compareAs(a, b)
	case types.Micros:
		return compareAs(a, b)
	case types.MicrosNTZ:
		return compareAs(a, b)
	case string:
		b, ok := b.(string)
		return strings.Compare(a, b), ok
	case []byte:
		b, ok := b.([]byte)
		return bytes.Compare(a, b), ok
	}
	return 0, false
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareAs[T cmp.Ordered](a T, b any) (int, bool) {
	x, ok := b.(T)
	return cmp.Compare(a, x), ok
}

func compareFloat[T float32 | float64](a T, b any) (int, bool) {
	x, ok := b.(T)
	return cmp.Compare(a, x), ok && a == a && x == x
}
