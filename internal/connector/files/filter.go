package files

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// mayMatch tells whether a value may fulfil a filter. It says yes to whatever it does not understand.
func mayMatch(f source.Filter, v any) bool {
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
			if c, ok := Compare(v, x); !ok || c == 0 {
				return true
			}
		}
		return false
	}
	if len(f.Values) != 1 {
		return true
	}
	c, ok := Compare(v, f.Values[0])
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

// Compare orders two values of the conventions of package types; ok is false when they cannot be compared, which NaN makes so too.
func Compare(a, b any) (c int, ok bool) {
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
