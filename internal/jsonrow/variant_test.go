package jsonrow

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/variant"
)

// recordedVariants are texts with the bytes that Spark makes of them.
func recordedVariants(t testing.TB) (cases [][3]string) {
	b, err := os.ReadFile("testdata/variants.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if c := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(c) == 3 {
			cases = append(cases, [3]string(c))
		}
	}
	return cases
}

func unhex(t testing.TB, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVariantBytes(t *testing.T) {
	r := NewVariantReader(false)
	for _, c := range recordedVariants(t) {
		b, err := r.Read([]byte(c[0]))
		if err != nil {
			t.Errorf("%s: %v", c[0], err)
			continue
		}
		if got, meta := hex.EncodeToString(b.Value()), hex.EncodeToString(b.AppendMeta(nil)); got != c[1] || meta != c[2] {
			t.Errorf("%s: %s %s, want %s %s", c[0], got, meta, c[1], c[2])
		}
	}
}

// Every prefix of a value, and every value with one byte changed, is read or refused without a fault.
func TestBrokenVariants(t *testing.T) {
	zone := datetime.NewZone(nil)
	look := func(v variant.Value) {
		v.Valid()
		v.Schema()
		AppendVariant(nil, v, zone)
		var b variant.Builder
		b.Append(v)
		v.Get([]variant.Step{{Name: "a", Index: -1}, {Index: 0}})
	}
	for _, c := range recordedVariants(t) {
		value, meta := unhex(t, c[1]), unhex(t, c[2])
		if !(variant.Value{Bytes: value, Meta: meta}).Valid() {
			t.Errorf("%s: %s is called invalid", c[0], c[1])
		}
		for i := range value {
			look(variant.Value{Bytes: value[:i], Meta: meta})
			for _, x := range []byte{0, 1, 0x7f, 0xff, value[i] ^ 4} {
				bad := append([]byte(nil), value...)
				bad[i] = x
				look(variant.Value{Bytes: bad, Meta: meta})
			}
		}
		for i := range meta {
			look(variant.Value{Bytes: value, Meta: meta[:i]})
			bad := append([]byte(nil), meta...)
			bad[i] = 0xff
			look(variant.Value{Bytes: value, Meta: bad})
		}
	}
}

func TestVariantDuplicates(t *testing.T) {
	_, err := NewVariantReader(false).Read([]byte(`{"a":1,"b":{"c":1,"c":2}}`))
	if !errclass.Has(err, "VARIANT_DUPLICATE_KEY") || !errclass.Has(err, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION") {
		t.Errorf("got %v", err)
	}
	b, err := NewVariantReader(true).Read([]byte(`{"a":1,"b":5,"a":[3]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(b.Value()); got != "020200010200080c05030100020c03" { // as Spark has it
		t.Errorf("got %s", got)
	}
}

// An object of many fields is searched by halves, in the order of UTF-16.
func TestVariantManyFields(t *testing.T) {
	names := []string{"é", "z", "😀", "ﬀ", "", "a"}
	for i := range 400 {
		names = append(names, "k"+strings.Repeat("x", i%7)+string(rune('A'+i%26))+string(rune(0x400+i)))
	}
	var text strings.Builder
	for i, n := range names {
		text.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + string(appendText(nil, n, false)) + ":" + string(rune('0'+i%10)))
	}
	text.WriteString("}")
	b, err := NewVariantReader(false).Read([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	v := variant.Value{Bytes: b.Value(), Meta: b.AppendMeta(nil)}
	for i, n := range names {
		if x, ok := v.Get([]variant.Step{{Name: n, Index: -1}}); !ok || x.Long() != int64(i%10) {
			t.Errorf("%q is not found", n)
		}
	}
	if _, ok := v.Get([]variant.Step{{Name: "nothing", Index: -1}}); ok {
		t.Error("found what is not there")
	}
}

func BenchmarkVariantRead(b *testing.B) {
	text := []byte(`{"user":"u17","at":"2026-01-01T10:00:00Z","amount":12.50,"tags":["a","b","c"],"geo":{"lat":48.1,"lon":11.5},"ok":true}`)
	r := NewVariantReader(false)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Read(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVariantPrint(b *testing.B) {
	r, err := NewVariantReader(false).Read([]byte(`{"user":"u17","amount":12.50,"tags":["a","b","c"],"geo":{"lat":48.1,"lon":11.5},"ok":true}`))
	if err != nil {
		b.Fatal(err)
	}
	v := variant.Value{Bytes: r.Value(), Meta: r.AppendMeta(nil)}
	zone := datetime.NewZone(nil)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = AppendVariant(buf[:0], v, zone)
	}
}
