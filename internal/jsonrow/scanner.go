package jsonrow

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/internal/vec"
)

// scanner reads values. Its methods take the text and a position and return the position behind what they read, or -1 for text
// that is not JSON. What is JSON but does not fit its type is read to its end and noted in bad and why.
//
// The text ends with Pad zero bytes, so a look at text[i] never needs a check of the length: zero is no part of any value. In
// texts of lines a line break ends a record just so.
type scanner struct {
	printed  []byte // scratch
	mode     textrecord.Mode
	limited  bool // options bound numbers or strings
	blanks   *[256]bool
	comments bool
	opts     Options
	zone     *datetime.Zone
	times    *datetime.FormatReader

	bad     bool
	why     failure
	scratch []byte

	variants variant.Builder // of the variant being read
	twice    *string         // the name that an object of it has twice
	strict   bool            // half a pair of surrogates is an error
}

// failure is the first value of a record that did not fit.
type failure struct {
	conv *conv
	name string
	text []byte
}

var lineBlanks = [256]bool{' ': true, '\t': true}

var documentBlanks = [256]bool{' ': true, '\t': true, '\n': true, '\r': true}

func (s *scanner) init(opts Options) error {
	s.mode, s.opts, s.comments = opts.Mode, opts, opts.Comments
	s.blanks = &lineBlanks
	most := DefaultOptions()
	s.limited = opts.MaxNumber > 0 && opts.MaxNumber < most.MaxNumber || opts.MaxText > 0 && opts.MaxText < most.MaxText
	if s.opts.MaxDepth <= 0 {
		s.opts.MaxDepth = 1000
	}
	var err error
	if s.times, err = opts.formats().NewReader(opts.Zone); err != nil {
		return err
	}
	s.zone = s.times.Zone()
	return nil
}

// skip passes blanks, and comments where they are allowed.
func (s *scanner) skip(text []byte, i int) int {
	for {
		for s.blanks[text[i]] {
			i++
		}
		if !s.comments || text[i] != '/' && text[i] != '#' {
			return i
		}
		switch {
		case text[i] == '#' || text[i+1] == '/':
			for text[i] != 0 && text[i] != '\n' && text[i] != '\r' {
				i++
			}
		case text[i+1] == '*':
			j := i + 2
			for text[j] != 0 && (text[j] != '*' || text[j+1] != '/') {
				j++
			}
			if text[j] == 0 {
				return j
			}
			i = j + 2
		default:
			return i
		}
	}
}

// key reads a key and its colon by the long way and remembers it as the k-th of objects of this kind.
func (s *scanner) key(text []byte, i int, c *conv, k int) (f, next int) {
	start := i
	name, i := s.name(text, i)
	if i < 0 {
		return -1, -1
	}
	if text[i] <= ' ' || s.comments {
		i = s.skip(text, i)
	}
	if text[i] != ':' {
		return -1, -1
	}
	i++
	f, ok := c.index[unsafeString(name)]
	if !ok {
		f = -1
	}
	if k < maxGuesses && i-start < maxGuesses {
		for len(c.guess) <= k {
			c.guess = append(c.guess, guess{"\x00", -1})
		}
		c.guess[k] = guess{string(text[start:i]), f}
	}
	return f, i
}

// name reads a field's name: a string, or a word where that is allowed.
func (s *scanner) name(text []byte, i int) (name []byte, next int) {
	switch start := i; {
	case text[i] == '"', text[i] == '\'' && s.opts.SingleQuotes:
		var ok bool
		if name, i, ok = s.str(text, i); !ok {
			return nil, -1
		}
		return name, i
	case s.opts.UnquotedNames:
		for isWord(text[i]) {
			i++
		}
		if i > start {
			return text[start:i], i
		}
	}
	return nil, -1
}

// isWord tells what a name without quotes may consist of.
func isWord(c byte) bool {
	return isAlnum(c) || c != 0 && strings.IndexByte("_$@#*-+\x7f", c) >= 0
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// again reads a field that the object had before: the last value counts, unless it does not fit.
func (s *scanner) again(text []byte, i int, c *conv, out *vec.Builder, row, depth int) int {
	next, ok := s.value(text, i, c, out, depth)
	switch {
	case next < 0:
	case !ok:
		out.Truncate(row + 1)
	default:
		out.Truncate(row)
		s.value(text, i, c, out, depth)
	}
	return next
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns the position of the first quote, backslash or control character at or after i, and whether a byte before it is
// not ASCII.
func plain(text []byte, i int) (end int, ascii bool) {
	var seen uint64
	for {
		w := binary.LittleEndian.Uint64(text[i:])
		q, b := w^(ones*'"'), w^(ones*'\\')
		m := ((q-ones)&^q | (b-ones)&^b | (w-ones*0x20)&^w) & highs
		if m != 0 {
			n := bits.TrailingZeros64(m) &^ 7
			seen |= w & (1<<n - 1)
			return i + n>>3, seen&highs == 0
		}
		seen |= w
		i += 8
	}
}

// str reads a string that starts with a quote at i. The result may be the scanner's scratch. A string that is not whole, or holds
// what it must not, gives false.
func (s *scanner) str(text []byte, i int) (str []byte, next int, ok bool) {
	if text[i] == '"' {
		end, ascii := plain(text, i+1)
		if text[end] == '"' {
			str = text[i+1 : end]
			if !ascii && !utf8.Valid(str) {
				return nil, -1, false
			}
			return str, end + 1, true
		}
	}
	return s.escaped(text, i)
}

// escaped reads a string that has more in it than plain characters.
func (s *scanner) escaped(text []byte, i int) (str []byte, next int, ok bool) {
	quote := text[i]
	b := s.scratch[:0]
	i++
	limit := len(text) - Pad
	for {
		from := i
		for text[i] != quote && text[i] != '\\' && text[i] >= ' ' {
			i++
		}
		b = append(b, text[from:i]...)
		switch c := text[i]; {
		case c == quote:
			s.scratch = b
			if !utf8.Valid(b) {
				return nil, -1, false
			}
			return b, i + 1, true
		case c != '\\':
			if !s.opts.UnquotedControls || i >= limit {
				return nil, -1, false
			}
			b = append(b, c)
			i++
			continue
		}
		c := text[i+1]
		i += 2
		switch c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r := hex4(text, i)
			if r < 0 {
				return nil, -1, false
			}
			i += 4
			switch {
			case r >= 0xD800 && r < 0xDC00 && text[i] == '\\' && text[i+1] == 'u':
				low := hex4(text, i+2)
				if low < 0xDC00 || low >= 0xE000 {
					if s.strict {
						return nil, -1, false
					}
					b = append(b, '?')
					continue
				}
				r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
				i += 6
			case r >= 0xD800 && r < 0xE000: // half a pair: Java prints it as a question mark
				if s.strict {
					return nil, -1, false
				}
				b = append(b, '?')
				continue
			}
			b = utf8.AppendRune(b, r)
		default:
			if c == '\'' && s.opts.SingleQuotes || s.opts.BackslashAnything && c >= ' ' {
				b = append(b, c)
				continue
			}
			return nil, -1, false
		}
	}
}

func hex4(text []byte, i int) rune {
	var r rune
	for _, c := range text[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// tooLong tells whether the number or string at i has more digits or characters than options allow.
func (s *scanner) tooLong(text []byte, i int) bool {
	switch c := text[i]; {
	case c == '"' || c == '\'' && s.opts.SingleQuotes:
		str, _, ok := s.str(text, i)
		return ok && utf8.RuneCount(str) > s.opts.MaxText
	case numberStart(c):
		next, _ := s.number(text, i)
		digits := 0
		for ; i < next; i++ {
			if text[i]-'0' <= 9 {
				digits++
			}
		}
		return digits > s.opts.MaxNumber
	}
	return false
}

// skipValue reads any value and keeps nothing of it.
func (s *scanner) skipValue(text []byte, i, depth int) int {
	if s.limited && s.tooLong(text, i) {
		return -1
	}
	switch c := text[i]; c {
	case '"':
		_, next, _ := s.str(text, i)
		return next
	case '\'':
		if !s.opts.SingleQuotes {
			return -1
		}
		_, next, _ := s.escaped(text, i)
		return next
	case '{':
		return s.skipObject(text, i+1, depth+1)
	case '[':
		return s.skipArray(text, i+1, depth+1)
	case 't':
		return word(text, i, "true")
	case 'f':
		return word(text, i, "false")
	case 'n':
		return word(text, i, "null")
	}
	next, _ := s.number(text, i)
	return next
}

// word reads a fixed word.
func word(text []byte, i int, w string) int {
	if string(text[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}

func (s *scanner) skipArray(text []byte, i, depth int) int {
	if depth > s.opts.MaxDepth {
		return -1
	}
	if i = s.skip(text, i); text[i] == ']' {
		return i + 1
	}
	for {
		if i = s.skipValue(text, i, depth); i < 0 {
			return -1
		}
		switch i = s.skip(text, i); text[i] {
		case ',':
			i = s.skip(text, i+1)
		case ']':
			return i + 1
		default:
			return -1
		}
	}
}

func (s *scanner) skipObject(text []byte, i, depth int) int {
	if depth > s.opts.MaxDepth {
		return -1
	}
	if i = s.skip(text, i); text[i] == '}' {
		return i + 1
	}
	var none conv
	for {
		if _, i = s.key(text, i, &none, maxGuesses); i < 0 {
			return -1
		}
		if i = s.skipValue(text, s.skip(text, i), depth); i < 0 {
			return -1
		}
		switch i = s.skip(text, i); text[i] {
		case ',':
			i = s.skip(text, i+1)
		case '}':
			return i + 1
		default:
			return -1
		}
	}
}

// number checks a number and tells whether it is a whole one without exponent.
func (s *scanner) number(text []byte, i int) (next int, whole bool) {
	start := i
	if text[i] == '-' || text[i] == '+' {
		sign := text[i]
		i++
		if text[i] == 'I' && s.opts.NonNumeric {
			if string(text[i:i+8]) == "Infinity" {
				return i + 8, false
			}
			return word(text, i, "INF"), false
		}
		if sign == '+' {
			return -1, false
		}
	}
	if s.opts.NonNumeric && i == start {
		switch text[i] {
		case 'N':
			return word(text, i, "NaN"), false
		case 'I':
			return word(text, i, "Infinity"), false
		}
	}
	first := i
	for text[i]-'0' <= 9 {
		i++
	}
	if i == first || text[first] == '0' && i > first+1 && !s.opts.LeadingZeros {
		return -1, false
	}
	whole = true
	if text[i] == '.' {
		whole = false
		i++
		if text[i]-'0' > 9 {
			return -1, false
		}
		for text[i]-'0' <= 9 {
			i++
		}
	}
	if text[i]|0x20 == 'e' {
		whole = false
		i++
		if text[i] == '+' || text[i] == '-' {
			i++
		}
		if text[i]-'0' > 9 {
			return -1, false
		}
		for text[i]-'0' <= 9 {
			i++
		}
	}
	return i, whole
}
