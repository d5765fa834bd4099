package variant

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Step is one step of a path: to a field, or to an element.
type Step struct {
	Name  string
	Index int // of an element, or -1
}

// ParsePath reads a path such as $.a[0]['b c']. Ok is false for a text that is none.
func ParsePath(s string) (steps []Step, ok bool) {
	if s == "" || s[0] != '$' {
		return nil, false
	}
	s = s[1:]
	for s != "" {
		switch {
		case s[0] == '.':
			n := strings.IndexAny(s[1:], ".[")
			if n < 0 {
				n = len(s) - 1
			}
			if n == 0 {
				return nil, false
			}
			steps = append(steps, Step{s[1 : 1+n], -1})
			s = s[1+n:]
		case len(s) > 1 && s[0] == '[' && (s[1] == '\'' || s[1] == '"'):
			n := strings.IndexByte(s[2:], s[1])
			if n < 0 || !strings.HasPrefix(s[2+n+1:], "]") {
				return nil, false
			}
			steps = append(steps, Step{s[2 : 2+n], -1})
			s = s[2+n+2:]
		case s[0] == '[':
			n := strings.IndexByte(s, ']')
			if n < 0 {
				return nil, false
			}
			i, err := strconv.ParseInt(s[1:n], 10, 32)
			if err != nil || s[1] < '0' || s[1] > '9' {
				return nil, false
			}
			steps = append(steps, Step{Index: int(i)})
			s = s[n+1:]
		default:
			return nil, false
		}
	}
	return steps, true
}

// Get follows a path. Ok is false where it leads nowhere.
func (v Value) Get(path []Step) (Value, bool) {
	for _, s := range path {
		if s.Index < 0 {
			f, ok := v.Fields()
			if !ok {
				return Value{}, false
			}
			if v, ok = f.Find(s.Name); !ok {
				return Value{}, false
			}
			continue
		}
		e, ok := v.Elements()
		if !ok || s.Index >= e.Len() {
			return Value{}, false
		}
		v = e.At(s.Index)
	}
	return v, true
}

// PathString writes a path as ParsePath reads it.
func PathString(path []Step) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, s := range path {
		switch {
		case s.Index >= 0:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
		case utf8.ValidString(s.Name) && !strings.ContainsAny(s.Name, ".['\""):
			b.WriteString("." + s.Name)
		default:
			b.WriteString("['" + s.Name + "']")
		}
	}
	return b.String()
}
