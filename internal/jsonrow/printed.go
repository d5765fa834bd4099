package jsonrow

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/numtext"
)

// AppendPrinted prints a valid value again, as Java would that has read it: without blanks, fractions as doubles, and texts with no more
// escapes than are needed, but for characters beyond Unicode's first plane, of which it writes both halves.
func AppendPrinted(b, value []byte) []byte {
	for i := 0; i < len(value); {
		switch c := value[i]; {
		case c == '"' || c == '\'':
			var n int
			b, n = appendPrintedText(b, value[i:])
			i += n
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(value) && strings.IndexByte("0123456789+-.eE", value[end]) >= 0 {
				end++
			}
			b = appendPrintedNumber(b, string(value[i:end]))
			i = end
		default:
			b = append(b, c)
			i++
		}
	}
	return b
}

func appendPrintedNumber(b []byte, number string) []byte {
	if number == "-0" {
		return append(b, '0')
	}
	if !strings.ContainsAny(number, ".eE") {
		return append(b, number...)
	}
	f, err := strconv.ParseFloat(number, 64)
	switch {
	case math.IsInf(f, 0):
		b = append(b, '"')
		b = numtext.AppendFloat(b, f, 64)
		return append(b, '"')
	case err != nil:
		return append(b, number...)
	}
	return numtext.AppendFloat(b, f, 64)
}

// appendPrintedText prints the quoted text that value begins with, and returns how long that is there.
func appendPrintedText(b, value []byte) (_ []byte, n int) {
	quote := value[0]
	b = append(b, '"')
	i := 1
	for i < len(value) && value[i] != quote {
		r, size := rune(value[i]), 1
		switch {
		case r == '\\' && i+1 < len(value):
			r, size = escapedRune(value[i:])
		case r >= utf8.RuneSelf:
			r, size = utf8.DecodeRune(value[i:])
		}
		b = appendEscaped(b, r)
		i += size
	}
	return append(b, '"'), min(i+1, len(value))
}

// escapedRune is the character that an escape stands for, or half of one that lacks the other.
func escapedRune(text []byte) (r rune, size int) {
	switch c := text[1]; c {
	case 'b':
		return '\b', 2
	case 't':
		return '\t', 2
	case 'n':
		return '\n', 2
	case 'f':
		return '\f', 2
	case 'r':
		return '\r', 2
	case 'u':
		if len(text) < 6 {
			return utf8.RuneError, len(text)
		}
		r = hex4(text, 2)
		if utf16.IsSurrogate(r) && len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
			if whole := utf16.DecodeRune(r, hex4(text, 8)); whole != utf8.RuneError {
				return whole, 12
			}
		}
		return r, 6
	default:
		return rune(c), 2
	}
}

func appendEscaped(b []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\b':
		return append(b, `\b`...)
	case r == '\t':
		return append(b, `\t`...)
	case r == '\n':
		return append(b, `\n`...)
	case r == '\f':
		return append(b, `\f`...)
	case r == '\r':
		return append(b, `\r`...)
	case r < ' ', utf16.IsSurrogate(r):
		return fmt.Appendf(b, `\u%04X`, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(b, `\u%04X\u%04X`, high, low)
	}
	return utf8.AppendRune(b, r)
}
