package agg

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/sketch/frequent"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func frequentFunctions() []*Function {
	return []*Function{{Name: "approx_top_k", Bind: bindApproxTopK}}
}

const (
	defaultTop     = 5
	defaultTracked = 10000
	maxTracked     = 1_000_000
)

// topItems are the most frequent values of a group. Nulls are counted by themselves.
type topItems struct {
	sketch *frequent.Sketch
	nulls  int64
}

// bindApproxTopK binds approx_top_k(value[, k[, tracked]]).
func bindApproxTopK(b *Binding) (*Bound, error) {
	c := b.call()
	if err := c.Arity(1, 3); err != nil {
		return nil, err
	}
	casts, err := c.Accept(fn.AnyType, fn.CastTo(types.Integer))
	if err != nil {
		return nil, err
	}
	wrong := func(msg string) error {
		return errclass.New("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT", "sqlExpr", c.SQL(), "msg", msg, "hint", "")
	}
	t := b.Args[0].Type
	if !countable(t) {
		return nil, wrong(strings.ToLower(t.SQL()) + " columns are not supported")
	}
	k, tracked := int64(defaultTop), int64(defaultTracked)
	for i, a := range b.Args[1:] {
		name, value, constant := "k", &k, "K must be a constant literal"
		if i == 1 {
			name, value, constant = "maxItemsTracked", &tracked, "Number of items tracked must be a constant literal"
		}
		if a.Const == nil {
			return nil, wrong(constant)
		}
		if a.Const.IsNull(0) {
			return nil, errclass.New("APPROX_TOP_K_NULL_ARG", "argName", "`"+name+"`")
		}
		n, ok := fn.ConstLong(a)
		if ok && n <= 0 {
			return nil, errclass.New("APPROX_TOP_K_NON_POSITIVE_ARG", "argName", "`"+name+"`", "argValue", strconv.FormatInt(n, 10))
		}
		if *value = n; !ok {
			*value = 1 // its cast fails
		}
	}
	switch {
	case tracked > maxTracked:
		return nil, errclass.New("APPROX_TOP_K_MAX_ITEMS_TRACKED_EXCEEDS_LIMIT", "maxItemsTracked", strconv.FormatInt(tracked, 10),
			"limit", strconv.Itoa(maxTracked))
	case tracked < k:
		return nil, errclass.New("APPROX_TOP_K_MAX_ITEMS_TRACKED_LESS_THAN_K", "maxItemsTracked", strconv.FormatInt(tracked, 10),
			"k", strconv.FormatInt(k, 10))
	}
	return topKind(t, int(k), frequent.Slots(int(tracked))).bound(casts, false), nil
}

func topKind(t types.DataType, k, slots int) *objectKind[topItems] {
	result := types.ArrayType{Element: types.Struct(types.Field{Name: "item", Type: t, Nullable: true}, types.Field{Name: "count", Type: types.Long})}
	return &objectKind[topItems]{
		result: result,
		fresh:  func() *topItems { return &topItems{sketch: frequent.New(slots)} },
		update: func(_ *expr.Eval, get func(uint32) *topItems, groups []uint32, args []*vec.Vector) {
			v := args[0].Flatten()
			var key []byte
			for i, g := range groups {
				s := get(g)
				if v.IsNull(i) {
					s.nulls++
					continue
				}
				key = appendItem(key[:0], v, i)
				s.sketch.Add(frequent.Item{Key: string(key), Hash: itemHash(t, key), Count: 1})
			}
		},
		merge: func(s *topItems, image []byte) (*topItems, error) {
			if s == nil {
				s = &topItems{sketch: frequent.New(slots)}
			}
			o, err := frequent.Read(image[8:])
			if err != nil {
				return nil, err
			}
			s.sketch.Merge(o)
			s.nulls += int64(binary.LittleEndian.Uint64(image))
			return s, nil
		},
		save: func(b []byte, s *topItems) []byte {
			return s.sketch.Append(binary.LittleEndian.AppendUint64(b, uint64(s.nulls)))
		},
		emit: func(out *vec.Builder, s *topItems) error {
			out.StartList()
			if s != nil {
				s.emit(out.Child(0), k)
			}
			out.EndList()
			return nil
		},
		size: func(s *topItems) int64 { return s.sketch.Bytes() },
	}
}

func (s *topItems) emit(out *vec.Builder, k int) {
	items := s.sketch.Top()
	null := -1
	if s.nulls > 0 { // behind those that are as frequent
		if null = slices.IndexFunc(items, func(it frequent.Item) bool { return it.Count < s.nulls }); null < 0 {
			null = len(items)
		}
		items = slices.Insert(items, null, frequent.Item{Count: s.nulls})
	}
	for i, it := range items[:min(k, len(items))] {
		if i == null {
			out.Child(0).AppendNull()
		} else {
			appendKey(out.Child(0), it.Key)
		}
		out.Child(1).AppendInt64(it.Count)
		out.AppendStruct(true)
	}
}

// countable are the types whose values are counted.
func countable(t types.DataType) bool {
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
