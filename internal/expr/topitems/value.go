package topitems

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"unicode/utf16"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Countable are the types whose values are counted.
func Countable(t types.DataType) bool {
	switch t.(type) {
	case types.BooleanType, types.ByteType, types.ShortType, types.IntegerType, types.LongType, types.FloatType, types.DoubleType, types.DateType,
		types.TimestampType, types.TimestampNTZType, types.StringType, types.DecimalType:
		return true
	}
	return false
}

// appendItem adds the bytes that stand for row i, one NaN for all.
func appendItem(b []byte, v *vec.Vector, i int) []byte {
	switch v.Phys() {
	case vec.PhysBool:
		return append(b, vec.At[uint8](v, i))
	case vec.PhysInt8:
		return append(b, uint8(vec.At[int8](v, i)))
	case vec.PhysInt16:
		return binary.LittleEndian.AppendUint16(b, uint16(vec.At[int16](v, i)))
	case vec.PhysInt32:
		return binary.LittleEndian.AppendUint32(b, uint32(vec.At[int32](v, i)))
	case vec.PhysInt64:
		return binary.LittleEndian.AppendUint64(b, uint64(vec.At[int64](v, i)))
	case vec.PhysFloat32:
		x := vec.At[float32](v, i)
		if x != x {
			return binary.LittleEndian.AppendUint32(b, 0x7fc00000)
		}
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	case vec.PhysFloat64:
		x := vec.At[float64](v, i)
		if x != x {
			return binary.LittleEndian.AppendUint64(b, 0x7ff8000000000000)
		}
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	case vec.PhysInt128:
		x := vec.At[vec.Int128](v, i)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, x.Lo), uint64(x.Hi))
	}
	return append(b, v.BytesAt(i)...)
}

// appendKey adds the value that appendItem made the bytes of.
func appendKey(out *vec.Builder, key string) {
	b := []byte(key)
	if types.IsString(out.Type()) {
		out.AppendBytes(b)
		return
	}
	switch t := out.Type().(type) {
	case types.BooleanType:
		out.AppendBool(b[0] != 0)
	case types.FloatType:
		out.AppendFloat32(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case types.DoubleType:
		out.AppendFloat64(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	case types.DecimalType:
		if len(b) == 8 {
			out.AppendInt64(int64(binary.LittleEndian.Uint64(b)))
		} else {
			out.AppendInt128(vec.Int128(int128(b)))
		}
	default:
		switch x := whole(b); {
		case types.Equal(t, types.Byte):
			out.AppendInt8(int8(x))
		case types.Equal(t, types.Short):
			out.AppendInt16(int16(x))
		case len(b) == 4:
			out.AppendInt32(int32(x))
		default:
			out.AppendInt64(x)
		}
	}
}

// whole is a whole number of 1, 2, 4 or 8 bytes.
func whole(b []byte) int64 {
	switch len(b) {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// int128 is a decimal's number of 8 or 16 bytes.
func int128(b []byte) decimal.Int {
	if len(b) == 8 {
		return decimal.FromInt64(whole(b))
	}
	return decimal.Int{Lo: binary.LittleEndian.Uint64(b), Hi: int64(binary.LittleEndian.Uint64(b[8:]))}
}

// itemHash is the hash that the object of an item has in Spark.
func itemHash(t types.DataType, key []byte) int32 {
	switch t := t.(type) {
	case types.StringType:
		h := int32(0)
		for _, u := range utf16.Encode([]rune(string(key))) {
			h = 31*h + int32(u)
		}
		return h
	case types.BooleanType:
		if key[0] != 0 {
			return 1231
		}
		return 1237
	case types.DecimalType:
		return decimalHash(int128(key), t.Scale)
	}
	if len(key) == 8 {
		x := binary.LittleEndian.Uint64(key)
		return int32(uint32(x) ^ uint32(x>>32))
	}
	return int32(whole(key))
}

// decimalHash is the hash of a decimal in Scala: that of a whole number or of a double that prints the same, or else one made of its digits.
func decimalHash(x decimal.Int, scale int) int32 {
	value := new(big.Rat).SetFrac(decimal.Big(x), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
	if n := value.Num(); value.IsInt() {
		if !n.IsInt64() {
			return digitsHash(n)
		}
		v := n.Int64()
		if v == int64(int32(v)) {
			return int32(v)
		}
		return int32(uint32(v) ^ uint32(uint64(v)>>32))
	}
	f := decimal.Float64(x, scale)
	if printed, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64)); ok && printed.Cmp(value) == 0 {
		if float64(float32(f)) == f {
			return int32(math.Float32bits(float32(f)))
		}
		v := math.Float64bits(f)
		return int32(uint32(v) ^ uint32(v>>32))
	}
	digits, ten := decimal.Big(x), big.NewInt(10)
	for {
		q, r := new(big.Int).QuoRem(digits, ten, new(big.Int))
		if r.Sign() != 0 {
			break
		}
		digits, scale = q, scale-1
	}
	mixed := uint32(scale) * 0xcc9e2d51
	mixed = (mixed<<15 | mixed>>17) * 0x1b873593
	return digitsHash(digits) ^ int32(mixed)
}

// digitsHash is the hash of a large number in Java.
func digitsHash(n *big.Int) int32 {
	h, b := uint32(0), n.Bytes()
	b = append(make([]byte, (4-len(b)%4)%4), b...)
	for ; len(b) > 0; b = b[4:] {
		h = 31*h + binary.BigEndian.Uint32(b)
	}
	return int32(h) * int32(n.Sign())
}
