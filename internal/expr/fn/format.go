package fn

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func formatFunctions() []*Function {
	return []*Function{
		{Name: "format_string", Aliases: []string{"printf"}, Bind: bindFormatString},
		{Name: "format_number", Bind: bindFormatNumber},
	}
}

// bindFormatString binds format_string(format, values...), which follows Java's Formatter. Null values print as null.
func bindFormatString(b *Binding) (*Bound, error) {
	if err := b.Arity(1, -1); err != nil {
		return nil, err
	}
	c := make([]types.DataType, len(b.Args))
	to, ok := text.implicit(b.Args[0], b.ANSI)
	if !ok {
		return nil, b.wrongType(0, text.name)
	}
	c[0] = to
	return &Bound{Args: c, Type: types.String, Nullable: b.argNullable(c, 0), NullsAreArgs: true, TakesConst: true, CanFail: true, New: func() Kernel {
		env := castEnv{zone: b.Zone}
		writers := make([]textWriter, len(b.Args))
		for i := range writers {
			writers[i] = env.part(b.result(c, i))
		}
		var buf []byte
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			spans := out.ResetBytes(n, nil)
			buf = buf[:0]
			for i := range spans {
				at := len(buf)
				if args[0].IsNull(i) {
					setNull(out, i)
				} else {
					var err error
					if buf, err = appendFormat(buf, args, writers, i); err != nil {
						e.Errs.Add(i, err)
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
			}
			out.SetBytes(buf)
			return out
		}
	}}, nil
}

// directive is one %... of a format.
type directive struct {
	arg         int // from 1; 0 takes the next one
	flags       string
	width, prec int // -1 when not given
	verb        byte
}

func badFormat(format string, token string) error {
	return errclass.New("INVALID_FORMAT.UNEXPECTED_TOKEN", "format", quoteText(format), "token", quoteText(token))
}

// appendFormat prints row i's values by its format.
func appendFormat(b []byte, args []*vec.Vector, writers []textWriter, i int) ([]byte, error) {
	format := args[0].StringAt(i)
	next := 0
	for s := format; s != ""; {
		k := strings.IndexByte(s, '%')
		if k < 0 {
			return append(b, s...), nil
		}
		b = append(b, s[:k]...)
		d, n, ok := parseDirective(s[k:])
		if !ok {
			return b, badFormat(strings.Clone(format), strings.Clone(s[k:]))
		}
		token := s[k : k+n]
		s = s[k+n:]
		switch d.verb {
		case '%':
			b = pad(b, "%", d)
			continue
		case 'n':
			b = append(b, '\n')
			continue
		}
		at := d.arg
		if at == 0 {
			next++
			at = next
		}
		if at >= len(args) {
			return b, badFormat(strings.Clone(format), token)
		}
		text, ok := d.print(args[at], writers[at], i)
		if !ok {
			return b, badFormat(strings.Clone(format), token)
		}
		b = pad(b, text, d)
	}
	return b, nil
}

func parseDirective(s string) (d directive, n int, ok bool) {
	d.width, d.prec = -1, -1
	i := 1
	number := func() (int, bool) {
		j := i
		for j < len(s) && s[j] >= '0' && s[j] <= '9' {
			j++
		}
		v, err := strconv.Atoi(s[i:j])
		if err == nil {
			i = j
		}
		return v, err == nil
	}
	start := i
	if v, found := number(); found && i < len(s) && s[i] == '$' {
		d.arg = v
		i++
	} else {
		i = start
	}
	for i < len(s) && strings.IndexByte("-#+ 0,(", s[i]) >= 0 {
		d.flags += s[i : i+1]
		i++
	}
	if v, found := number(); found {
		d.width = v
	}
	if i < len(s) && s[i] == '.' {
		i++
		if d.prec, ok = number(); !ok {
			return d, 0, false
		}
	}
	if i >= len(s) || strings.IndexByte("sSdxXofFeEgGbBcC%nhH", s[i]) < 0 {
		return d, 0, false
	}
	d.verb = s[i]
	return d, i + 1, true
}

func pad(b []byte, text string, d directive) []byte {
	missing := d.width - utf8.RuneCountInString(text)
	if missing <= 0 {
		return append(b, text...)
	}
	if strings.Contains(d.flags, "-") {
		return append(append(b, text...), strings.Repeat(" ", missing)...)
	}
	return append(append(b, strings.Repeat(" ", missing)...), text...)
}

// print prints a value; ok is false when the verb does not fit it.
func (d directive) print(v *vec.Vector, write textWriter, i int) (string, bool) {
	null := v.IsNull(i)
	var s string
	switch d.verb {
	case 's', 'S':
		s = string(write(nil, v, i))
		if d.prec >= 0 && utf8.RuneCountInString(s) > d.prec {
			s = s[:runeOffset([]byte(s), d.prec)]
		}
	case 'b', 'B':
		s = strconv.FormatBool(!null && (v.Phys() != vec.PhysBool || vec.At[uint8](v, i) != 0))
	default:
		if null {
			s = "null"
			if d.prec >= 0 && d.prec < len(s) {
				s = s[:d.prec]
			}
			break
		}
		var ok bool
		if s, ok = d.number(v, i); !ok {
			return "", false
		}
	}
	if d.verb >= 'A' && d.verb <= 'Z' {
		s = strings.ToUpper(s)
	}
	return s, true
}

func (d directive) number(v *vec.Vector, i int) (string, bool) {
	t := v.Type()
	switch d.verb {
	case 'd':
		if !IsIntegral(t) {
			return "", false
		}
		return d.signed(strconv.FormatInt(loadInt(v, i), 10)), true
	case 'x', 'X', 'o':
		if !IsIntegral(t) {
			return "", false
		}
		base := 16
		if d.verb == 'o' {
			base = 8
		}
		mask := uint64(math.MaxUint64) >> (64 - 8*v.Phys().Width())
		s := strconv.FormatUint(uint64(loadInt(v, i))&mask, base)
		if strings.Contains(d.flags, "0") && len(s) < d.width {
			s = strings.Repeat("0", d.width-len(s)) + s
		}
		return s, true
	case 'c', 'C':
		if !IsIntegral(t) {
			return "", false
		}
		return string(rune(loadInt(v, i))), true
	case 'f', 'F', 'e', 'E', 'g', 'G':
		prec := d.prec
		if prec < 0 {
			prec = 6
		}
		f, ok := floatOf(v, i)
		if !ok {
			return "", false
		}
		if dec, ok := t.(types.DecimalType); ok && d.verb == 'f' {
			q := roundUnscaled(loadDecimal(v, i), dec.Scale-prec, halfUp)
			s := decimal.String(q, min(dec.Scale, prec))
			if extra := prec - max(dec.Scale, 0); extra > 0 {
				if dec.Scale == 0 {
					s += "."
				}
				s += strings.Repeat("0", extra)
			}
			return d.signed(s), true
		}
		switch d.verb {
		case 'e', 'E':
			return d.signed(strconv.FormatFloat(f, 'e', prec, 64)), true
		case 'g', 'G':
			return d.signed(general(f, prec)), true
		}
		return d.signed(fixed(f, prec)), true
	}
	return "", false
}

// fixed prints a double rounded half up on its shortest decimal form, as Java does.
func fixed(f float64, prec int) string {
	if math.IsNaN(f) {
		return "NaN"
	}
	if math.IsInf(f, 0) {
		return strings.ReplaceAll(strconv.FormatFloat(f, 'f', -1, 64), "Inf", "Infinity")
	}
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
	if !ok {
		return strconv.FormatFloat(f, 'f', prec, 64)
	}
	s := r.FloatString(prec) // rounds half away from zero
	if math.Signbit(f) && !strings.HasPrefix(s, "-") {
		s = "-" + s
	}
	return s
}

func general(f float64, prec int) string {
	if prec == 0 {
		prec = 1
	}
	if a := math.Abs(f); a >= 1e-4 && a < math.Pow10(prec) || f == 0 {
		digits := prec - 1
		if f != 0 {
			digits = prec - 1 - int(math.Floor(math.Log10(math.Abs(f))))
		}
		return fixed(f, max(digits, 0))
	}
	return strconv.FormatFloat(f, 'e', prec-1, 64)
}

func floatOf(v *vec.Vector, i int) (float64, bool) {
	switch v.Phys() {
	case vec.PhysFloat32:
		return float64(vec.At[float32](v, i)), true
	case vec.PhysFloat64:
		return vec.At[float64](v, i), true
	}
	if d, ok := v.Type().(types.DecimalType); ok {
		return decimal.Float64(loadDecimal(v, i), d.Scale), true
	}
	return 0, false
}

// signed applies the flags for groups, signs and zeros.
func (d directive) signed(s string) string {
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	if strings.Contains(d.flags, ",") {
		s = grouped(s)
	}
	sign := ""
	switch {
	case neg && strings.Contains(d.flags, "("):
		return "(" + s + ")"
	case neg:
		sign = "-"
	case strings.Contains(d.flags, "+"):
		sign = "+"
	case strings.Contains(d.flags, " "):
		sign = " "
	}
	if strings.Contains(d.flags, "0") && len(s)+len(sign) < d.width {
		s = strings.Repeat("0", d.width-len(s)-len(sign)) + s
	}
	return sign + s
}

// grouped puts commas between groups of three digits before the point.
func grouped(s string) string {
	whole, frac, point := strings.Cut(s, ".")
	var b strings.Builder
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}
	if point {
		b.WriteString("." + frac)
	}
	return b.String()
}

// bindFormatNumber binds format_number(number, places) and format_number(number, pattern).
func bindFormatNumber(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(numeric, Accept{
		name: `("INT" or "STRING")`, to: []types.DataType{types.Integer},
		has: func(t types.DataType) bool { return isText(t) || types.Equal(t, types.Integer) },
	})
	if err != nil {
		return nil, err
	}
	pattern := isText(b.result(c, 1))
	return &Bound{Args: c, Type: types.String, Nullable: true, TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			places, least, groups := 0, 0, true
			if pattern {
				places, least, groups = numberPattern(args[1].StringAt(i))
			} else if places = int32At(args[1], i); places < 0 {
				return b, false
			} else {
				least = places
			}
			s := numberText(args[0], i, places)
			for strings.Contains(s, ".") && len(s)-strings.IndexByte(s, '.')-1 > least && strings.HasSuffix(s, "0") {
				s = strings.TrimSuffix(s[:len(s)-1], ".")
			}
			neg := strings.HasPrefix(s, "-")
			s = strings.TrimPrefix(s, "-")
			if groups {
				s = grouped(s)
			}
			if neg && strings.ContainsAny(s, "123456789") {
				b = append(b, '-')
			}
			return append(b, s...), true
		})
	}}, nil
}

// numberPattern reads the parts of a pattern such as ##,###.00 that matter.
func numberPattern(p string) (places, least int, groups bool) {
	whole, frac, _ := strings.Cut(p, ".")
	return strings.Count(frac, "#") + strings.Count(frac, "0"), strings.Count(frac, "0"), strings.Contains(whole, ",")
}

// numberText rounds half to even, as Java's DecimalFormat does.
func numberText(v *vec.Vector, i, places int) string {
	if d, ok := v.Type().(types.DecimalType); ok {
		return padPlaces(decimal.String(roundUnscaled(loadDecimal(v, i), d.Scale-places, halfEven), min(d.Scale, places)), min(d.Scale, places), places)
	}
	if f, ok := floatOf(v, i); ok {
		return strconv.FormatFloat(f, 'f', places, 64)
	}
	return padPlaces(strconv.FormatInt(loadInt(v, i), 10), 0, places)
}

func padPlaces(s string, have, want int) string {
	if want <= have {
		return s
	}
	if have == 0 {
		s += "."
	}
	return s + strings.Repeat("0", want-have)
}
