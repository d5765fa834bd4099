package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// The files hold flat JSON objects, one a line, millions in a compacted log. The reader here keeps the
// order of fields, tells case apart and does not allocate for fields it skips. The writer
// escapes as Spark does, which encoding/json does not.

const hexDigits = "0123456789ABCDEF"

// appendString appends s as a JSON string. Only what must be escaped is.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 { // not UTF-8: cannot stand in JSON
				b = append(b, s[from:i]...)
				b = append(b, "\uFFFD"...)
				from = i + 1
			}
			i += n
			continue
		}
		b = append(b, s[from:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, '\\', 'b')
		case '\f':
			b = append(b, '\\', 'f')
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	b = append(b, s[from:]...)
	return append(b, '"')
}

var errNotObject = errors.New("not a whole JSON object")

// eachField calls f for every field of the JSON object that text is, in order. The key is decoded, the value is
// as it stands. Fields whose value is null are passed over.
func eachField(text []byte, f func(key, value []byte) error) error {
	p := parser{text: text}
	p.space()
	if !p.take('{') {
		return errNotObject
	}
	p.space()
	for first := true; !p.take('}'); first = false {
		if !first {
			if !p.take(',') {
				return errNotObject
			}
			p.space()
		}
		raw, ok := p.str()
		if !ok {
			return errNotObject
		}
		key := raw[1 : len(raw)-1]
		if !plainString(raw) {
			k, err := stringValue(raw)
			if err != nil {
				return errNotObject
			}
			key = []byte(k)
		}
		p.space()
		if !p.take(':') {
			return errNotObject
		}
		p.space()
		value, ok := p.value()
		if !ok {
			return errNotObject
		}
		p.space()
		if string(value) == "null" {
			continue
		}
		if err := f(key, value); err != nil {
			return fmt.Errorf("field %q: %w", key, err)
		}
	}
	p.space()
	if p.at != len(text) {
		return errNotObject
	}
	return nil
}

type parser struct {
	text []byte
	at   int
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

func (p *parser) take(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// str takes a string with its quotes. What is escaped in it is not checked.
func (p *parser) str() ([]byte, bool) {
	from := p.at
	if !p.take('"') {
		return nil, false
	}
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case '"':
			p.at++
			return p.text[from:p.at], true
		}
		p.at++
	}
	return nil, false
}

// value takes one value, checked to be JSON.
func (p *parser) value() ([]byte, bool) {
	if p.at >= len(p.text) {
		return nil, false
	}
	from := p.at
	switch p.text[p.at] {
	case '"':
		raw, ok := p.str()
		return raw, ok && (plainString(raw) || json.Valid(raw))
	case '{', '[':
		for depth := 0; p.at < len(p.text); {
			switch p.text[p.at] {
			case '"':
				if _, ok := p.str(); !ok {
					return nil, false
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			p.at++
			if depth == 0 {
				return p.text[from:p.at], json.Valid(p.text[from:p.at])
			}
		}
		return nil, false
	}
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ',', '}', ' ', '\t', '\n', '\r':
			return p.text[from:p.at], json.Valid(p.text[from:p.at])
		}
		p.at++
	}
	return nil, false
}

// plainString reports whether a string with its quotes has nothing to decode in it.
func plainString(raw []byte) bool {
	for _, c := range raw[1 : len(raw)-1] {
		if c < 0x20 || c == '\\' || c == '"' {
			return false
		}
	}
	return true
}

func stringValue(raw []byte) (string, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", fmt.Errorf("%s is not a string", clip(raw))
	}
	if plainString(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("%s is not a string", clip(raw))
	}
	return s, nil
}

func intValue(raw []byte) (int64, error) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number", clip(raw))
	}
	return n, nil
}

func boolValue(raw []byte) (bool, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s is neither true nor false", clip(raw))
}

// textValue takes a string, or a number or boolean as its text.
func textValue(raw []byte) (string, error) {
	switch raw[0] {
	case '"':
		return stringValue(raw)
	case '{', '[':
		return "", fmt.Errorf("%s is not a string", clip(raw))
	}
	return string(raw), nil
}

// clip shortens a piece of a file for a message.
func clip[S ~string | ~[]byte](s S) string {
	const most = 60
	if len(s) <= most {
		return strconv.Quote(string(s))
	}
	return strconv.Quote(string(s[:most])) + "…"
}
