package csvrow

import (
	"bytes"
	"unicode/utf8"
)

// outcome says how a stretch of a quoted value ended.
type outcome uint8

const (
	atEnd  outcome = iota // of the text, or with a fault
	closed                // behind a closing quote
	done                  // at a separator or line break
	again                 // at a quote that was none: it starts anew
)

// untilDelimiter tells that an unescaped quote takes the meaning from all quotes of its value.
func (m *machine) untilDelimiter() bool {
	return m.handling == StopAtDelimiter || m.handling == SkipValue || m.handling == BackToDelimiter
}

// quoted reads a value whose opening quote is the current character. It ends at a separator or line break.
func (m *machine) quoted() bool {
	check := false
	for {
		if m.prev != 0 && m.untilDelimiter() {
			return m.rest(false)
		}
		switch m.inside() {
		case atEnd:
			return false
		case again:
			if len(m.sep) == 1 {
				continue
			}
			if !m.quotedMulti() {
				return false
			}
			if !check {
				return true
			}
		case closed:
			if m.ch == m.delim || m.ch == m.newLine || m.ch > ' ' {
				break
			}
			check = true
			m.blanks = m.blanks[:0]
			for m.ch <= ' ' && (m.ch != m.delim || len(m.blanks) == 0) {
				m.blanks = append(m.blanks, byte(m.ch))
				if !m.read() {
					return false
				}
				if m.ch == m.newLine {
					return true
				}
			}
			if m.ch != m.delim && m.handling != RaiseError {
				m.reopen()
				continue
			}
		case done:
			if !check {
				return true
			}
		}
		if m.ch != m.delim && m.ch != m.newLine {
			m.fault = strayText
			return false
		}
		return true
	}
}

// rest takes all up to the next separator as it is, or passes over it.
func (m *machine) rest(many bool) bool {
	if m.handling == SkipValue {
		return m.skipValue()
	}
	m.prepend(m.quote)
	if !m.read() {
		return false
	}
	m.trim = m.trimRight
	if many {
		return m.untilSep()
	}
	return m.until(m.delim, m.newLine, m.newLine)
}

// reopen puts back a quote that was none that closes, and the blanks behind it.
func (m *machine) reopen() {
	m.append(m.quote)
	if !m.skipped {
		m.buf = append(m.buf, m.blanks...)
	}
	if m.untilDelimiter() || m.ch != m.quote && m.ch != m.escape {
		m.append(m.ch)
	}
	m.prev = m.ch
}

// inside reads what is between quotes.
func (m *machine) inside() outcome {
	if !m.read() {
		return atEnd
	}
	for {
		if m.prev == m.quote && (m.ch <= ' ' || m.ch == m.delim || m.ch == m.newLine) {
			return closed
		}
		if m.ch == m.quote || m.ch == m.escape {
			if !m.escaped() {
				return atEnd
			}
			m.prev = m.ch
			if !m.read() {
				return atEnd
			}
			if m.unescaped && (m.ch == m.delim || m.ch == m.newLine) {
				return done
			}
			continue
		}
		if m.prev == m.quote {
			return m.stray()
		}
		if !m.stretch() {
			return atEnd
		}
	}
}

// stretch reads text without quotes and escapes.
func (m *machine) stretch() bool {
	if m.prev == m.escape && m.escape != 0 {
		m.append(m.escape)
	}
	if !m.until(m.quote, m.escape, m.escapeEscape) {
		return false
	}
	m.prev = m.ch
	return m.read()
}

// stray handles a quote inside a quoted value that neither is escaped nor ends the value; what follows it is the current character.
func (m *machine) stray() outcome {
	m.unescaped = true
	switch m.handling {
	case BackToDelimiter:
		m.takeApart()
		m.append(m.ch)
		m.prev = 0
		return again
	case SkipValue:
		if !m.skipValue() {
			return atEnd
		}
		return done
	case RaiseError:
		m.fault = strayQuote
		return atEnd
	}
	m.append(m.quote)
	m.append(m.ch)
	m.prev = m.ch
	return again
}

// takeApart ends values at the separators in the text of the current one.
func (m *machine) takeApart() {
	sep, line := string(m.sep), string(m.newLine)
	for m.fault == noFault {
		text := m.buf[m.start:]
		at, n, breaks := bytes.Index(text, []byte(sep)), len(sep), false
		if l := bytes.Index(text, []byte(line)); l >= 0 && (at < 0 || l < at) {
			at, n, breaks = l, len(line), true
		}
		if at < 0 {
			return
		}
		from := m.start
		m.add(token{from: from, to: from + at})
		m.start = from + at + n
		if breaks {
			m.shelve()
		}
	}
}

func (m *machine) skipValue() bool {
	m.buf = m.buf[:m.start]
	m.skipped = true
	if len(m.sep) == 1 {
		return m.until(m.delim, m.newLine, m.newLine)
	}
	m.match = 0
	for m.ch != m.newLine {
		if m.sep[m.match] != m.ch {
			m.match = 0
		} else if m.match++; m.match == len(m.sep) {
			break
		}
		if !m.read() {
			return false
		}
	}
	m.match = 0
	return true
}

// escaped handles a quote or an escape.
func (m *machine) escaped() bool {
	switch {
	case m.ch == m.escape && m.prev == m.escapeEscape && m.escapeEscape != 0:
		m.append(m.escape)
		m.ch = 0
	case m.prev == m.escape:
		if m.ch == m.quote {
			m.append(m.quote)
			m.ch = 0
		} else {
			m.append(m.prev)
		}
	case m.ch == m.quote && m.prev == m.quote:
		m.append(m.quote)
	case m.prev == m.quote:
		return m.strayInValue()
	}
	return true
}

// strayInValue handles an unescaped quote that an escape follows.
func (m *machine) strayInValue() bool {
	switch m.handling {
	case SkipValue:
		return m.skipValue()
	case RaiseError:
		m.fault = strayQuote
		return false
	}
	if m.depth++; m.depth > maxDepth {
		m.fault = tooDeep
		return false
	}
	m.append(m.quote)
	m.prev = m.ch
	for m.ch != m.delim && m.ch != m.newLine {
		if m.ch == m.quote || m.ch == m.escape {
			if !m.escaped() {
				return false
			}
		} else if m.prev == m.quote {
			return m.strayInValue()
		} else {
			m.append(m.ch)
		}
		m.prev = m.ch
		if !m.read() {
			return false
		}
	}
	return true
}

// The rest is for separators of more than one character.

// saveMatch takes characters that began like a separator as text.
func (m *machine) saveMatch() {
	if m.match < len(m.sep) {
		for _, c := range m.sep[:m.match] {
			m.append(c)
		}
	}
	m.match = 0
}

// matchSep reads a separator. more is false at the end of the text.
func (m *machine) matchSep(save bool) (found, more bool) {
	for m.ch == m.sep[m.match] {
		if m.match++; m.match == len(m.sep) {
			m.match = 0
			return true, true
		}
		if !m.read() {
			return false, false
		}
	}
	if save && m.match > 0 {
		m.saveMatch()
	}
	return false, true
}

// untilSep appends text up to a separator or line break.
func (m *machine) untilSep() bool {
	for m.match < len(m.sep) && m.ch != m.newLine {
		if m.sep[m.match] == m.ch {
			if m.match++; m.match == len(m.sep) {
				break
			}
		} else {
			if m.match > 0 {
				m.saveMatch()
				continue
			}
			m.append(m.ch)
		}
		if !m.read() {
			return false
		}
	}
	m.saveMatch()
	return true
}

func (m *machine) skipBlanksMulti() bool {
	for m.ch <= ' ' && m.match < len(m.sep) && m.ch != m.newLine && m.ch != m.quote {
		if !m.read() {
			return false
		}
		if m.sep[m.match] == m.ch {
			found, more := m.matchSep(true)
			if !more {
				return false
			}
			if found {
				m.empty()
				if !m.read() {
					return false
				}
			}
		}
	}
	m.saveMatch()
	return true
}

// multi reads a record whose separator has more characters.
func (m *machine) multi() bool {
	if m.ch <= ' ' && m.trimLeft && !m.skipBlanksMulti() {
		return false
	}
	for m.ch != m.newLine {
		if m.fault != noFault || m.ch <= ' ' && m.trimLeft && !m.skipBlanksMulti() {
			return false
		}
		found, more := m.ch == m.newLine, true
		if !found {
			if found, more = m.matchSep(true); !more {
				return false
			}
		}
		if found {
			m.empty()
		} else {
			m.unescaped, m.prev = false, 0
			if m.ch == m.quote && m.length() == 0 {
				m.normalize = !m.keepBreaks
				m.trim = false
				if !m.quotedMulti() {
					return false
				}
				m.normalize = true
				if !m.unescaped || m.handling != BackToDelimiter || m.length() != 0 {
					m.value()
				}
			} else {
				m.trim = m.trimRight
				if !m.untilSep() {
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

func (m *machine) quotedMulti() bool {
	for {
		if m.prev != 0 && m.untilDelimiter() {
			if !m.rest(true) {
				return false
			}
		} else {
			switch m.insideMulti() {
			case atEnd:
				return false
			case done:
				return true
			case again:
				continue
			}
		}
		if m.ch == m.newLine || m.ch > ' ' {
			return true
		}
		if found, more := m.matchSep(false); !more || found {
			return more
		}
		m.blanks = m.blanks[:0]
		for {
			m.blanks = utf8.AppendRune(m.blanks, m.ch)
			if !m.read() {
				return false
			}
			if m.ch == m.newLine {
				return true
			}
			if found, more := m.matchSep(false); !more || found {
				return more
			}
			if m.ch > ' ' {
				break
			}
		}
		if m.handling == RaiseError {
			return true
		}
		m.reopen()
		return m.quoted()
	}
}

func (m *machine) insideMulti() outcome {
	if !m.read() {
		return atEnd
	}
	for {
		if m.prev == m.quote {
			if m.ch <= ' ' || m.ch == m.newLine {
				return closed
			}
			found, more := m.matchSep(true)
			if !more {
				return atEnd
			}
			if found {
				return done
			}
		}
		if m.ch == m.quote || m.ch == m.escape {
			if !m.escaped() {
				return atEnd
			}
			m.prev = m.ch
			if !m.read() {
				return atEnd
			}
			if m.unescaped {
				if m.ch == m.newLine {
					return done
				}
				found, more := m.matchSep(true)
				if !more {
					return atEnd
				}
				if found {
					return done
				}
			}
			continue
		}
		if m.prev == m.quote {
			return m.stray()
		}
		if !m.stretch() {
			return atEnd
		}
	}
}
