package javare

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Regexp is a compiled pattern. It may be used by several goroutines.
type Regexp struct {
	fast   *regexp.Regexp
	slow   *regexp2.Regexp
	groups int
}

// Compile reads a pattern.
func Compile(pattern string) (*Regexp, error) {
	text := translate(pattern)
	fast, err := regexp.Compile(text)
	if err == nil {
		return &Regexp{fast: fast, groups: fast.NumSubexp()}, nil
	}
	slow, slowErr := regexp2.Compile(pattern)
	if slowErr != nil {
		return nil, errors.Join(err, slowErr)
	}
	return &Regexp{slow: slow, groups: len(slow.GetGroupNumbers()) - 1}, nil
}

// classes are the names of character classes that Java has and Go writes otherwise.
var classes = map[string]string{
	"Lower": "a-z", "Upper": "A-Z", "ASCII": `\x00-\x7F`, "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9",
	"Punct": `!-/:-@\[-` + "`" + `{-~`, "Graph": "!-~", "Print": " -~", "Blank": ` \t`, "Cntrl": `\x00-\x1F\x7F`, "XDigit": "0-9a-fA-F",
	"Space": ` \t\n\x0B\f\r`, "IsAlphabetic": `\p{L}\p{Nl}`, "IsDigit": `\p{Nd}`, "IsLetter": `\p{L}`, "javaLowerCase": `\p{Ll}`,
	"javaUpperCase": `\p{Lu}`,
}

// translate rewrites what Java and Go write differently; both mean the same by the rest.
func translate(pattern string) string {
	if !strings.ContainsAny(pattern, `\[`) {
		return pattern
	}
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			i += escape(&b, pattern[i:], inClass) - 1
		case c == '[':
			if inClass {
				b.WriteString(`\[`) // a nested class: a union, which Go writes without the brackets
				continue
			}
			inClass = true
			b.WriteByte(c)
			if i+1 < len(pattern) && pattern[i+1] == '^' {
				b.WriteByte('^')
				i++
			}
			if i+1 < len(pattern) && pattern[i+1] == ']' {
				b.WriteString(`\]`)
				i++
			}
		case c == ']' && inClass:
			inClass = false
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escape rewrites the escape at the start of s and gives its length.
func escape(b *strings.Builder, s string, inClass bool) int {
	switch s[1] {
	case 'p', 'P':
		if len(s) > 2 && s[2] == '{' {
			if end := strings.IndexByte(s, '}'); end > 0 {
				if set, ok := classes[s[3:end]]; ok && (s[1] == 'p' || !inClass) {
					switch {
					case inClass:
						b.WriteString(set)
					case s[1] == 'P':
						b.WriteString("[^" + set + "]")
					default:
						b.WriteString("[" + set + "]")
					}
					return end + 1
				}
				name := strings.TrimPrefix(s[3:end], "Is")
				b.WriteString(`\` + s[1:2] + "{" + name + "}")
				return end + 1
			}
		}
	case 'h':
		if inClass {
			b.WriteString(` \t`)
		} else {
			b.WriteString(`[ \t]`)
		}
		return 2
	case 'e':
		b.WriteString(`\x1B`)
		return 2
	case 'Z':
		b.WriteString(`(?:\n?\z)`)
		return 2
	case 'u':
		if len(s) >= 6 {
			b.WriteString(`\x{` + s[2:6] + `}`)
			return 6
		}
	}
	b.WriteString(s[:2])
	return 2
}

// Groups is the number of groups, the whole match not counted.
func (r *Regexp) Groups() int { return r.groups }

// Match tells whether the pattern is found anywhere in s.
func (r *Regexp) Match(s []byte) bool {
	if r.fast != nil {
		return r.fast.Match(s)
	}
	ok, err := r.slow.MatchString(string(s))
	return ok && err == nil
}

// Find gives the places of the first match at or after from, and of its groups: start and end in bytes, -1 for groups that did not
// take part. It is nil when there is no match. Anchors and look-behind see the text before from.
func (r *Regexp) Find(s []byte, from int) []int {
	if r.fast != nil {
		return r.findFast(s, from)
	}
	text := string(s)
	m, err := r.slow.FindStringMatchStartingAt(text, from)
	if err != nil || m == nil {
		return nil
	}
	loc := make([]int, 0, 2*(r.groups+1))
	for _, g := range m.Groups() {
		if len(g.Captures) == 0 {
			loc = append(loc, -1, -1)
			continue
		}
		start, length := g.ByteRange()
		loc = append(loc, start, start+length)
	}
	return loc
}

// findFast finds the first match at or after from. Go's engine has no call for that which keeps the text before, so matches from the
// start are stepped over unless from is 0.
func (r *Regexp) findFast(s []byte, from int) []int {
	if from == 0 {
		return r.fast.FindSubmatchIndex(s)
	}
	for _, loc := range r.fast.FindAllSubmatchIndex(s, -1) {
		if loc[0] >= from {
			return loc
		}
	}
	return nil
}

// All calls yield with each match in turn, until it says false. Matches do not overlap; an empty one right after another match does
// not count where the engine would find the same place again.
func (r *Regexp) All(s []byte, yield func(loc []int) bool) {
	if r.fast != nil {
		for _, loc := range r.fast.FindAllSubmatchIndex(s, -1) {
			if !yield(loc) {
				return
			}
		}
		return
	}
	for from := 0; from <= len(s); {
		loc := r.Find(s, from)
		if loc == nil || !yield(loc) {
			return
		}
		if from = loc[1]; loc[0] == loc[1] {
			_, n := utf8.DecodeRune(s[from:])
			from += max(n, 1)
		}
	}
}
