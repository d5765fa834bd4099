package parquetfile

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/millrace/millrace/internal/vec"
)

// spread scatters numbers over the upper bits of a word.
const spread = 0x9E3779B97F4A7C15

// firstTable is the size of the hash table of a new dictionary. Tables are at most half full.
const firstTable = 1 << 10

// wordDict numbers different values of fixed width in the order of their first appearance.
type wordDict[W word] struct {
	table  []uint32 // number + 1 by hash, 0 for none
	shift  uint
	values []W
}

func (d *wordDict[W]) reset() {
	clear(d.table)
	d.values = d.values[:0]
}

// add appends the numbers of values.
func (d *wordDict[W]) add(dst []uint32, values []W) []uint32 {
	at := len(dst)
	dst = growTo(dst, at+len(values))
	out := dst[at:]
	last, number := values[0], d.number(values[0])
	for i, x := range values {
		if x != last {
			last, number = x, d.number(x)
		}
		out[i] = number
	}
	return dst
}

func (d *wordDict[W]) number(x W) uint32 {
	if 2*len(d.values) >= len(d.table) {
		d.grow()
	}
	h := uint64(x) * spread >> d.shift
	for ; d.table[h] != 0; h = (h + 1) & uint64(len(d.table)-1) {
		if at := d.table[h] - 1; d.values[at] == x {
			return at
		}
	}
	d.values = append(d.values, x)
	d.table[h] = uint32(len(d.values))
	return uint32(len(d.values) - 1)
}

func (d *wordDict[W]) grow() {
	d.table = make([]uint32, max(firstTable, 2*len(d.table)))
	d.shift = uint(64 - bits.Len(uint(len(d.table)-1)))
	for i, x := range d.values {
		h := uint64(x) * spread >> d.shift
		for d.table[h] != 0 {
			h = (h + 1) & uint64(len(d.table)-1)
		}
		d.table[h] = uint32(i + 1)
	}
}

// bytesDict numbers different values of any length.
type bytesDict struct {
	table []slot
	buf   []byte // as the dictionary page has them, with their lengths in front if they have one
	ends  []uint32
}

// slot is one of the hash table. The hash tells most values apart without a look at them.
type slot struct{ hash, number uint32 } // number + 1; 0 for none

func (d *bytesDict) reset() {
	clear(d.table)
	d.buf, d.ends = d.buf[:0], d.ends[:0]
}

// at gives a value by its number. sized tells that lengths are in front of values.
func (d *bytesDict) at(i int, sized bool) []byte {
	start := uint32(0)
	if i > 0 {
		start = d.ends[i-1]
	}
	if sized {
		start += 4
	}
	return d.buf[start:d.ends[i]]
}

// add appends the numbers of values.
func (d *bytesDict) add(dst []uint32, spans []vec.Span, buf []byte, sized bool) []uint32 {
	at := len(dst)
	dst = growTo(dst, at+len(spans))
	out := dst[at:]
	for i, s := range spans {
		out[i] = d.place(buf[s.Off:s.Off+s.Len], sized)
	}
	return dst
}

// place gives the number of a value.
func (d *bytesDict) place(b []byte, sized bool) uint32 {
	if 2*len(d.ends) >= len(d.table) {
		d.grow()
	}
	hash := uint32(vec.HashBytes(b))
	mask := uint32(len(d.table) - 1)
	h := hash & mask
	for ; d.table[h].number != 0; h = (h + 1) & mask {
		if s := d.table[h]; s.hash == hash && bytes.Equal(d.at(int(s.number-1), sized), b) {
			return s.number - 1
		}
	}
	if sized {
		d.buf = binary.LittleEndian.AppendUint32(d.buf, uint32(len(b)))
	}
	d.buf = append(d.buf, b...)
	d.ends = append(d.ends, uint32(len(d.buf)))
	d.table[h] = slot{hash, uint32(len(d.ends))}
	return uint32(len(d.ends) - 1)
}

func (d *bytesDict) grow() {
	old := d.table
	d.table = make([]slot, max(firstTable, 2*len(old)))
	mask := uint32(len(d.table) - 1)
	for _, s := range old {
		if s.number == 0 {
			continue
		}
		h := s.hash & mask
		for d.table[h].number != 0 {
			h = (h + 1) & mask
		}
		d.table[h] = s
	}
}
