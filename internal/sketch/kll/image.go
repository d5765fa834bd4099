package kll

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The image of a sketch begins with the number of its first 32-bit words, a version, the family, flags, k and the width of the
// narrowest level.
const (
	family = 15

	versionFull   = 1
	versionSingle = 2

	flagEmpty  = 1
	flagSorted = 2
	flagSingle = 4
)

func itemSize[T Item]() int {
	switch any(T(0)).(type) {
	case float32:
		return 4
	}
	return 8
}

func appendItem[T Item](b []byte, x T) []byte {
	switch x := any(x).(type) {
	case int64:
		return binary.LittleEndian.AppendUint64(b, uint64(x))
	case float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	case float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func readItem[T Item](b []byte) T {
	var v any
	switch any(T(0)).(type) {
	case int64:
		v = int64(binary.LittleEndian.Uint64(b))
	case float64:
		v = math.Float64frombits(binary.LittleEndian.Uint64(b))
	default:
		v = math.Float32frombits(binary.LittleEndian.Uint32(b))
	}
	return v.(T)
}

// Image appends the sketch as bytes in the compact form.
func (s *Sketch[T]) Image(b []byte) []byte {
	start := func(words, version, flags uint8) {
		b = append(b, words, version, family, flags)
		b = binary.LittleEndian.AppendUint16(b, uint16(s.k))
		b = append(b, minWidth, 0)
	}
	switch s.n {
	case 0:
		start(2, versionFull, flagEmpty)
		return b
	case 1:
		start(2, versionSingle, flagSingle)
		return appendItem(b, s.levels[0][0])
	}
	start(5, versionFull, 0)
	b = binary.LittleEndian.AppendUint64(b, s.n)
	b = binary.LittleEndian.AppendUint16(b, uint16(s.least))
	b = append(b, uint8(len(s.levels)), 0)
	at := capacity(s.k, len(s.levels)) - s.retained()
	for _, l := range s.levels {
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
		at += len(l)
	}
	b = appendItem(appendItem(b, s.low), s.top)
	for _, x := range slices.Backward(s.levels[0]) {
		b = appendItem(b, x)
	}
	for _, l := range s.levels[1:] {
		for _, x := range l {
			b = appendItem(b, x)
		}
	}
	return b
}

var errImage = errors.New("not the image of a KLL sketch of this kind")

// Parse reads an image in the compact form.
func Parse[T Item](b []byte) (*Sketch[T], error) {
	if len(b) < 8 || b[2] != family || b[6] != minWidth {
		return nil, errImage
	}
	k, size := int(binary.LittleEndian.Uint16(b[4:])), itemSize[T]()
	if k < MinK {
		return nil, errImage
	}
	s := New[T](k)
	switch {
	case b[0] == 2 && b[1] == versionFull && b[3]&flagEmpty != 0:
		return s, nil
	case b[0] == 2 && b[1] == versionSingle && b[3]&flagSingle != 0 && len(b) >= 8+size:
		s.Add(readItem[T](b[8:]))
		return s, nil
	case b[0] == 5 && b[1] == versionFull && b[3]&(flagEmpty|flagSingle) == 0 && len(b) >= 20:
		return s, s.parse(b, size)
	}
	return nil, errImage
}

func (s *Sketch[T]) parse(b []byte, size int) error {
	s.n, s.least = binary.LittleEndian.Uint64(b[8:]), int(binary.LittleEndian.Uint16(b[16:]))
	levels := int(b[18])
	if levels < 1 || levels > 61 || len(b) < 20+4*levels+2*size {
		return errImage
	}
	ends := make([]int, levels+1)
	for i := range levels {
		ends[i] = int(binary.LittleEndian.Uint32(b[20+4*i:]))
	}
	ends[levels] = capacity(s.k, levels)
	data := b[20+4*levels:]
	s.low, s.top = readItem[T](data), readItem[T](data[size:])
	data = data[2*size:]
	if ends[levels]-ends[0] < 0 || len(data)/size < ends[levels]-ends[0] {
		return errImage
	}
	s.levels = make([][]T, levels)
	weight := uint64(0)
	for i := range levels {
		n := ends[i+1] - ends[i]
		if n < 0 || n*size > len(data) {
			return errImage
		}
		l := make([]T, n)
		for j := range l {
			l[j] = readItem[T](data[j*size:])
		}
		data = data[n*size:]
		if i == 0 {
			slices.Reverse(l)
		} else if !slices.IsSorted(l) {
			return errImage
		}
		s.levels[i] = l
		weight += uint64(n) << i
	}
	if weight != s.n {
		return errImage
	}
	s.measure()
	return nil
}

// Describe tells about the sketch in some lines, as Spark shows it; number writes an item.
func (s *Sketch[T]) Describe(number func(x T) string) string {
	var kind string
	switch any(T(0)).(type) {
	case int64:
		kind = "Longs"
	case float64:
		kind = "Doubles"
	default:
		kind = "Floats"
	}
	size, levels, retained, all := itemSize[T](), len(s.levels), s.retained(), capacity(s.k, len(s.levels))
	compact, low, top := 20+4*levels+(retained+2)*size, number(s.low), number(s.top)
	switch s.n {
	case 0:
		compact, low, top = 8, "NaN", "NaN"
	case 1:
		compact = 8 + size
	}
	var b strings.Builder
	line := func(name, format string, v any) { fmt.Fprintf(&b, "   %-23s: "+format+"\n", name, v) }
	fmt.Fprintf(&b, "\n### KllKll%sSketch Summary:\n", kind)
	line("K", "%d", s.k)
	line("Dynamic min K", "%d", s.least)
	line("M", "%d", minWidth)
	line("N", "%d", s.n)
	line("Epsilon", "%.3f%%", 100*2.296/math.Pow(float64(s.least), 0.9723))
	line("Epsilon PMF", "%.3f%%", 100*2.446/math.Pow(float64(s.least), 0.9433))
	line("Empty", "%t", s.n == 0)
	line("Estimation Mode", "%t", levels > 1)
	line("Levels", "%d", levels)
	line("Level 0 Sorted", "%t", false)
	line("Capacity Items", "%d", all)
	line("Retained Items", "%d", retained)
	line("Free Space", "%d", all-retained)
	line("ReadOnly", "%t", false)
	line("Updatable Storage Bytes", "%d", 20+4*(levels+1)+(all+2)*size)
	line("Compact Storage Bytes", "%d", compact)
	line("Min Item", "%s", low)
	line("Max Item", "%s", top)
	b.WriteString("### End sketch summary\n")
	return b.String()
}
