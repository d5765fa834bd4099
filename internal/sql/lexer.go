package sql

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
)

// lexer cuts a text into tokens.
type lexer struct {
	s      string
	pos    int
	toks   []token
	inHint bool
}

// lex cuts a text into tokens; the last is eof. An unclosed comment is an error; characters and quotes that fit nowhere
// become tokens of kind bad, which no rule accepts, so that the parser reports them where it stands.
func lex(s string) ([]token, error) {
	l := &lexer{s: s, toks: make([]token, 0, len(s)/4+8)}
	for {
		if err := l.skip(); err != nil {
			return nil, err
		}
		if l.pos >= len(s) {
			l.toks = append(l.toks, token{kind: eof, start: len(s), end: len(s)})
			return l.toks, nil
		}
		l.next()
	}
}

// skip passes over white space and comments.
func (l *lexer) skip() error {
	for l.pos < len(l.s) {
		rest := l.s[l.pos:]
		switch c := rest[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			l.pos++
		case c == '-' && strings.HasPrefix(rest, "--"):
			l.pos += lineComment(rest)
		case c == '/' && strings.HasPrefix(rest, "/*") && !strings.HasPrefix(rest, "/*+"):
			n, ok := blockComment(rest)
			if !ok {
				return at(l.s, l.pos, len(l.s), errclass.New("UNCLOSED_BRACKETED_COMMENT"))
			}
			l.pos += n
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) && r != '\ufeff' {
				return nil
			}
			l.pos += n
		case c == '\f' || c == '\v':
			l.pos++
		default:
			return nil
		}
	}
	return nil
}

// lineComment gives the length of the comment that s starts with. A backslash at the end of a line continues it.
func lineComment(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' && (i == 0 || s[i-1] != '\\') {
			return i
		}
	}
	return len(s)
}

// blockComment gives the length of the comment that s starts with; comments nest.
func blockComment(s string) (int, bool) {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch {
		case s[i] == '/' && s[i+1] == '*':
			depth, i = depth+1, i+1
		case s[i] == '*' && s[i+1] == '/':
			depth, i = depth-1, i+1
			if depth == 0 {
				return i + 1, true
			}
		}
	}
	return 0, false
}

func (l *lexer) add(k kind, n int) {
	t := token{kind: k, start: l.pos, end: l.pos + n}
	switch k {
	case word:
		t.up = upper(l.s[t.start:t.end])
	case symbol:
		t.up = l.s[t.start:t.end]
	}
	l.toks = append(l.toks, t)
	l.pos = t.end
}

// next adds the token at pos, which is not white space.
func (l *lexer) next() {
	rest := l.s[l.pos:]
	c := rest[0]
	switch {
	case c == '\'' || c == '"':
		l.text(rest, 0, false)
	case (c == 'r' || c == 'R') && len(rest) > 1 && (rest[1] == '\'' || rest[1] == '"'):
		l.text(rest, 1, true)
	case c == '`':
		l.quoted(rest)
	case isDigit(c):
		l.number(rest)
	case c == '.' && len(rest) > 1 && isDigit(rest[1]):
		l.number(rest)
	case strings.HasPrefix(rest, "/*+"):
		l.inHint = true
		l.add(hintStart, 3)
	case l.inHint && strings.HasPrefix(rest, "*/"):
		l.inHint = false
		l.add(hintEnd, 2)
	case isWordByte(c) || c >= utf8.RuneSelf:
		if n := wordLen(rest); n > 0 {
			l.add(word, n)
			return
		}
		_, n := utf8.DecodeRuneInString(rest)
		l.add(bad, n)
	default:
		for _, s := range byFirst[c] {
			if strings.HasPrefix(rest, s) {
				l.add(symbol, len(s))
				return
			}
		}
		l.add(bad, 1)
	}
}

// text adds a string literal whose quote is at rest[at]. A doubled quote stands for one; in a raw literal nothing escapes.
func (l *lexer) text(rest string, at int, raw bool) {
	quote := rest[at]
	for i := at + 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && !raw:
			i++
		case rest[i] == quote && !raw && i+1 < len(rest) && rest[i+1] == quote:
			i++
		case rest[i] == quote:
			l.add(text, i+1)
			return
		}
	}
	if at > 0 { // r'... without an end: the r is a word of its own
		l.add(word, at)
	}
	l.add(bad, 1)
}

func (l *lexer) quoted(rest string) {
	for i := 1; i < len(rest); i++ {
		if rest[i] != '`' {
			continue
		}
		if i+1 < len(rest) && rest[i+1] == '`' {
			i++
			continue
		}
		l.add(quoted, i+1)
		return
	}
	l.add(bad, 1)
}

// number adds the longest numeric literal, or a word when the digits begin one (1st).
func (l *lexer) number(rest string) {
	w := wordLen(rest)
	n := digits(rest)
	k := integer
	if n < len(rest) && rest[n] == '.' {
		if m := n + 1 + digits(rest[n+1:]); !wordFollows(rest[m:]) || isNumberTail(rest[m:]) {
			k, n = decimal, m
		}
	}
	if e := exponent(rest[n:]); e > 0 {
		k, n = float, n+e
	}
	if s := suffix(rest[n:], k); s > 0 {
		k, n = suffixed, n+s
	}
	if n == 0 { // ".5th": a dot and a word
		l.add(symbol, 1)
		return
	}
	if w > n {
		l.add(word, w)
		return
	}
	l.add(k, n)
}

func isNumberTail(s string) bool {
	if e := exponent(s); e > 0 {
		return !wordFollows(s[e:]) || suffix(s[e:], float) > 0
	}
	return suffix(s, decimal) > 0
}

// exponent gives the length of the exponent that s starts with.
func exponent(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	i := 1
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	if n := digits(s[i:]); n > 0 {
		return i + n
	}
	return 0
}

// suffix gives the length of the type suffix that s starts with: L, S and Y are for integers only.
func suffix(s string, k kind) int {
	n := wordLen(s)
	switch upper(s[:n]) {
	case "L", "S", "Y":
		if k == integer {
			return n
		}
	case "F", "D", "BD":
		return n
	}
	return 0
}

func digits(s string) int {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}

func wordFollows(s string) bool { return wordLen(s) > 0 }

// wordLen is how many bytes of s belong to a name: letters of any script, digits and underscores.
func wordLen(s string) int {
	i := 0
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if !isWordByte(c) {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return i
		}
		i += n
	}
	return i
}
