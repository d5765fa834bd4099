package group

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// model is a table as a list of keys, found by comparing texts.
type model struct {
	keys []string // "" for a deleted one
}

func (m *model) find(key string, insert bool) uint32 {
	for i, k := range m.keys {
		if k == key {
			return uint32(i)
		}
	}
	if !insert {
		return None
	}
	m.keys = append(m.keys, key)
	return uint32(len(m.keys) - 1)
}

// text is a row as grouping sees it.
func text(cols []*vec.Vector, i int) string {
	s := "row"
	for _, c := range cols {
		s += fmt.Sprintf("|%v", canonical(vec.ValueAt(c, i)))
	}
	return s
}

func canonical(v any) any {
	switch x := v.(type) {
	case nil:
		return "null"
	case float64:
		if x == 0 {
			return "zero"
		}
		if math.IsNaN(x) {
			return "NaN"
		}
	case string:
		return fmt.Sprintf("%q", x)
	case types.Row:
		s := "{"
		for _, f := range x {
			s += fmt.Sprintf("%v,", canonical(f))
		}
		return s + "}"
	case []any:
		s := "["
		for _, f := range x {
			s += fmt.Sprintf("%v,", canonical(f))
		}
		return s + "]"
	}
	return v
}

var window = types.StructType{Fields: []types.Field{{Name: "start", Type: types.Timestamp, Nullable: true}, {Name: "end", Type: types.Timestamp, Nullable: true}}}

func drawValue(t *rapid.T, dt types.DataType) any {
	if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
		return nil
	}
	n := rapid.IntRange(-3, 3).Draw(t, "n")
	switch dt := dt.(type) {
	case types.LongType:
		return int64(n)
	case types.IntegerType:
		return int32(n)
	case types.ShortType:
		return int16(n)
	case types.ByteType:
		return int8(n)
	case types.FloatType:
		return float32(n) / 2
	case types.DecimalType:
		return types.DecimalFromInt64(int64(n), dt.Scale)
	case types.CalendarIntervalType:
		return types.Interval{Months: int32(n), Days: int32(-n), Micros: int64(n % 2)}
	case types.DateType:
		return types.Days(n)
	case types.BooleanType:
		return n > 0
	case types.DoubleType:
		return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), 1.5}).Draw(t, "f")
	case types.StringType:
		return rapid.SampledFrom([]string{"", "a", "b", "ab", "a longer string than eight bytes"}).Draw(t, "s")
	case types.TimestampType:
		return types.Micros(n)
	case types.ArrayType:
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "len") {
			list = append(list, drawValue(t, dt.Element))
		}
		return list
	case types.StructType:
		r := types.Row{}
		for _, f := range dt.Fields {
			r = append(r, drawValue(t, f.Type))
		}
		return r
	}
	panic("no values for " + dt.SimpleString())
}

var shapes = [][]types.DataType{
	{types.Long},
	{types.Date},
	{types.String},
	{types.Double},
	{window},
	{window, types.String},
	{types.Long, types.Long},
	{types.Short, types.Boolean, types.Float, types.Date},
	{window, types.Long, window},
	{types.DecimalType{Precision: 38, Scale: 2}, types.Byte},
	{types.CalendarIntervalType{}, types.Integer},
	{types.ArrayType{Element: types.String, ContainsNull: true}, types.Boolean},
	{},
}

// Whatever is inserted, looked up and deleted, a table answers as a list of keys does, and gives the keys back.
func TestTableAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keyTypes := rapid.SampledFrom(shapes).Draw(t, "shape")
		table, m := New(keyTypes), &model{}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			n := rapid.IntRange(1, 40).Draw(t, "rows")
			cols := drawColumns(t, keyTypes, n)
			insert := rapid.Bool().Draw(t, "insert")
			before := len(m.keys)
			want := make([]uint32, n)
			for i := range want {
				want[i] = m.find(text(cols, i), insert)
			}
			got := make([]uint32, n)
			fresh := table.Resolve(cols, n, insert, got, nil)
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("insert %t of %v: (-want +got)\n%s", insert, keyTypes, d)
			}
			if len(fresh) != len(m.keys)-before || table.Cap() != len(m.keys) {
				t.Fatalf("%d fresh groups of %d, want %d of %d", len(fresh), table.Cap(), len(m.keys)-before, len(m.keys))
			}
			live := table.Live(nil)
			keys := table.Keys(live)
			for i, g := range live {
				if got := text(keys, i); got != m.keys[g] {
					t.Fatalf("group %d has key %s, want %s", g, got, m.keys[g])
				}
			}
			if len(live) > 0 && rapid.Bool().Draw(t, "delete") {
				gone := live[rapid.IntRange(0, len(live)-1).Draw(t, "first"):]
				gone = gone[:rapid.IntRange(1, len(gone)).Draw(t, "gone")]
				table.Delete(gone)
				for _, g := range gone {
					m.keys[g] = ""
				}
			}
			if rapid.IntRange(0, 3).Draw(t, "compact") == 0 {
				table.Compact()
				m.keys = slices.DeleteFunc(m.keys, func(k string) bool { return k == "" })
			}
		}
	})
}

func drawColumns(t *rapid.T, keyTypes []types.DataType, n int) []*vec.Vector {
	cols := make([]*vec.Vector, len(keyTypes))
	for c, dt := range keyTypes {
		rows := n
		constant := rapid.IntRange(0, 3).Draw(t, "constant") == 0
		if constant {
			rows = 1
		}
		b := vec.NewBuilder(dt)
		for range rows {
			if err := b.AppendValue(drawValue(t, dt)); err != nil {
				t.Fatal(err)
			}
		}
		cols[c] = b.Finish()
		if constant {
			cols[c] = vec.NewConst(cols[c], n)
		}
	}
	return cols
}

// Keys that come and go leave no more behind than a new table of the live ones would hold, up to a constant.
// A caller may ask for the key of a group more than once.
func TestKeysOfRepeatedGroups(t *testing.T) {
	for _, dt := range []types.DataType{types.Long, types.Integer, types.String} {
		table := New([]types.DataType{dt})
		ids := make([]uint32, 1)
		table.Resolve([]*vec.Vector{vec.NewNulls(dt, 1)}, 1, true, ids, nil)
		got := table.Keys([]uint32{ids[0], ids[0], ids[0]})[0]
		for i := range 3 {
			if !got.IsNull(i) {
				t.Errorf("%s: row %d is not null", dt.SQL(), i)
			}
		}
	}
}

func TestArenaIsReclaimed(t *testing.T) {
	table := New([]types.DataType{types.String})
	ids := make([]uint32, 1000)
	for round := range 200 {
		b := vec.NewBuilder(types.String)
		for i := range ids {
			b.AppendString(fmt.Sprintf("key %d of round %d, long enough to matter", i, round))
		}
		table.Resolve([]*vec.Vector{b.Finish()}, len(ids), true, ids, nil)
		table.Delete(ids)
	}
	if arena := cap(table.(*byteTable).arena); arena > 1<<20 {
		t.Errorf("the arena of an empty table has %d bytes", arena)
	}
}

func BenchmarkResolve(b *testing.B) {
	const rows, distinct = 1 << 20, 100_000
	for _, shape := range []struct {
		name string
		typ  []types.DataType
		make func(i int) []any
	}{
		{"long", []types.DataType{types.Long}, func(i int) []any { return []any{int64(i) * 7919} }},
		{"string", []types.DataType{types.String}, func(i int) []any { return []any{fmt.Sprintf("user-%d", i)} }},
		{"three longs", []types.DataType{types.Long, types.Long, types.Timestamp}, func(i int) []any {
			return []any{int64(i % 1000), int64(i) * 7919, types.Micros(i / 3)}
		}},
		{"window+string", []types.DataType{window, types.String}, func(i int) []any {
			return []any{types.Row{types.Micros(i % 24), types.Micros(i%24 + 1)}, fmt.Sprintf("user-%d", i/24)}
		}},
	} {
		var batches [][]*vec.Vector
		for from := 0; from < rows; from += vec.BatchRows {
			cols := make([]*vec.Vector, len(shape.typ))
			for c, t := range shape.typ {
				bld := vec.NewBuilder(t)
				for i := range vec.BatchRows {
					if err := bld.AppendValue(shape.make((from + i) * 31 % distinct)[c]); err != nil {
						b.Fatal(err)
					}
				}
				cols[c] = bld.Finish()
			}
			batches = append(batches, cols)
		}
		b.Run(shape.name, func(b *testing.B) {
			ids := make([]uint32, vec.BatchRows)
			for b.Loop() {
				table := New(shape.typ)
				for _, cols := range batches {
					table.Resolve(cols, vec.BatchRows, true, ids, nil)
				}
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// A serial table answers as the ordinary one does, also when its keys stop coming in order and after deletions.
func TestSerialLikeInts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := NewSerial(), New([]types.DataType{types.Long})
		next := int64(0)
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			n := rapid.IntRange(1, 6).Draw(t, "n")
			keys := vec.NewFixed(types.Long, n)
			orderly := rapid.IntRange(0, 5).Draw(t, "orderly") > 0
			for i := range n {
				next += rapid.Int64Range(1, 3).Draw(t, "step")
				vec.Fixed[int64](keys)[i] = next
				if !orderly || rapid.IntRange(0, 3).Draw(t, "again") == 0 && x.Cap() > 0 {
					vec.Fixed[int64](keys)[i] = rapid.Int64Range(0, next).Draw(t, "key")
				}
			}
			insert := rapid.Bool().Draw(t, "insert")
			a, b := make([]uint32, n), make([]uint32, n)
			fresh := x.Resolve([]*vec.Vector{keys}, n, insert, a, nil)
			if diff := cmp.Diff(y.Resolve([]*vec.Vector{keys}, n, insert, b, nil), fresh); diff != "" {
				t.Fatalf("fresh: %s", diff)
			}
			if diff := cmp.Diff(b, a); diff != "" {
				t.Fatalf("ids: %s", diff)
			}
			live := x.Live(nil)
			if diff := cmp.Diff(y.Live(nil), live); diff != "" || x.Len() != y.Len() || x.Cap() != y.Cap() {
				t.Fatalf("live: %s, %d and %d keys, %d and %d groups", diff, x.Len(), y.Len(), x.Cap(), y.Cap())
			}
			if diff := cmp.Diff(vec.Fixed[int64](y.Keys(live)[0]), vec.Fixed[int64](x.Keys(live)[0])); diff != "" {
				t.Fatalf("keys: %s", diff)
			}
			if len(live) > 0 && rapid.Bool().Draw(t, "delete") {
				gone := live[:rapid.IntRange(1, len(live)).Draw(t, "gone")]
				x.Delete(gone)
				y.Delete(gone)
			}
			if rapid.IntRange(0, 3).Draw(t, "compact") == 0 {
				x.Compact()
				y.Compact()
			}
		}
	})
}
