package parquetfile

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Runs and bit-packed groups are read back, however runs lie in the values.
func TestHybridReadsBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		width := uint(rapid.IntRange(1, 32).Draw(rt, "width"))
		var want []uint32
		for range rapid.IntRange(0, 8).Draw(rt, "runs") {
			x := uint32(rapid.Uint64Range(0, 1<<width-1).Draw(rt, "value"))
			for range rapid.IntRange(1, 30).Draw(rt, "length") {
				want = append(want, x)
			}
			for range rapid.IntRange(0, 10).Draw(rt, "others") {
				want = append(want, uint32(rapid.Uint64Range(0, 1<<width-1).Draw(rt, "other")))
			}
		}
		h := newHybrid(appendHybrid(nil, want, width), width)
		got := make([]uint32, len(want))
		if err := h.read(got); err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" && len(want) > 0 {
			rt.Fatal(d)
		}
	})
}

func TestHybridForms(t *testing.T) {
	for name, c := range map[string]struct {
		in   []uint8
		want []byte
	}{
		"run":              {bytes.Repeat([]byte{1}, 100), []byte{200, 1, 1}},
		"packed":           {[]uint8{1, 0, 1, 1, 0, 0, 0, 1}, []byte{3, 0b10001101}},
		"part of a group":  {[]uint8{1, 0, 1}, []byte{3, 0b101}},
		"a run too short":  {[]uint8{0, 1, 1, 1, 1, 1, 1, 1, 1}, []byte{5, 0b11111110, 1}},
		"a run gives some": {append([]uint8{0}, bytes.Repeat([]byte{1}, 20)...), []byte{3, 0b11111110, 26, 1}},
	} {
		if got := appendHybrid(nil, c.in, 1); !bytes.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func writeFile(t *testing.T, s types.StructType, batches ...*vec.Batch) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := newWriter(out, s, codecs["snappy"], groupBytes, writeCalendars{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// The bounds of columns are those of their values in the order of the type; there are none where the order does not hold for all.
func TestBounds(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), maxBound+1))
	for name, c := range map[string]struct {
		typ       types.DataType
		values    []any
		low, high []byte
		nulls     int64
	}{
		"int":        {types.Integer, []any{int32(-2), nil, int32(5)}, []byte{0xFE, 0xFF, 0xFF, 0xFF}, []byte{5, 0, 0, 0}, 1},
		"tinyint":    {types.Byte, []any{int8(-1), int8(1)}, []byte{0xFF, 0xFF, 0xFF, 0xFF}, []byte{1, 0, 0, 0}, 0},
		"zeros":      {types.Double, []any{0.0, 0.0}, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, make([]byte, 8), 0},
		"minus zero": {types.Float, []any{float32(math.Copysign(0, -1))}, []byte{0, 0, 0, 0x80}, make([]byte, 4), 0},
		"NaN":        {types.Double, []any{1.0, math.NaN(), 2.0}, nil, nil, 0},
		"booleans":   {types.Boolean, []any{true, nil, true}, []byte{1}, []byte{1}, 1},
		"strings":    {types.String, []any{"é", "z", "Z"}, []byte("Z"), []byte("é"), 0},
		"empty":      {types.String, []any{"", "a"}, []byte{}, []byte("a"), 0},
		"long":       {types.String, []any{"a", long}, nil, nil, 0},
		"no value":   {types.String, []any{nil, nil}, nil, nil, 2},
		"decimals": {
			types.DecimalType{Precision: 20},
			[]any{mustDecimal(t, "-1"), mustDecimal(t, "1")},
			bytes.Repeat([]byte{0xFF}, 9),
			[]byte{0, 0, 0, 0, 0, 0, 0, 0, 1},
			0,
		},
	} {
		s := types.Struct(types.NewField("c", c.typ))
		var rows []types.Row
		for _, v := range c.values {
			rows = append(rows, types.Row{v})
		}
		r, err := file.OpenParquetFile(writeFile(t, s, batchOf(t, s, rows)), false)
		if err != nil {
			t.Fatal(err)
		}
		col, err := r.MetaData().RowGroup(0).ColumnChunk(0)
		if err != nil {
			t.Fatal(err)
		}
		st, err := col.Statistics()
		if err != nil {
			t.Fatal(err)
		}
		if st.NullCount() != c.nulls || st.HasMinMax() != (c.low != nil) {
			t.Errorf("%s: %d nulls, bounds %t", name, st.NullCount(), st.HasMinMax())
		} else if c.low != nil && (!bytes.Equal(st.EncodeMin(), c.low) || !bytes.Equal(st.EncodeMax(), c.high)) {
			t.Errorf("%s: from %v to %v", name, st.EncodeMin(), st.EncodeMax())
		}
		r.Close()
	}
}

func mustDecimal(t *testing.T, s string) types.Decimal {
	d, ok := types.ParseDecimal(s)
	if !ok {
		t.Fatal(s)
	}
	return d
}

// A dictionary that grows too large is given up within the row group; what was written with it stays.
func TestDictionaryGivenUp(t *testing.T) {
	s := types.Struct(types.NewField("s", types.String), types.NewField("l", types.Long), types.NewField("t", types.Boolean))
	const n = 3 * pageEntries / 2
	var batches []*vec.Batch
	for at := 0; at < n; at += vec.BatchRows {
		bs := vec.NewBuilders(s)
		for i := at; i < at+vec.BatchRows; i++ {
			bs[0].AppendString(fmt.Sprintf("value %d", i))
			if i%5 == 0 {
				bs[1].AppendNull()
			} else if i < vec.BatchRows {
				bs[1].AppendInt64(1) // looks as if values repeat
			} else {
				bs[1].AppendInt64(int64(i) << 20)
			}
			bs[2].AppendBool(i%3 == 0)
		}
		batches = append(batches, vec.NewBatch(vec.BatchRows, bs[0].Finish(), bs[1].Finish(), bs[2].Finish()))
	}
	path := writeFile(t, s, batches...)
	var want [][]string
	for _, b := range batches {
		want = append(want, cells(b)...)
	}
	got, err := read(t, whole(fileOf(t, path)), s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if i >= len(got) || !cmp.Equal(want[i], got[i]) {
			t.Fatalf("row %d of %d: want %v", i, len(got), want[i])
		}
	}
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 2 {
		kinds := map[string]int{}
		pages, err := r.RowGroup(0).GetColumnPageReader(i)
		if err != nil {
			t.Fatal(err)
		}
		for pages.Next() {
			kinds[fmt.Sprintf("%T %v", pages.Page(), pages.Page().Encoding())]++
		}
		if len(kinds) != 3 {
			t.Errorf("column %d: %v", i, kinds)
		}
	}
}
