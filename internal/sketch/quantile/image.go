package quantile

import (
	"encoding/binary"
	"errors"
	"math"
)

// version is the first byte of an image. The error, the number of values and the samples follow, in little endian.
const version = 1

const (
	headerSize = 1 + 8 + 8
	sampleSize = 3 * 8
)

var errImage = errors.New("no image of a summary of quantiles")

// Image appends the summary, which is compressed by that, as bytes.
func (s *Summary) Image(b []byte) []byte {
	s.compress()
	b = append(b, version)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.relative))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.count))
	for _, x := range s.list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x.value))
		b = binary.LittleEndian.AppendUint64(b, uint64(x.gap))
		b = binary.LittleEndian.AppendUint64(b, uint64(x.slack))
	}
	return b
}

// Parse reads what Image wrote.
func Parse(b []byte) (*Summary, error) {
	if len(b) < headerSize || b[0] != version || (len(b)-headerSize)%sampleSize != 0 {
		return nil, errImage
	}
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	s := New(math.Float64frombits(word(1)))
	s.count = int64(word(9))
	if n := (len(b) - headerSize) / sampleSize; n > 0 {
		s.list = make([]sample, n)
	}
	for i := range s.list {
		at := headerSize + i*sampleSize
		s.list[i] = sample{value: math.Float64frombits(word(at)), gap: int64(word(at + 8)), slack: int64(word(at + 16))}
	}
	return s, nil
}
