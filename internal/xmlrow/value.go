package xmlrow

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/decimal"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// value is a value that was read. Later ones may take its place, so values go to the columns only when a record has been read whole.
type value struct {
	set  bool // false is null
	num  int64
	dec  decimal.Int
	f    float64
	text string
	kids []value
	keys []string // of a map
}

// misfit is a text that is no value of its type.
type misfit struct {
	text string
	typ  types.DataType
}

func (m *misfit) Error() string { return "`" + m.text + "` is no " + m.typ.SQL() }

// convert reads the text of a value.
func (r *Reader) convert(text string, c *conv) (value, error) {
	if r.opts.IgnoreSpaces {
		text = strings.TrimSpace(text)
	}
	if r.opts.HasNullValue && text == r.opts.NullValue {
		return value{}, nil
	}
	if types.IsString(c.typ) {
		return value{set: true, text: text}, nil
	}
	if text == "" {
		return value{}, nil
	}
	v, ok := r.scalar(text, c.typ)
	if !ok {
		return value{}, &misfit{text, c.typ}
	}
	v.set = true
	return v, nil
}

func (r *Reader) scalar(text string, t types.DataType) (v value, ok bool) {
	switch t := t.(type) {
	case types.BooleanType:
		switch strings.ToLower(text) {
		case "true", "1":
			v.num = 1
			return v, true
		case "false", "0":
			return v, true
		}
	case types.ByteType:
		return whole(text, 8)
	case types.ShortType:
		return whole(text, 16)
	case types.IntegerType:
		return whole(text, 32)
	case types.LongType:
		return whole(text, 64)
	case types.FloatType:
		v.f, ok = float(text, 32)
		return v, ok
	case types.DoubleType:
		v.f, ok = float(text, 64)
		return v, ok
	case types.DecimalType:
		var st decimal.Status
		v.dec, st = decimal.Parse([]byte(strings.ReplaceAll(text, ",", "")), t.Precision, t.Scale)
		return v, st == decimal.OK
	case types.BinaryType:
		b, err := hex.DecodeString(text)
		return value{text: string(b)}, err == nil
	case types.DateType:
		d, ok := r.times.Date([]byte(text))
		return value{num: int64(d)}, ok && !strings.ContainsAny(text, " T:") || ok && r.opts.DateFormat != ""
	case types.TimestampType:
		v.num, ok = r.times.Timestamp([]byte(text))
		return v, ok
	case types.TimestampNTZType:
		v.num, ok = r.times.TimestampNTZ([]byte(text))
		if parsed, fits := datetime.ParseText([]byte(text)); ok && fits && r.opts.TimestampNTZFormat == "" {
			ok = !parsed.HasZone
		}
		return v, ok
	}
	return v, false
}

func whole(text string, bits int) (v value, ok bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 10, bits)
	return value{num: n}, err == nil
}

// float reads a number as Java does, and one with something else behind it, or commas between its digits, as far as it goes.
func float(text string, bits int) (float64, bool) {
	if f, ok := javaFloat(text, bits); ok {
		return f, true
	}
	n := strings.IndexFunc(text, func(c rune) bool { return (c < '0' || c > '9') && c != '.' && c != ',' && c != '-' })
	if n < 0 {
		n = len(text)
	}
	if n > 1 {
		if k := strings.IndexByte(text[1:n], '-'); k >= 0 {
			n = 1 + k
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(text[:n], ",", ""), bits)
	return f, err == nil
}

// javaFloat reads a number with an optional suffix of d or f.
func javaFloat(text string, bits int) (float64, bool) {
	switch text {
	case "NaN":
		return math.NaN(), true
	case "Infinity", "+Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	t := strings.TrimRight(text, "dDfF")
	if len(text)-len(t) > 1 || t == "" || strings.ContainsAny(t, "xXnNiI_pP") {
		return 0, false
	}
	f, err := strconv.ParseFloat(t, bits)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// store appends a value to a column of its type.
func store(b *vec.Builder, c *conv, v *value) {
	if !v.set {
		b.AppendNull()
		return
	}
	switch b.Type().(type) {
	case types.ArrayType:
		b.StartList()
		for i := range v.kids {
			store(b.Child(0), c.elem, &v.kids[i])
		}
		b.EndList()
		return
	case types.MapType:
		b.StartList()
		for i := range v.kids {
			b.Child(0).AppendString(v.keys[i])
			store(b.Child(1), c.elem, &v.kids[i])
		}
		b.EndList()
		return
	case types.StructType:
		for i := range c.fields {
			var null value
			k := &null
			if i < len(v.kids) {
				k = &v.kids[i]
			}
			store(b.Child(i), c.fields[i].conv, k)
		}
		b.AppendStruct(true)
		return
	case types.VariantType:
		b.Child(0).AppendString(v.text)
		b.Child(1).AppendString(v.keys[0])
		b.AppendStruct(true)
		return
	case types.FloatType:
		b.AppendFloat32(float32(v.f))
		return
	case types.DoubleType:
		b.AppendFloat64(v.f)
		return
	}
	switch vec.PhysOf(b.Type()) {
	case vec.PhysBool:
		b.AppendBool(v.num != 0)
	case vec.PhysInt8:
		b.AppendInt8(int8(v.num))
	case vec.PhysInt16:
		b.AppendInt16(int16(v.num))
	case vec.PhysInt32:
		b.AppendInt32(int32(v.num))
	case vec.PhysInt64:
		if _, ok := b.Type().(types.DecimalType); ok {
			b.AppendInt64(int64(v.dec.Lo))
			return
		}
		b.AppendInt64(v.num)
	case vec.PhysInt128:
		b.AppendInt128(v.dec)
	case vec.PhysBytes:
		b.AppendString(v.text)
	default:
		b.AppendNull()
	}
}
