package fn

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func sliceFunctions() []*Function {
	return append(simples(
		nullable(sliced("right", func(s []byte, args []*vec.Vector, i int) (int, int) {
			n := int32At(args[1], i)
			if n <= 0 {
				return 0, 0
			}
			return runeSlice(s, -n, math.MaxInt32)
		}, text, integer)),
		sliced("trim", trimmed(true, true), text), sliced("ltrim", trimmed(true, false), text), sliced("rtrim", trimmed(false, true), text),
		sliced("btrim", trimmed(true, true), text),
		sliced("substring_index", substringIndex, text, text, integer),
		simple{
			name: "length", aliases: []string{"char_length", "character_length", "len"}, least: 1, most: 1, args: []Accept{textOrBinary},
			result: types.Integer, kernel: func(b *Binding) Kernel { return lengthKernel(isBinary(b.Args[0].Type)) },
		},
		simple{
			name: "octet_length", least: 1, most: 1, args: []Accept{textOrBinary}, result: types.Integer,
			kernel: func(*Binding) Kernel { return lengthKernel(true) },
		},
		simple{
			name: "bit_length", least: 1, most: 1, args: []Accept{textOrBinary}, result: types.Integer,
			kernel: func(*Binding) Kernel {
				return fixedKernel(func(_ *expr.Eval, args []*vec.Vector, i int) (int32, bool) {
					return int32(8 * len(args[0].BytesAt(i))), true
				})
			},
		},
	), &Function{Name: "left", Bind: bindLeft}, &Function{Name: "substring", Aliases: []string{"substr"}, Bind: bindSubstring})
}

// bindLeft binds left(x, n): the first characters of a text, the first bytes of a binary.
func bindLeft(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 2); err != nil {
		return nil, err
	}
	c, err := b.Accept(textOrBinary, integer)
	if err != nil {
		return nil, err
	}
	t := types.DataType(types.String)
	first := func(s []byte, args []*vec.Vector, i int) (int, int) { return runeSlice(s, 0, int32At(args[1], i)) }
	if isBinary(b.Args[0].Type) {
		t = types.Binary
		first = func(s []byte, args []*vec.Vector, i int) (int, int) {
			return 0, max(0, min(int32At(args[1], i), len(s)))
		}
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), New: func() Kernel { return sliceKernel(first, false) }}, nil
}

func nullable(s simple) simple {
	s.nullable = true
	return s
}

func failing(s simple) simple {
	s.canFail = true
	return s
}

// cut gives the part of s that is the result: from one byte to another.
type cut func(s []byte, args []*vec.Vector, i int) (from, to int)

// sliced is a function whose results are parts of its first argument's bytes, which they share. Trim functions take the characters to
// trim before the text when there are two arguments.
func sliced(name string, f cut, args ...Accept) simple {
	least := len(args)
	most := least
	swap := false
	switch name {
	case "trim", "ltrim", "rtrim":
		most, swap = 2, true
	case "btrim":
		most = 2
	}
	return simple{
		name: name, least: least, most: most, args: args, result: types.String, swapped: swap,
		kernel: func(*Binding) Kernel { return sliceKernel(f, swap) },
	}
}

func sliceKernel(f cut, swap bool) Kernel {
	var scratch vec.Bitmap
	var flat vec.Vector
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		if swap && len(args) == 2 {
			args = []*vec.Vector{args[1], args[0]}
		}
		v := args[0]
		if v.Encoding() == vec.Const {
			v = v.FlattenInto(&flat)
		}
		valid := live(args, n, &scratch)
		in, buf := v.Spans(), v.Bytes()
		spans := out.ResetBytes(n, buf)
		for i := range spans {
			if !valid.Get(i) {
				spans[i] = vec.Span{}
				continue
			}
			s := in[i]
			from, to := f(buf[s.Off:s.Off+s.Len], args, i)
			spans[i] = vec.Span{Off: s.Off + uint32(from), Len: uint32(to - from)}
		}
		return out
	}
}

// bindSubstring binds substring(text, pos[, length]) of texts by characters, of binaries by bytes. Positions start at 1; 0 is 1,
// negative ones count from the end.
func bindSubstring(b *Binding) (*Bound, error) {
	if err := b.Arity(2, 3); err != nil {
		return nil, err
	}
	c, err := b.Accept(textOrBinary, integer, integer)
	if err != nil {
		return nil, err
	}
	t := b.result(c, 0)
	f := func(s []byte, args []*vec.Vector, i int) (int, int) {
		pos, n := int32At(args[1], i), math.MaxInt32
		if len(args) == 3 {
			n = int32At(args[2], i)
		}
		return substringRange(s, pos, n)
	}
	if isBinary(t) {
		f = func(s []byte, args []*vec.Vector, i int) (int, int) {
			pos, n := int32At(args[1], i), math.MaxInt32
			if len(args) == 3 {
				n = int32At(args[2], i)
			}
			return byteRange(len(s), pos, n)
		}
	} else {
		t = types.String
	}
	return &Bound{Args: c, Type: t, Nullable: b.nullable(c), TakesConst: true, New: func() Kernel { return sliceKernel(f, false) }}, nil
}

// byteRange turns a position that starts at 1, or counts from the end, into a range of n units.
func byteRange(n, pos, length int) (from, to int) {
	start := pos - 1
	switch {
	case pos < 0:
		start = n + pos
	case pos == 0:
		start = 0
	}
	end := start + length
	if length > math.MaxInt32-max(start, 0) {
		end = math.MaxInt32
	}
	from, to = min(max(start, 0), n), min(max(end, 0), n)
	if to < from {
		to = from
	}
	return from, to
}

func substringRange(s []byte, pos, length int) (from, to int) {
	if ascii(s) {
		return byteRange(len(s), pos, length)
	}
	a, z := byteRange(utf8.RuneCount(s), pos, length)
	from = runeOffset(s, a)
	return from, from + runeOffset(s[from:], z-a)
}

// ascii tells texts of one byte a character. It is called for every row, so it looks at eight bytes at a time.
func ascii(s []byte) bool {
	for len(s) >= 8 {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
		s = s[8:]
	}
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// runeOffset is where character n starts.
func runeOffset(s []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRune(s[at:])
		at += size
	}
	return at
}

// runeSlice is the range of length characters from a character on; negative starts count from the end.
func runeSlice(s []byte, start, length int) (from, to int) {
	if length <= 0 {
		return 0, 0
	}
	if start < 0 {
		return substringRange(s, max(start, -len(s)), length)
	}
	return substringRange(s, start+1, length)
}

// trimmed cuts blanks, or the characters of a second argument, off the ends.
func trimmed(front, back bool) cut {
	return func(s []byte, args []*vec.Vector, i int) (from, to int) {
		set := " "
		if len(args) == 2 {
			set = args[1].StringAt(i)
		}
		return trimRange(s, set, front, back)
	}
}

func trimRange(s []byte, set string, front, back bool) (from, to int) {
	to = len(s)
	if set == " " {
		for front && from < to && s[from] == ' ' {
			from++
		}
		for back && to > from && s[to-1] == ' ' {
			to--
		}
		return from, to
	}
	if front {
		from = len(s) - len(bytes.TrimLeft(s, set))
	}
	if back {
		to = from + len(bytes.TrimRight(s[from:], set))
	}
	return from, to
}

// substringIndex cuts at the count-th delimiter from the left, or from the right when count is negative.
func substringIndex(s []byte, args []*vec.Vector, i int) (from, to int) {
	delim, count := args[1].BytesAt(i), int32At(args[2], i)
	if len(delim) == 0 || count == 0 {
		return 0, 0
	}
	if count > 0 {
		for at := 0; ; count-- {
			k := bytes.Index(s[at:], delim)
			if k < 0 {
				return 0, len(s)
			}
			if count == 1 {
				return 0, at + k
			}
			at += k + 1
		}
	}
	for end := len(s); ; count++ {
		k := bytes.LastIndex(s[:end], delim)
		if k < 0 {
			return 0, len(s)
		}
		if count == -1 {
			return k + len(delim), len(s)
		}
		end = k + len(delim) - 1
	}
}

func lengthKernel(inBytes bool) Kernel {
	var flat vec.Vector
	return func(_ *expr.Eval, n int, args []*vec.Vector, out *vec.Vector) *vec.Vector {
		out.ResetFixed(n)
		v := args[0]
		if v.Encoding() == vec.Const {
			v = v.FlattenInto(&flat)
		}
		spans, buf, valid, dst := v.Spans(), v.Bytes(), v.Validity(), vec.Fixed[int32](out)
		spans = spans[:len(dst)]
		if inBytes {
			for i, s := range spans {
				dst[i] = int32(s.Len)
			}
			return out
		}
		for i, s := range spans {
			if valid.Get(i) {
				dst[i] = int32(utf8.RuneCount(buf[s.Off : s.Off+s.Len]))
			}
		}
		return out
	}
}
