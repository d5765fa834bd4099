package textrecord

import (
	"bytes"
	"unicode/utf8"
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
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}
