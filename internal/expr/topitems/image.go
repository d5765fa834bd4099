package topitems

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/sketch/frequent"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// The struct that a sketch travels in. The type of the items is that of a field which is always null, and a text beside it.
const (
	SketchField = iota
	TrackedField
	ItemField
	TextField
	Fields
)

// StructType is the type of a sketch of items of a type.
func StructType(item types.DataType) types.StructType {
	return types.Struct(types.Field{Name: "sketch", Type: types.Binary}, types.Field{Name: "maxItemsTracked", Type: types.Integer},
		types.Field{Name: "itemDataType", Type: item, Nullable: true}, types.Field{Name: "itemDataTypeDDL", Type: types.String})
}

// Text describes a type of items as the struct does.
func Text(item types.DataType) string {
	if types.IsString(item) {
		return "item string not null"
	}
	return "item " + item.SQL() + " NOT NULL"
}

// ItemOf is the type of items that a text describes.
func ItemOf(text string) (types.DataType, error) {
	s, err := types.ParseDDL(text)
	if err != nil {
		return nil, err
	}
	if len(s.Fields) != 1 || !Countable(s.Fields[0].Type) {
		return nil, ErrItems
	}
	return s.Fields[0].Type, nil
}

// EmitStruct appends the struct of a sketch of items of a type, so many of which are tracked at most.
func (s *Items) EmitStruct(out *vec.Builder, tracked int, item types.DataType) {
	sketch := out.Child(SketchField)
	sketch.CommitBytes(s.Image(sketch.Buffer(), item))
	out.Child(TrackedField).AppendInt32(int32(tracked))
	out.Child(ItemField).AppendNull()
	out.Child(TextField).AppendString(Text(item))
	out.AppendStruct(true)
}

// Image appends the items as Spark lays them out: the image of DataSketches, and the number of nulls behind it.
func (s *Items) Image(b []byte, item types.DataType) []byte {
	b = s.sketch.Image(b, formOf(item).write)
	return binary.BigEndian.AppendUint64(b, uint64(s.nulls))
}

// ErrItems is the error of what is no sketch of items.
var ErrItems = errors.New("topitems: the bytes are no sketch of items of this type")

// Parse reads an image.
func Parse(image []byte, item types.DataType) (*Items, error) {
	n := len(image) - 8
	if n < 0 {
		return nil, ErrItems
	}
	sketch, err := frequent.Parse(image[:n], formOf(item).read)
	if err != nil {
		return nil, err
	}
	s := &Items{sketch: sketch, nulls: int64(binary.BigEndian.Uint64(image[n:]))}
	if s.nulls < 0 {
		return nil, ErrItems
	}
	return s, nil
}

// form is how the items of a type stand in an image.
type form interface {
	write(b []byte, items []frequent.Item) []byte
	read(b []byte, n int) ([]frequent.Item, error)
}

func formOf(t types.DataType) form {
	switch d := t.(type) {
	case types.BooleanType:
		return flags{t}
	case types.ByteType:
		return numbers{t, 1, 1, 2}
	case types.ShortType:
		return numbers{t, 2, 2, 3}
	case types.IntegerType, types.DateType:
		return numbers{t, 4, 4, 9}
	case types.FloatType:
		return numbers{t, 4, 4, 6}
	case types.StringType:
		return sized{t, func(key string) []byte { return []byte(key) }, func(b []byte) ([]byte, bool) { return b, true }}
	case types.DecimalType:
		switch {
		case d.Precision <= 9:
			return numbers{t, 4, 8, 9}
		case d.Precision > 18:
			return sized{t, largeBytes, largeKey}
		}
	}
	return numbers{t, 8, 8, 0}
}

func item(t types.DataType, key []byte) frequent.Item {
	return frequent.Item{Key: string(key), Hash: itemHash(t, key)}
}

// flags are booleans, eight in a byte.
type flags struct{ t types.DataType }

func (flags) write(b []byte, items []frequent.Item) []byte {
	for chunk := range slices.Chunk(items, 8) {
		bits := byte(0)
		for i, it := range chunk {
			bits |= it.Key[0] << i
		}
		b = append(b, bits)
	}
	return b
}

func (f flags) read(b []byte, n int) ([]frequent.Item, error) {
	if len(b) < (n+7)/8 {
		return nil, ErrItems
	}
	out := make([]frequent.Item, n)
	for i := range out {
		out[i] = item(f.t, []byte{b[i/8] >> (i % 8) & 1})
	}
	return out, nil
}

// numbers have so many bytes each, as many as their key or the lower ones of it, behind a byte that names their class in Java unless all
// numbers are of one.
type numbers struct {
	t          types.DataType
	width, key int
	class      byte
}

func (f numbers) write(b []byte, items []frequent.Item) []byte {
	for _, it := range items {
		if f.class != 0 {
			b = append(b, f.class)
		}
		b = append(b, it.Key[:f.width]...)
	}
	return b
}

func (f numbers) read(b []byte, n int) ([]frequent.Item, error) {
	each := f.width
	if f.class != 0 {
		each++
	}
	if len(b) < n*each {
		return nil, ErrItems
	}
	out := make([]frequent.Item, n)
	for i := range out {
		one := b[i*each:][:each]
		if f.class != 0 {
			if one[0] != f.class {
				return nil, ErrItems
			}
			one = one[1:]
		}
		if f.key > f.width {
			one = binary.LittleEndian.AppendUint64(nil, uint64(whole(one)))
		}
		out[i] = item(f.t, one)
	}
	return out, nil
}

// sized are items of any length, each behind its own. key is not ok where bytes are no item.
type sized struct {
	t     types.DataType
	bytes func(key string) []byte
	key   func(b []byte) (key []byte, ok bool)
}

func (f sized) write(b []byte, items []frequent.Item) []byte {
	for _, it := range items {
		p := f.bytes(it.Key)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(p))), p...)
	}
	return b
}

func (f sized) read(b []byte, n int) ([]frequent.Item, error) {
	out := make([]frequent.Item, n)
	for i := range out {
		if len(b) < 4 {
			return nil, ErrItems
		}
		length := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(length) > uint64(len(b)) {
			return nil, ErrItems
		}
		key, ok := f.key(b[:length])
		if !ok {
			return nil, ErrItems
		}
		out[i], b = item(f.t, key), b[length:]
	}
	return out, nil
}

// largeBytes are the bytes of a decimal of more than 18 digits: the fewest that hold its number, the highest first.
func largeBytes(key string) []byte { return vec.MinimalBytes(vec.Int128(int128([]byte(key)))) }

func largeKey(b []byte) ([]byte, bool) {
	if len(b) == 0 || len(b) > 16 {
		return nil, false
	}
	x := decimal.Int{}
	if int8(b[0]) < 0 {
		x = decimal.FromInt64(-1)
	}
	for _, c := range b {
		x.Hi, x.Lo = x.Hi<<8|int64(x.Lo>>56), x.Lo<<8|uint64(c)
	}
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, x.Lo), uint64(x.Hi)), true
}
