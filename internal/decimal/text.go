package decimal

import (
	"math"
	"math/big"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Append prints x with the given scale, without an exponent: 12.30.
func Append(b []byte, x Int, scale int) []byte {
	if x.Hi < 0 {
		b = append(b, '-')
		x = Abs(x)
	}
	var tmp [40]byte
	d := appendDigits(tmp[:0], x)
	if scale <= 0 {
		b = append(b, d...)
		if x != (Int{}) {
			for ; scale < 0; scale++ {
				b = append(b, '0')
			}
		}
		return b
	}
	if len(d) <= scale {
		b = append(b, '0', '.')
		for i := len(d); i < scale; i++ {
			b = append(b, '0')
		}
		return append(b, d...)
	}
	b = append(b, d[:len(d)-scale]...)
	b = append(b, '.')
	return append(b, d[len(d)-scale:]...)
}

// String prints x with the given scale.
func String(x Int, scale int) string { return string(Append(nil, x, scale)) }

// appendDigits prints an x that is not negative.
func appendDigits(b []byte, x Int) []byte {
	if x.Hi == 0 {
		return strconv.AppendUint(b, x.Lo, 10)
	}
	const chunk = 1e18
	q, r := quoRem(x, Int{Lo: chunk})
	b = appendDigits(b, q)
	var tmp [20]byte
	d := strconv.AppendUint(tmp[:0], r.Lo, 10)
	for i := len(d); i < 18; i++ {
		b = append(b, '0')
	}
	return append(b, d...)
}

// Status is the outcome of reading a text.
type Status uint8

// The outcomes.
const (
	OK      Status = iota
	Invalid        // no number
	TooBig         // a number that has too many digits
)

// Parse reads a number in plain or exponent form, with blanks around it, at the given scale; digits behind the scale round half
// away from zero.
func Parse(s []byte, precision, scale int) (x Int, st Status) {
	s = asciiDigits(s)
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	var (
		digits  = 0 // digits kept in x, without leading zeros
		exp     = 0 // x * 10^exp is the value
		seen    = false
		round   = -1 // first digit that did not fit
		i       = 0
		point   = false
		dropped = 0
	)
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if digits < MaxPrecision {
			x, _ = mulSmall(x, 10)
			x, _ = Add(x, Int{Lo: uint64(c - '0')})
			if x != (Int{}) {
				digits++
			}
			if point {
				exp--
			}
			continue
		}
		if round < 0 {
			round = int(c - '0')
		}
		if !point {
			dropped++
		}
	}
	if !seen {
		return Int{}, Invalid
	}
	if i < len(s) {
		if s[i] != 'e' && s[i] != 'E' {
			return Int{}, Invalid
		}
		e, ok := exponent(s[i+1:])
		if !ok {
			return Int{}, Invalid
		}
		exp += e
	}
	exp += dropped
	if x == (Int{}) {
		if exp >= MaxPrecision {
			return x, TooBig // as Spark has it
		}
		return x, OK
	}
	if round >= 0 && -exp <= scale {
		// More than 38 digits, and the last of them are not behind the scale.
		if -exp < scale || digits > precision {
			return Int{}, TooBig
		}
		if round >= 5 {
			x, _ = Add(x, Int{Lo: 1})
		}
	}
	if neg {
		x = Neg(x)
	}
	if exp > MaxPrecision || exp < -1000 {
		if exp > 0 {
			return Int{}, TooBig
		}
		return Int{}, OK
	}
	x, ok := Rescale(x, -exp, scale, precision)
	if !ok {
		return Int{}, TooBig
	}
	return x, OK
}

// asciiDigits writes the decimal digits of other scripts as those of ASCII: they count as well, as far as they are in Unicode's first plane.
func asciiDigits(s []byte) []byte {
	i := 0
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	if i == len(s) {
		return s
	}
	out := append([]byte(nil), s[:i]...)
	for _, r := range string(s[i:]) {
		if r < 0x10000 && unicode.Is(unicode.Nd, r) {
			zero := r // the digits of a script follow each other, and its ranges begin with a zero
			for zero > r-9 && unicode.Is(unicode.Nd, zero-1) {
				zero--
			}
			r = '0' + (r-zero)%10
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func exponent(s []byte) (int, bool) {
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, false
	}
	e := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		if e < 1e6 {
			e = e*10 + int(c-'0')
		}
	}
	if neg {
		e = -e
	}
	return e, true
}

// Float64 is the double nearest to x of the given scale.
func Float64(x Int, scale int) float64 {
	if v, ok := Int64(x); ok && scale >= 0 && scale <= 22 && v <= 1<<53 && v >= -(1<<53) {
		return float64(v) / exactPow10[scale] // both are exact, so the quotient is rounded once
	}
	f, _ := strconv.ParseFloat(string(Append(nil, x, scale)), 64)
	return f
}

var exactPow10 = func() (p [23]float64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// FromFloat64 is the decimal form of f (its shortest, as it is printed) at the given scale; bits is 32 or 64. NaN and infinity
// are Invalid.
func FromFloat64(f float64, floatBits, precision, scale int) (Int, Status) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Int{}, Invalid
	}
	var tmp [32]byte
	return Parse(strconv.AppendFloat(tmp[:0], f, 'e', -1, floatBits), precision, scale)
}

// Bytes gives the big-endian two's complement form of least length, as Parquet, Avro and Spark's rows hold wide decimals.
func Bytes(x Int) []byte {
	var b [16]byte
	for i := range 8 {
		b[i] = byte(uint64(x.Hi) >> (56 - 8*i))
		b[8+i] = byte(x.Lo >> (56 - 8*i))
	}
	i := 0
	for i < 15 && (b[i] == 0 && b[i+1] < 0x80 || b[i] == 0xff && b[i+1] >= 0x80) {
		i++
	}
	return append([]byte(nil), b[i:]...)
}

// FromBytes reads a big-endian two's complement number; ok is false when it is longer than 16 bytes.
func FromBytes(b []byte) (Int, bool) {
	if len(b) > 16 {
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return FromBig(n)
	}
	var x Int
	if len(b) > 0 && b[0] >= 0x80 {
		x = Int{Lo: math.MaxUint64, Hi: -1}
	}
	for _, c := range b {
		x = Int{Lo: x.Lo<<8 | uint64(c), Hi: x.Hi<<8 | int64(x.Lo>>56)}
	}
	return x, true
}
