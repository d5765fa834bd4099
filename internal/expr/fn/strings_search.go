package fn

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func searchFunctions() []*Function {
	affix := func(name string, f func(s, part []byte) bool) *Function {
		return &Function{Name: name, Bind: func(b *Binding) (*Bound, error) { return bindAffix(b, f) }}
	}
	place := func(name string, f func(args []*vec.Vector, i int) int32, least, most int, args ...Accept) simple {
		return simple{name: name, least: least, most: most, args: args, result: types.Integer, kernel: func(*Binding) Kernel {
			return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int32, bool) { return f(args, i), true })
		}}
	}
	return append(simples(
		place("instr", func(args []*vec.Vector, i int) int32 { return indexOf(args[0].BytesAt(i), args[1].BytesAt(i), 1) }, 2, 2, text),
		place("find_in_set", findInSet, 2, 2, text),
		place("levenshtein", levenshtein, 2, 3, text, text, integer),
		simple{
			name: "like", least: 2, most: 3, args: []Accept{text}, result: types.Boolean, canFail: true,
			kernel: func(*Binding) Kernel { return likeKernel(false) },
		},
		simple{
			name: "ilike", least: 2, most: 3, args: []Accept{text}, result: types.Boolean, canFail: true,
			kernel: func(*Binding) Kernel { return likeKernel(true) },
		},
	), &Function{Name: "locate", Aliases: []string{"position"}, Bind: bindLocate}, affix("startswith", bytes.HasPrefix), affix("endswith", bytes.HasSuffix), affix("contains", bytes.Contains))
}

// bindLocate binds locate(part, text[, from]). Nothing is found from a place that is null, not even null.
func bindLocate(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(text, text, integer)
	if err != nil {
		return nil, err
	}
	nullable := b.argNullable(c, 0) || b.argNullable(c, 1)
	return &Bound{Args: c, Type: types.Integer, Nullable: nullable, NullsAreArgs: true, TakesConst: true, New: func() Kernel {
		return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
			out.ResetFixed(n)
			dst := vec.Fixed[int32](out)
			for i := range dst {
				switch {
				case len(args) == 3 && args[2].IsNull(i):
					dst[i] = 0
				case args[0].IsNull(i) || args[1].IsNull(i):
					setNull(out, i)
				case len(args) == 3:
					dst[i] = indexOf(args[1].BytesAt(i), args[0].BytesAt(i), int32At(args[2], i))
				default:
					dst[i] = indexOf(args[1].BytesAt(i), args[0].BytesAt(i), 1)
				}
			}
			return out
		}
	}}, nil
}

// bindAffix binds a test of two texts or two binaries.
func bindAffix(b *Binding, f func(s, part []byte) bool) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	want := text
	binary := isBinary(b.Args[0].Type) && isBinary(b.Args[1].Type)
	if binary {
		want = binaryArg
	}
	c, err := b.Accept(want)
	if err != nil {
		return nil, err
	}
	return &Bound{Args: c, Type: types.Boolean, Nullable: binary || b.nullable(c), TakesConst: true, New: func() Kernel {
		return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
			return b2u(f(args[0].BytesAt(i), args[1].BytesAt(i))), true
		})
	}}, nil
}

// indexOf is the place of part in s at or after a place, all in characters from 1; 0 when it is not there.
func indexOf(s, part []byte, from int) int32 {
	if from < 1 {
		return 0
	}
	if len(part) == 0 {
		return 1
	}
	at := runeOffset(s, from-1)
	if at == len(s) && from-1 > utf8.RuneCount(s) {
		return 0
	}
	k := bytes.Index(s[at:], part)
	if k < 0 {
		return 0
	}
	return int32(from + utf8.RuneCount(s[at:at+k]))
}

// findInSet is the place of a text in a list with commas.
func findInSet(args []*vec.Vector, i int) int32 {
	want, list := args[0].StringAt(i), args[1].StringAt(i)
	if strings.Contains(want, ",") {
		return 0
	}
	for k, s := range strings.Split(list, ",") {
		if s == want {
			return int32(k + 1)
		}
	}
	return 0
}

// levenshtein is the edit distance; -1 when it is more than a third argument.
func levenshtein(args []*vec.Vector, i int) int32 {
	a, b := []rune(args[0].StringAt(i)), []rune(args[1].StringAt(i))
	row := make([]int32, len(b)+1)
	for j := range row {
		row[j] = int32(j)
	}
	for x, r := range a {
		diagonal := row[0]
		row[0] = int32(x + 1)
		for y, s := range b {
			cost := diagonal
			if r != s {
				cost++
			}
			diagonal = row[y+1]
			row[y+1] = min(cost, row[y]+1, diagonal+1)
		}
	}
	d := row[len(b)]
	if len(args) == 3 && d > vec.At[int32](args[2], i) {
		return -1
	}
	return d
}

// likePattern is a compiled LIKE pattern.
type likePattern struct {
	kind  likeKind
	text  []byte // of the simple kinds
	parts []likePart
}

type likeKind uint8

const (
	likeEqual likeKind = iota
	likePrefix
	likeSuffix
	likeContains
	likeGeneral
)

// likePart is a stretch of literal bytes, one character, or any number of them.
type likePart struct {
	literal  []byte
	one, any bool
}

// compileLike reads a pattern. The error is one of INVALID_FORMAT.
func compileLike(pattern string, escape rune) (*likePattern, error) {
	p := &likePattern{}
	lit := func(r rune) {
		if n := len(p.parts); n == 0 || p.parts[n-1].literal == nil {
			p.parts = append(p.parts, likePart{literal: []byte{}})
		}
		last := &p.parts[len(p.parts)-1]
		last.literal = utf8.AppendRune(last.literal, r)
	}
	for s := pattern; s != ""; {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch {
		case r == escape:
			if s == "" {
				return nil, errclass.New("INVALID_FORMAT.ESC_AT_THE_END", "format", quoteText(pattern))
			}
			next, n := utf8.DecodeRuneInString(s)
			if next != '_' && next != '%' && next != escape {
				return nil, errclass.New("INVALID_FORMAT.ESC_IN_THE_MIDDLE", "format", quoteText(pattern), "char", quoteText(string(next)))
			}
			s = s[n:]
			lit(next)
		case r == '_':
			p.parts = append(p.parts, likePart{one: true})
		case r == '%':
			if k := len(p.parts); k == 0 || !p.parts[k-1].any {
				p.parts = append(p.parts, likePart{any: true})
			}
		default:
			lit(r)
		}
	}
	p.classify()
	return p, nil
}

// classify finds the patterns that need no search.
func (p *likePattern) classify() {
	p.kind = likeGeneral
	ps := p.parts
	isLit := func(i int) bool { return ps[i].literal != nil }
	switch {
	case len(ps) == 0:
		p.kind = likeEqual
	case len(ps) == 1 && isLit(0):
		p.kind, p.text = likeEqual, ps[0].literal
	case len(ps) == 1 && ps[0].any:
		p.kind = likePrefix
	case len(ps) == 2 && isLit(0) && ps[1].any:
		p.kind, p.text = likePrefix, ps[0].literal
	case len(ps) == 2 && ps[0].any && isLit(1):
		p.kind, p.text = likeSuffix, ps[1].literal
	case len(ps) == 3 && ps[0].any && isLit(1) && ps[2].any:
		p.kind, p.text = likeContains, ps[1].literal
	}
}

func (p *likePattern) match(s []byte) bool {
	switch p.kind {
	case likeEqual:
		return bytes.Equal(s, p.text)
	case likePrefix:
		return bytes.HasPrefix(s, p.text)
	case likeSuffix:
		return bytes.HasSuffix(s, p.text)
	case likeContains:
		return bytes.Contains(s, p.text)
	}
	return matchParts(p.parts, s)
}

// matchParts goes back to the last % when what follows does not fit: an earlier one need not be tried again.
func matchParts(parts []likePart, s []byte) bool {
	i, at := 0, 0
	backPart, backAt := -1, 0
	for {
		switch {
		case i == len(parts):
			if at == len(s) {
				return true
			}
		case parts[i].any:
			i++
			backPart, backAt = i, at
			continue
		case parts[i].one:
			if at < len(s) {
				_, n := utf8.DecodeRune(s[at:])
				at += n
				i++
				continue
			}
		case bytes.HasPrefix(s[at:], parts[i].literal):
			at += len(parts[i].literal)
			i++
			continue
		}
		if backPart < 0 || backAt >= len(s) {
			return false
		}
		_, n := utf8.DecodeRune(s[backAt:])
		backAt += n
		if backPart < len(parts) && parts[backPart].literal != nil { // the next place where it can fit
			k := bytes.Index(s[backAt:], parts[backPart].literal)
			if k < 0 {
				return false
			}
			backAt += k
		}
		i, at = backPart, backAt
	}
}

// likeKernel matches x LIKE pattern [ESCAPE c].
func likeKernel(ignoreCase bool) Kernel {
	var (
		last    string
		pattern *likePattern
		failed  error
		known   bool
	)
	get := func(text string, escape rune) (*likePattern, error) {
		if !known || last != text {
			last, known = strings.Clone(text), true
			if ignoreCase {
				text = strings.ToLower(text)
			}
			pattern, failed = compileLike(text, escape)
		}
		return pattern, failed
	}
	return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
		escape := '\\'
		if len(args) == 3 {
			escape, _ = utf8.DecodeRune(args[2].BytesAt(i))
		}
		p, err := get(args[1].StringAt(i), escape)
		if err != nil {
			e.Errs.Add(i, err)
			return 0, true
		}
		s := args[0].BytesAt(i)
		if ignoreCase {
			s = bytes.ToLower(s)
		}
		return b2u(p.match(s)), true
	})
}
