package jsonrow

import "github.com/millrace/millrace/internal/vec"

// object reads the fields of an object into the children of out. A field that does not fit becomes null; with it the object is
// partial, not wrong.
func (s *scanner) object(text []byte, i int, c *conv, out *vec.Builder, depth int) (int, bool) {
	if depth > s.opts.MaxDepth {
		return -1, false
	}
	row := out.Len()
	if text[i] <= ' ' || s.comments {
		i = s.skip(text, i)
	}
	if text[i] == '}' {
		out.AppendStruct(true)
		return i + 1, true
	}
	whole := true
	for k := 0; ; k++ {
		f := -1
		if k < len(c.guess) && hasPrefix(text, i, c.guess[k].text) {
			f = c.guess[k].field
			i += len(c.guess[k].text)
		} else if f, i = s.key(text, i, c, k); i < 0 {
			return -1, false
		}
		if text[i] <= ' ' || s.comments {
			i = s.skip(text, i)
		}
		if f < 0 {
			i = s.skipValue(text, i, depth)
		} else if col := out.Child(f); col.Len() > row {
			i = s.again(text, i, c.fields[f].conv, col, row, depth)
		} else {
			var ok bool
			i, ok = s.value(text, i, c.fields[f].conv, col, depth)
			whole = whole && ok
		}
		if i < 0 {
			return -1, false
		}
		if text[i] <= ' ' || s.comments {
			i = s.skip(text, i)
		}
		switch text[i] {
		case ',':
			if i++; text[i] <= ' ' || s.comments {
				i = s.skip(text, i)
			}
		case '}':
			if !whole && !s.opts.PartialResults {
				out.Truncate(row)
				return i + 1, false
			}
			out.AppendStruct(true)
			return i + 1, true
		default:
			return -1, false
		}
	}
}

// array reads elements. One that does not fit spoils the array.
func (s *scanner) array(text []byte, i int, c *conv, out *vec.Builder, depth int) (int, bool) {
	if depth > s.opts.MaxDepth {
		return -1, false
	}
	elems := out.Child(0)
	out.StartList()
	if i = s.skip(text, i); text[i] == ']' {
		out.EndList()
		return i + 1, true
	}
	whole := true
	for {
		if whole {
			i, whole = s.value(text, i, c.elem, elems, depth)
		} else {
			i = s.skipValue(text, i, depth)
		}
		if i < 0 {
			return -1, false
		}
		switch i = s.skip(text, i); text[i] {
		case ',':
			i = s.skip(text, i+1)
		case ']':
			if whole {
				out.EndList()
			} else {
				out.Truncate(out.Len())
			}
			return i + 1, whole
		default:
			return -1, false
		}
	}
}

// dict reads an object whose keys are data. A key that comes twice stays twice, as in Spark.
func (s *scanner) dict(text []byte, i int, c *conv, out *vec.Builder, depth int) (int, bool) {
	if depth > s.opts.MaxDepth {
		return -1, false
	}
	keys, values := out.Child(0), out.Child(1)
	out.StartList()
	if i = s.skip(text, i); text[i] == '}' {
		out.EndList()
		return i + 1, true
	}
	whole := true
	for {
		var name []byte
		var ok bool
		if name, i, ok = s.mapKey(text, i); !ok {
			return -1, false
		}
		if whole {
			keys.AppendBytes(name)
		}
		if i = s.skip(text, i); text[i] != ':' {
			return -1, false
		}
		i = s.skip(text, i+1)
		if whole {
			i, whole = s.value(text, i, c.elem, values, depth)
		} else {
			i = s.skipValue(text, i, depth)
		}
		if i < 0 {
			return -1, false
		}
		switch i = s.skip(text, i); text[i] {
		case ',':
			i = s.skip(text, i+1)
		case '}':
			if whole {
				out.EndList()
			} else {
				out.Truncate(out.Len())
			}
			return i + 1, whole
		default:
			return -1, false
		}
	}
}

// mapKey reads a key that is data.
func (s *scanner) mapKey(text []byte, i int) (name []byte, next int, ok bool) {
	if text[i] == '"' || text[i] == '\'' && s.opts.SingleQuotes {
		return s.str(text, i)
	}
	from := i
	for s.opts.UnquotedNames && isWord(text[i]) {
		i++
	}
	return text[from:i], i, i > from
}
