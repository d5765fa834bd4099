package fn

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func caseFunctions() []*Function {
	changed := func(name, alias string, upper bool) simple {
		s := simple{
			name: name, least: 1, most: 1, args: []Accept{text}, result: types.String,
			kernel: func(*Binding) Kernel { return caseKernel(upper) },
		}
		if alias != "" {
			s.aliases = []string{alias}
		}
		return s
	}
	return simples(changed("upper", "ucase", true), changed("lower", "lcase", false), textTo("initcap", 1, 1, initcap))
}

// caseKernel changes case. Plain ASCII, which is most of what there is, is done byte by byte; the rest by the rules of Unicode, where
// one letter may become several.
func caseKernel(upper bool) Kernel {
	caser := cases.Lower(language.Und)
	if upper {
		caser = cases.Upper(language.Und)
	}
	var buf []byte
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		spans := out.ResetBytes(n, nil)
		v := args[0]
		buf = buf[:0]
		for i := range spans {
			at := len(buf)
			if !v.IsNull(i) {
				buf = appendCase(buf, v.BytesAt(i), upper, caser)
			}
			spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(buf) - at)}
		}
		out.SetBytes(buf)
		return out
	}
}

func appendCase(b, s []byte, upper bool, caser cases.Caser) []byte {
	at := len(b)
	low := byte('a')
	if !upper {
		low = 'A'
	}
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return append(b[:at], caser.Bytes(bytes.ToValidUTF8(s, []byte("\uFFFD")))...)
		}
		if c-low < 26 {
			c ^= 0x20
		}
		b = append(b, c)
	}
	return b
}

var titles = cases.Title(language.Und)

// initcap makes the first letter of each word, as blanks part them, a capital and the others small.
func initcap(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	start := true
	for _, r := range args[0].StringAt(i) {
		if start && r >= utf8.RuneSelf { // one letter may become several
			b = append(b, titles.String(string(r))...)
			start = false
			continue
		}
		if start {
			r = unicode.ToTitle(r)
		} else {
			r = unicode.ToLower(r)
		}
		start = r == ' '
		b = utf8.AppendRune(b, r)
	}
	return b, true
}
