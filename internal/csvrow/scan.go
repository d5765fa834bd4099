package csvrow

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/textrecord"
)

// initScan looks whether lines of this dialect can be scanned, and how.
func (r *Reader) initScan() {
	o := &r.opts
	r.fast = len(o.Sep) == 1 && o.Sep[0] < utf8.RuneSelf && o.Sep[0] != '\n' && o.Sep[0] != '\r' && o.Quote < utf8.RuneSelf && o.Escape < utf8.RuneSelf && o.EscapeEscape < utf8.RuneSelf &&
		rune(o.Sep[0]) != o.Quote && o.MaxChars < 0 && o.MaxColumns > len(r.columns) && len(o.Absent) == 0
	if !r.fast {
		return
	}
	r.sep, r.quote, r.escape, r.escape2 = o.Sep[0], byte(o.Quote), byte(o.Escape), byte(r.m.escapeEscape)
	r.nullText = o.NullValue != ""
	if r.nullText {
		c := o.NullValue[0]
		r.nullNum = c-'0' <= 9 || c == '-' || c == '+'
	}
	// A digit, sign or letter as separator ends numbers where the scanner would not.
	if c := r.sep; c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '+' || c == '.' || c == ':' || c == ' ' {
		r.nullNum = true
	}
	r.isoTimes = r.times.Plain() && !r.nullNum
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// fieldEnd is the position of the separator or line break that ends the field at i. ascii tells that the field has ASCII characters
// only.
func fieldEnd(text []byte, i int, sep uint64) (end int, ascii bool) {
	sum := uint64(0)
	for {
		x := binary.LittleEndian.Uint64(text[i:])
		s := x ^ sep
		// The lowest byte that is found is right; those above it may not be.
		m := ((s - ones) &^ s & highs) | ((x - ones*14) &^ x & highs)
		if m == 0 {
			sum |= x
			i += 8
			continue
		}
		n := bits.TrailingZeros64(m) >> 3
		sum |= x & (1<<(n*8) - 1)
		i += n
		if c := text[i]; c == byte(sep) || c == '\n' || c == '\r' {
			return i, sum&highs == 0
		}
		i++ // another control character
	}
}

// scanLine reads the record of a line that ends with a line break, and returns where the next line begins; or -1 when the line must
// be read the long way: then no row was made.
func (r *Reader) scanLine(text []byte, start int) int {
	i := start
	if r.last == 0 && r.pruned {
		r.rows++
		return textrecord.NextLine(text, i, len(text))
	}
	sep, sep8 := r.sep, ones*uint64(r.sep)
	bad := false
	columns := r.columns[:r.last]
	k := 0
	for {
		if k >= len(columns) {
			break
		}
		c := &columns[k]
		b := text[i]
		if b <= ' ' && r.opts.TrimLeft {
			i = r.skipBlanks(text, i)
			b = text[i]
		}
		var end int
		ascii := true
		switch {
		case b == sep || b == '\n' || b == '\r':
			if c.out != nil {
				c.out.AppendNull()
			}
			end = i
			goto next
		case b == r.quote:
			var ok bool
			if end, ascii, ok = r.quotedEnd(text, i+1); !ok {
				return r.undo()
			}
			if c.kind != kSkip && !r.field(c, text[i+1:end], ascii, true) {
				bad = true
				r.note(c, text[i+1:end])
			}
			end++
			goto next
		}
		switch c.kind {
		case kSkip:
			end, _ = fieldEnd(text, i, sep8)
			goto next
		case kString:
			end, ascii = fieldEnd(text, i, sep8)
			if s := text[i:end]; ascii && !r.nullText && (s[len(s)-1] > ' ' || !r.opts.TrimRight) {
				c.out.AppendBytes(s)
				goto next
			}
		case kInt64:
			if !r.nullNum {
				if v, p, ok := numtext.ShortInt(text, i); ok && (text[p] == sep || text[p] == '\n' || text[p] == '\r') {
					c.out.AppendInt64(v)
					end = p
					goto next
				}
			}
			end, ascii = fieldEnd(text, i, sep8)
		case kInt32:
			if !r.nullNum {
				if v, p, ok := numtext.ShortInt(text, i); ok && v == int64(int32(v)) && (text[p] == sep || text[p] == '\n' || text[p] == '\r') {
					c.out.AppendInt32(int32(v))
					end = p
					goto next
				}
			}
			end, ascii = fieldEnd(text, i, sep8)
		case kFloat64:
			if !r.nullNum {
				if v, p, ok := numtext.ShortFloat(text, i); ok && (text[p] == sep || text[p] == '\n' || text[p] == '\r') {
					c.out.AppendFloat64(v)
					end = p
					goto next
				}
			}
			end, ascii = fieldEnd(text, i, sep8)
		case kTimestamp:
			if r.isoTimes {
				if local, p, ok := datetime.ISOLocal(text, i); ok {
					if text[p] == 'Z' {
						if t := text[p+1]; t == sep || t == '\n' || t == '\r' {
							c.out.AppendInt64(local)
							end = p + 1
							goto next
						}
					} else if text[p] == sep || text[p] == '\n' || text[p] == '\r' {
						c.out.AppendInt64(r.zone.Instant(local))
						end = p
						goto next
					}
				}
			}
			end, ascii = fieldEnd(text, i, sep8)
		default:
			end, ascii = fieldEnd(text, i, sep8)
		}
		if s := text[i:end]; s[len(s)-1] <= ' ' && r.opts.TrimRight {
			if s = trimRight(s); len(s) == 0 {
				if text[end] != sep && r.opts.EmptyValue != "" {
					return r.undo() // blanks at the end of a line are an empty value, elsewhere they are null
				}
				c.out.AppendNull()
			} else if !r.field(c, s, ascii, false) {
				bad = true
				r.note(c, s)
			}
		} else if !r.field(c, s, ascii, false) {
			bad = true
			r.note(c, s)
		}
	next:
		k++
		i = end
		if text[i] == sep {
			i++
			continue
		}
		return r.endLine(text, start, i, k, bad)
	}
	if r.pruned {
		return r.endLine(text, start, textrecord.LineEnd(text, i, len(text)), k, bad)
	}
	// The columns behind those that are wanted are counted.
	for {
		if text[i] <= ' ' && r.opts.TrimLeft {
			i = r.skipBlanks(text, i)
		}
		end := i
		if text[i] == r.quote {
			var ok bool
			if end, _, ok = r.quotedEnd(text, i+1); !ok {
				return r.undo()
			}
			end++
		} else {
			end, _ = fieldEnd(text, i, sep8)
		}
		k++
		if i = end; text[i] != sep {
			return r.endLine(text, start, i, k, bad)
		}
		if i++; k > r.opts.MaxColumns {
			return r.undo()
		}
	}
}

// skipBlanks passes blanks at the start of a field.
func (r *Reader) skipBlanks(text []byte, i int) int {
	for {
		if c := text[i]; c > ' ' || c == r.sep || c == '\n' || c == '\r' || c == r.quote {
			return i
		}
		i++
	}
}

func trimRight(s []byte) []byte {
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// quotedEnd finds the quote that ends a quoted field that begins at from, when there is nothing else to it.
func (r *Reader) quotedEnd(text []byte, from int) (end int, ascii, ok bool) {
	if r.quote == 0 {
		return 0, false, false // a zero in the text, which the machine takes for a quote
	}
	sum, i := byte(0), from
	for {
		c := text[i]
		sum |= c
		if c == r.quote {
			next := text[i+1]
			ok := next == r.sep || next == '\n' || next == '\r'
			return i, sum < utf8.RuneSelf, ok && (i > from || r.escape != 0)
		}
		if c == r.escape || c == r.escape2 || c == '\n' || c == '\r' {
			return 0, false, false
		}
		i++
	}
}

// field appends a field's value or null to its column. It is false when the value does not fit, which is null too.
func (r *Reader) field(c *column, s []byte, ascii, quoted bool) bool {
	if quoted && len(s) == 0 {
		s = append(r.scratch[:0], r.opts.EmptyValue...)
		r.scratch, ascii = s, false
	}
	if string(s) == r.opts.NullValue {
		c.out.AppendNull()
		return true
	}
	if c.kind == kString && ascii {
		c.out.AppendBytes(s)
		return true
	}
	if r.convert(c, s) {
		return true
	}
	c.out.AppendNull()
	return false
}

// endLine ends the row of a line whose break is at i and that had n values.
func (r *Reader) endLine(text []byte, start, i, n int, bad bool) int {
	next := i + 1
	if text[i] == '\r' && text[next] == '\n' {
		next++
	}
	if n != len(r.columns) {
		for k := n; k < r.last; k++ {
			if c := &r.columns[k]; c.out != nil {
				c.out.AppendNull()
			}
		}
		bad = bad || !r.pruned
	}
	if !bad && r.corrupt < 0 {
		r.rows++
		return next
	}
	if bad && r.opts.Mode == textrecord.FailFast {
		return r.undo() // the long way finds the words for it
	}
	r.bad = bad
	if err := r.finish(text[start:i]); err != nil {
		return r.undo()
	}
	return next
}

// undo takes back the row that a line began.
func (r *Reader) undo() int {
	r.truncate()
	return -1
}
