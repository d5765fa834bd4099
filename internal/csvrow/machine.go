package csvrow

import (
	"unicode/utf8"
)

// none is a character that no text has.
const none = rune(-1)

// token is a value of a record: text in the machine's buffer, or one of two that have none.
type token struct {
	from, to int
	kind     tokenKind
}

type tokenKind uint8

const (
	tokText  tokenKind = iota
	tokNull            // nothing stood there
	tokEmpty           // quotes with nothing between them
)

// fault is what stops a text from being read at all.
type fault uint8

const (
	noFault fault = iota
	tooManyColumns
	tooManyChars
	strayQuote // an unescaped quote, which RAISE_ERROR forbids
	strayText  // text behind a closing quote, likewise
	tooDeep    // quotes inside quotes, without end
)

// maxDepth bounds the recursion over unescaped quotes.
const maxDepth = 1000

// machine takes records apart character by character. It is the model for the scanner of lines and does all that is unusual. It
// mirrors the states of the parser that Spark uses, among them what it remembers of the character before (prev) and that its
// position at the end of the text (ch, which keeps the last character that was looked at) tells how an unfinished value ends.
//
// A method that reads on returns false at the end of the text. Then all that is left to do is finish.
type machine struct {
	sep          []rune
	delim        rune // the separator when it is one character, or 0
	quote        rune
	escape       rune
	escapeEscape rune // 0 when an escape cannot be escaped
	newLine      rune // what a line break is taken for
	comment      rune // or none
	break1       rune // the line break
	break2       rune // its second character, or none
	wide         bool // characters of the dialect are not all ASCII: the text must be read as runes
	keepBreaks   bool // line breaks inside quotes stay as they are
	trimLeft     bool
	trimRight    bool
	handling     QuoteHandling
	maxColumns   int
	maxChars     int

	text      []byte
	from      int // start of the record
	at, pos   int // start of ch, and what follows it
	end       int
	normalize bool
	done      bool // the end of the text has been seen
	ch, prev  rune

	buf       []byte
	start     int // of the value in buf
	toks      []token
	pending   [][]token // records of one value that was taken apart again
	trim      bool
	unescaped bool
	skipped   bool // the value is null whatever comes
	match     int  // characters of a longer separator that have been seen
	depth     int
	fault     fault
	blanks    []byte // behind a closing quote
}

func newMachine(o *Options) *machine {
	m := &machine{
		sep: []rune(o.Sep), quote: o.Quote, escape: o.Escape, escapeEscape: o.EscapeEscape, newLine: '\n', comment: none,
		break1: '\n', break2: none, trimLeft: o.TrimLeft, trimRight: o.TrimRight, handling: o.Unescaped, maxColumns: o.MaxColumns, maxChars: o.MaxChars,
		normalize: true,
	}
	if len(m.sep) == 1 {
		m.delim = m.sep[0]
	}
	if m.escapeEscape == 0 && m.escape != m.quote {
		m.escapeEscape = m.escape
	}
	if o.Comment != 0 {
		m.comment = o.Comment
	}
	if o.LineSep != "" {
		m.setBreak([]rune(o.LineSep))
		m.keepBreaks = o.MultiLine
	}
	for _, c := range append(m.sep, m.quote, m.escape, m.escapeEscape, m.comment, m.break1, m.break2) {
		m.wide = m.wide || c >= utf8.RuneSelf
	}
	return m
}

func (m *machine) setBreak(s []rune) {
	m.break1, m.break2, m.newLine = s[0], none, s[0]
	if len(s) > 1 {
		m.break2, m.newLine = s[1], '\n'
	}
}

// detectBreak finds out which line breaks a text has: those of its first line.
func (m *machine) detectBreak(text []byte) {
	for i, c := range text {
		if c == '\n' {
			m.setBreak([]rune{'\n'})
			return
		}
		if c == '\r' {
			if i+1 < len(text) && text[i+1] == '\n' {
				m.setBreak([]rune{'\r', '\n'})
			} else {
				m.break1, m.break2, m.newLine = '\r', none, '\n'
			}
			return
		}
	}
	m.break1, m.break2, m.newLine = '\n', none, '\n'
}

// begin takes a text; records are read from it with record.
func (m *machine) begin(text []byte, from, end int) {
	m.text, m.pos, m.end = text, from, end
	m.ch, m.prev, m.normalize, m.match = 0, 0, true, 0
	m.pending, m.fault, m.done = nil, noFault, false
}

// record reads the next record that has values; ok is false at the end of the text. The tokens are valid until the next call.
func (m *machine) record() (ok bool) {
	for {
		if m.pop() {
			return true
		}
		if m.done {
			return false
		}
		m.buf, m.start, m.toks, m.skipped, m.depth = m.buf[:0], 0, m.toks[:0], false, 0
		m.from = m.pos
		if !m.read() {
			return m.finish()
		}
		if m.ch == m.comment {
			m.skipLine()
			continue
		}
		var more bool
		if len(m.sep) == 1 {
			more = m.single()
		} else {
			more = m.multi()
		}
		if m.fault != noFault {
			return false
		}
		if !more {
			return m.finish()
		}
		if m.settle() {
			return true
		}
	}
}

// settle ends a record; false says that it has no values, as an empty line.
func (m *machine) settle() bool {
	if len(m.pending) == 0 {
		return len(m.toks) > 0
	}
	m.shelve()
	return m.pop()
}

// shelve puts the record aside that has been read so far.
func (m *machine) shelve() {
	if len(m.toks) > 0 {
		m.pending = append(m.pending, m.toks)
		m.toks = nil
	}
}

func (m *machine) pop() bool {
	if len(m.pending) == 0 {
		return false
	}
	m.toks, m.pending = m.pending[0], m.pending[1:]
	return true
}

// line reads a text that is one record.
func (m *machine) line(text []byte, end int) bool {
	m.begin(text, 0, end)
	return m.record()
}

func (m *machine) skipLine() {
	for {
		if c, ok := m.next(); !ok || c == m.newLine {
			return
		}
	}
}

// finish ends the record at the end of the text.
func (m *machine) finish() bool {
	m.done = true
	whole := false // there is a value, even an empty one
	if m.ch == m.quote {
		if m.prev == m.quote {
			whole = true
		} else if !m.unescaped {
			m.append(m.quote)
		}
	}
	if !whole {
		whole = m.prev != 0 && m.ch != m.delim && m.ch != m.newLine && m.ch != m.comment
		if m.match > 0 {
			m.saveMatch()
			whole = true
		}
	}
	m.ch, m.prev, m.match = 0, 0, 0
	switch {
	case len(m.toks) > 0 || whole:
		if whole || m.length() > 0 {
			m.value()
		} else if m.pos > m.from {
			m.empty()
		}
	case m.length() > 0:
		m.value()
	case m.pos > m.from:
		m.empty()
	}
	if m.fault != noFault {
		return false
	}
	return m.settle()
}

// peek is the character at p and its length.
func (m *machine) peek(p int) (rune, int) {
	c := rune(m.text[p])
	if c < utf8.RuneSelf || !m.wide {
		return c, 1
	}
	return utf8.DecodeRune(m.text[p:m.end])
}

// next reads a character.
func (m *machine) next() (rune, bool) {
	if m.pos >= m.end {
		return 0, false
	}
	c, n := m.peek(m.pos)
	m.at = m.pos
	m.pos += n
	if c == m.break1 {
		if m.break2 == none {
			if m.normalize {
				return m.newLine, true
			}
		} else if m.pos < m.end {
			if second, n := m.peek(m.pos); second == m.break2 && m.normalize {
				m.pos += n
				return m.newLine, true
			}
		}
	}
	return c, true
}

// read makes the next character the current one.
func (m *machine) read() bool {
	c, ok := m.next()
	if ok {
		m.ch = c
	}
	return ok
}

func (m *machine) append(c rune) {
	if m.skipped {
		return
	}
	if m.wide {
		m.buf = utf8.AppendRune(m.buf, c)
	} else {
		m.buf = append(m.buf, byte(c))
	}
}

func (m *machine) prepend(c rune) {
	if m.skipped {
		return
	}
	var tmp [utf8.UTFMax]byte
	n := utf8.EncodeRune(tmp[:], c)
	m.buf = append(m.buf, tmp[:n]...)
	copy(m.buf[m.start+n:], m.buf[m.start:])
	copy(m.buf[m.start:], tmp[:n])
}

// length is that of the value so far.
func (m *machine) length() int {
	if m.skipped {
		return -1
	}
	return len(m.buf) - m.start
}

func (m *machine) add(t token) {
	if len(m.toks) >= m.maxColumns {
		m.fault = tooManyColumns
		return
	}
	m.toks = append(m.toks, t)
	m.start, m.skipped = len(m.buf), false
}

// value ends the value in the buffer.
func (m *machine) value() {
	if m.maxChars >= 0 && units(m.buf[m.start:]) > m.maxChars {
		m.fault = tooManyChars
		return
	}
	if m.skipped {
		m.add(token{kind: tokNull})
		return
	}
	if m.trim {
		for len(m.buf) > m.start && m.buf[len(m.buf)-1] <= ' ' {
			m.buf = m.buf[:len(m.buf)-1]
		}
	}
	if len(m.buf) == m.start {
		m.add(token{kind: tokEmpty})
		return
	}
	m.add(token{from: m.start, to: len(m.buf)})
}

// empty adds a value of which there is nothing.
func (m *machine) empty() { m.add(token{kind: tokNull}) }

// units counts the characters of a text as Java does.
func units(text []byte) int {
	n := 0
	for _, c := range text {
		if c < 0x80 || c >= 0xC0 {
			n++
		}
		if c >= 0xF0 {
			n++
		}
	}
	return n
}

// until appends characters up to one of three.
func (m *machine) until(a, b, c rune) bool {
	ch, ok := m.ch, true
	for ch != a && ch != b && ch != c {
		m.append(ch)
		if ch, ok = m.next(); !ok {
			return false // ch stays what it was
		}
	}
	m.ch = ch
	return true
}

func (m *machine) skipBlanks() bool {
	ch, ok := m.ch, true
	for ch <= ' ' && ch != m.delim && ch != m.newLine && ch != m.quote {
		if ch, ok = m.next(); !ok {
			return false
		}
	}
	m.ch = ch
	return true
}

// single reads a record whose separator is one character.
func (m *machine) single() bool {
	if m.ch <= ' ' && m.trimLeft && !m.skipBlanks() {
		return false
	}
	for m.ch != m.newLine {
		if m.fault != noFault || m.ch <= ' ' && m.trimLeft && !m.skipBlanks() {
			return false
		}
		switch {
		case m.ch == m.delim || m.ch == m.newLine:
			m.empty()
		case m.ch == m.quote:
			m.unescaped, m.prev = false, 0
			m.normalize = !m.keepBreaks
			if m.wholeQuoted() {
				m.normalize = true
				if !m.read() {
					return true
				}
				if m.ch == m.delim {
					if !m.read() {
						m.empty()
						return true
					}
					if m.ch == m.newLine {
						m.empty()
					}
				}
				continue
			}
			m.trim = false
			if !m.quoted() {
				return false
			}
			m.normalize = true
			if !m.unescaped || m.handling != BackToDelimiter || m.length() != 0 {
				m.value()
			}
		default:
			m.unescaped, m.prev = false, 0
			if !m.wholePlain() {
				m.trim = m.trimRight
				if !m.until(m.delim, m.newLine, m.newLine) {
					return false
				}
				m.value()
			}
		}
		if m.ch != m.newLine {
			if !m.read() {
				return false
			}
			if m.ch == m.newLine {
				m.empty()
			}
		}
	}
	return true
}

// wholePlain takes a value without quotes at once, when its end is there; blanks alone are a null then, not an empty value.
func (m *machine) wholePlain() bool {
	p, c := m.pos, m.ch
	from, to := m.at, m.at
	for c != m.delim {
		if p >= m.end {
			return false
		}
		if c == m.break1 {
			if m.break2 == none {
				break
			}
			if second, _ := m.peek(p); second == m.break2 {
				break
			}
		}
		to = p
		var n int
		c, n = m.peek(p)
		p += n
	}
	if m.maxChars >= 0 && units(m.text[from:to]) > m.maxChars {
		return false
	}
	m.pos = to
	if m.trimRight {
		for to > from && m.text[to-1] <= ' ' {
			to--
		}
	}
	if to == from {
		m.empty()
	} else {
		at := len(m.buf)
		m.buf = append(m.buf, m.text[from:to]...)
		m.add(token{from: at, to: len(m.buf)})
	}
	return m.read()
}

// wholeQuoted takes a quoted value at once, when there is nothing to be done to its text.
func (m *machine) wholeQuoted() bool {
	before, p := m.ch, m.pos
	for {
		if p >= m.end {
			return false
		}
		c, n := m.peek(p)
		switch {
		case c == m.quote:
			if before == m.escape || p+n >= m.end {
				return false
			}
			next, _ := m.peek(p + n)
			if next != m.delim && next != m.newLine {
				return false
			}
			text := m.text[m.pos:p]
			if m.maxChars >= 0 && units(text) > m.maxChars {
				return false
			}
			m.pos = p + n
			if len(text) == 0 {
				m.add(token{kind: tokEmpty})
				return true
			}
			at := len(m.buf)
			m.buf = append(m.buf, text...)
			m.add(token{from: at, to: len(m.buf)})
			return true
		case c == m.escape:
			if p+n < m.end {
				if next, _ := m.peek(p + n); next == m.quote || next == m.escapeEscape {
					return false
				}
			}
		case c == m.break1 && m.normalize:
			if m.break2 == none {
				return false
			}
			if p+n < m.end {
				if next, _ := m.peek(p + n); next == m.break2 {
					return false
				}
			}
		}
		before = c
		p += n
	}
}
