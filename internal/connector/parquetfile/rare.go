package parquetfile

import (
	"encoding/binary"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"
)

// The rarer encodings are decoded a page at a time.

// rareFixed appends the values of a page of fixed-width values.
func rareFixed[T any](dst []T, enc parquet.Encoding, data []byte, atMost int) ([]T, error) {
	switch enc {
	case parquet.Encodings.DeltaBinaryPacked:
		values, _, err := deltas(nil, data, atMost)
		if err != nil {
			return nil, err
		}
		dst = growTo(dst, len(values))
		switch dst := any(dst).(type) {
		case []int32:
			for i, x := range values {
				dst[i] = int32(x)
			}
		case []int64:
			copy(dst, values)
		default:
			return nil, badEncoding(enc)
		}
		return dst, nil
	case parquet.Encodings.ByteStreamSplit:
		var zero T
		width := int(unsafe.Sizeof(zero))
		n := len(data) / width
		if n > atMost {
			return nil, errDamaged
		}
		dst = growTo(dst, n)
		if n > 0 {
			raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), n*width)
			joinStreams(raw, data, n, width)
		}
		return dst, nil
	}
	return nil, badEncoding(enc)
}

// joinStreams puts values together whose first bytes, second bytes and so on are stored behind one another.
func joinStreams(dst, data []byte, n, width int) {
	for k := range width {
		stream := data[k*n : (k+1)*n]
		for i, b := range stream {
			dst[i*width+k] = b
		}
	}
}

// rareBytes appends the values of a page of strings.
func rareBytes(dst [][]byte, enc parquet.Encoding, data []byte, fixed, atMost int) ([][]byte, error) {
	switch enc {
	case parquet.Encodings.DeltaLengthByteArray:
		return deltaLengths(dst, data, atMost)
	case parquet.Encodings.DeltaByteArray:
		prefixes, rest, err := deltas(nil, data, atMost)
		if err != nil {
			return nil, err
		}
		suffixes, err := deltaLengths(nil, rest, atMost)
		if err != nil {
			return nil, err
		}
		if len(prefixes) != len(suffixes) {
			return nil, errDamaged
		}
		var last []byte
		total := 0
		for i, p := range prefixes {
			if p < 0 || p > int64(len(last)) {
				return nil, errDamaged
			}
			if total += int(p) + len(suffixes[i]); total > maxBatchBytes {
				return nil, errTooWide
			}
			v := make([]byte, 0, int(p)+len(suffixes[i]))
			v = append(append(v, last[:p]...), suffixes[i]...)
			dst = append(dst, v)
			last = v
		}
		return dst, nil
	case parquet.Encodings.ByteStreamSplit:
		if fixed <= 0 || len(data)/fixed > atMost {
			return nil, errDamaged
		}
		n := len(data) / fixed
		raw := make([]byte, n*fixed)
		joinStreams(raw, data, n, fixed)
		for i := range n {
			dst = append(dst, raw[i*fixed:(i+1)*fixed:(i+1)*fixed])
		}
		return dst, nil
	}
	return nil, badEncoding(enc)
}

// deltaLengths reads strings whose lengths all stand before their bytes.
func deltaLengths(dst [][]byte, data []byte, atMost int) ([][]byte, error) {
	lengths, rest, err := deltas(nil, data, atMost)
	if err != nil {
		return nil, err
	}
	for _, n := range lengths {
		if n < 0 || n > int64(len(rest)) {
			return nil, errDamaged
		}
		dst = append(dst, rest[:n:n])
		rest = rest[n:]
	}
	return dst, nil
}

// deltas reads whole numbers that are stored as differences, and gives what is behind them.
func deltas(dst []int64, data []byte, atMost int) (values []int64, rest []byte, err error) {
	r := varints{data: data}
	block, minis, count := r.next(), r.next(), r.next()
	value := r.zigzag()
	if r.bad || minis == 0 || minis > 1<<12 || block == 0 || block > 1<<20 || block%minis != 0 || count > uint64(atMost) {
		return nil, nil, errDamaged
	}
	per := int(block / minis)
	if count > 0 {
		dst = append(dst, value)
	}
	for left := int(count) - 1; left > 0; {
		least := r.zigzag()
		if r.bad || uint64(len(r.data)) < minis {
			return nil, nil, errDamaged
		}
		widths := r.data[:minis]
		r.data = r.data[minis:]
		for _, w := range widths {
			if left <= 0 {
				break // the blocks behind the last value have a width but no bytes
			}
			size := (per*int(w) + 7) / 8
			if w > 64 || size > len(r.data) {
				return nil, nil, errDamaged
			}
			n := min(per, left)
			for i := range n {
				value += least + int64(bitsAt(r.data, i*int(w), uint(w)))
				dst = append(dst, value)
			}
			r.data = r.data[size:]
			left -= n
		}
	}
	return dst, r.data, nil
}

// bitsAt reads width bits that begin at a bit.
func bitsAt(data []byte, bit int, width uint) uint64 {
	if width == 0 {
		return 0
	}
	var window [16]byte
	copy(window[:], data[bit>>3:])
	shift := uint(bit & 7)
	v := binary.LittleEndian.Uint64(window[:]) >> shift
	if shift+width > 64 {
		v |= uint64(window[8]) << (64 - shift)
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// varints reads numbers of variable length.
type varints struct {
	data []byte
	bad  bool
}

func (r *varints) next() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *varints) zigzag() int64 {
	v := r.next()
	return int64(v>>1) ^ -int64(v&1)
}
