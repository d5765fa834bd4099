package processor

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/millrace/millrace/types"
)

// appendInt writes an integer of width bytes so that bytes are in the order of the numbers.
func appendInt(b []byte, x int64, width int) []byte {
	switch width {
	case 1:
		return append(b, uint8(x)^1<<7)
	case 2:
		return binary.BigEndian.AppendUint16(b, uint16(x)^1<<15)
	case 4:
		return binary.BigEndian.AppendUint32(b, uint32(x)^1<<31)
	}
	return binary.BigEndian.AppendUint64(b, uint64(x)^1<<63)
}

func readInt(b []byte, width int) (int64, []byte, error) {
	if len(b) < width {
		return 0, nil, errShort
	}
	switch width {
	case 1:
		return int64(int8(b[0] ^ 1<<7)), b[1:], nil
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b) ^ 1<<15)), b[2:], nil
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b) ^ 1<<31)), b[4:], nil
	}
	return int64(binary.BigEndian.Uint64(b) ^ 1<<63), b[8:], nil
}

// appendFloat64 writes a number so that bytes are in order: NaN is above all, and the two zeros are one.
func appendFloat64(b []byte, x float64) []byte {
	if x == 0 {
		x = 0
	}
	u := math.Float64bits(x)
	if x != x {
		u = math.Float64bits(math.NaN())
	}
	if u>>63 == 1 {
		return binary.BigEndian.AppendUint64(b, ^u)
	}
	return binary.BigEndian.AppendUint64(b, u^1<<63)
}

func appendFloat32(b []byte, x float32) []byte {
	if x == 0 {
		x = 0
	}
	u := math.Float32bits(x)
	if x != x {
		u = math.Float32bits(float32(math.NaN()))
	}
	if u>>31 == 1 {
		return binary.BigEndian.AppendUint32(b, ^u)
	}
	return binary.BigEndian.AppendUint32(b, u^1<<31)
}

func readFloat64(b []byte, ordered bool) (float64, []byte, error) {
	if len(b) < 8 {
		return 0, nil, errShort
	}
	if !ordered {
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), b[8:], nil
	}
	u := binary.BigEndian.Uint64(b)
	if u>>63 == 1 {
		u ^= 1 << 63
	} else {
		u = ^u
	}
	return math.Float64frombits(u), b[8:], nil
}

func readFloat32(b []byte, ordered bool) (float32, []byte, error) {
	if len(b) < 4 {
		return 0, nil, errShort
	}
	if !ordered {
		return math.Float32frombits(binary.LittleEndian.Uint32(b)), b[4:], nil
	}
	u := binary.BigEndian.Uint32(b)
	if u>>31 == 1 {
		u ^= 1 << 31
	} else {
		u = ^u
	}
	return math.Float32frombits(u), b[4:], nil
}

// In keys a text ends with 0 1, and a 0 in it is written as 0 255: so a text sorts before those that go on.
const (
	textEnd    = 1
	textEscape = 255
)

func appendText(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if b = append(b, s[i]); s[i] == 0 {
			b = append(b, textEscape)
		}
	}
	return append(b, 0, textEnd)
}

// readText returns the bytes of a text. They may be those of b.
func readText(b []byte, ordered bool) (text, rest []byte, err error) {
	if !ordered {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > uint64(len(b)-w) {
			return nil, nil, errShort
		}
		return b[w : w+int(n)], b[w+int(n):], nil
	}
	var out []byte
	escaped := false
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], 0)
		if i < 0 || from+i+1 >= len(b) {
			return nil, nil, errShort
		}
		i += from
		switch b[i+1] {
		case textEnd:
			if !escaped {
				return b[:i], b[i+2:], nil
			}
			return append(out, b[from:i]...), b[i+2:], nil
		case textEscape:
			out, escaped = append(out, b[from:i+1]...), true
			from = i + 2
		default:
			return nil, nil, errShort
		}
	}
}

func readInterval(b []byte, ordered bool) (v types.Interval, rest []byte, err error) {
	months, b, err := readFixed(b, 4, ordered)
	if err != nil {
		return v, nil, err
	}
	days, b, err := readFixed(b, 4, ordered)
	if err != nil {
		return v, nil, err
	}
	micros, b, err := readFixed(b, 8, ordered)
	return types.Interval{Months: int32(months), Days: int32(days), Micros: micros}, b, err
}

func readVariant(b []byte) (v types.VariantValue, rest []byte, err error) {
	value, b, err := readText(b, false)
	if err != nil {
		return v, nil, err
	}
	metadata, b, err := readText(b, false)
	return types.VariantValue{Value: bytes.Clone(value), Metadata: bytes.Clone(metadata)}, b, err
}
