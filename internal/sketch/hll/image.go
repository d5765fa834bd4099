package hll

import (
	"encoding/binary"
	"errors"
	"math"
)

// The image of a sketch begins with: the number of 32-bit words before the data, a version, the family, lgK, the logarithm of the
// length of the coupons, flags, the number of coupons in a list or the minimum of the registers, and mode and kind of registers.
const (
	version = 1
	family  = 7

	listWords  = 2
	setWords   = 3
	denseWords = 10

	flagEmpty      = 4
	flagCompact    = 8
	flagOutOfOrder = 16
	flagStale      = 32

	kind8 = 2 << 2
)

// Image appends the sketch as bytes, in the form that can be updated in place.
func (s *Sketch) Image(b []byte) []byte {
	if s.mode == dense {
		flags := uint8(0)
		if s.outOfOrder {
			flags |= flagOutOfOrder
		}
		if s.stale {
			flags |= flagStale
		}
		b = append(b, denseWords, version, family, uint8(s.lgK), 0, flags, uint8(s.min), kind8|uint8(dense))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.inOrder))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.sum0))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.sum1))
		b = binary.LittleEndian.AppendUint32(b, uint32(s.atMin))
		b = binary.LittleEndian.AppendUint32(b, 0)
		return append(b, s.registers...)
	}
	flags, words, count := uint8(0), uint8(listWords), uint8(s.count)
	if s.count == 0 {
		flags = flagEmpty
	}
	if s.mode == set {
		words, count = setWords, 0
	}
	b = append(b, words, version, family, uint8(s.lgK), uint8(lg(len(s.coupons))), flags, count, kind8|uint8(s.mode))
	if s.mode == set {
		b = binary.LittleEndian.AppendUint32(b, uint32(s.count))
	}
	for _, c := range s.coupons {
		b = binary.LittleEndian.AppendUint32(b, c)
	}
	return b
}

var errImage = errors.New("not the image of an HLL sketch")

// Parse reads an image: of any of the three kinds of registers, compact or not.
func Parse(b []byte) (*Sketch, error) {
	if len(b) < 8 || b[1] != version || b[2] != family || b[3] < MinLgK || b[3] > MaxLgK {
		return nil, errImage
	}
	s := New(int(b[3]))
	flags, m, kind := b[5], mode(b[7]&3), b[7]>>2&3
	if kind > 2 {
		return nil, errImage
	}
	switch {
	case m == list && b[0] == listWords:
		n := int(b[6])
		if n > len(s.coupons) || len(b) < 8+4*n {
			return nil, errImage
		}
		for i := range n {
			s.add(binary.LittleEndian.Uint32(b[8+4*i:]))
		}
		return s, nil
	case m == set && b[0] == setWords && s.lgK >= 8:
		return s, s.parseSet(b, flags&flagCompact != 0)
	case m == dense && b[0] == denseWords:
		return s, s.parseDense(b, kind)
	}
	return nil, errImage
}

func (s *Sketch) parseSet(b []byte, compact bool) error {
	if len(b) < 12 {
		return errImage
	}
	n, lgLen := int(binary.LittleEndian.Uint32(b[8:])), int(b[4])
	if compact && lgLen < lgSet {
		for lgLen = lgSet; 4*n > 3<<lgLen && lgLen < s.lgK-3; {
			lgLen++
		}
	}
	if lgLen < lgSet || lgLen > s.lgK-3 || n < 0 || 4*n > 3<<lgLen {
		return errImage
	}
	words := n
	if !compact {
		words = 1 << lgLen
	}
	if len(b) < 12+4*words {
		return errImage
	}
	s.mode, s.coupons = set, make([]uint32, 1<<lgLen)
	for i := range words {
		c := binary.LittleEndian.Uint32(b[12+4*i:])
		if !compact {
			s.coupons[i] = c
		} else if c != 0 {
			s.coupons[find(s.coupons, c)] = c
		}
	}
	for _, c := range s.coupons {
		if c != 0 {
			s.count++
		}
	}
	if s.count != n {
		return errImage
	}
	return nil
}

func (s *Sketch) parseDense(b []byte, kind uint8) error {
	k := 1 << s.lgK
	data := [...]int{k / 2, k*3/4 + 1, k}[kind]
	if len(b) < 40+data {
		return errImage
	}
	flags := b[5]
	s.makeDense()
	s.min = int(b[6])
	s.inOrder = math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))
	s.sum0 = math.Float64frombits(binary.LittleEndian.Uint64(b[16:]))
	s.sum1 = math.Float64frombits(binary.LittleEndian.Uint64(b[24:]))
	s.atMin = int(binary.LittleEndian.Uint32(b[32:]))
	s.stale = flags&flagStale != 0
	if flags&flagOutOfOrder != 0 {
		s.setOutOfOrder()
	}
	if s.atMin < 0 || s.atMin > k || s.min > 63 {
		return errImage
	}
	packed := b[40 : 40+data]
	switch kind {
	case 2:
		for i, v := range packed {
			s.registers[i] = v & 63
		}
		return nil
	case 1:
		for i := range s.registers {
			bit := i * 6
			two := uint16(packed[bit/8]) | uint16(packed[bit/8+1])<<8
			s.registers[i] = uint8(two>>(bit%8)) & 63
		}
		return nil
	}
	for i := range s.registers {
		s.registers[i] = packed[i/2]>>(i%2*4)&15 + uint8(s.min)
	}
	return s.parseExceptions(b[40+data:], int(binary.LittleEndian.Uint32(b[36:])), flags&flagCompact != 0, int(b[4]))
}

// parseExceptions reads the registers that four bits were too few for: as pairs of slot and value, one after the other or in a table
// with free places.
func (s *Sketch) parseExceptions(b []byte, n int, compact bool, lgLen int) error {
	words := n
	if !compact && n > 0 {
		words = 1 << min(lgLen, MaxLgK)
	}
	if n < 0 || len(b)/4 < words {
		return errImage
	}
	for i := range words {
		if c := binary.LittleEndian.Uint32(b[4*i:]); c != 0 {
			s.registers[int(c)&(len(s.registers)-1)] = uint8(c >> slotBits)
		}
	}
	return nil
}
