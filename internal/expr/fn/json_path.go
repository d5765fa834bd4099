package fn

import (
	"bytes"
	"encoding/json"
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
	stepAll   // [*]
	stepField // .*, which finds nothing
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
			steps, s = append(steps, named(name)), rest
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
			steps = append(steps, named(name))
		default:
			return nil, false
		}
	}
	return steps, true
}

func named(name string) pathStep {
	if name == "*" {
		return pathStep{kind: stepField}
	}
	return pathStep{name: name}
}

// getJSONObject gives what a path leads to. Nothing is null.
func getJSONObject(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	steps, ok := jsonPath(args[1].StringAt(i))
	doc := doubleQuoted(jsonrow.First(args[0].BytesAt(i)))
	if !ok || !json.Valid(doc) {
		return b, false
	}
	var found jsonItems
	ok = found.find(doc, steps, plainText)
	return append(b, found.text...), ok
}

// jsonItems are values in a row, with commas between them.
type jsonItems struct {
	text []byte
	n    int
}

func (l *jsonItems) add(value []byte) {
	if l.n++; l.n > 1 {
		l.text = append(l.text, ',')
	}
	l.text = append(l.text, value...)
}

// list puts brackets around a row.
func (l *jsonItems) list(items []byte) {
	l.add(append(append([]byte{'['}, items...), ']'))
}

// jsonStyle is how what a path finds is written down.
type jsonStyle uint8

const (
	plainText jsonStyle = iota // a text is written without quotes: no [*] has been met
	quoted                     // everything as JSON
	flattened                  // of arrays the elements
)

// find adds what a path leads to from a value, and tells whether there was anything. The first [*] of a path gives a list of what there
// is below it, or the only thing itself; two in a row make one list of what is in both; others keep the lists as they are.
func (l *jsonItems) find(doc []byte, steps []pathStep, style jsonStyle) bool {
	if len(steps) == 0 {
		return l.take(doc, style)
	}
	s, rest := steps[0], steps[1:]
	every := func(to *jsonItems, steps []pathStep, style jsonStyle) (n int) {
		eachElement(doc, func(value []byte) {
			if to.find(value, steps, style) {
				n++
			}
		})
		return n
	}
	switch {
	case doc[0] == '{' && s.kind == stepName:
		done := false
		eachMember(doc, func(key, value []byte) {
			if !done && jsonText(key) == s.name && string(value) != "null" {
				done = l.find(value, rest, style)
			}
		})
		return done
	case doc[0] != '[':
		return false
	case s.kind == stepAll && len(rest) > 0 && rest[0].kind == stepAll:
		var below jsonItems
		n := every(&below, rest[1:], flattened)
		l.list(below.text)
		return n > 0
	case s.kind == stepAll && style == quoted:
		var below jsonItems
		n := every(&below, rest, quoted)
		l.list(below.text)
		return n > 0
	case s.kind == stepAll:
		var below jsonItems
		switch n := every(&below, rest, max(style, quoted)); n {
		case 0:
			return false
		case 1:
			l.add(below.text)
		default:
			l.list(below.text)
		}
		return true
	case s.kind == stepIndex:
		if len(rest) > 0 && rest[0].kind == stepAll {
			style = quoted
		}
		n, found := 0, false
		eachElement(doc, func(value []byte) {
			if n == s.index {
				found = l.find(value, rest, style)
			}
			n++
		})
		return found
	}
	return false
}

// take adds a value at the end of a path.
func (l *jsonItems) take(doc []byte, style jsonStyle) bool {
	switch {
	case style == plainText && doc[0] == '"':
		l.add([]byte(jsonText(doc)))
	case style == flattened && doc[0] == '[':
		found := false
		eachElement(doc, func(value []byte) { found = l.take(value, style) || found })
		return found
	default:
		l.add(jsonrow.AppendPrinted(nil, doc))
	}
	return true
}

// JSONField is the name of a function for the engine itself, which no call in a query can have: the last member of a name, and not null, of
// an object. json_tuple is made of it.
const JSONField = "json field"

func jsonField(_ *expr.Eval, b []byte, args []*vec.Vector, i int) ([]byte, bool) {
	doc := doubleQuoted(jsonrow.First(args[0].BytesAt(i)))
	if len(doc) == 0 || doc[0] != '{' || !json.Valid(doc) {
		return b, false
	}
	name, last := args[1].StringAt(i), []byte(nil)
	eachMember(doc, func(key, value []byte) {
		if string(value) != "null" && jsonText(key) == name {
			last = value
		}
	})
	if last == nil {
		return b, false
	}
	return appendJSONText(b, last), true
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
	return jsonrow.AppendPrinted(b, v)
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
