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
		writers := make([]textWriter, len(b.Args))
		for i := range writers {
			writers[i] = storedWriter(b.result(c, i))
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
	arg         int // from 1; 0 takes the next one, -1 the last one again
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
	next, last := 0, 0
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
		switch at {
		case 0:
			next++
			at = next
		case -1:
			at = last
		}
		last = at
		if at < 1 || at >= len(args) {
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
	if i < len(s) && s[i] == '<' {
		d.arg = -1
		i++
	} else if v, found := number(); found && i < len(s) && s[i] == '$' {
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
	if i >= len(s) || strings.IndexByte("sSdxXofFeEgGaAbBcC%nhH", s[i]) < 0 {
		return d, 0, false
	}
	if d.width < 0 && strings.ContainsAny(d.flags, "-0") {
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
		if isText(v.Type()) {
			s = string(javaText([]byte(s)))
		}
		if d.prec >= 0 && utf8.RuneCountInString(s) > d.prec {
			s = s[:runeOffset([]byte(s), d.prec)]
		}
	case 'h', 'H':
		if s = "null"; !null {
			s = strconv.FormatUint(uint64(javaHash(v, i)), 16)
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

// countsAsNumber tells the types that formats print as whole numbers: what dates and timestamps are inside counts.
func countsAsNumber(t types.DataType) bool { return IsIntegral(t) || isDateTime(t) }

func (d directive) number(v *vec.Vector, i int) (string, bool) {
	t := v.Type()
	switch d.verb {
	case 'd':
		if !countsAsNumber(t) {
			return "", false
		}
		return d.signed(strconv.FormatInt(loadInt(v, i), 10)), true
	case 'x', 'X', 'o':
		if !countsAsNumber(t) {
			return "", false
		}
		base := 16
		if d.verb == 'o' {
			base = 8
		}
		mask := uint64(math.MaxUint64) >> (64 - 8*v.Phys().Width())
		s := strconv.FormatUint(uint64(loadInt(v, i))&mask, base)
		if strings.Contains(d.flags, "#") {
			s = map[byte]string{'o': "0"}[d.verb] + s
			if d.verb != 'o' {
				s = "0x" + s
			}
		}
		if strings.Contains(d.flags, "0") && len(s) < d.width {
			s = strings.Repeat("0", d.width-len(s)) + s
		}
		return s, true
	case 'c', 'C':
		if !IsIntegral(t) {
			return "", false
		}
		return string(rune(loadInt(v, i))), true
	case 'a', 'A':
		f, ok := floatOf(v, i)
		if !ok || isDecimal(t) {
			return "", false
		}
		return d.signed(hexFloat(f)), true
	case 'f', 'e', 'E', 'g', 'G':
		prec := d.prec
		if prec < 0 {
			prec = 6
		}
		f, ok := floatOf(v, i)
		if !ok || isDecimal(t) { // Spark hands Java a number that it does not know
			return "", false
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return strings.TrimPrefix(strings.Replace(strconv.FormatFloat(f, 'f', -1, 64), "Inf", "Infinity", 1), "+"), true
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

// hexFloat prints a double as Java does: 0x1.8p1.
func hexFloat(f float64) string {
	s := strconv.FormatFloat(f, 'x', -1, 64)
	mantissa, exp, ok := strings.Cut(s, "p")
	if !ok {
		return s
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	e, _ := strconv.Atoi(exp)
	return mantissa + "p" + strconv.Itoa(e)
}

// javaHash is the hash code of the object that Java would print.
func javaHash(v *vec.Vector, i int) uint32 {
	fold := func(x uint64) uint32 { return uint32(x) ^ uint32(x>>32) }
	switch v.Phys() {
	case vec.PhysBool:
		if vec.At[uint8](v, i) != 0 {
			return 1231
		}
		return 1237
	case vec.PhysFloat32:
		return math.Float32bits(vec.At[float32](v, i))
	case vec.PhysFloat64:
		return fold(math.Float64bits(vec.At[float64](v, i)))
	case vec.PhysInt64:
		return fold(uint64(vec.At[int64](v, i)))
	case vec.PhysInt8, vec.PhysInt16, vec.PhysInt32:
		return uint32(loadInt(v, i))
	}
	return vec.PartitionHash([]*vec.Vector{v.Slice(i, i+1)}, 1, nil)[0]
}

// storedWriter prints values as format_string sees them: dates, times and intervals are the numbers that are stored, and what is in
// arrays, maps and structs stands between brackets without blanks.
func storedWriter(t types.DataType) textWriter {
	env := castEnv{}
	list := func(b []byte, kid *vec.Vector, s vec.Span, write textWriter) []byte {
		b = append(b, '[')
		for k := range s.Len {
			if k > 0 {
				b = append(b, ',')
			}
			b = write(b, kid, int(s.Off+k))
		}
		return append(b, ']')
	}
	var w textWriter
	switch t := t.(type) {
	case types.DateType, types.TimestampType, types.TimestampNTZType, types.TimeType, types.DayTimeIntervalType, types.YearMonthIntervalType:
		w = func(b []byte, v *vec.Vector, i int) []byte { return strconv.AppendInt(b, loadInt(v, i), 10) }
	case types.ArrayType:
		element := storedWriter(t.Element)
		w = func(b []byte, v *vec.Vector, i int) []byte {
			s, owner := v.SpanAt(i)
			return list(b, owner.Kids()[0], s, element)
		}
	case types.MapType:
		key, value := storedWriter(t.Key), storedWriter(t.Value)
		spaced := func(b []byte, kid *vec.Vector, s vec.Span, write textWriter) []byte {
			return append(b, strings.ReplaceAll(string(list(nil, kid, s, write)), ",", ", ")...)
		}
		w = func(b []byte, v *vec.Vector, i int) []byte {
			s, owner := v.SpanAt(i)
			b = spaced(append(b, "keys: "...), owner.Kids()[0], s, key)
			return spaced(append(b, ", values: "...), owner.Kids()[1], s, value)
		}
	case types.StructType:
		fields := make([]textWriter, len(t.Fields))
		for k, f := range t.Fields {
			fields[k] = storedWriter(f.Type)
		}
		w = func(b []byte, v *vec.Vector, i int) []byte {
			b = append(b, '[')
			i, v = fieldRow(v, i)
			for k, write := range fields {
				if k > 0 {
					b = append(b, ',')
				}
				b = write(b, v.Kids()[k], i)
			}
			return append(b, ']')
		}
	default:
		return env.part(t)
	}
	return func(b []byte, v *vec.Vector, i int) []byte {
		if v.IsNull(i) {
			return append(b, "null"...)
		}
		return w(b, v, i)
	}
}
