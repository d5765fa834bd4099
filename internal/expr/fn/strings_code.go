package fn

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func codeFunctions() []*Function {
	digest := func(name string, sum func(b, s []byte) []byte) simple {
		return textTo(name, 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return sum(b, args[0].BytesAt(i)), true
		}, binaryArg)
	}
	sha1Function := digest("sha1", func(b, s []byte) []byte { h := sha1.Sum(s); return hex.AppendEncode(b, h[:]) })
	sha1Function.aliases = []string{"sha"}
	chr := textTo("chr", 1, 1, appendChr, bigint)
	chr.aliases = []string{"char"}
	return append(simples(
		digest("md5", func(b, s []byte) []byte { h := md5.Sum(s); return hex.AppendEncode(b, h[:]) }), sha1Function,
		nullable(textTo("sha2", 2, 2, appendSHA2, binaryArg, integer)),
		simple{name: "crc32", least: 1, most: 1, args: []Accept{binaryArg}, result: types.Long, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int64, bool) {
				return int64(crc32.ChecksumIEEE(args[0].BytesAt(i))), true
			})
		}},
		simple{name: "ascii", least: 1, most: 1, args: []Accept{text}, result: types.Integer, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int32, bool) {
				s := args[0].BytesAt(i)
				if len(s) == 0 {
					return 0, true
				}
				r, _ := utf8.DecodeRune(s)
				return int32(r), true
			})
		}}, chr,
		textTo("base64", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return base64.StdEncoding.AppendEncode(b, args[0].BytesAt(i)), true
		}, binaryArg),
		failing(toBinary(textTo("unbase64", 1, 1, func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			b, ok := appendLenientBase64(b, args[0].BytesAt(i))
			if !ok {
				e.Errs.Add(i, errclass.New("CONVERSION_INVALID_INPUT", "str", quoteText(string(args[0].BytesAt(i))), "fmt", "'BASE64'",
					"targetType", `"BINARY"`, "suggestion", "`try_to_binary`"))
			}
			return b, true
		}))),
		nullable(toBinary(textTo("unhex", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return appendUnhex(b, args[0].BytesAt(i))
		}))),
		textTo("bin", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return strconv.AppendUint(b, uint64(vec.At[int64](args[0], i)), 2), true
		}, bigint),
		failing(nullable(toBinary(textTo("encode", 2, 2, encodeText)))),
		nullable(simple{name: "luhn_check", least: 1, most: 1, args: []Accept{text}, result: types.Boolean, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
				return b2u(luhn(args[0].BytesAt(i))), true
			})
		}}),
	), &Function{Name: "hex", Bind: bindHex}, &Function{Name: "to_binary", Bind: func(b *Binding) (*Bound, error) { return bindToBinary(b, false) }},
		&Function{Name: "try_to_binary", Bind: func(b *Binding) (*Bound, error) { return bindToBinary(b, true) }}, &Function{Name: "decode", Bind: bindDecode}, &Function{Name: "conv", Bind: bindConv})
}

func toBinary(s simple) simple {
	s.result = types.Binary
	return s
}

func appendSHA2(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	s := args[0].BytesAt(i)
	switch int32At(args[1], i) {
	case 224:
		h := sha256.Sum224(s)
		return hex.AppendEncode(b, h[:]), true
	case 0, 256:
		h := sha256.Sum256(s)
		return hex.AppendEncode(b, h[:]), true
	case 384:
		h := sha512.Sum384(s)
		return hex.AppendEncode(b, h[:]), true
	case 512:
		h := sha512.Sum512(s)
		return hex.AppendEncode(b, h[:]), true
	}
	return b, false
}

// appendChr appends the character of the low eight bits; negative numbers give nothing.
func appendChr(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	if v := vec.At[int64](args[0], i); v >= 0 {
		b = utf8.AppendRune(b, rune(v&0xff))
	}
	return b, true
}

// appendLenientBase64 passes over characters that do not belong to the alphabet, as MIME decoders do. It fails where the last byte is not
// complete, and where padding is missing or out of place.
func appendLenientBase64(b, s []byte) ([]byte, bool) {
	clean := make([]byte, 0, len(s))
	for i, c := range s {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			clean = append(clean, c)
		case c == '=':
			rest := s[i+1:]
			switch len(clean) % 4 {
			case 0, 1:
				return b, false
			case 2: // two of them
				if len(rest) == 0 || rest[0] != '=' {
					return b, false
				}
				rest = rest[1:]
			}
			out, _ := base64.RawStdEncoding.AppendDecode(b, clean)
			return out, !bytes.ContainsFunc(rest, func(c rune) bool { return c < utf8.RuneSelf && strings.ContainsRune(base64Letters, c) })
		}
	}
	if len(clean)%4 == 1 {
		return b, false
	}
	out, _ := base64.RawStdEncoding.AppendDecode(b, clean)
	return out, true
}

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// appendUnhex reads hexadecimal digits; an odd number has a zero in front.
func appendUnhex(b, s []byte) ([]byte, bool) {
	if len(s)%2 == 1 {
		s = append([]byte{'0'}, s...)
	}
	out, err := hex.AppendDecode(b, s)
	return out, err == nil
}

// bindHex prints a number, a text or a binary in hexadecimal digits.
func bindHex(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	c, err := b.Accept(Accept{
		name: `("BIGINT" or "BINARY" or "STRING")`, to: []types.DataType{types.Long, types.String},
		has: func(t types.DataType) bool { return isText(t) || isBinary(t) || types.Equal(t, types.Long) },
	})
	if err != nil {
		return nil, err
	}
	number := b.result(c, 0) == types.DataType(types.Long)
	return &Bound{Args: c, Type: types.String, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			at := len(b)
			if number {
				b = strconv.AppendUint(b, uint64(vec.At[int64](args[0], i)), 16)
			} else {
				b = hex.AppendEncode(b, args[0].BytesAt(i))
			}
			copy(b[at:], bytes.ToUpper(b[at:]))
			return b, true
		})
	}}, nil
}

const digits36 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// bindConv binds conv(number, from, to). What does not fit 64 bits fails, or without ANSI is the largest number there is.
func bindConv(b *Binding) (*Bound, error) {
	if err := b.Arity(3, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(text, integer, integer)
	if err != nil {
		return nil, err
	}
	ansi := b.ANSI
	return &Bound{Args: c, Type: types.String, Nullable: true, TakesConst: true, CanFail: ansi, New: func() Kernel {
		return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			b, fits, ok := appendConv(b, args, i)
			if !fits && ansi {
				e.Errs.Add(i, errclass.New("ARITHMETIC_OVERFLOW", "message", "Overflow in function conv()", "alternative", "", "config", ansiConfig))
			}
			return b, ok
		})
	}}, nil
}

// appendConv reads a number in one base and prints it in another: signed when that is negative. ok is false for null.
func appendConv(b []byte, args []*vec.Vector, i int) (out []byte, fits, ok bool) {
	s, from, to := trimBlanks(args[0].BytesAt(i)), int32At(args[1], i), int32At(args[2], i)
	if from < 2 || from > 36 || to > 36 || to < -36 || to > -2 && to < 2 || len(s) == 0 {
		return b, true, false
	}
	fits = true
	neg := s[0] == '-'
	if neg {
		s = s[1:]
	}
	var v uint64
	for _, c := range bytes.ToUpper(s) {
		d := strings.IndexByte(digits36[:from], c)
		if d < 0 {
			break
		}
		if v > (math.MaxUint64-uint64(d))/uint64(from) {
			v, fits = math.MaxUint64, false
			neg = neg && to < 0
			break
		}
		v = v*uint64(from) + uint64(d)
	}
	if neg {
		if to > 0 || int64(v) < 0 {
			if int64(v) < 0 {
				v = math.MaxUint64
			} else {
				v = -v
			}
		} else {
			return append(b, strings.ToUpper(strconv.FormatInt(-int64(v), -to))...), fits, true
		}
	}
	if to < 0 {
		return append(b, strings.ToUpper(strconv.FormatInt(int64(v), -to))...), fits, true
	}
	return append(b, strings.ToUpper(strconv.FormatUint(v, to))...), fits, true
}

var charsetNames = "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8"

func badCharset(name, function string) error {
	return errclass.New("INVALID_PARAMETER_VALUE.CHARSET", "functionName", "`"+function+"`", "parameter", "`charset`",
		"charset", strings.Clone(name), "charsets", charsetNames)
}

func encodeText(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	name := args[1].StringAt(i)
	out, known, fits := appendEncoded(b, args[0].StringAt(i), strings.ToUpper(name))
	switch {
	case !known:
		e.Errs.Add(i, badCharset(name, "encode"))
	case !fits:
		e.Errs.Add(i, errclass.New("MALFORMED_CHARACTER_CODING", "function", "`encode`", "charset", strings.Clone(name)))
	}
	return out, true
}

// appendEncoded adds a text in a charset. It need not know the charset, and not every text fits into it.
func appendEncoded(b []byte, s, charset string) (_ []byte, known, fits bool) {
	switch charset {
	case "UTF-8":
		return append(b, strings.ToValidUTF8(s, "\ufffd")...), true, true
	case "US-ASCII", "ISO-8859-1":
		limit := rune(0x7f)
		if charset == "ISO-8859-1" {
			limit = 0xff
		}
		for _, r := range s {
			if r > limit {
				return b, true, false
			}
			b = append(b, byte(r))
		}
		return b, true, true
	case "UTF-16", "UTF-16BE", "UTF-16LE":
		if charset == "UTF-16" {
			b = append(b, 0xfe, 0xff)
		}
		for _, u := range utf16.Encode([]rune(s)) {
			if charset == "UTF-16LE" {
				b = binary.LittleEndian.AppendUint16(b, u)
			} else {
				b = binary.BigEndian.AppendUint16(b, u)
			}
		}
		return b, true, true
	case "UTF-32":
		for _, r := range s {
			b = binary.BigEndian.AppendUint32(b, uint32(r))
		}
		return b, true, true
	}
	return b, false, false
}

func appendDecoded(b, s []byte, charset string) ([]byte, bool) {
	switch charset {
	case "UTF-8":
		return appendValidUTF8(b, s), true
	case "US-ASCII", "ISO-8859-1":
		for _, c := range s {
			r := rune(c)
			if c > 0x7f && charset == "US-ASCII" {
				r = utf8.RuneError
			}
			b = utf8.AppendRune(b, r)
		}
		return b, true
	case "UTF-16", "UTF-16BE", "UTF-16LE":
		order := binary.ByteOrder(binary.BigEndian)
		if charset == "UTF-16LE" {
			order = binary.LittleEndian
		}
		if charset == "UTF-16" && len(s) >= 2 {
			switch {
			case s[0] == 0xfe && s[1] == 0xff:
				s = s[2:]
			case s[0] == 0xff && s[1] == 0xfe:
				order, s = binary.LittleEndian, s[2:]
			}
		}
		units := make([]uint16, 0, len(s)/2)
		for ; len(s) >= 2; s = s[2:] {
			units = append(units, order.Uint16(s))
		}
		for _, r := range utf16.Decode(units) {
			b = utf8.AppendRune(b, r)
		}
		return b, true
	case "UTF-32":
		for ; len(s) >= 4; s = s[4:] {
			b = utf8.AppendRune(b, rune(binary.BigEndian.Uint32(s)))
		}
		return b, true
	}
	return b, false
}

// encodedIn tells whether bytes are whole characters of a charset.
func encodedIn(s []byte, charset string) bool {
	switch charset {
	case "UTF-8":
		return utf8.Valid(s)
	case "US-ASCII":
		for _, c := range s {
			if c > 0x7f {
				return false
			}
		}
	case "UTF-16", "UTF-16BE", "UTF-16LE":
		high := 0 // where the high byte of a unit is
		if charset == "UTF-16LE" || charset == "UTF-16" && len(s) >= 2 && s[0] == 0xff && s[1] == 0xfe {
			high = 1
		}
		for ; len(s) >= 2; s = s[2:] {
			switch s[high] & 0xfc {
			case 0xd8: // the first half of a pair
				if len(s) < 4 || s[2+high]&0xfc != 0xdc {
					return false
				}
				s = s[2:]
			case 0xdc:
				return false
			}
		}
		return len(s) == 0
	case "UTF-32":
		for ; len(s) >= 4; s = s[4:] {
			if c := binary.BigEndian.Uint32(s); c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
				return false
			}
		}
		return len(s) == 0
	}
	return true
}

// bindDecode binds decode(binary, charset). With more arguments it is a CASE, which is none of the functions here.
func bindDecode(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(binaryArg, text)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.String, Nullable: true, TakesConst: true, CanFail: true, New: func() Kernel {
		return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			name := args[1].StringAt(i)
			charset := strings.ToUpper(name)
			out, ok := appendDecoded(b, args[0].BytesAt(i), charset)
			switch {
			case !ok:
				e.Errs.Add(i, badCharset(name, "decode"))
			case !encodedIn(args[0].BytesAt(i), charset):
				e.Errs.Add(i, errclass.New("MALFORMED_CHARACTER_CODING", "function", "`decode`", "charset", strings.Clone(name)))
			}
			return out, true
		})
	}}, nil
}

// bindToBinary binds to_binary(text[, format]) with the formats hex, utf-8 and base64.
func bindToBinary(b *Binding, try bool) (*Bound, error) {
	if err := b.Arity(1, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(text)
	if err != nil {
		return nil, err
	}
	format := "hex"
	if len(b.Args) == 2 {
		v := b.Args[1].Const
		if v == nil {
			return nil, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", b.SQL(), "inputName", "`fmt`", "inputType", `"STRING"`,
				"inputExpr", `"`+b.Args[1].SQL+`"`)
		}
		if format = ""; !v.IsNull(0) {
			format, _ = constString(b.Args[1], b)
			format = strings.ToLower(format)
		}
	}
	switch {
	case format == "utf-8" || format == "utf8" || format == "hex" || format == "base64" || format == "":
	case try:
		format = ""
	default:
		return nil, errclass.New("DATATYPE_MISMATCH.INVALID_ARG_VALUE", "sqlExpr", b.SQL(), "inputName", "fmt",
			"requireType", "case-insensitive \"STRING\"", "validValues", "'hex', 'utf-8', 'utf8', or 'base64'", "inputValue", quoteText(format))
	}
	null := try || format != "base64" || b.nullable(c)
	return &Bound{Args: c, Type: types.Binary, Nullable: null, TakesConst: true, CanFail: !try, TryArgs: try, New: func() Kernel {
		return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			s, at := args[0].BytesAt(i), len(b)
			ok := true
			switch format {
			case "utf-8", "utf8":
				return append(b, s...), true
			case "hex":
				b, ok = appendUnhex(b, s)
			case "base64":
				b, ok = appendStrictBase64(b, s)
			default:
				return b, false
			}
			if !ok && !try {
				e.Errs.Add(i, errclass.New("CONVERSION_INVALID_INPUT", "str", quoteText(string(s)), "fmt", "'"+strings.ToUpper(format)+"'",
					"targetType", `"BINARY"`, "suggestion", "`try_to_binary`"))
			}
			if !ok {
				return b[:at], !try
			}
			return b, true
		})
	}}, nil
}

// appendStrictBase64 reads base 64 with blanks anywhere. The padding may be missing, but must be whole if it is there.
func appendStrictBase64(b, s []byte) ([]byte, bool) {
	clean := make([]byte, 0, len(s))
	for _, c := range s {
		if c != ' ' && (c < '\t' || c > '\r') {
			clean = append(clean, c)
		}
	}
	encoding := base64.StdEncoding
	if !bytes.HasSuffix(clean, []byte{'='}) {
		encoding = base64.RawStdEncoding
	}
	out, err := encoding.AppendDecode(b, clean)
	return out, err == nil
}

func luhn(s []byte) bool {
	sum := 0
	for i := range s {
		c := s[len(s)-1-i]
		if c < '0' || c > '9' {
			return false
		}
		d := int(c - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return len(s) > 0 && sum%10 == 0
}
