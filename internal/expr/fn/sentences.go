package fn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// bindSentences binds sentences(text[, language[, country]]), which takes a text apart into words. The rules are those of English
// for every language, which differ for the few that write without blanks.
func bindSentences(b *Binding) (*Bound, error) {
	if err := b.Arity(1, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(text)
	if err != nil {
		return nil, err
	}
	words := types.ArrayType{Element: types.String}
	t := types.ArrayType{Element: words}
	return &Bound{Args: c, Type: t, Nullable: true, NullsAreArgs: true, TakesConst: true, New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			var (
				buf    []byte
				inner  []vec.Span // sentences, over the words
				spelt  []vec.Span // words, over the bytes
				lister = vec.NewFixed(types.String, 0)
			)
			list := vec.NewList(words, nil, lister)
			spans := out.ResetList(n, list)
			for i := range spans {
				at := len(inner)
				if args[0].IsNull(i) {
					setNull(out, i)
				} else {
					for s := args[0].StringAt(i); s != ""; {
						n := sentenceEnd(s)
						from := len(spelt)
						buf, spelt = appendWords(buf, spelt, s[:n])
						if len(spelt) > from {
							inner = append(inner, vec.Span{Off: uint32(from), Len: uint32(len(spelt) - from)})
						}
						s = s[n:]
					}
				}
				spans[i] = vec.Span{Off: uint32(at), Len: uint32(len(inner) - at)}
			}
			copy(lister.ResetBytes(len(spelt), nil), spelt)
			lister.SetBytes(buf)
			copy(list.ResetList(len(inner), lister), inner)
			return out
		}
	}}, nil
}

const closers = `"'”’)]}»`

// sentenceEnd is where the first sentence of s ends, with the blanks behind it. A full stop ends one only in front of a blank that no
// small letter follows; marks of exclamation and question always do.
func sentenceEnd(s string) int {
	for i, r := range s {
		hard := strings.ContainsRune("!?。！？", r)
		if !hard && r != '.' {
			continue
		}
		rest := strings.TrimLeft(s[i+utf8.RuneLen(r):], ".!?。！？")
		hard = hard || strings.ContainsAny(s[i:len(s)-len(rest)], "!?。！？")
		rest = strings.TrimLeft(rest, closers)
		next := strings.TrimLeftFunc(rest, unicode.IsSpace)
		if !hard {
			if next == rest && rest != "" {
				continue
			}
			if first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(next, unicode.IsPunct)); unicode.IsLower(first) {
				continue
			}
		}
		return len(s) - len(next)
	}
	return len(s)
}

func isWordLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// appendWords adds what begins with a letter or digit and is neither blank nor punctuation. Some marks may stand inside of words and
// numbers; a number with a sign of currency or a point in front is none.
func appendWords(buf []byte, words []vec.Span, s string) ([]byte, []vec.Span) {
	prev := rune(0)
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if !isWordLetter(r) && !unicode.IsDigit(r) {
			prev, s = r, s[size:]
			continue
		}
		n := wordLength(s)
		if !unicode.IsDigit(r) || prev != '.' && prev != '#' && !unicode.Is(unicode.Sc, prev) {
			words = append(words, vec.Span{Off: uint32(len(buf)), Len: uint32(n)})
			buf = append(buf, s[:n]...)
		}
		prev, _ = utf8.DecodeLastRuneInString(s[:n])
		s = s[n:]
	}
	return buf, words
}

func wordLength(s string) int {
	last := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		switch {
		case isWordLetter(r), unicode.IsDigit(r):
		case isWordLetter(last) && isWordLetter(next) && strings.ContainsRune("._'’-\u00ad\u2010·", r):
		case unicode.IsDigit(last) && unicode.IsDigit(next) && (r == '.' || r == ','):
		case unicode.IsDigit(last) && strings.ContainsRune("%&‰¢", r):
			return i + size
		default:
			return i
		}
		last, i = r, i+size
	}
	return len(s)
}
