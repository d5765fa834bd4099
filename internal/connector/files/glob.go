package files

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// pattern is a compiled glob for one name: * and ? match within a name, [abc], [a-z] and [^a] a character of a set, {x,y} one of
// several patterns, and a backslash takes the meaning of the next character away.
type pattern struct {
	alternatives [][]step
	plain        string // the name that it stands for when it has no meaning but itself
	isPlain      bool
}

// step matches one character, or any number of them.
type step struct {
	any  bool // *
	one  bool // ?
	r    rune
	set  []runeRange
	not  bool
	isIn bool
}

type runeRange struct{ lo, hi rune }

// isGlob tells whether a path has a character with a meaning in globs.
func isGlob(path string) bool { return strings.ContainsAny(path, "*?[]{}\\") }

// maxAlternatives bounds what braces expand to.
const maxAlternatives = 1000

func compilePattern(s string) (*pattern, error) {
	alts, err := expandBraces(s)
	if err != nil {
		return nil, err
	}
	p := &pattern{}
	for _, a := range alts {
		steps, err := compileSteps(a)
		if err != nil {
			return nil, err
		}
		p.alternatives = append(p.alternatives, steps)
	}
	if len(p.alternatives) == 1 {
		var b strings.Builder
		p.isPlain = true
		for _, st := range p.alternatives[0] {
			if st.any || st.one || st.isIn {
				p.isPlain = false
				break
			}
			b.WriteRune(st.r)
		}
		p.plain = b.String()
	}
	return p, nil
}

// expandBraces writes out every choice of the braces of a pattern. A slash may stand inside of braces.
func expandBraces(s string) ([]string, error) {
	open := indexUnescaped(s, 0, '{')
	if open < 0 {
		return []string{s}, nil
	}
	depth, start := 0, open+1
	var choices []string
	end := -1
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
			continue
		case '{':
			depth++
			continue
		case ',':
			if depth == 1 {
				choices = append(choices, s[start:i])
				start = i + 1
			}
			continue
		case '}':
			if depth--; depth > 0 {
				continue
			}
			choices = append(choices, s[start:i])
			end = i
		default:
			continue
		}
		break
	}
	if end < 0 {
		return nil, errors.New("a brace is not closed")
	}
	var out []string
	for _, c := range choices {
		more, err := expandBraces(s[:open] + c + s[end+1:])
		if err != nil {
			return nil, err
		}
		if out = append(out, more...); len(out) > maxAlternatives {
			return nil, fmt.Errorf("the braces stand for more than %d paths", maxAlternatives)
		}
	}
	return out, nil
}

func indexUnescaped(s string, from int, c byte) int {
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

func compileSteps(s string) ([]step, error) {
	var steps []step
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch r {
		case '*':
			steps = append(steps, step{any: true})
		case '?':
			steps = append(steps, step{one: true})
		case '\\':
			if s == "" {
				return nil, errors.New("a backslash is at its end")
			}
			r, n = utf8.DecodeRuneInString(s)
			s = s[n:]
			steps = append(steps, step{r: r})
		case '[':
			st, rest, err := compileSet(s)
			if err != nil {
				return nil, err
			}
			steps, s = append(steps, st), rest
		default:
			steps = append(steps, step{r: r})
		}
	}
	return steps, nil
}

func compileSet(s string) (st step, rest string, err error) {
	st.isIn = true
	if s != "" && (s[0] == '^' || s[0] == '!') {
		st.not = true
		s = s[1:]
	}
	for first := true; ; first = false {
		if s == "" {
			return st, "", errors.New("a bracket is not closed")
		}
		r, n := utf8.DecodeRuneInString(s)
		if s = s[n:]; r == ']' && !first {
			return st, s, nil
		}
		if r == '\\' && s != "" {
			r, n = utf8.DecodeRuneInString(s)
			s = s[n:]
		}
		hi := r
		if len(s) > 1 && s[0] == '-' && s[1] != ']' {
			hi, n = utf8.DecodeRuneInString(s[1:])
			s = s[1+n:]
		}
		st.set = append(st.set, runeRange{r, hi})
	}
}

// match tells whether a name fits.
func (p *pattern) match(name string) bool {
	for _, steps := range p.alternatives {
		if matchSteps(steps, name) {
			return true
		}
	}
	return false
}

// matchSteps goes back only to the last star, so that no pattern takes more than the product of the lengths.
func matchSteps(steps []step, s string) bool {
	at, star, retry := 0, -1, ""
	for {
		switch {
		case at < len(steps) && steps[at].any:
			star, retry = at, s
			at++
			continue
		case s == "":
			return at == len(steps)
		case at < len(steps):
			r, n := utf8.DecodeRuneInString(s)
			if steps[at].fits(r) {
				at++
				s = s[n:]
				continue
			}
		}
		if star < 0 || retry == "" {
			return false
		}
		_, n := utf8.DecodeRuneInString(retry)
		retry = retry[n:]
		at, s = star+1, retry
	}
}

func (st step) fits(r rune) bool {
	switch {
	case st.one:
		return true
	case st.isIn:
		in := false
		for _, x := range st.set {
			in = in || x.lo <= r && r <= x.hi
		}
		return in != st.not
	}
	return st.r == r
}
