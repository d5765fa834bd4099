package theta

import (
	"encoding/binary"
	"math"
)

// Mode says how numbers that belong to the same value are put together.
type Mode uint8

// The modes; images have these numbers.
const (
	Sum Mode = iota
	Min
	Max
	AlwaysOne
)

// Modes are the names of the modes in calls.
var Modes = map[string]Mode{"sum": Sum, "min": Min, "max": Max, "alwaysone": AlwaysOne}

// Number is what can be a summary.
type Number interface{ ~int32 | ~float64 }

// Summary is a number and how it was put together.
type Summary[N Number] struct {
	Value N
	Mode  Mode
}

// Start is the summary of a value before any number.
func Start[N Number](m Mode) Summary[N] {
	var v N
	switch m {
	case Min:
		v = N(extreme[N](1))
	case Max:
		v = N(extreme[N](-1))
	case AlwaysOne:
		v = 1
	}
	return Summary[N]{v, m}
}

// extreme is the largest or smallest number.
func extreme[N Number](sign int) N {
	var v any
	switch any(N(0)).(type) {
	case int32:
		v = int32(math.MaxInt32)
		if sign < 0 {
			v = int32(math.MinInt32)
		}
	default:
		v = math.Inf(sign)
	}
	return v.(N)
}

// Add puts a number to those before.
func (s *Summary[N]) Add(x N) {
	switch s.Mode {
	case Sum:
		s.Value += x
	case Min:
		if x < s.Value { // not for NaN
			s.Value = x
		}
	case Max:
		if x > s.Value {
			s.Value = x
		}
	}
}

// Merge puts another summary of the same value to this one.
func (s *Summary[N]) Merge(m Mode, o Summary[N]) {
	*s = Summary[N]{Combine(m, s.Value, o.Value), m}
}

// Combine puts two numbers together.
func Combine[N Number](m Mode, x, y N) N {
	switch m {
	case Min:
		return min(x, y)
	case Max:
		return max(x, y)
	case AlwaysOne:
		return 1
	}
	return x + y
}

// nan is the one NaN of Java.
const nan = 0x7ff8000000000000

// Doubles and Integers are the forms of summaries that images can have.
var (
	Doubles = Tuple[Summary[float64]]{
		Size: 9,
		Put: func(b []byte, s Summary[float64]) []byte {
			bits := math.Float64bits(s.Value)
			if s.Value != s.Value {
				bits = nan
			}
			return append(binary.LittleEndian.AppendUint64(b, bits), uint8(s.Mode))
		},
		Parse: func(b []byte) (Summary[float64], bool) {
			s := Summary[float64]{math.Float64frombits(binary.LittleEndian.Uint64(b)), Mode(b[8])}
			return s, s.Mode <= AlwaysOne
		},
	}
	Integers = Tuple[Summary[int32]]{
		Size: 5,
		Put: func(b []byte, s Summary[int32]) []byte {
			return append(binary.LittleEndian.AppendUint32(b, uint32(s.Value)), uint8(s.Mode))
		},
		Parse: func(b []byte) (Summary[int32], bool) {
			s := Summary[int32]{int32(binary.LittleEndian.Uint32(b)), Mode(b[4])}
			return s, s.Mode <= AlwaysOne
		},
	}
)
