package textrecord

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// Clip shortens a record for a message.
func Clip(text []byte) string {
	const most = 500
	text = Valid(text)
	if len(text) <= most {
		return string(text)
	}
	for i := most; i > most-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return string(text[:i]) + "…"
		}
	}
	return string(text[:most]) + "…"
}

// Valid replaces bytes that are no UTF-8.
func Valid(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	out, err := unicode.UTF8.NewDecoder().Bytes(text) // one sign for each wrong byte, or for the bytes that begin a character and do not end it
	if err != nil {
		return bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return out
}

// LineEnd is the position of the line break at or after i, or end.
func LineEnd(text []byte, i, end int) int {
	line := text[i:end]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	if n := bytes.IndexByte(line, '\r'); n >= 0 {
		line = line[:n]
	}
	return i + len(line)
}

// AfterBreak passes the line break at i: a line feed, a carriage return, or both.
func AfterBreak(text []byte, i, end int) int {
	if i+1 < end && text[i] == '\r' && text[i+1] == '\n' {
		return i + 2
	}
	return i + 1
}

// NextLine is where the line after that at i begins.
func NextLine(text []byte, i, end int) int { return AfterBreak(text, LineEnd(text, i, end), end) }
