package numtext

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unsafe"
)

func trim(s []byte) []byte {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// ParseBool reads t, true, y, yes, 1 and their opposites in any case, with blanks around.
func ParseBool(s []byte) (value, ok bool) {
	s = trim(s)
	if len(s) == 0 || len(s) > 5 {
		return false, false
	}
	var low [5]byte
	for i, c := range s {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	switch string(low[:len(s)]) {
	case "t", "true", "y", "yes", "1":
		return true, true
	case "f", "false", "n", "no", "0":
		return false, true
	}
	return false, false
}

// ParseInt reads a whole number with blanks around; with fraction set, digits behind a point are cut off.
func ParseInt(s []byte, fraction bool) (int64, bool) {
	s = trim(s)
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	v := int64(0) // negative, because there is one number more on that side
	for i, c := range s {
		if c == '.' && fraction {
			for _, c := range s[i+1:] {
				if c < '0' || c > '9' {
					return 0, false
				}
			}
			break
		}
		d := int64(c - '0')
		if d > 9 || c < '0' || v < math.MinInt64/10 {
			return 0, false
		}
		v = v*10 - d
		if v > 0 {
			return 0, false
		}
	}
	if neg {
		return v, true
	}
	return -v, v != math.MinInt64
}

// ParseFloat reads a floating point number in one of the forms that Java and Spark take. bits is 32 or 64.
func ParseFloat(s []byte, bits int) (float64, bool) {
	s = trim(s)
	if len(s) == 0 {
		return 0, false
	}
	str := unsafe.String(unsafe.SliceData(s), len(s))
	switch c := s[len(s)-1]; {
	case c >= '0' && c <= '9' || c == '.':
	default:
		switch strings.ToLower(str) {
		case "nan":
			return math.NaN(), true
		case "inf", "+inf", "infinity", "+infinity":
			return math.Inf(1), true
		case "-inf", "-infinity":
			return math.Inf(-1), true
		}
		if c == 'd' || c == 'D' || c == 'f' || c == 'F' {
			str = str[:len(str)-1]
		}
	}
	for i := range len(str) {
		switch c := str[i]; {
		case c == '_' || c == 'n' || c == 'N' || c == 'i' || c == 'I':
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(str, bits)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return f, true
}

// ShortInt reads a whole number of up to 18 digits at the start of text[i:], the usual case: without a plus sign and leading zeros,
// and with neither a fraction nor an exponent behind it. A byte that is no digit must follow in text. It returns the position behind
// the number.
func ShortInt(text []byte, i int) (v int64, next int, ok bool) {
	start := i
	neg := text[i] == '-'
	if neg {
		i++
	}
	from := i
	for {
		d := uint64(text[i]) - '0'
		if d > 9 {
			break
		}
		v = v*10 + int64(d)
		i++
	}
	n := i - from
	if c := text[i]; n == 0 || n > 18 || c == '.' || c|0x20 == 'e' || n > 1 && text[from] == '0' {
		return 0, start, false
	}
	if neg {
		v = -v
	}
	return v, i, true
}

// exactPowers are the powers of ten that a double holds exactly.
var exactPowers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// ShortFloat reads a number of at most 15 digits without exponent at the start of text[i:]: the quotient of two doubles that are
// exact is rounded right. A byte that is no digit must follow in text. It returns the position behind the number.
func ShortFloat(text []byte, i int) (v float64, next int, ok bool) {
	neg := text[i] == '-'
	if neg {
		i++
	}
	from := i
	var m uint64
	for {
		d := uint64(text[i]) - '0'
		if d > 9 {
			break
		}
		m = m*10 + d
		i++
	}
	digits, after := i-from, 0
	if digits == 0 || digits > 1 && text[from] == '0' {
		return 0, i, false
	}
	if text[i] == '.' {
		i++
		start := i
		for {
			d := uint64(text[i]) - '0'
			if d > 9 {
				break
			}
			m = m*10 + d
			i++
		}
		if after = i - start; after == 0 {
			return 0, i, false
		}
	}
	if digits+after > 15 || text[i]|0x20 == 'e' {
		return 0, i, false
	}
	v = float64(m) / exactPowers[after]
	if neg {
		v = -v
	}
	return v, i, true
}
