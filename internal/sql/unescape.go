package sql

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// stringValue is what a string literal token stands for.
func stringValue(lit string) string {
	if lit[0] == 'r' || lit[0] == 'R' {
		return lit[2 : len(lit)-1]
	}
	quote, body := lit[0], lit[1:len(lit)-1]
	if strings.IndexByte(body, '\\') < 0 && strings.IndexByte(body, quote) < 0 {
		return body
	}
	var b strings.Builder
	b.Grow(len(body))
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '\\' && i+1 < len(body):
			i += 1 + unescape(&b, body[i+1:])
		case c == quote: // doubled
			b.WriteByte(c)
			i += 2
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// unescape writes what the escape sequence at the start of s (behind its backslash) stands for and gives its length.
func unescape(b *strings.Builder, s string) int {
	if n := octal(s); n > 0 {
		v, _ := strconv.ParseUint(s[:n], 8, 16)
		b.WriteRune(rune(v))
		return n
	}
	switch c := s[0]; c {
	case '0':
		b.WriteByte(0)
	case 'b':
		b.WriteByte('\b')
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'Z':
		b.WriteByte(0x1a)
	case '%', '_': // kept escaped: LIKE wants to see it
		b.WriteByte('\\')
		b.WriteByte(c)
	case 'u', 'U':
		n := 4
		if c == 'U' {
			n = 8
		}
		if len(s) > n {
			if v, err := strconv.ParseUint(s[1:1+n], 16, 32); err == nil {
				return 1 + n + unicodeEscape(b, rune(v), s[1+n:])
			}
		}
		b.WriteByte(c)
	default:
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			b.WriteByte(c)
			return 1
		}
		b.WriteString(s[:n])
		return n
	}
	return 1
}

// unicodeEscape writes a code point. A high surrogate takes the low one that follows with it; the result is the number of
// bytes of rest that this used.
func unicodeEscape(b *strings.Builder, r rune, rest string) int {
	if r >= 0xd800 && r < 0xdc00 && len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if v, err := strconv.ParseUint(rest[2:6], 16, 32); err == nil && v >= 0xdc00 && v < 0xe000 {
			b.WriteRune((r-0xd800)<<10 | (rune(v) - 0xdc00) + 0x10000)
			return 6
		}
	}
	b.WriteRune(r)
	return 0
}

// octal gives 3 when s starts with an octal escape of a byte, else 0.
func octal(s string) int {
	if len(s) >= 3 && (s[0] == '0' || s[0] == '1') && isOctal(s[1]) && isOctal(s[2]) {
		return 3
	}
	return 0
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

// quoteString prints a string as a literal that lexes back to it.
func quoteString(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'':
			b.WriteString(`\'`)
		case '\\':
			// "\%" reads as itself, with its backslash.
			if i+1 < len(s) && (s[i+1] == '%' || s[i+1] == '_') {
				b.WriteByte(c)
			} else {
				b.WriteString(`\\`)
			}
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case 0:
			b.WriteString(`\000`) // not \0: a digit could follow
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// nameOf is what a quoted name stands for.
func nameOf(tok string) string { return strings.ReplaceAll(tok[1:len(tok)-1], "``", "`") }

// quoteName prints a name so that it reads back as one, with backticks only where they are needed.
func quoteName(s string) string {
	if s != "" && isASCII(s) && wordLen(s) == len(s) && !isDigit(s[0]) && !neverBare[upper(s)] {
		return s
	}
	return "`" + strings.ReplaceAll(s, "`", "``") + "`"
}
