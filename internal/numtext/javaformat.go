package numtext

import (
	"math"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/decimal"
)

// NumberFormat is a pattern of Java's DecimalFormat, such as #,##0.00, with the symbols of English.
type NumberFormat struct {
	prefix, suffix       string
	negPrefix, negSuffix string
	minInt, maxInt       int
	minFrac, maxFrac     int
	group                int // digits of a group, 0 without groups
	minExp               int // digits of the exponent, 0 without one
	shift                int // places that per cent and per mille move the point
	point                bool
}

// formatScan is half a pattern: what is in front of its digits, they and what follows.
type formatScan struct {
	NumberFormat
	left, zeros, right int
	pointAt, grouping  int
	ok                 bool
}

// ParseNumberFormat compiles a pattern. ok is false for one that Java does not take.
func ParseNumberFormat(pattern string) (f *NumberFormat, ok bool) {
	pos, rest := scanFormat(pattern)
	if !pos.ok {
		return nil, false
	}
	out := pos.NumberFormat
	out.negPrefix, out.negSuffix = "-"+out.prefix, out.suffix
	if rest != "" {
		neg, more := scanFormat(rest[1:])
		if !neg.ok || more != "" {
			return nil, false
		}
		if neg.prefix != out.prefix || neg.suffix != out.suffix {
			out.negPrefix, out.negSuffix = neg.prefix, neg.suffix
		}
	}
	return &out, true
}

func scanFormat(s string) (f formatScan, rest string) {
	f.pointAt, f.grouping = -1, -1
	phase, inQuote := 0, false
	affix := &f.prefix
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\'':
			switch {
			case phase == 1:
				phase, affix = 2, &f.suffix
				continue
			case i+1 < len(s) && s[i+1] == '\'':
				*affix += "'"
				i++
			default:
				inQuote = !inQuote
			}
		case inQuote:
			*affix += s[i : i+1]
		case c == ';':
			return f.finish(), s[i:]
		case phase == 0 && strings.IndexByte("#0,.", c) >= 0:
			phase = 1
			continue
		case phase == 1:
			if n := f.digit(s[i:]); n > 0 {
				i += n
				continue
			} else if n < 0 {
				return f, ""
			}
			phase, affix = 2, &f.suffix
			continue
		case phase == 2 && strings.IndexByte("#0,.", c) >= 0:
			return f, ""
		case c == '%':
			f.shift = 2
			*affix += "%"
		case strings.HasPrefix(s[i:], "‰"):
			f.shift = 3
			*affix += "‰"
			i += len("‰")
			continue
		default:
			*affix += s[i : i+1]
		}
		i++
	}
	if inQuote {
		return f, ""
	}
	return f.finish(), ""
}

// digit takes a character of the digits, or the exponent. n is 0 when they have ended and negative for a mistake.
func (f *formatScan) digit(s string) (n int) {
	switch s[0] {
	case '#':
		if f.zeros > 0 {
			f.right++
		} else {
			f.left++
		}
	case '0':
		if f.right > 0 {
			return -1
		}
		f.zeros++
	case ',':
		if f.pointAt >= 0 {
			return -1
		}
		f.grouping = 0
		return 1
	case '.':
		if f.pointAt >= 0 {
			return -1
		}
		f.pointAt = f.left + f.zeros + f.right
		return 1
	case 'E':
		for n = 1; n < len(s) && s[n] == '0'; n++ {
			f.minExp++
		}
		if f.minExp == 0 || f.left+f.zeros < 1 {
			return -1
		}
		return n
	default:
		return 0
	}
	if f.grouping >= 0 && f.pointAt < 0 {
		f.grouping++
	}
	return 1
}

func (f formatScan) finish() formatScan {
	if f.zeros == 0 && f.left > 0 && f.pointAt >= 0 {
		n := max(f.pointAt, 1)
		f.right, f.left, f.zeros = f.left-n, n-1, 1
	}
	if f.pointAt < 0 && f.right > 0 || f.pointAt >= 0 && (f.pointAt < f.left || f.pointAt > f.left+f.zeros) || f.grouping == 0 {
		return f
	}
	total := f.left + f.zeros + f.right
	whole := total
	if f.pointAt >= 0 {
		whole = f.pointAt
		f.maxFrac, f.minFrac = total-whole, f.left+f.zeros-whole
		f.point = whole == 0 || whole == total
	}
	f.minInt, f.maxInt = whole-f.left, math.MaxInt32
	if f.minExp > 0 {
		f.maxInt = f.left + f.minInt
	}
	f.group = max(f.grouping, 0)
	f.ok = true
	return f
}

// AppendFloat prints a double.
func (f *NumberFormat) AppendFloat(b []byte, x float64) []byte {
	neg := math.Signbit(x)
	switch {
	case math.IsNaN(x):
		return append(b, "NaN"...)
	case math.IsInf(x, 0):
		return f.dress(b, neg, func(b []byte) []byte { return append(b, "∞"...) })
	}
	switch f.shift {
	case 2:
		x *= 100
	case 3:
		x *= 1000
	}
	x = math.Abs(x)
	digits, point := shortest(strconv.AppendFloat(nil, x, 'e', -1, 64))
	// The digits are cut where the value itself says, not its shortest form.
	if keep := f.keep(point); len(digits) > keep {
		switch {
		case f.minExp > 0:
			digits, point = shortest(strconv.AppendFloat(nil, x, 'e', max(keep, 1)-1, 64))
		default:
			digits, point = plain(strconv.AppendFloat(nil, x, 'f', f.maxFrac, 64))
		}
	}
	return f.dress(b, neg, func(b []byte) []byte { return f.number(b, digits, point) })
}

// AppendDecimal prints a decimal with so many digits behind the point, rounding half to even.
func (f *NumberFormat) AppendDecimal(b []byte, x decimal.Int, scale int) []byte {
	neg := decimal.Sign(x) < 0
	digits, point := plain(decimal.Append(nil, decimal.Abs(x), scale))
	if len(digits) > 0 {
		point += f.shift
	}
	if keep := f.keep(point); len(digits) > keep {
		digits, point = roundHalfEven(digits, point, keep)
	}
	return f.dress(b, neg, func(b []byte) []byte { return f.number(b, digits, point) })
}

// keep is how many digits of a number are shown whose point is behind as many of them.
func (f *NumberFormat) keep(point int) int {
	if f.minExp > 0 {
		return f.maxInt + f.maxFrac
	}
	return point + f.maxFrac
}

func roundHalfEven(digits []byte, point, keep int) ([]byte, int) {
	if keep < 0 {
		return nil, 0
	}
	rest := digits[keep:]
	up := rest[0] > '5' || rest[0] == '5' && (strings.Trim(string(rest[1:]), "0") != "" || keep > 0 && digits[keep-1]&1 == 1)
	out := append([]byte{}, digits[:keep]...)
	if up {
		i := keep - 1
		for ; i >= 0 && out[i] == '9'; i-- {
			out[i] = '0'
		}
		if i >= 0 {
			out[i]++
		} else {
			out, point = append([]byte{'1'}, out...), point+1
		}
	}
	return trimDigits(out, point)
}

func trimDigits(digits []byte, point int) ([]byte, int) {
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	for len(digits) > 0 && digits[0] == '0' {
		digits, point = digits[1:], point-1
	}
	if len(digits) == 0 {
		return nil, 0
	}
	return digits, point
}

// shortest takes d.ddde±xx apart.
func shortest(s []byte) (digits []byte, point int) {
	mantissa, exp, _ := strings.Cut(string(s), "e")
	e, _ := strconv.Atoi(exp)
	return trimDigits([]byte(strings.Replace(mantissa, ".", "", 1)), e+1)
}

// plain takes ddd.ddd apart.
func plain(s []byte) (digits []byte, point int) {
	whole, frac, _ := strings.Cut(string(s), ".")
	return trimDigits([]byte(whole+frac), len(whole))
}

func (f *NumberFormat) dress(b []byte, neg bool, number func(b []byte) []byte) []byte {
	if neg {
		return append(number(append(b, f.negPrefix...)), f.negSuffix...)
	}
	return append(number(append(b, f.prefix...)), f.suffix...)
}

// number prints digits of which so many are in front of the point; there are none for zero.
func (f *NumberFormat) number(b, digits []byte, point int) []byte {
	if f.minExp > 0 {
		return f.exponential(b, digits, point)
	}
	at := func(i int) byte { // the digit i places in front of the point, or behind it if negative
		if k := point - i; k >= 0 && k < len(digits) {
			return digits[k]
		}
		return '0'
	}
	whole := max(point, f.minInt)
	for i := whole; i > 0; i-- {
		b = append(b, at(i))
		if f.group > 0 && i > 1 && (i-1)%f.group == 0 {
			b = append(b, ',')
		}
	}
	frac := min(max(len(digits)-point, f.minFrac), f.maxFrac)
	if len(digits) == 0 {
		frac = f.minFrac
	}
	if whole <= 0 && frac <= 0 {
		b = append(b, '0')
	}
	if f.point || frac > 0 {
		b = append(b, '.')
	}
	for i := range frac {
		b = append(b, at(-i))
	}
	return b
}

func (f *NumberFormat) exponential(b, digits []byte, point int) []byte {
	exp, minInt := point, f.minInt
	if f.maxInt > 1 && f.maxInt > f.minInt {
		if exp >= 1 {
			exp = (exp - 1) / f.maxInt * f.maxInt
		} else {
			exp = (exp - f.maxInt) / f.maxInt * f.maxInt
		}
		minInt = 1
	} else {
		exp -= f.minInt
	}
	whole := point - exp
	if len(digits) == 0 {
		whole, exp = minInt, 0
	}
	for i := range max(len(digits), f.minInt+f.minFrac, whole) {
		if i == whole {
			b = append(b, '.')
		}
		c := byte('0')
		if i < len(digits) {
			c = digits[i]
		}
		b = append(b, c)
	}
	b = append(b, 'E')
	if exp < 0 {
		b, exp = append(b, '-'), -exp
	}
	s := strconv.Itoa(exp)
	return append(append(b, strings.Repeat("0", max(f.minExp-len(s), 0))...), s...)
}
