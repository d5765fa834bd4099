package avrorow

import (
	"testing"

	"github.com/millrace/millrace/types"
)

const everything = `{"type": "record", "name": "r", "fields": [
	{"name": "b", "type": "boolean"}, {"name": "i", "type": "int"}, {"name": "l", "type": ["null", "long"]},
	{"name": "d", "type": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}},
	{"name": "s", "type": {"type": "array", "items": ["null", "string"]}}, {"name": "m", "type": {"type": "map", "values": "double"}},
	{"name": "e", "type": {"type": "enum", "name": "e", "symbols": ["A", "B"]}}, {"name": "f", "type": {"type": "fixed", "name": "f", "size": 2}},
	{"name": "t", "type": {"type": "long", "logicalType": "timestamp-millis"}}]}`

func openEverything(t testing.TB) (*Reader, *Writer) {
	t.Helper()
	s, err := Parse(everything)
	if err != nil {
		t.Fatal(err)
	}
	typ, _, err := TypeOf(s, Typing{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriterAs(typ, s)
	if err != nil {
		t.Fatal(err)
	}
	return NewReader(s, s, typ, nil), w
}

var sample = []byte{
	1, 6, 2, 0x80, 1, 2, 0xff, 4, 2, 2, 'x', 0, 0, 2, 2, 'k', 0, 0, 0, 0, 0, 0, 4, 0x40, 0, 2, 7, 8, 2,
}

// What is read is written as the same bytes, whatever blocks it came in; a record that ends early is none, and leaves nothing behind.
func TestBackAndForth(t *testing.T) {
	r, w := openEverything(t)
	for n := range sample {
		if r.Record(sample[:n]) {
			t.Errorf("the first %d bytes are a record", n)
		}
	}
	if !r.Record(append(sample[:len(sample):len(sample)], 1, 2, 3)) {
		t.Fatal("the record cannot be read")
	}
	v := r.Borrow()
	if v.Len() != 1 {
		t.Fatalf("%d rows", v.Len())
	}
	got, err := w.Append(nil, v, 0)
	if err != nil || string(got) != string(sample) {
		t.Errorf("written %x, %v; read %x", got, err, sample)
	}
}

// Counts that no bytes stand for must not take memory.
func TestHugeCounts(t *testing.T) {
	for _, text := range []string{
		`{"type": "array", "items": "null"}`, `{"type": "array", "items": "int"}`, `{"type": "map", "values": "null"}`, `"string"`,
		`{"type": "array", "items": {"type": "record", "name": "r", "fields": []}}`,
	} {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		typ, _, err := TypeOf(s, Typing{})
		if err != nil {
			t.Fatal(err)
		}
		if NewReader(s, s, typ, nil).Record([]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0}) {
			t.Errorf("%s: a huge count was believed", text)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(sample)
	r, w := openEverything(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		r.Reset()
		if !r.Record(b) {
			return
		}
		once, err := w.Append(nil, r.Borrow(), 0)
		if err != nil {
			t.Fatal(err)
		}
		r.Reset()
		if !r.Record(once) {
			t.Fatalf("%x was written as %x, which cannot be read", b, once)
		}
		if twice, _ := w.Append(nil, r.Borrow(), 0); string(twice) != string(once) {
			t.Fatalf("%x became %x", once, twice)
		}
	})
}

func TestMismatches(t *testing.T) {
	for text, typ := range map[string]types.DataType{
		`"long"`: types.Integer, `["int", "string"]`: types.Integer, `{"type": "map", "values": "int"}`: types.MapOf(types.Integer, types.Integer),
	} {
		s, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewWriterAs(typ, s); err == nil {
			t.Errorf("%s is written as %s", typ.SQL(), text)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	r, _ := openEverything(b)
	b.SetBytes(int64(len(sample)))
	b.ReportAllocs()
	for range b.N {
		if r.out.Len() == 1024 {
			r.Reset()
		}
		r.Record(sample)
	}
}

func BenchmarkWrite(b *testing.B) {
	r, w := openEverything(b)
	r.Record(sample)
	v := r.Borrow()
	var buf []byte
	b.SetBytes(int64(len(sample)))
	b.ReportAllocs()
	for range b.N {
		buf, _ = w.Append(buf[:0], v, 0)
	}
}
