package fn

import (
	"bytes"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func utf8Functions() []*Function {
	return simples(
		nullable(simple{name: "is_valid_utf8", least: 1, most: 1, args: []Accept{text}, result: types.Boolean, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
				return b2u(utf8.Valid(args[0].BytesAt(i))), true
			})
		}}),
		nullable(textTo("make_valid_utf8", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			return appendValidUTF8(b, args[0].BytesAt(i)), true
		})),
		failing(nullable(textTo("validate_utf8", 1, 1, func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			s := args[0].BytesAt(i)
			if !utf8.Valid(s) {
				e.Errs.Add(i, errclass.New("INVALID_UTF8_STRING", "str", escapeInvalid(s)))
			}
			return append(b, s...), true
		}))),
		nullable(textTo("try_validate_utf8", 1, 1, func(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
			s := args[0].BytesAt(i)
			return append(b, s...), utf8.Valid(s)
		})),
	)
}

// escapeInvalid shows bytes that are no text as \xHH.
func escapeInvalid(s []byte) string {
	var b []byte
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			b = appendUpperHex(append(b, '\\', 'x'), s[:1])
		} else {
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return string(b)
}

// appendValidUTF8 puts one replacement character for each part that is no text: the longest beginning of a character, or else a byte.
func appendValidUTF8(b, s []byte) []byte {
	for len(s) > 0 {
		k := bytes.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError })
		if k < 0 {
			return append(b, s...)
		}
		b = append(b, s[:k]...)
		if _, n := utf8.DecodeRune(s[k:]); n > 1 { // a replacement character that is there
			b, s = append(b, s[k:k+n]...), s[k+n:]
			continue
		}
		b, s = append(b, "\uFFFD"...), s[k+brokenPrefix(s[k:]):]
	}
	return b
}

// brokenPrefix is how many bytes of s, which does not begin with a character, are the beginning of one.
func brokenPrefix(s []byte) int {
	low, high, more := byte(0x80), byte(0xbf), 0
	switch c := s[0]; {
	case c >= 0xc2 && c <= 0xdf:
		more = 1
	case c >= 0xe0 && c <= 0xef:
		more = 2
		if c == 0xe0 {
			low = 0xa0
		}
		if c == 0xed {
			high = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		more = 3
		if c == 0xf0 {
			low = 0x90
		}
		if c == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for ; n <= more && n < len(s) && s[n] >= low && s[n] <= high; n++ {
		low, high = 0x80, 0xbf
	}
	return n
}

// bindCollation binds the full name of the collation of a text.
func bindCollation(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 1); err != nil {
		return nil, err
	}
	if _, err := b.Accept(strict(text)); err != nil {
		return nil, err
	}
	name := "UTF8_BINARY"
	if t, ok := b.Args[0].Type.(types.StringType); ok && t.Collation != "" {
		name = t.Collation
	}
	bound := constText("SYSTEM.BUILTIN." + name)
	bound.Args, bound.NullsAreArgs, bound.TakesConst, bound.TryArgs = make([]types.DataType, 1), true, true, true
	return bound, nil
}
