package fn

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/javare"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func regexpFunctions() []*Function {
	rlike := simple{
		name: "rlike", aliases: []string{"regexp_like", "regexp"}, least: 2, most: 2, args: []Accept{text}, result: types.Boolean,
		canFail: true, kernel: func(b *Binding) Kernel {
			cache := &regexps{function: b.Name}
			return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (uint8, bool) {
				re, err := cache.get(args[1].StringAt(i))
				if err != nil {
					e.Errs.Add(i, err)
					return 0, true
				}
				return b2u(re.Match(args[0].BytesAt(i))), true
			})
		},
	}
	count := simple{
		name: "regexp_count", least: 2, most: 2, args: []Accept{text}, result: types.Integer, canFail: true, kernel: func(b *Binding) Kernel {
			cache := &regexps{function: "regexp_extract_all"}
			return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (int32, bool) {
				n := int32(0)
				cache.all(e, args, i, func([]int) bool { n++; return true })
				return n, true
			})
		},
	}
	instr := simple{
		name: "regexp_instr", least: 2, most: 3, args: []Accept{text, text, integer}, result: types.Integer, canFail: true,
		kernel: func(b *Binding) Kernel {
			cache := &regexps{function: b.Name}
			return fixedKernel(func(e *expr.Eval, args []*vec.Vector, i int) (int32, bool) {
				at := int32(0)
				cache.all(e, args, i, func(loc []int) bool {
					at = int32(utf8.RuneCount(args[0].BytesAt(i)[:loc[0]])) + 1
					return false
				})
				return at, true
			})
		},
	}
	substr := simple{
		name: "regexp_substr", least: 2, most: 2, args: []Accept{text}, result: types.String, canFail: true, nullable: true,
		kernel: func(b *Binding) Kernel {
			cache := &regexps{function: "regexp_extract"}
			return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
				found := false
				cache.all(e, args, i, func(loc []int) bool {
					found = loc[1] > loc[0]
					b = append(b, args[0].BytesAt(i)[loc[0]:loc[1]]...)
					return false
				})
				return b, found
			})
		},
	}
	extract := simple{
		name: "regexp_extract", least: 2, most: 3, args: []Accept{text, text, integer}, result: types.String, canFail: true,
		kernel: func(b *Binding) Kernel {
			cache := &regexps{function: b.Name}
			return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
				if loc := cache.find(e, args, i); loc != nil {
					if group, ok := cache.group(e, args, i); ok && loc[2*group] >= 0 {
						b = append(b, args[0].BytesAt(i)[loc[2*group]:loc[2*group+1]]...)
					}
				}
				return b, true
			})
		},
	}
	replace := simple{
		name: "regexp_replace", least: 3, most: 4, args: []Accept{text, text, text, integer}, result: types.String, canFail: true,
		kernel: func(b *Binding) Kernel { return replaceKernel(b.Name) },
	}
	return append(simples(rlike, count, instr, substr, extract),
		&Function{Name: "regexp_replace", Bind: func(b *Binding) (*Bound, error) {
			bound, err := replace.function().Bind(b)
			if err == nil && len(b.Args) == 4 && b.Args[3].Const == nil {
				return nil, b.NotFoldable(3, "`position`", `"INT"`)
			}
			return bound, err
		}},
		&Function{Name: "regexp_extract_all", Bind: bindExtractAll}, &Function{Name: "split", Bind: bindSplit})
}

// regexps compiles patterns, mostly the same one row after row.
type regexps struct {
	function string
	text     string
	known    bool
	re       *javare.Regexp
	err      error
}

func (c *regexps) get(pattern string) (*javare.Regexp, error) {
	if !c.known || c.text != pattern {
		c.text, c.known = strings.Clone(pattern), true
		c.re, c.err = javare.Compile(c.text)
		if c.err != nil {
			c.err = errclass.New("INVALID_PARAMETER_VALUE.PATTERN", "functionName", "`"+c.function+"`", "parameter", "`regexp`",
				"value", quoteText(c.text)).WithCause(c.err)
		}
	}
	return c.re, c.err
}

// find gives the first match of argument 1 in argument 0.
func (c *regexps) find(e *expr.Eval, args []*vec.Vector, i int) []int {
	re, err := c.get(args[1].StringAt(i))
	if err != nil {
		e.Errs.Add(i, err)
		return nil
	}
	return re.Find(args[0].BytesAt(i), 0)
}

// all goes through the matches of argument 1 in argument 0.
func (c *regexps) all(e *expr.Eval, args []*vec.Vector, i int, yield func(loc []int) bool) {
	re, err := c.get(args[1].StringAt(i))
	if err != nil {
		e.Errs.Add(i, err)
		return
	}
	re.All(args[0].BytesAt(i), yield)
}

// group compiles the pattern and checks that it has the group that argument 2 asks for, which is 1 by default.
func (c *regexps) group(e *expr.Eval, args []*vec.Vector, i int) (group int, ok bool) {
	re, err := c.get(args[1].StringAt(i))
	if err != nil {
		e.Errs.Add(i, err)
		return 0, false
	}
	group = 1
	if len(args) == 3 {
		group = int32At(args[2], i)
	}
	if group < 0 || group > re.Groups() {
		e.Errs.Add(i, errclass.New("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX", "functionName", "`"+c.function+"`", "parameter", "`idx`",
			"groupCount", itoa(re.Groups()), "groupIndex", itoa(group)))
		return 0, false
	}
	return group, true
}

// replacement is a compiled replacement text: literal stretches and groups.
type replacement struct {
	text  string
	known bool
	parts []replacePart
	err   error
}

type replacePart struct {
	literal string
	group   int // -1 for a literal
}

var errReplacement = errors.New("a $ needs the number of a group behind it")

// compile reads $n and backslashes as Java does: $12 is group 12 only if there are so many.
func (r *replacement) compile(s string, groups int) {
	if r.known && r.text == s {
		return
	}
	r.text, r.known, r.parts, r.err = strings.Clone(s), true, nil, nil
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			r.parts = append(r.parts, replacePart{literal: lit.String(), group: -1})
			lit.Reset()
		}
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i == len(s) {
				r.err = errReplacement
				return
			}
			lit.WriteByte(s[i])
		case c == '$':
			n := i + 1
			if n == len(s) || s[n] < '0' || s[n] > '9' {
				r.err = errReplacement
				return
			}
			group := int(s[n] - '0')
			if group > groups {
				r.err = errReplacement
				return
			}
			for n++; n < len(s) && s[n] >= '0' && s[n] <= '9' && group*10+int(s[n]-'0') <= groups; n++ {
				group = group*10 + int(s[n]-'0')
			}
			flush()
			r.parts = append(r.parts, replacePart{group: group})
			i = n - 1
		default:
			lit.WriteByte(c)
		}
	}
	flush()
}

func replaceKernel(name string) Kernel {
	cache, with := &regexps{function: name}, &replacement{}
	return textKernel(func(e *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
		re, err := cache.get(args[1].StringAt(i))
		if err != nil {
			e.Errs.Add(i, err)
			return b, true
		}
		s := javaText(args[0].BytesAt(i))
		from := 0
		if len(args) == 4 {
			from = runeOffset(s, int32At(args[3], i)-1)
		}
		with.compile(args[2].StringAt(i), re.Groups())
		b = append(b, s[:from]...)
		rest := s[from:]
		at := 0
		re.All(rest, func(loc []int) bool {
			if with.err != nil {
				e.Errs.Add(i, errclass.New("INVALID_REGEXP_REPLACE", "source", quoteText(string(s)), "pattern", quoteText(cache.text),
					"replacement", quoteText(with.text), "position", itoa(from+1)))
				return false
			}
			b = append(b, rest[at:loc[0]]...)
			for _, p := range with.parts {
				if p.group < 0 {
					b = append(b, p.literal...)
				} else if loc[2*p.group] >= 0 {
					b = append(b, rest[loc[2*p.group]:loc[2*p.group+1]]...)
				}
			}
			at = loc[1]
			return true
		})
		return append(b, rest[at:]...), true
	})
}

// textListKernel makes an array of texts for each row that has no null argument.
func textListKernel(t types.ArrayType, write func(e *expr.Eval, out *vec.Builder, args []*vec.Vector, i int)) Kernel {
	out := vec.NewBuilder(t)
	var scratch vec.Bitmap
	return func(e *expr.Eval, n int, args []*vec.Vector, _ *vec.Vector) *vec.Vector {
		out.Reset()
		valid := live(args, n, &scratch)
		for i := range n {
			if !valid.Get(i) {
				out.AppendNull()
				continue
			}
			out.StartList()
			write(e, out.Child(0), args, i)
			out.EndList()
		}
		return out.Borrow()
	}
}

func bindExtractAll(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(text, text, integer)
	if err != nil {
		return nil, err
	}
	t := types.ArrayOf(types.String)
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), TakesConst: true, CanFail: true, New: func() Kernel {
		cache := &regexps{function: b.Name}
		return textListKernel(t, func(e *expr.Eval, out *vec.Builder, args []*vec.Vector, i int) {
			if cache.find(e, args, i) == nil { // then any group will do
				return
			}
			group, ok := cache.group(e, args, i)
			if !ok {
				return
			}
			s := javaText(args[0].BytesAt(i))
			cache.re.All(s, func(loc []int) bool {
				if loc[2*group] < 0 {
					out.AppendString("")
				} else {
					out.AppendBytes(s[loc[2*group]:loc[2*group+1]])
				}
				return true
			})
		})
	}}, nil
}

// bindSplit binds split(text, pattern[, limit]). With a limit above 0 the last part holds the rest.
func bindSplit(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(text, text, integer)
	if err != nil {
		return nil, err
	}
	t := types.ArrayType{Element: types.String}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), TakesConst: true, CanFail: true, New: func() Kernel {
		cache := &regexps{function: b.Name}
		return textListKernel(t, func(e *expr.Eval, out *vec.Builder, args []*vec.Vector, i int) {
			limit := -1
			if len(args) == 3 {
				limit = int32At(args[2], i)
			}
			pattern := args[1].StringAt(i)
			if pattern == "" {
				splitCharacters(out, args[0].BytesAt(i), limit)
				return
			}
			if lit, ok := literalPattern(pattern); ok {
				splitLiteral(out, string(javaText(args[0].BytesAt(i))), lit, limit)
				return
			}
			re, err := cache.get(pattern)
			if err != nil {
				e.Errs.Add(i, err)
				return
			}
			splitRegexp(out, javaText(args[0].BytesAt(i)), re, limit)
		})
	}}, nil
}

// javaText is a text as Java has it, who replaces what is no UTF-8: half of a character beyond the first plane by one character, whole or
// cut off, anything else as appendValidUTF8 does.
func javaText(s []byte) []byte {
	if utf8.Valid(s) {
		return s
	}
	var out []byte
	for i := 0; i+1 < len(s); i++ {
		if s[i] != 0xed || s[i+1] < 0xa0 || s[i+1] > 0xbf {
			continue
		}
		n := i + 2
		if n < len(s) && s[n]&0xc0 == 0x80 {
			n++
		}
		out = append(appendValidUTF8(out, s[:i]), "\uFFFD"...)
		s, i = s[n:], -1
	}
	return appendValidUTF8(out, s)
}

// splitCharacters gives the characters one by one, the last with all that the limit leaves over.
func splitCharacters(out *vec.Builder, s []byte, limit int) {
	for n := 1; limit <= 0 || n < limit; n++ {
		_, size := utf8.DecodeRune(s)
		if size == len(s) {
			break
		}
		out.AppendBytes(s[:size])
		s = s[size:]
	}
	out.AppendBytes(s)
}

// literalPattern tells patterns of one or more characters that stand for themselves.
func literalPattern(pattern string) (string, bool) {
	if len(pattern) == 2 && pattern[0] == '\\' && strings.IndexByte(`.$|()[]{}^?*+\`, pattern[1]) >= 0 {
		return pattern[1:], true
	}
	return pattern, !strings.ContainsAny(pattern, `\.$|()[]{}^?*+`)
}

func splitLiteral(out *vec.Builder, s, sep string, limit int) {
	for n := 1; limit <= 0 || n < limit; n++ {
		k := strings.Index(s, sep)
		if k < 0 {
			break
		}
		out.AppendString(s[:k])
		s = s[k+len(sep):]
	}
	out.AppendString(s)
}

// splitRegexp makes no empty part in front of a match of nothing, but one behind it.
func splitRegexp(out *vec.Builder, s []byte, re *javare.Regexp, limit int) {
	at, n := 0, 1
	re.All(s, func(loc []int) bool {
		if limit > 0 && n == limit {
			return false
		}
		if loc[1] == 0 {
			return true
		}
		out.AppendBytes(s[at:loc[0]])
		at = loc[1]
		n++
		return true
	})
	out.AppendBytes(s[at:])
}
