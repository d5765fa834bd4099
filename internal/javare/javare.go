package javare

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// Regexp is a compiled pattern. It may be used by several goroutines.
type Regexp struct {
	// nothing is the match in an empty text of a pattern that may match nothing wherever it stands, or at the end only.
	nothing   []int
	onlyAtEnd bool

	fast   *regexp.Regexp
	slow   *regexp2.Regexp
	groups int
}

// Compile reads a pattern.
func Compile(pattern string) (*Regexp, error) {
	if strayBrace(pattern) {
		return nil, errors.New("illegal repetition: a { that does not begin a number of repetitions needs a backslash")
	}
	if both := intersections(pattern); both != pattern {
		slow, err := regexp2.Compile(both)
		if err != nil {
			return nil, err
		}
		return &Regexp{slow: slow, groups: len(slow.GetGroupNumbers()) - 1}, nil
	}
	text := translate(pattern)
	fast, err := regexp.Compile(text)
	if err == nil {
		r := &Regexp{fast: fast, groups: fast.NumSubexp()}
		if !strings.ContainsAny(pattern, "^") && !context.MatchString(pattern) {
			r.nothing, r.onlyAtEnd = fast.FindStringSubmatchIndex(""), atEnd.MatchString(pattern)
		}
		return r, nil
	}
	slow, slowErr := regexp2.Compile(pattern)
	if slowErr != nil {
		return nil, errors.Join(err, slowErr)
	}
	return &Regexp{slow: slow, groups: len(slow.GetGroupNumbers()) - 1}, nil
}

// intersections rewrites classes such as [a-z&&[^b]], which only Java has, as a class behind others that are looked ahead for.
func intersections(pattern string) string {
	if !strings.Contains(pattern, "&&") {
		return pattern
	}
	var out strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			out.WriteString(pattern[i : i+2])
			i++
			continue
		}
		if pattern[i] != '[' {
			out.WriteByte(pattern[i])
			continue
		}
		parts, from, depth, end := []string(nil), i+1, 0, i+1
		for ; end < len(pattern) && (pattern[end] != ']' || depth > 0); end++ {
			switch {
			case pattern[end] == '\\':
				end++
			case pattern[end] == '[':
				depth++
			case pattern[end] == ']':
				depth--
			case depth == 0 && strings.HasPrefix(pattern[end:], "&&"):
				parts, from = append(parts, pattern[from:end]), end+2
				end++
			}
		}
		if end >= len(pattern) || parts == nil {
			out.WriteString(pattern[i:min(end+1, len(pattern))])
			i = end
			continue
		}
		parts = append(parts, pattern[from:end])
		negated := strings.HasPrefix(parts[0], "^")
		parts[0] = strings.TrimPrefix(parts[0], "^")
		all := ""
		for k, p := range parts {
			if !strings.HasPrefix(p, "[") {
				p = "[" + p + "]"
			}
			if k < len(parts)-1 {
				p = "(?=" + p + ")"
			}
			all += p
		}
		if negated {
			all = "(?!" + all + `)[\s\S]`
		}
		out.WriteString("(?:" + all + ")")
		i = end
	}
	return out.String()
}

var (
	context = regexp.MustCompile(`\\[bBAG]`)
	atEnd   = regexp.MustCompile(`\$|\\[zZ]`)
	counted = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)
)

// strayBrace tells whether a brace stands where Java takes none: it always begins a number of repetitions of what is before it.
func strayBrace(pattern string) bool {
	inClass, before := false, false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			if i+1 < len(pattern) && pattern[i+1] == 'Q' {
				return false // quoted text: it is left to the engine
			}
			if i++; i+1 < len(pattern) && (pattern[i] == 'p' || pattern[i] == 'P' || pattern[i] == 'x' || pattern[i] == 'N') && pattern[i+1] == '{' {
				if end := strings.IndexByte(pattern[i:], '}'); end > 0 {
					i += end
				}
			}
			before = true
		case inClass:
			inClass = c != ']'
			before = true
		case c == '[':
			inClass = true
			if i+1 < len(pattern) && pattern[i+1] == '^' {
				i++
			}
			if i+1 < len(pattern) && pattern[i+1] == ']' {
				i++
			}
		case c == '{':
			loc := counted.FindStringIndex(pattern[i:])
			if !before || loc == nil {
				return true
			}
			i += loc[1] - 1
		default:
			before = c != '(' && c != '|'
		}
	}
	return false
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

// All calls yield with each match in turn, until it says false. Matches do not overlap. Right after a match that is not empty an empty
// one counts, which Go's engine leaves out.
func (r *Regexp) All(s []byte, yield func(loc []int) bool) {
	if r.fast != nil {
		all := r.fast.FindAllSubmatchIndex(s, -1)
		for i, loc := range all {
			if !yield(loc) {
				return
			}
			end := loc[1]
			if r.nothing == nil || loc[0] == end || r.onlyAtEnd && end < len(s) || i+1 < len(all) && all[i+1][0] == end {
				continue
			}
			empty := slices.Clone(r.nothing)
			for k, at := range empty {
				if at >= 0 {
					empty[k] = end
				}
			}
			if !yield(empty) {
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
