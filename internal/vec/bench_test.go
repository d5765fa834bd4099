package vec

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/types"
)

func benchLongs(n int) *Vector {
	v := NewFixed(types.Long, n)
	for i := range Fixed[int64](v) {
		Fixed[int64](v)[i] = int64(HashUint64(uint64(i)) % 100_000)
	}
	return v
}

func benchStrings(n int) *Vector {
	b := NewBuilder(types.String)
	for i := range n {
		b.AppendString(fmt.Sprintf("user-%012d", HashUint64(uint64(i))%100_000))
	}
	return b.Finish()
}

func withNulls(v *Vector) *Vector {
	c := v.WithType(v.typ)
	c.valid = NewBitmapSet(v.n)
	for i := 0; i < v.n; i += 7 {
		c.valid.Clear(i)
	}
	return c
}

// perRow reports the time for one row of batches of BatchRows rows.
func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func BenchmarkTake(b *testing.B) {
	idx := make([]uint32, BatchRows/2)
	for i := range idx {
		idx[i] = uint32(2 * i)
	}
	longs, strings := benchLongs(BatchRows), benchStrings(BatchRows)
	for name, v := range map[string]*Vector{"long": longs, "string": strings, "long nulls": withNulls(longs)} {
		b.Run(name, func(b *testing.B) {
			var dst Vector
			b.ReportAllocs()
			for b.Loop() {
				Take(v, idx, &dst)
			}
			perRow(b, len(idx))
		})
	}
}

func BenchmarkConcat(b *testing.B) {
	longs, strings := benchLongs(BatchRows), benchStrings(BatchRows)
	for name, v := range map[string]*Vector{"long": longs, "string": strings, "string nulls": withNulls(strings)} {
		b.Run(name, func(b *testing.B) {
			vs := []*Vector{v, v, v, v}
			b.ReportAllocs()
			for b.Loop() {
				Concat(vs)
			}
			perRow(b, 4*BatchRows)
		})
	}
}

func BenchmarkOwn(b *testing.B) {
	v := withNulls(benchStrings(BatchRows))
	v.SetBorrowed(true)
	b.ReportAllocs()
	for b.Loop() {
		v.Own()
	}
	perRow(b, BatchRows)
}

func BenchmarkBuilder(b *testing.B) {
	b.Run("long", func(b *testing.B) {
		bld := NewBuilder(types.Long)
		for b.Loop() {
			for i := range BatchRows {
				bld.AppendInt64(int64(i))
			}
			bld.Finish()
		}
		perRow(b, BatchRows)
	})
	b.Run("string", func(b *testing.B) {
		bld := NewBuilder(types.String)
		text := []byte("a string of some bytes")
		for b.Loop() {
			for range BatchRows {
				bld.AppendBytes(text)
			}
			bld.Finish()
		}
		perRow(b, BatchRows)
	})
	b.Run("struct", func(b *testing.B) {
		bld := NewBuilder(types.Struct(types.NewField("a", types.Long), types.NewField("b", types.String)))
		x, y := bld.Child(0), bld.Child(1)
		text := []byte("a string of some bytes")
		for b.Loop() {
			for i := range BatchRows {
				if i&7 == 0 {
					x.AppendNull()
				} else {
					x.AppendInt64(int64(i))
				}
				y.AppendBytes(text)
				bld.AppendStruct(true)
			}
			bld.Finish()
		}
		perRow(b, BatchRows)
	})
}

func BenchmarkHash(b *testing.B) {
	longs, strings := benchLongs(BatchRows), benchStrings(BatchRows)
	for _, c := range []struct {
		name string
		cols []*Vector
	}{{"long", []*Vector{longs}}, {"string", []*Vector{strings}}, {"long+string", []*Vector{longs, strings}}} {
		b.Run(c.name, func(b *testing.B) {
			var dst []uint32
			for b.Loop() {
				dst = PartitionHash(c.cols, BatchRows, dst)
			}
			perRow(b, BatchRows)
		})
	}
}

func BenchmarkKeys(b *testing.B) {
	longs, strings := benchLongs(BatchRows), benchStrings(BatchRows)
	for _, c := range []struct {
		name string
		cols []*Vector
	}{{"long", []*Vector{longs}}, {"string", []*Vector{strings}}, {"long+long", []*Vector{longs, longs}}, {"long+string", []*Vector{longs, strings}}} {
		b.Run(c.name, func(b *testing.B) {
			var k KeyBuffer
			b.ReportAllocs()
			for b.Loop() {
				EncodeKeys(c.cols, BatchRows, &k)
			}
			perRow(b, BatchRows)
		})
	}
}

func BenchmarkSort(b *testing.B) {
	const n = 100_000
	longs, strings := benchLongs(n), benchStrings(n)
	for _, c := range []struct {
		name string
		cols []*Vector
	}{{"long", []*Vector{longs}}, {"string", []*Vector{strings}}, {"long+string", []*Vector{longs, strings}}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				SortIndex(c.cols, nil, n)
			}
			perRow(b, n)
		})
	}
}

func BenchmarkToArrow(b *testing.B) {
	v := withNulls(benchStrings(BatchRows))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ToArrowArray(v, arrow.BinaryTypes.String); err != nil {
			b.Fatal(err)
		}
	}
	perRow(b, BatchRows)
}

func BenchmarkFromArrow(b *testing.B) {
	a, err := ToArrowArray(withNulls(benchStrings(BatchRows)), arrow.BinaryTypes.String)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FromArrowArray(a, types.String); err != nil {
			b.Fatal(err)
		}
	}
	perRow(b, BatchRows)
}
