package fn

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func buildFunctions() []*Function {
	pad := func(name string, left bool) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindPad(b, left) }}
	}
	return append(simples(
		textTo("repeat", 2, 2, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			for range max(int32At(args[1], i), 0) {
				b = append(b, args[0].BytesAt(i)...)
			}
			return b, true
		}, text, integer),
		textTo("space", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return append(b, bytes.Repeat([]byte{' '}, max(int32At(args[0], i), 0))...), true
		}, integer),
		textTo("replace", 2, 3, replaceText),
		textTo("translate", 3, 3, translateText),
		nullable(textTo("split_part", 3, 3, splitPart, text, text, integer)),
		textTo("soundex", 1, 1, soundex, strict(text)),
		nullable(textTo("quote", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			b = append(b, '\'')
			for _, c := range javaText(args[0].BytesAt(i)) {
				if c == '\'' {
					b = append(b, '\\')
				}
				b = append(b, c)
			}
			return append(b, '\''), true
		})),
	), &Function{Name: "overlay", Bind: bindOverlay}, &Function{Name: "mask", Bind: bindMask}, pad("lpad", true), pad("rpad", false),
		&Function{Name: "concat", Aliases: []string{"||"}, Bind: bindConcat}, &Function{Name: "concat_ws", Bind: bindConcatWS},
		&Function{Name: "reverse", Bind: bindReverse}, &Function{Name: "elt", Bind: bindElt}, &Function{Name: "sentences", Bind: bindSentences},
		&Function{Name: "collation", Bind: bindCollation})
}

// bindConcat binds the concatenation of texts, of binaries when all are, or of arrays.
func bindConcat(b *Binding) (*Bound, error) {
	if len(b.Args) > 0 && slices.ContainsFunc(b.Args, func(a Arg) bool { return isArray(a.Type) }) {
		return bindConcatArrays(b)
	}
	want, t := text, types.DataType(types.String)
	want.name = `("STRING" or "BINARY" or "ARRAY")`
	if len(b.Args) > 0 && !slices.ContainsFunc(b.Args, func(a Arg) bool { return !isBinary(a.Type) }) {
		want, t = binaryArg, types.Binary
	}
	c, err := b.Accept(want)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			for _, a := range args {
				b = append(b, a.BytesAt(i)...)
			}
			return b, true
		})
	}}, nil
}

// bindConcatWS binds concat_ws(separator, texts and arrays of texts...), which leaves nulls out.
func bindConcatWS(b *Binding) (*Bound, error) {
	if err := b.Arity(1, -1); err != nil {
		return nil, err
	}
	c := make([]types.DataType, len(b.Args))
	for i, a := range b.Args {
		if e, ok := a.Type.(types.ArrayType); ok && i > 0 {
			if !isText(e.Element) {
				if !isAtomic(e.Element) && !isNull(e.Element) {
					return nil, b.wrongType(i, `("ARRAY<STRING>" or "STRING")`)
				}
				c[i] = types.ArrayType{Element: types.String, ContainsNull: e.ContainsNull}
			}
			continue
		}
		to, ok := text.implicit(a, b.ANSI)
		switch {
		case !ok && i == 0:
			return nil, b.wrongType(i, text.name)
		case !ok:
			return nil, b.wrongType(i, `("ARRAY<STRING>" or "STRING")`)
		}
		c[i] = to
	}
	return &Bound{Args: c, Type: types.String, Nullable: b.argNullable(c, 0), NullsAreArgs: true, TakesConst: true, New: func() Kernel {
		var buf []byte
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			spans := out.ResetBytes(n, nil)
			buf = buf[:0]
			for i := range spans {
				at := len(buf)
				if args[0].IsNull(i) {
					setNull(out, i)
				} else {
					buf = appendJoined(buf, args, i)
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
			}
			out.SetBytes(buf)
			return out
		}
	}}, nil
}

func appendJoined(b []byte, args []*vec.Vector, i int) []byte {
	sep, first := args[0].BytesAt(i), true
	put := func(s []byte) {
		if !first {
			b = append(b, sep...)
		}
		first = false
		b = append(b, s...)
	}
	for _, a := range args[1:] {
		switch {
		case a.IsNull(i):
		case a.Phys() == vec.PhysList:
			s, owner := a.SpanAt(i)
			for k := s.Off; k < s.Off+s.Len; k++ {
				if kid := owner.Kids()[0]; !kid.IsNull(int(k)) {
					put(kid.BytesAt(int(k)))
				}
			}
		default:
			put(a.BytesAt(i))
		}
	}
	return b
}

// bindPad binds lpad and rpad. Binaries are padded with zeros.
func bindPad(b *Binding, left bool) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	want, t, fill := text, types.DataType(types.String), " "
	if isBinary(b.Args[0].Type) && (len(b.Args) == 2 || isBinary(b.Args[2].Type)) {
		want, t, fill = binaryArg, types.Binary, "\x00"
	}
	c, err := b.Accept(want, integer, want)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			with := []byte(fill)
			if len(args) == 3 {
				with = args[2].BytesAt(i)
			}
			count := utf8.RuneCount
			if fill != " " {
				count = func(s []byte) int { return len(s) }
			}
			return appendPadding(b, args[0].BytesAt(i), with, int32At(args[1], i), left, count), true
		})
	}}, nil
}

func appendPadding(b, s, with []byte, n int, left bool, count func([]byte) int) []byte {
	if n <= 0 {
		return b
	}
	have := count(s)
	if have >= n {
		if have == len(s) {
			return append(b, s[:n]...)
		}
		return append(b, s[:runeOffset(s, n)]...)
	}
	if len(with) == 0 {
		return append(b, s...)
	}
	if !left {
		b = append(b, s...)
	}
	unit := count(with)
	for need := n - have; need > 0; need -= unit {
		if need < unit {
			k := need
			if unit != len(with) {
				k = runeOffset(with, need)
			}
			b = append(b, with[:k]...)
		} else {
			b = append(b, with...)
		}
	}
	if left {
		b = append(b, s...)
	}
	return b
}

// bindReverse reverses the characters of a text, the bytes of a binary or the elements of an array.
func bindReverse(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	if isArray(b.Args[0].Type) {
		return bindReverseArray(b)
	}
	if isBinary(b.Args[0].Type) {
		return &Bound{Args: []types.DataType{nil}, Type: types.Binary, Nullable: b.nullable(nil), TakesConst: true, New: func() Kernel {
			return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
				from := len(b)
				b = append(b, args[0].BytesAt(i)...)
				slices.Reverse(b[from:])
				return b, true
			})
		}}, nil
	}
	c, err := b.Accept(Accept{name: `("STRING" or "BINARY" or "ARRAY")`, has: isText, to: []types.DataType{types.String}})
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.String, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			for s := args[0].BytesAt(i); len(s) > 0; {
				_, n := utf8.DecodeLastRune(s)
				b = append(b, s[len(s)-n:]...)
				s = s[:len(s)-n]
			}
			return b, true
		})
	}}, nil
}

// bindElt binds elt(n, texts...): the n-th of the others.
func bindElt(b *Binding) (*Bound, error) {
	if err := b.Arity(2, -1); err != nil {
		return nil, err
	}
	want, t := text, types.DataType(types.String)
	if !slices.ContainsFunc(b.Args[1:], func(a Arg) bool { return !isBinary(a.Type) }) {
		want, t = binaryArg, types.Binary
	}
	c, err := b.Accept(integer, want)
	if err != nil {
		return nil, err
	}
	mode := b.Mode()
	return &Bound{Args: c, Type: t, Nullable: true, NullsAreArgs: true, TakesConst: true, CanFail: mode == expr.Raise, New: func() Kernel {
		var buf []byte
		return func(e *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			spans := out.ResetBytes(n, nil)
			buf = buf[:0]
			for i := range spans {
				at := len(buf)
				switch k := 0; {
				case args[0].IsNull(i):
					setNull(out, i)
				default:
					k = int32At(args[0], i)
					switch {
					case k < 1 || k >= len(args):
						fails(e, out, mode, i, func() error {
							return errclass.New("INVALID_ARRAY_INDEX", "indexValue", itoa(k), "arraySize", itoa(len(args)-1))
						})
					case args[k].IsNull(i):
						setNull(out, i)
					default:
						buf = append(buf, args[k].BytesAt(i)...)
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
			}
			out.SetBytes(buf)
			return out
		}
	}}, nil
}

func replaceText(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	s, old := args[0].BytesAt(i), args[1].BytesAt(i)
	if len(old) == 0 {
		return append(b, s...), true
	}
	var with []byte
	if len(args) == 3 {
		with = args[2].BytesAt(i)
	}
	for {
		k := bytes.Index(s, old)
		if k < 0 {
			return append(b, s...), true
		}
		b = append(append(b, s[:k]...), with...)
		s = s[k+len(old):]
	}
}

// translateText replaces characters one by one; those without a partner go.
func translateText(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	from, to := []rune(args[1].StringAt(i)), []rune(args[2].StringAt(i))
	for _, r := range args[0].StringAt(i) {
		k := slices.Index(from, r)
		switch {
		case k < 0:
			b = utf8.AppendRune(b, r)
		case k < len(to):
			b = utf8.AppendRune(b, to[k])
		}
	}
	return b, true
}

// bindOverlay binds overlay(value, with, position[, length]), which puts a text or binary in place of a part of another.
func bindOverlay(b *Binding) (*Bound, error) {
	if err := b.Arity(3, 4); err != nil {
		return nil, err
	}
	want, t := text, types.DataType(types.String)
	want.name = textOrBinary.name
	x, y := b.Args[0].Type, b.Args[1].Type
	if isBinary(x) && (isBinary(y) || isNull(y)) || isNull(x) && isBinary(y) {
		want, t = binaryArg, types.Binary
	} else if isBinary(x) != isBinary(y) && (isText(x) || isText(y)) {
		return nil, b.dataDiffTypes([]types.DataType{x, y}, b.Name)
	}
	c, err := b.Accept(want, want, integer, integer)
	if err != nil {
		return nil, err
	}
	binary := isBinary(t)
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel {
		return textKernel(func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return appendOverlay(b, args, i, binary), true
		})
	}}, nil
}

func appendOverlay(b []byte, args []*vec.Vector, i int, binary bool) []byte {
	s, with, pos := args[0].BytesAt(i), args[1].BytesAt(i), int32At(args[2], i)
	n, part := utf8.RuneCount(with), substringRange
	if binary {
		n, part = len(with), func(s []byte, pos, length int) (int, int) { return byteRange(len(s), pos, length) }
	}
	if len(args) == 4 {
		if k := int32At(args[3], i); k >= 0 {
			n = k
		}
	}
	_, front := part(s, 1, pos-1)
	from, _ := part(s, pos+n, len(s))
	return append(append(append(b, s[:front]...), with...), s[from:]...)
}

// splitPart is the n-th part between delimiters, from the end when n is negative.
func splitPart(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	s, delim, n := args[0].StringAt(i), args[1].StringAt(i), int32At(args[2], i)
	if n == 0 {
		e.Errs.Add(i, errclass.New("INVALID_INDEX_OF_ZERO"))
		return b, true
	}
	parts := []string{s}
	if delim != "" {
		parts = strings.Split(s, delim)
	}
	if n < 0 {
		n += len(parts) + 1
	}
	if n < 1 || n > len(parts) {
		return b, true
	}
	return append(b, parts[n-1]...), true
}

const soundexCodes = "01230120022455012623010202"

func soundex(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	s := args[0].BytesAt(i)
	upper := func(c byte) byte {
		if c >= 'a' && c <= 'z' {
			return c - 32
		}
		return c
	}
	if len(s) == 0 || upper(s[0]) < 'A' || upper(s[0]) > 'Z' {
		return append(b, s...), true
	}
	code := [4]byte{upper(s[0]), '0', '0', '0'}
	last, n := soundexCodes[code[0]-'A'], 1
	for _, c := range s[1:] {
		c = upper(c)
		if c < 'A' || c > 'Z' {
			last = '0'
			continue
		}
		d := soundexCodes[c-'A']
		if c == 'H' || c == 'W' {
			continue
		}
		if d != '0' && d != last {
			code[n] = d
			if n++; n == 4 {
				break
			}
		}
		last = d
	}
	return append(b, code[:]...), true
}

// bindMask binds mask(text[, upper[, lower[, digit[, other]]]]): the characters that stand for capitals, small letters, digits and
// others. Null keeps those as they are.
func bindMask(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 5); err != nil {
		return nil, err
	}
	c, err := b.Accept(strict(text))
	if err != nil {
		return nil, err
	}
	for i, name := range []string{"upperChar", "lowerChar", "digitChar", "otherChar"} {
		if i+1 >= len(b.Args) {
			break
		}
		v := b.Args[i+1].Const
		if isNull(b.Args[i+1].Type) {
			continue
		}
		if v == nil {
			return nil, b.notConst(i+1, name, `"STRING"`)
		}
		if !v.IsNull(0) && utf8.RuneCount(v.BytesAt(0)) != 1 {
			return nil, errclass.New("DATATYPE_MISMATCH.INPUT_SIZE_NOT_ONE", "sqlExpr", b.SQL(), "exprName", name)
		}
	}
	return &Bound{Args: c, Type: types.String, Nullable: true, NullsAreArgs: true, TakesConst: true, New: func() Kernel {
		return textKernelWithNulls(maskText)
	}}, nil
}

// maskText leaves characters without a mask, which is -1, as they are.
func maskText(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	if args[0].IsNull(i) {
		return b, false
	}
	with := [4]rune{'X', 'x', 'n', -1}
	for k, a := range args[1:] {
		with[k] = -1
		if !a.IsNull(i) {
			with[k], _ = utf8.DecodeRune(a.BytesAt(i))
		}
	}
	for _, r := range args[0].StringAt(i) {
		m := with[3]
		switch {
		case unicode.IsUpper(r):
			m = with[0]
		case unicode.IsLower(r):
			m = with[1]
		case unicode.IsDigit(r):
			m = with[2]
		}
		if m < 0 {
			m = r
		}
		b = utf8.AppendRune(b, m)
	}
	return b, true
}
