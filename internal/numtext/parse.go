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
