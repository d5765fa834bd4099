package frequent

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// The image of DataSketches begins with eight bytes that say how many of them come before the counts, and how large the table is and may
// become. The sum of all counts, what was taken off, the counts and the items follow unless there are none.
const (
	emptyLongs, fullLongs = 1, 4
	version               = 1
	family                = 10
	emptyFlag             = 5
	leastLgLength         = 3
	// MaxLgLength is the largest table that an image may ask for, as a power of two.
	MaxLgLength = 21
)

// Image appends the image of DataSketches to b. items appends items in the form of their type.
func (s *Sketch) Image(b []byte, items func(b []byte, items []Item) []byte) []byte {
	longs, flags := byte(fullLongs), byte(0)
	if s.active == 0 {
		longs, flags = emptyLongs, emptyFlag
	}
	b = append(b, longs, version, family, byte(bits.TrailingZeros(uint(s.most))), byte(bits.TrailingZeros(uint(len(s.slots)))), flags, 0, 0)
	if s.active == 0 {
		return b
	}
	for _, n := range []int64{int64(s.active), s.weight, s.offset} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	all := make([]Item, 0, s.active)
	for _, x := range s.slots {
		if x.drift > 0 {
			b = binary.LittleEndian.AppendUint64(b, uint64(x.Count))
			all = append(all, x.Item)
		}
	}
	return items(b, all)
}

var errForeign = errors.New("frequent: the bytes are no image of a sketch of frequent items")

// Parse reads an image of DataSketches. items reads so many items, with their hashes, and fails when there are not as many.
func Parse(b []byte, items func(b []byte, n int) ([]Item, error)) (*Sketch, error) {
	if len(b) < 8*emptyLongs || b[1] != version || b[2] != family || b[3] < leastLgLength || b[3] > MaxLgLength || b[4] < leastLgLength || b[4] > b[3] {
		return nil, errForeign
	}
	s := New(1 << b[3])
	s.slots = make([]slot, 1<<b[4])
	if empty := b[5]&emptyFlag != 0; empty != (b[0] == emptyLongs) {
		return nil, errForeign
	} else if empty {
		return s, nil
	}
	if b[0] != fullLongs || len(b) < 8*fullLongs {
		return nil, errForeign
	}
	n := binary.LittleEndian.Uint64(b[8:])
	s.weight, s.offset = int64(binary.LittleEndian.Uint64(b[16:])), int64(binary.LittleEndian.Uint64(b[24:]))
	if b = b[8*fullLongs:]; n > uint64(s.room()) || n > uint64(len(b))/8 || s.offset < 0 {
		return nil, errForeign
	}
	counts := b[:8*n]
	all, err := items(b[8*n:], int(n))
	if err != nil {
		return nil, err
	}
	for i, it := range all {
		if it.Count = int64(binary.LittleEndian.Uint64(counts[8*i:])); it.Count <= 0 {
			return nil, errForeign
		}
		s.put(it)
	}
	return s, nil
}
