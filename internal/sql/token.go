package sql

import (
	"strings"
)

// kind is what a token is.
type kind uint8

const (
	eof       kind = iota
	word           // an unquoted name or keyword
	quoted         // `name`
	text           // a string literal of any form
	integer        // 12
	decimal        // 1.5, .5, 1.
	float          // 1e5
	suffixed       // 12L, 1.5BD
	symbol         // an operator or punctuation mark
	hintStart      // /*+
	hintEnd        // */ of a hint
	bad            // a character that starts no token
)

// token is a piece of the text; the bytes are text[start:end].
type token struct {
	kind       kind
	start, end int
	// up is what grammar rules compare with: a word in upper case, a symbol as it stands, empty for all others.
	up string
}

// symbols are the operators and marks, longer ones before their prefixes.
var symbols = []string{
	"<=>", ">>>", "<=", ">=", "<>", "!=", "==", "<<", ">>", "||", "|>", "->", "=>", "::", ":=",
	"(", ")", "[", "]", "{", "}", ",", ".", ";", "+", "-", "*", "/", "%", "=", "<", ">", "!", "~", "&", "|", "^", "?", ":", "@", "$",
}

// byFirst maps a first byte to the symbols that start with it.
var byFirst = func() (m [128][]string) {
	for _, s := range symbols {
		m[s[0]] = append(m[s[0]], s)
	}
	return m
}()

// upper gives the keyword form of a word, without allocating when it is in upper case already.
func upper(s string) string { return strings.ToUpper(s) }
