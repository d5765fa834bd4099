package parquetfile

import (
	"encoding/binary"
	"errors"
)

var errDamaged = errors.New("a page of the file is damaged")

// hybrid reads the mixture of runs and bit-packed groups in which levels and dictionary indices are stored.
type hybrid struct {
	data   []byte
	width  uint
	run    int // values left of a run of value
	value  uint32
	packed int // values left of bit-packed groups
	bit    int // where the next of them starts
	after  int // end of the groups
}

func newHybrid(data []byte, width uint) hybrid { return hybrid{data: data, width: width} }

// header reads where the next run or groups begin.
func (h *hybrid) header() error {
	if h.after > 0 {
		h.data = h.data[min(h.after, len(h.data)):]
		h.after = 0
	}
	n, size := binary.Uvarint(h.data)
	if size <= 0 || n>>1 > 1<<31 {
		return errDamaged
	}
	h.data = h.data[size:]
	if n&1 == 0 {
		bytes := int(h.width+7) / 8
		if len(h.data) < bytes || n == 0 {
			return errDamaged
		}
		h.value = 0
		for i := range bytes {
			h.value |= uint32(h.data[i]) << (8 * i)
		}
		h.data = h.data[bytes:]
		h.run = int(n >> 1)
		return nil
	}
	groups := int(n >> 1)
	if groups == 0 {
		return errDamaged
	}
	h.packed, h.bit, h.after = groups*8, 0, groups*int(h.width)
	if h.after > len(h.data) { // the last group need not be whole
		if h.width == 0 {
			return errDamaged
		}
		h.packed = min(h.packed, len(h.data)*8/int(h.width))
		if h.packed == 0 {
			return errDamaged
		}
	}
	if h.width == 0 {
		h.after = 0
	}
	return nil
}

// read fills dst.
func (h *hybrid) read(dst []uint32) error {
	for len(dst) > 0 {
		switch {
		case h.run > 0:
			n := min(h.run, len(dst))
			for i := range dst[:n] {
				dst[i] = h.value
			}
			h.run -= n
			dst = dst[n:]
		case h.packed > 0:
			n := min(h.packed, len(dst))
			h.unpack(dst[:n])
			h.packed -= n
			dst = dst[n:]
		default:
			if err := h.header(); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpack reads bit-packed values. Eight bytes hold any value of up to 32 bits wherever it starts in the first of them.
func (h *hybrid) unpack(dst []uint32) {
	w := int(h.width)
	if w == 0 {
		clear(dst)
		return
	}
	mask := uint64(1)<<w - 1
	bit, data := h.bit, h.data
	i := 0
	for ; i < len(dst) && bit>>3+8 <= len(data); i++ {
		dst[i] = uint32(binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask)
		bit += w
	}
	for ; i < len(dst); i++ {
		var tail [8]byte
		copy(tail[:], data[bit>>3:])
		dst[i] = uint32(binary.LittleEndian.Uint64(tail[:]) >> (bit & 7) & mask)
		bit += w
	}
	h.bit = bit
}

// onlyRun tells whether n values that follow are all the same, without consuming them.
func (h *hybrid) onlyRun(n int) (value uint32, ok bool) {
	if h.run == 0 && h.packed == 0 {
		if h.header() != nil {
			return 0, false
		}
	}
	return h.value, h.run >= n
}

// levels fills dst with levels, which must not be above most.
func (h *hybrid) levels(dst []int16, most int16) error {
	var buf [256]uint32
	for len(dst) > 0 {
		n := min(len(dst), len(buf))
		if err := h.read(buf[:n]); err != nil {
			return err
		}
		for i, v := range buf[:n] {
			if v > uint32(most) {
				return errDamaged
			}
			dst[i] = int16(v)
		}
		dst = dst[n:]
	}
	return nil
}
