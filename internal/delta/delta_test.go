package delta

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

func ddl(t testing.TB, text string) types.StructType {
	t.Helper()
	s, err := types.ParseDDL(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestProtocols: what properties and types of a new table ask for. From Delta Lake 4.4.0.
func TestProtocols(t *testing.T) {
	for _, c := range []struct {
		ddl            string
		conf           map[string]string
		reader, writer int
		readerFeatures string
		writerFeatures string
	}{
		{"id INT NOT NULL", map[string]string{propAppendOnly: "true"}, 1, 2, "", ""},
		{"id INT", map[string]string{propCheck + "c": "id > 0"}, 1, 3, "", ""},
		{"id INT", map[string]string{propCDF: "true"}, 1, 7, "", "appendOnly changeDataFeed invariants"},
		{"id INT", map[string]string{propMapping: "name"}, 2, 7, "", "appendOnly columnMapping invariants"},
		{"id INT", map[string]string{propVectors: "true"}, 3, 7, "deletionVectors", "appendOnly deletionVectors invariants"},
		{"id INT", map[string]string{propRowTracking: "true"}, 1, 7, "", "appendOnly domainMetadata invariants rowTracking"},
		{"id INT, t TIMESTAMP_NTZ", nil, 3, 7, "timestampNtz", "appendOnly invariants timestampNtz"},
		{"v VARIANT", nil, 3, 7, "variantType", "appendOnly invariants variantType"},
	} {
		p, err := protocolFor(nil, &Metadata{Configuration: c.conf}, ddl(t, c.ddl))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(p.ReaderFeatures)
		slices.Sort(p.WriterFeatures)
		if p.MinReaderVersion != c.reader || p.MinWriterVersion != c.writer || strings.Join(p.ReaderFeatures, " ") != c.readerFeatures ||
			strings.Join(p.WriterFeatures, " ") != c.writerFeatures {
			t.Errorf("%s %v: %+v", c.ddl, c.conf, p)
		}
	}
}

// TestDeletionVectors: what is written is read, by number of rows deleted.
func TestDeletionVectors(t *testing.T) {
	l := &Log{FS: fs.Local(), Path: t.TempDir()}
	for _, n := range []int{1, 10, 5000, 200_000} {
		m := roaring64.New()
		for range n {
			m.Add(rand.Uint64N(1 << 34))
		}
		dv, err := l.WriteDeleted(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := l.Deleted(&Add{Path: "x", DeletionVector: dv})
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equals(m) || uint64(dv.Cardinality) != m.GetCardinality() {
			t.Errorf("%d deleted rows come back as %d", m.GetCardinality(), got.GetCardinality())
		}
	}
	// The example of the protocol's text: rows 3, 4, 7, 11, 18 and 29.
	inline := &DeletionVector{StorageType: "i", PathOrInlineDv: "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", SizeInBytes: 44, Cardinality: 6}
	got, err := l.Deleted(&Add{Path: "x", DeletionVector: inline})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]uint64{3, 4, 7, 11, 18, 29}, got.ToArray()); d != "" {
		t.Error(d)
	}
	for _, bad := range []DeletionVector{
		{StorageType: "i", PathOrInlineDv: "abcd", SizeInBytes: 44},
		{StorageType: "u", PathOrInlineDv: "short"},
		{StorageType: "z"},
		{StorageType: "i", PathOrInlineDv: "%%%%%", SizeInBytes: 4},
		{StorageType: "p", PathOrInlineDv: "/nothing/here", SizeInBytes: -1},
	} {
		if _, err := l.Deleted(&Add{Path: "x", DeletionVector: &bad}); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// TestStats: the texts of statistics, and what files are passed over because of them.
func TestStats(t *testing.T) {
	schema := ddl(t, "i INT, f DOUBLE, s STRING, ts TIMESTAMP, b BOOLEAN, st STRUCT<x: INT, y: STRING>, n INT")
	long := strings.Repeat("x", 40)
	rows := []types.Row{
		{int32(3), 1.5, long, types.Micros(1_700_000_000_123_456), true, types.Row{int32(1), nil}, nil},
		{nil, math.NaN(), "a", types.Micros(-1), nil, nil, nil},
	}
	builders := vec.NewBuilders(schema)
	b := vec.NewBatch(len(rows))
	for c, bld := range builders {
		for _, r := range rows {
			if err := bld.AppendValue(r[c]); err != nil {
				t.Fatal(err)
			}
		}
		b.Cols = append(b.Cols, bld.Finish())
	}
	s := NewStats(schema, 32)
	s.Add(b)
	want := `{"numRecords":2,"minValues":{"i":3,"f":1.5,"s":"a","ts":"1969-12-31T23:59:59.999Z","st":{"x":1}},` +
		`"maxValues":{"i":3,"f":"NaN","s":"` + strings.Repeat("x", 32) + `` + "\x7f" + `","ts":"2023-11-14T22:13:20.123Z","st":{"x":1}},` +
		`"nullCount":{"i":1,"f":0,"s":0,"ts":0,"b":1,"st":{"x":1,"y":2},"n":2}}`
	if d := cmp.Diff(want, s.JSON()); d != "" {
		t.Error(d)
	}
	add := &Add{Path: "x", Stats: s.JSON()}
	p := Pruner{Columns: map[string]Column{}, Within: files.MayMatchWithin}
	for _, f := range schema.Fields {
		p.Columns[f.Name] = Column{Field: f, Physical: f.Name}
	}
	for _, c := range []struct {
		f    source.Filter
		keep bool
	}{
		{source.Filter{Column: "i", Op: source.Equal, Values: []any{int32(3)}}, true},
		{source.Filter{Column: "i", Op: source.Greater, Values: []any{int32(3)}}, false},
		{source.Filter{Column: "i", Op: source.In, Values: []any{int32(1), int32(2)}}, false},
		{source.Filter{Column: "f", Op: source.Greater, Values: []any{9.0}}, true},
		{source.Filter{Column: "s", Op: source.Equal, Values: []any{long}}, true},
		{source.Filter{Column: "s", Op: source.GreaterEqual, Values: []any{"y"}}, false},
		{source.Filter{Column: "ts", Op: source.Equal, Values: []any{types.Micros(1_700_000_000_123_456)}}, true},
		{source.Filter{Column: "ts", Op: source.Greater, Values: []any{types.Micros(1_700_000_000_124_000)}}, false},
		{source.Filter{Column: "n", Op: source.IsNotNull}, false},
		{source.Filter{Column: "s", Op: source.IsNull}, false},
		{source.Filter{Column: "i", Op: source.IsNull}, true},
	} {
		p.Filters = []source.Filter{c.f}
		if got := p.Keep(add); got != c.keep {
			t.Errorf("%+v: keep %v", c.f, got)
		}
	}
	loose := *add
	loose.Stats = LooseStats(add.Stats)
	if st := loose.ParseStats(); st == nil || st.Tight == nil || *st.Tight {
		t.Errorf("%s", loose.Stats)
	}
}

func BenchmarkStats(b *testing.B) {
	schema := ddl(b, "i INT, l BIGINT, d DOUBLE, s STRING")
	builders := vec.NewBuilders(schema)
	batch := vec.NewBatch(vec.BatchRows)
	for i := range vec.BatchRows {
		builders[0].AppendInt32(int32(i * 7))
		builders[1].AppendInt64(int64(i) * 31)
		builders[2].AppendFloat64(float64(i) / 3)
		builders[3].AppendString("text " + string(rune('a'+i%26)))
	}
	for _, bld := range builders {
		batch.Cols = append(batch.Cols, bld.Finish())
	}
	b.ReportAllocs()
	for b.Loop() {
		NewStats(schema, 32).Add(batch)
	}
}
