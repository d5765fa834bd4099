package vec

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec/valuetest"
	"github.com/millrace/millrace/types"
)

// floatEdges are values whose bits differ where they are equal, or the other way round.
var floatEdges = []any{
	math.Copysign(0, -1), 0.0, math.NaN(), math.Float64frombits(0xfff8000000000001), math.Inf(1), math.Inf(-1), 1.5, -1.5,
	math.MaxFloat64, math.SmallestNonzeroFloat64, nil,
}

func drawKeyVector(t *rapid.T, n int) *Vector {
	if rapid.IntRange(0, 4).Draw(t, "floats") == 0 {
		rows := make([]any, n)
		for i := range rows {
			rows[i] = rapid.SampledFrom(floatEdges).Draw(t, "float")
		}
		v, err := FromValues(types.Double, rows...)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v, _ := drawVector(t, valuetest.Type(t, 2), n)
	return v
}

func sign(x int) int { return max(-1, min(1, x)) }

// compareRows is the model of an ordering.
func compareRows(cols []*Vector, orders []Order, i, j int) int {
	for c, v := range cols {
		o := Order{}
		if c < len(orders) {
			o = orders[c]
		}
		in, jn := v.IsNull(i), v.IsNull(j)
		if in != jn {
			if in != o.NullsLast {
				return -1
			}
			return 1
		}
		if r := Compare(v, i, v, j); r != 0 {
			if o.Desc {
				return -r
			}
			return r
		}
	}
	return 0
}

// Keys and hashes agree with Compare.
func TestKeysCompareAsRows(t *testing.T) {
	var k KeyBuffer
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		var cols []*Vector
		var orders []Order
		for range rapid.IntRange(1, 3).Draw(t, "cols") {
			cols = append(cols, drawKeyVector(t, n))
			orders = append(orders, Order{rapid.Bool().Draw(t, "desc"), rapid.Bool().Draw(t, "last")})
		}
		if rapid.Bool().Draw(t, "plain") {
			orders = nil
		}
		EncodeSortKeys(cols, orders, n, &k)
		if k.Len() != n {
			t.Fatalf("%d keys for %d rows", k.Len(), n)
		}
		parts := PartitionHash(cols, n, nil)
		for i := range n {
			for j := range n {
				want := compareRows(cols, orders, i, j)
				if got := bytes.Compare(k.Key(i), k.Key(j)); got != want {
					t.Fatalf("keys %x and %x of rows %v and %v compare %d, want %d", k.Key(i), k.Key(j),
						RowAt(&Batch{Cols: cols}, i), RowAt(&Batch{Cols: cols}, j), got, want)
				}
				if want == 0 && parts[i] != parts[j] && !hasMap(cols) {
					t.Fatalf("equal rows %v have different partition hashes", RowAt(&Batch{Cols: cols}, i))
				}
			}
		}
	})
}

func hasMap(cols []*Vector) bool {
	return slices.ContainsFunc(cols, func(v *Vector) bool {
		return types.Contains(v.Type(), func(t types.DataType) bool { _, ok := t.(types.MapType); return ok })
	})
}

// Whatever the encoding, a row has one key and one hash.
func TestEncodingDoesNotShow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawLen(t)
		dt := valuetest.Type(t, 2)
		v, rows := drawVector(t, dt, n)
		flat := mustFrom(t, dt, rows)
		other := mustFrom(t, types.Long, valuetest.Rows(t, types.Long, n))
		for _, pair := range [][2][]*Vector{{{v}, {flat}}, {{other, v}, {other, flat}}} {
			var a, b KeyBuffer
			EncodeKeys(pair[0], n, &a)
			EncodeKeys(pair[1], n, &b)
			if !bytes.Equal(a.Data, b.Data) || !slices.Equal(a.Ends, b.Ends) {
				t.Fatalf("keys differ: %x and %x", a.Data, b.Data)
			}
			if !slices.Equal(PartitionHash(pair[0], n, nil), PartitionHash(pair[1], n, nil)) {
				t.Fatalf("partition hashes differ")
			}
		}
	})
}

func TestSortIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{0, 1, 5, 20, 300}).Draw(t, "n")
		var cols []*Vector
		var orders []Order
		for range rapid.IntRange(1, 2).Draw(t, "cols") {
			cols = append(cols, drawKeyVector(t, n))
			orders = append(orders, Order{rapid.Bool().Draw(t, "desc"), rapid.Bool().Draw(t, "last")})
		}
		want := make([]uint32, n)
		for i := range want {
			want[i] = uint32(i)
		}
		slices.SortStableFunc(want, func(i, j uint32) int { return compareRows(cols, orders, int(i), int(j)) })
		if got := SortIndex(cols, orders, n); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestSortLongCommonPrefix(t *testing.T) {
	b := NewBuilder(types.String)
	const n = 1000
	for i := range n {
		b.AppendString("a prefix that is common to all of the keys " + string(rune('a'+i*7%26)))
	}
	v := b.Finish()
	idx := SortIndex([]*Vector{v}, []Order{{Desc: true}}, n)
	for i := 1; i < n; i++ {
		c := sign(Compare(v, int(idx[i-1]), v, int(idx[i])))
		if c < 0 || c == 0 && idx[i-1] > idx[i] {
			t.Fatalf("rows %d and %d are in the wrong order", idx[i-1], idx[i])
		}
	}
}
