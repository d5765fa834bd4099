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
	"net/url"
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
		toBinary(textTo("unbase64", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return appendLenientBase64(b, args[0].BytesAt(i)), true
		})),
		nullable(toBinary(textTo("unhex", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return appendUnhex(b, args[0].BytesAt(i))
		}))),
		textTo("bin", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return strconv.AppendUint(b, uint64(vec.At[int64](args[0], i)), 2), true
		}, bigint),
		nullable(textTo("conv", 3, 3, convText, text, integer, integer)),
		nullable(toBinary(textTo("encode", 2, 2, encodeText))),
		nullable(textTo("url_encode", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return append(b, strings.ReplaceAll(url.QueryEscape(args[0].StringAt(i)), "%2A", "*")...), true
		})),
		nullable(textTo("url_decode", 1, 1, urlDecode)),
		nullable(textTo("parse_url", 2, 3, parseURL)),
		nullable(simple{name: "luhn_check", least: 1, most: 1, args: []Accept{text}, result: types.Boolean, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
				return b2u(luhn(args[0].BytesAt(i))), true
			})
		}}),
		nullable(simple{name: "is_valid_utf8", least: 1, most: 1, args: []Accept{text}, result: types.Boolean, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
				return b2u(utf8.Valid(args[0].BytesAt(i))), true
			})
		}}),
	), &Function{Name: "hex", Bind: bindHex}, &Function{Name: "to_binary", Bind: bindToBinary}, &Function{Name: "decode", Bind: bindDecode})
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

// appendLenientBase64 passes over characters that do not belong to the alphabet, as MIME decoders do.
func appendLenientBase64(b, s []byte) []byte {
	clean := make([]byte, 0, len(s))
	for _, c := range s {
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
			clean = append(clean, c)
		}
	}
	out, err := base64.RawStdEncoding.AppendDecode(b, clean)
	if err != nil {
		out, _ = base64.RawStdEncoding.AppendDecode(b, clean[:len(clean)/4*4])
	}
	return out
}

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
		name: `("BIGINT" or "BINARY" or "STRING")`, to: []types.DataType{types.Long},
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

// convText reads a number in one base and prints it in another: signed when that is negative. What does not fit is the largest
// number there is.
func convText(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	s, from, to := trimBlanks(args[0].BytesAt(i)), int32At(args[1], i), int32At(args[2], i)
	if from < 2 || from > 36 || to > 36 || to < -36 || to > -2 && to < 2 || len(s) == 0 {
		return b, false
	}
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
			v = math.MaxUint64
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
			return append(b, strings.ToUpper(strconv.FormatInt(-int64(v), -to))...), true
		}
	}
	if to < 0 {
		return append(b, strings.ToUpper(strconv.FormatInt(int64(v), -to))...), true
	}
	return append(b, strings.ToUpper(strconv.FormatUint(v, to))...), true
}

var charsetNames = "iso-8859-1, us-ascii, utf-8, utf-16, utf-16be, utf-16le, utf-32"

func badCharset(name, function string) error {
	return errclass.New("INVALID_PARAMETER_VALUE.CHARSET", "functionName", "`"+function+"`", "parameter", "`charset`",
		"charset", strings.Clone(name), "charsets", charsetNames)
}

func encodeText(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	name := args[1].StringAt(i)
	out, ok := appendEncoded(b, args[0].StringAt(i), strings.ToUpper(name))
	if !ok {
		e.Errs.Add(i, badCharset(name, "encode"))
	}
	return out, true
}

func appendEncoded(b []byte, s, charset string) ([]byte, bool) {
	switch charset {
	case "UTF-8":
		return append(b, s...), true
	case "US-ASCII", "ISO-8859-1":
		limit := rune(0x7f)
		if charset == "ISO-8859-1" {
			limit = 0xff
		}
		for _, r := range s {
			if r > limit {
				r = '?'
			}
			b = append(b, byte(r))
		}
		return b, true
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
		return b, true
	case "UTF-32":
		for _, r := range s {
			b = binary.BigEndian.AppendUint32(b, uint32(r))
		}
		return b, true
	}
	return b, false
}

func appendDecoded(b, s []byte, charset string) ([]byte, bool) {
	switch charset {
	case "UTF-8":
		return append(b, bytes.ToValidUTF8(s, []byte("\uFFFD"))...), true
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

// bindDecode binds decode(binary, charset), and decode(x, search, result, ..., [default]), which is a CASE over x; the latter looks at
// all its arguments.
func bindDecode(b *Binding) (*Bound, error) {
	if err := b.Arity(2, -1); err != nil {
		return nil, err
	}
	if len(b.Args) > 2 {
		return bindDecodeCase(b)
	}
	c, err := b.Accept(binaryArg, text)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.String, Nullable: true, TakesConst: true, CanFail: true, New: func() Kernel {
		return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			name := args[1].StringAt(i)
			out, ok := appendDecoded(b, args[0].BytesAt(i), strings.ToUpper(name))
			if !ok {
				e.Errs.Add(i, badCharset(name, "decode"))
			}
			return out, true
		})
	}}, nil
}

func bindDecodeCase(b *Binding) (*Bound, error) {
	n := len(b.Args)
	hasDefault := n%2 == 0
	key := b.Args[0].Type
	results := []types.DataType{}
	null := !hasDefault
	for i := 1; i < n; i++ {
		if i == n-1 && hasDefault || i%2 == 0 {
			results = append(results, b.Args[i].Type)
			null = null || b.Args[i].Nullable
			continue
		}
		var ok bool
		if key, ok = ComparisonType(key, b.Args[i].Type, b.ANSI); !ok {
			return nil, b.differentOperands(b.Args[0].Type, b.Args[i].Type)
		}
	}
	t, ok := CommonTypes(results, b.ANSI)
	if !ok {
		return nil, b.dataDiffTypes(results, "decode")
	}
	want := make([]types.DataType, n)
	for i := range want {
		want[i] = key
		if i > 0 && (i == n-1 && hasDefault || i%2 == 0) {
			want[i] = t
		}
	}
	return &Bound{Args: casts(b, want...), Type: t, Nullable: null, NullsAreArgs: true, New: func() Kernel {
		var idx []uint32
		return func(_ *expr.Eval, rows int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
			var values []*vec.Vector
			for i := 2; i < n; i += 2 {
				values = append(values, args[i])
			}
			if hasDefault {
				values = append(values, args[n-1])
			}
			idx = idx[:0]
			for i := range rows {
				row := vec.NoRow
				if hasDefault {
					row = uint32((len(values)-1)*rows + i)
				}
				for k := 1; k+1 < n; k += 2 {
					if vec.Equal(args[0], i, args[k], i) {
						row = uint32((k-1)/2*rows + i)
						break
					}
				}
				idx = append(idx, row)
			}
			return vec.Take(vec.Concat(values), idx, nil)
		}
	}}, nil
}

// bindToBinary binds to_binary(text[, format]) with the formats hex, utf-8 and base64.
func bindToBinary(b *Binding) (*Bound, error) {
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
		if v.IsNull(0) {
			format = ""
		} else {
			format = strings.ToLower(v.StringAt(0))
		}
	}
	null := format != "base64" || b.nullable(c)
	return &Bound{Args: c, Type: types.Binary, Nullable: null, TakesConst: true, CanFail: true, New: func() Kernel {
		return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			s := args[0].BytesAt(i)
			ok := true
			switch format {
			case "utf-8", "utf8":
				return append(b, s...), true
			case "hex":
				b, ok = appendUnhex(b, s)
			case "base64":
				at := len(b)
				var err error
				if b, err = base64.StdEncoding.AppendDecode(b, s); err != nil {
					b, ok = b[:at], false
				}
			default:
				return b, false
			}
			if !ok {
				e.Errs.Add(i, errclass.New("CONVERSION_INVALID_INPUT", "str", quoteText(string(s)), "fmt", "'"+strings.ToUpper(format)+"'",
					"targetType", `"BINARY"`, "suggestion", "`try_to_binary`"))
			}
			return b, true
		})
	}}, nil
}

func urlDecode(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	s, err := url.QueryUnescape(args[0].StringAt(i))
	if err != nil {
		e.Errs.Add(i, errclass.New("CANNOT_DECODE_URL", "url", string(args[0].BytesAt(i))))
		return b, true
	}
	return append(b, s...), true
}

// parseURL gives a part of a URL, or the value of a parameter of its query.
func parseURL(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	u, err := url.Parse(args[0].StringAt(i))
	if err != nil {
		e.Errs.Add(i, errclass.New("INVALID_URL", "url", string(args[0].BytesAt(i))))
		return b, true
	}
	part := args[1].StringAt(i)
	if len(args) == 3 {
		if part != "QUERY" {
			return b, false
		}
		for _, pair := range strings.Split(u.RawQuery, "&") {
			if k, v, ok := strings.Cut(pair, "="); ok && k == args[2].StringAt(i) {
				return append(b, v...), true
			}
		}
		return b, false
	}
	var s string
	switch part {
	case "HOST":
		s = u.Hostname()
	case "PATH":
		return append(b, u.EscapedPath()...), true
	case "QUERY":
		s = u.RawQuery
	case "REF":
		s = u.EscapedFragment()
	case "PROTOCOL":
		s = u.Scheme
	case "FILE":
		s = u.RequestURI()
	case "AUTHORITY":
		s = u.Host
		if u.User != nil {
			s = u.User.String() + "@" + s
		}
	case "USERINFO":
		if u.User != nil {
			s = u.User.String()
		}
	}
	return append(b, s...), s != ""
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
