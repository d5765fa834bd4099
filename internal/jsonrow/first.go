package jsonrow

import "strings"

// First is the first value of a text as it stands there, without what follows it; nil if the text does not begin with one. A number ends
// at a blank, a word where no letter follows.
func First(text []byte) []byte {
	var s scanner
	if err := s.init(DefaultOptions()); err != nil {
		return nil
	}
	s.blanks = &documentBlanks
	padded := append(append([]byte(nil), text...), padding[:]...)
	from := s.skip(padded, 0)
	if from >= len(text) {
		return nil
	}
	next := s.skipValue(padded, from, 1)
	if next < 0 || next > len(text) {
		return nil
	}
	if next < len(text) {
		switch c, after := text[from], text[next]; {
		case c == '-' || c >= '0' && c <= '9':
			if strings.IndexByte(" \t\r\n", after) < 0 {
				return nil
			}
		case isAlnum(c) && isAlnum(after):
			return nil
		}
	}
	return text[from:next]
}
