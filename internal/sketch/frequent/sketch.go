// Package frequent counts the items that are most frequent in a stream, as the frequent items sketch of Apache DataSketches does: a hash
// table of items with counts, from which the median of some counts is taken off all when it is full.
//
// Ties come in an order that depends on where items are in the table, so its layout and its hash are those of DataSketches. The package
// knows nothing of types: an item is its bytes with the hash that Java has for it. It is tested against answers of Apache Spark.
package frequent

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
)

const (
	leastLength = 8
	fill        = 0.75
	samples     = 1024
	golden      = 0.6180339887498949025 // the reciprocal of the golden ratio
)

// Item is an item with its count.
type Item struct {
	Key   string
	Hash  int32
	Count int64
}

// slot is a place of the table. drift is how far, plus one, the item is from where its hash wants it; 0 where there is none.
type slot struct {
	Item
	drift int
}

// Sketch counts items.
type Sketch struct {
	slots   []slot // a power of two
	active  int
	most    int   // slots
	samples int   // of how many counts the median is taken
	weight  int64 // the sum of all counts
	offset  int64 // what was taken off counts
}

// New returns an empty sketch of so many slots at most.
func New(most int) *Sketch {
	return &Sketch{slots: make([]slot, leastLength), most: max(most, leastLength), samples: min(samples, int(float64(most)*fill))}
}

// Slots is the size of a table for so many items.
func Slots(items int) int {
	return 1 << bits.Len(uint(math.Ceil(float64(items)/fill))-1)
}

// Add counts an item so many times more.
func (s *Sketch) Add(it Item) {
	s.weight += it.Count
	s.put(it)
	if s.active <= s.room() {
		return
	}
	if len(s.slots) < s.most {
		s.grow()
	} else {
		s.purge()
	}
}

// room is how many items the table holds before it grows or is purged.
func (s *Sketch) room() int { return int(float64(len(s.slots)) * fill) }

func (s *Sketch) put(it Item) {
	mask := len(s.slots) - 1
	at := int(mix(uint64(it.Hash))) & mask
	drift := 1
	for s.slots[at].drift > 0 && s.slots[at].Key != it.Key {
		at, drift = (at+1)&mask, drift+1
	}
	if s.slots[at].drift > 0 {
		s.slots[at].Count += it.Count
		return
	}
	s.slots[at] = slot{it, drift}
	s.active++
}

func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func (s *Sketch) grow() {
	old := s.slots
	s.slots, s.active = make([]slot, 2*len(old)), 0
	for _, x := range old {
		if x.drift > 0 {
			s.put(x.Item)
		}
	}
}

// purge takes the median of some counts off all, and drops the items of which nothing is left.
func (s *Sketch) purge() {
	var some []int64
	for _, x := range s.slots {
		if x.drift > 0 && len(some) < s.samples {
			some = append(some, x.Count)
		}
	}
	half := len(some) / 2
	slices.Sort(some)
	median := some[half]
	for i := range s.slots {
		s.slots[i].Count -= median
	}
	s.offset += median
	// From the end of a run of items backwards, so that what moves up has been looked at.
	first := len(s.slots) - 1
	for s.slots[first].drift > 0 {
		first--
	}
	for i := first - 1; i >= 0; i-- {
		s.dropSpent(i)
	}
	for i := len(s.slots) - 1; i >= first; i-- {
		s.dropSpent(i)
	}
}

func (s *Sketch) dropSpent(at int) {
	if s.slots[at].drift == 0 || s.slots[at].Count > 0 {
		return
	}
	s.active--
	s.slots[at] = slot{}
	mask := len(s.slots) - 1
	drift := 1
	for i := (at + 1) & mask; s.slots[i].drift > 0; i = (i + 1) & mask {
		if s.slots[i].drift > drift { // it may move to the free place
			x := s.slots[i]
			x.drift -= drift
			s.slots[at], s.slots[i] = x, slot{}
			at, drift = i, 0
		}
		drift++
	}
}

// each goes through the items in the order that DataSketches has: by strides, so that merging does not fill a table from one end.
func (s *Sketch) each(f func(Item)) {
	mask := len(s.slots) - 1
	stride := int(float64(len(s.slots))*golden) | 1
	for i, n := 0, 0; n < s.active; i = (i + stride) & mask {
		if s.slots[i].drift > 0 {
			f(s.slots[i].Item)
			n++
		}
	}
}

// Merge adds the counts of another sketch.
func (s *Sketch) Merge(o *Sketch) {
	weight := s.weight + o.weight
	o.each(s.Add)
	s.weight, s.offset = weight, s.offset+o.offset
}

// Top are the items that are certain to be frequent, with their estimated counts, the most frequent first.
func (s *Sketch) Top() []Item {
	var out []Item
	s.each(func(it Item) {
		if it.Count > s.offset {
			it.Count += s.offset
			out = append(out, it)
		}
	})
	slices.SortStableFunc(out, func(a, b Item) int { return int(max(-1, min(1, b.Count-a.Count))) })
	return out
}

// Bytes estimates the memory held.
func (s *Sketch) Bytes() int64 {
	n := int64(len(s.slots)) * 48
	for _, x := range s.slots {
		n += int64(len(x.Key))
	}
	return n
}

// Append adds the sketch to b as states of queries keep it.
func (s *Sketch) Append(b []byte) []byte {
	for _, n := range []int{s.most, len(s.slots), s.active} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(s.offset))
	for _, x := range s.slots {
		if x.drift > 0 {
			b = binary.LittleEndian.AppendUint64(b, uint64(x.Count))
			b = binary.LittleEndian.AppendUint32(b, uint32(x.Hash))
			b = binary.LittleEndian.AppendUint32(b, uint32(len(x.Key)))
			b = append(b, x.Key...)
		}
	}
	return b
}

var errImage = errors.New("frequent: the image of a sketch is cut off")

// Read reads what Append has written. The sum of the counts is not in it.
func Read(b []byte) (*Sketch, error) {
	if len(b) < 20 {
		return nil, errImage
	}
	s := New(int(binary.LittleEndian.Uint32(b)))
	s.offset = int64(binary.LittleEndian.Uint64(b[12:]))
	length, items := binary.LittleEndian.Uint32(b[4:]), int(binary.LittleEndian.Uint32(b[8:]))
	if bits.OnesCount32(length) != 1 || length < leastLength || int(length) > s.most || items > int(float64(length)*fill) {
		return nil, errImage
	}
	s.slots = make([]slot, length)
	b = b[20:]
	for range items {
		if len(b) < 16 {
			return nil, errImage
		}
		it := Item{Count: int64(binary.LittleEndian.Uint64(b)), Hash: int32(binary.LittleEndian.Uint32(b[8:]))}
		n := int(binary.LittleEndian.Uint32(b[12:]))
		if b = b[16:]; n > len(b) {
			return nil, errImage
		}
		it.Key, b = string(b[:n]), b[n:]
		s.put(it)
	}
	return s, nil
}
