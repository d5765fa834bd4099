package fn

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/vec"
)

// pathStep is a step of a JSON path: a member, an element, or all of either.
type pathStep struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	stepName stepKind = iota
	stepIndex
	stepAll // [*] or .*
)

// jsonPath reads $.a['b'][0][*]; ok is false for another text.
func jsonPath(s string) (steps []pathStep, ok bool) {
	s, ok = strings.CutPrefix(s, "$")
	if !ok {
		return nil, false
	}
	for s != "" {
		switch {
		case strings.HasPrefix(s, "['"):
			name, rest, ok := strings.Cut(s[2:], "']")
			if !ok {
				return nil, false
			}
			steps, s = append(steps, pathStep{name: name}), rest
		case s[0] == '[':
			text, rest, ok := strings.Cut(s[1:], "]")
			if !ok {
				return nil, false
			}
			if s = rest; text == "*" {
				steps = append(steps, pathStep{kind: stepAll})
				continue
			}
			n, err := strconv.ParseUint(text, 10, 31)
			if err != nil {
				return nil, false
			}
			steps = append(steps, pathStep{kind: stepIndex, index: int(n)})
		case s[0] == '.':
			end := strings.IndexAny(s[1:], ".[")
			if end < 0 {
				end = len(s) - 1
			}
			name := s[1 : end+1]
			if s = s[end+1:]; name == "" {
				return nil, false
			}
			if name == "*" {
				steps = append(steps, pathStep{kind: stepAll})
			} else {
				steps = append(steps, pathStep{name: name})
			}
		default:
			return nil, false
		}
	}
	return steps, true
}

// getJSONObject gives what a path leads to: a text without quotes, anything else as it is written, several finds as an array. Null and
// nothing are null.
func getJSONObject(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	steps, ok := jsonPath(args[1].StringAt(i))
	doc := doubleQuoted(args[0].BytesAt(i))
	if !ok || !json.Valid(doc) {
		return b, false
	}
	var found [][]byte
	walkJSON(bytes.TrimSpace(doc), steps, &found)
	switch len(found) {
	case 0:
		return b, false
	case 1:
		if string(found[0]) == "null" {
			return b, false
		}
		if slices.ContainsFunc(steps, func(s pathStep) bool { return s.kind == stepAll }) {
			return appendCompact(b, found[0]), true // one of several that there might be keeps its quotes
		}
		return appendJSONText(b, found[0]), true
	}
	b = append(b, '[')
	for k, f := range found {
		if k > 0 {
			b = append(b, ',')
		}
		b = appendCompact(b, f)
	}
	return append(b, ']'), true
}

func walkJSON(doc []byte, steps []pathStep, found *[][]byte) {
	if len(steps) == 0 {
		*found = append(*found, doc)
		return
	}
	s := steps[0]
	switch {
	case len(doc) == 0:
	case doc[0] == '{':
		done := false
		eachMember(doc, func(key, value []byte) {
			if s.kind == stepName && !done && jsonText(key) == s.name {
				done = true
				walkJSON(value, steps[1:], found)
			}
		})
	case doc[0] == '[':
		n := 0
		eachElement(doc, func(value []byte) {
			if s.kind == stepAll || s.kind == stepIndex && n == s.index {
				walkJSON(value, steps[1:], found)
			}
			n++
		})
	}
}

// jsonText is the text that a quoted one stands for.
func jsonText(quoted []byte) string {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return string(quoted)
	}
	return s
}

func appendJSONText(b, v []byte) []byte {
	if len(v) > 0 && v[0] == '"' {
		return append(b, jsonText(v)...)
	}
	return appendCompact(b, v)
}

func appendCompact(b, v []byte) []byte {
	var buf bytes.Buffer
	if json.Compact(&buf, v) != nil {
		return append(b, v...)
	}
	return append(b, buf.Bytes()...)
}

// eachMember goes through the members of a valid object.
func eachMember(doc []byte, f func(key, value []byte)) {
	for i := skipBlank(doc, 1); i < len(doc) && doc[i] != '}'; i = skipBlank(doc, i) {
		end := valueEnd(doc, i)
		key := doc[i:end]
		i = skipBlank(doc, skipBlank(doc, end)+1) // the colon
		end = valueEnd(doc, i)
		f(key, doc[i:end])
		if i = skipBlank(doc, end); i < len(doc) && doc[i] == ',' {
			i++
		}
	}
}

// eachElement goes through the elements of a valid array.
func eachElement(doc []byte, f func(value []byte)) {
	for i := skipBlank(doc, 1); i < len(doc) && doc[i] != ']'; i = skipBlank(doc, i) {
		end := valueEnd(doc, i)
		f(doc[i:end])
		if i = skipBlank(doc, end); i < len(doc) && doc[i] == ',' {
			i++
		}
	}
}

func skipBlank(doc []byte, i int) int {
	for i < len(doc) && doc[i] <= ' ' {
		i++
	}
	return i
}

// valueEnd is where the value that starts at i ends.
func valueEnd(doc []byte, i int) int {
	depth := 0
	for ; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			for i++; i < len(doc) && doc[i] != '"'; i++ {
				if doc[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return len(doc)
}

// doubleQuoted is a text with the quotes that JSON wants: single ones are taken as well.
func doubleQuoted(doc []byte) []byte {
	if bytes.IndexByte(doc, '\'') < 0 {
		return doc
	}
	var out []byte
	quote := byte(0)
	for i := 0; i < len(doc); i++ {
		c := doc[i]
		switch {
		case c == '\\' && quote != 0 && i+1 < len(doc):
			i++
			if doc[i] != '\'' {
				out = append(out, c)
			}
			c = doc[i]
		case quote == 0 && (c == '"' || c == '\''):
			quote, c = c, '"'
		case c == quote:
			quote, c = 0, '"'
		case c == '"' && quote == '\'':
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return out
}

func jsonArrayLength(doc []byte) (n int, ok bool) {
	doc = doubleQuoted(jsonrow.First(doc))
	if len(doc) == 0 || doc[0] != '[' || !json.Valid(doc) {
		return 0, false
	}
	eachElement(doc, func([]byte) { n++ })
	return n, true
}

func jsonKeys(doc []byte) (keys []string, ok bool) {
	doc = doubleQuoted(jsonrow.First(doc))
	if len(doc) == 0 || doc[0] != '{' || !json.Valid(doc) {
		return nil, false
	}
	eachMember(doc, func(key, _ []byte) { keys = append(keys, jsonText(key)) })
	return keys, true
}
