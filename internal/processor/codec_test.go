package processor

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/types"
)

type inner struct {
	S string
	P *int32
	M map[string][]float64
}

type everything struct {
	B    bool
	I8   int8
	I16  int16
	I32  int32
	I64  int64
	I    int
	U8   uint8
	U16  uint16
	U32  uint32
	U64  uint64
	F32  float32
	F64  float64
	S    string
	Bs   []byte
	T    time.Time
	D    time.Duration
	Days types.Days
	Iv   types.Interval
	Dec  types.Decimal
	L    []inner
	A    [2]int16
	Big  *big.Int
	N    *inner
	//lint:ignore U1000 fields that are not exported are passed over
	skip int
}

func drawInner(t *rapid.T) inner {
	v := inner{S: rapid.String().Draw(t, "s")}
	if rapid.Bool().Draw(t, "p") {
		n := rapid.Int32().Draw(t, "n")
		v.P = &n
	}
	if rapid.Bool().Draw(t, "m") {
		v.M = rapid.MapOf(rapid.String(), rapid.SliceOfN(rapid.Float64(), 1, 3)).Draw(t, "map")
	}
	return v
}

func draw(t *rapid.T) everything {
	v := everything{
		B: rapid.Bool().Draw(t, "b"), I8: rapid.Int8().Draw(t, "i8"), I16: rapid.Int16().Draw(t, "i16"), I32: rapid.Int32().Draw(t, "i32"),
		I64: rapid.Int64().Draw(t, "i64"), I: rapid.Int().Draw(t, "i"), U8: rapid.Uint8().Draw(t, "u8"), U16: rapid.Uint16().Draw(t, "u16"),
		U32: rapid.Uint32().Draw(t, "u32"), U64: rapid.Uint64().Draw(t, "u64"), F32: rapid.Float32().Draw(t, "f32"), F64: rapid.Float64().Draw(t, "f64"),
		S: rapid.String().Draw(t, "s"), T: time.UnixMicro(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "t")).UTC(),
		D:    time.Duration(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "d")) * time.Microsecond,
		Days: types.Days(rapid.Int32().Draw(t, "days")),
		Iv:   types.Interval{Months: rapid.Int32().Draw(t, "months"), Days: rapid.Int32().Draw(t, "idays"), Micros: rapid.Int64().Draw(t, "micros")},
		A:    [2]int16{rapid.Int16().Draw(t, "a0"), rapid.Int16().Draw(t, "a1")},
	}
	v.Dec, _ = types.DecimalFromInt64(rapid.Int64().Draw(t, "dec"), 0).Rescale(types.DecimalSystem)
	if rapid.Bool().Draw(t, "bytes") {
		v.Bs = rapid.SliceOfN(rapid.Byte(), 1, 10).Draw(t, "bs")
	}
	if rapid.Bool().Draw(t, "list") {
		for range rapid.IntRange(1, 3).Draw(t, "len") {
			v.L = append(v.L, drawInner(t))
		}
	}
	if rapid.Bool().Draw(t, "big") {
		v.Big = big.NewInt(rapid.Int64().Draw(t, "bigint"))
	}
	if rapid.Bool().Draw(t, "inner") {
		n := drawInner(t)
		v.N = &n
	}
	return v
}

// What is written is read back, by the codec and, as values of the SQL type, by Read. Equal values have equal bytes.
func TestValuesComeBack(t *testing.T) {
	c, err := CodecFor[everything]()
	if err != nil {
		t.Fatal(err)
	}
	schema := c.Type.(types.StructType)
	rapid.Check(t, func(t *rapid.T) {
		v := draw(t)
		b, err := Append(c, nil, &v)
		if err != nil {
			t.Fatal(err)
		}
		var back everything
		if err := Decode(c, b, &back); err != nil {
			t.Fatal(err)
		}
		opts := []gocmp.Option{
			gocmp.AllowUnexported(everything{}), gocmp.Transformer("entries", entries), gocmp.Comparer(func(a, b types.Decimal) bool { return a == b }),
			gocmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
		}
		if d := gocmp.Diff(v, back, opts...); d != "" {
			t.Fatal(d)
		}
		again, err := Append(c, nil, &back)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("other bytes the second time: %x, %x, %v", b, again, err)
		}
		read, rest, err := Read(b, c.Type, c.Nullable)
		if err != nil || len(rest) > 0 {
			t.Fatalf("Read: %v, %d bytes left", err, len(rest))
		}
		want, err := types.ToRow(v, schema)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range want {
			if b, ok := x.([]byte); ok && b == nil {
				want[i] = nil // which ToRow leaves as it is
			}
		}
		if d := gocmp.Diff(any(want), read, opts...); d != "" {
			t.Fatal(d)
		}
	})
}

// entries are those of a map, whose order ToRow and the codec see differently.
func entries(m types.MapValue) map[any]any {
	out := map[any]any{}
	for _, e := range m {
		out[e.Key] = e.Value
	}
	return out
}

type key struct {
	S string
	N *int64
	F float64
	L []string
	T time.Time
}

func compareNil[T any](a, b *T, c func(x, y T) int) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	}
	return c(*a, *b)
}

func (k key) compare(o key) int {
	return cmp.Or(strings.Compare(k.S, o.S), compareNil(k.N, o.N, cmp.Compare[int64]), cmp.Compare(k.F, o.F), slices.Compare(k.L, o.L), k.T.Compare(o.T))
}

// Bytes of keys are in the order of the keys, no key's bytes begin with those of another, and they are read back.
func TestKeysAreInOrder(t *testing.T) {
	c, err := KeyCodecFor[key]()
	if err != nil {
		t.Fatal(err)
	}
	gen := rapid.Custom(func(t *rapid.T) key {
		k := key{
			S: rapid.StringOf(rapid.RuneFrom([]rune{0, 1, 'a', 'b', 255})).Draw(t, "s"), F: rapid.SampledFrom([]float64{math.Inf(-1), -1.5, 0, 2, 1e300}).Draw(t, "f"),
			L: []string{}, T: time.UnixMicro(rapid.Int64Range(-10, 10).Draw(t, "t")).UTC(),
		}
		if rapid.Bool().Draw(t, "n") {
			n := rapid.Int64Range(-3, 3).Draw(t, "int")
			k.N = &n
		}
		for range rapid.IntRange(0, 2).Draw(t, "l") {
			k.L = append(k.L, rapid.SampledFrom([]string{"", "\x00", "a", "ab"}).Draw(t, "e"))
		}
		return k
	})
	rapid.Check(t, func(t *rapid.T) {
		x, y := gen.Draw(t, "x"), gen.Draw(t, "y")
		bx, err := Append(c, nil, &x)
		if err != nil {
			t.Fatal(err)
		}
		by, err := Append(c, nil, &y)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Compare(bx, by) != x.compare(y) {
			t.Fatalf("%v and %v compare as %d, their bytes as %d", x, y, x.compare(y), bytes.Compare(bx, by))
		}
		if x.compare(y) != 0 && bytes.HasPrefix(by, bx) {
			t.Fatalf("%x begins with %x", by, bx)
		}
		var back key
		if err := Decode(c, bx, &back); err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(x, back); d != "" {
			t.Fatal(d)
		}
		// AppendKey writes the same for the values in the form of package types.
		row, err := types.ToRow(x, c.Type.(types.StructType))
		if err != nil {
			t.Fatal(err)
		}
		if b, err := AppendKey(nil, row, c.Type, c.Nullable); err != nil || !bytes.Equal(b, bx) {
			t.Fatalf("AppendKey gives %x, the codec %x (%v)", b, bx, err)
		}
		v, rest, err := ReadKey(bx, c.Type, c.Nullable)
		if err != nil || len(rest) > 0 {
			t.Fatalf("ReadKey: %v, %d bytes left", err, len(rest))
		}
		if d := gocmp.Diff(any(row), v); d != "" {
			t.Fatal(d)
		}
	})
}

func TestTypesWithoutCodec(t *testing.T) {
	if _, err := CodecFor[chan int](); err == nil {
		t.Error("a channel has a codec")
	}
	if _, err := KeyCodecFor[map[string]int](); err == nil {
		t.Error("a map has a codec for keys")
	}
	type list struct{ Next *list }
	if _, err := CodecFor[list](); err == nil {
		t.Error("a type that holds itself has a codec")
	}
}

// Damaged bytes are an error, never a panic or a huge allocation.
func FuzzDecode(f *testing.F) {
	c, err := CodecFor[everything]()
	if err != nil {
		f.Fatal(err)
	}
	k, err := KeyCodecFor[key]()
	if err != nil {
		f.Fatal(err)
	}
	var v everything
	b, err := Append(c, nil, &v)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, b []byte) {
		var v everything
		var x key
		_ = Decode(c, b, &v)
		_ = Decode(k, b, &x)
		_, _, _ = Read(b, c.Type, true)
		_, _, _ = ReadKey(b, k.Type, true)
	})
}
