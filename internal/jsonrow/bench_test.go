package jsonrow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/vec"
)

// events is about a megabyte of the benchmark's events.
func events() string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "{\"ts\":\"2026-01-%02dT%02d:%02d:%02d\",\"user\":\"u%d\",\"amount\":%d,\"item\":%d}\n",
			1+i%28, i%24, i%60, i*7%60, i%1000, 1+i%999, i%1000)
	}
	return b.String()
}

func benchLines(b *testing.B, ddl, text string) {
	r := newReader(b, ddl, DefaultOptions())
	p := pad(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < len(text); {
			next, err := r.Lines(p, i, len(text), vec.BatchRows)
			if err != nil {
				b.Fatal(err)
			}
			i = next
			r.Take()
		}
	}
}

func BenchmarkEvents(b *testing.B) {
	benchLines(b, "ts TIMESTAMP, user STRING, amount INT, item INT", events())
}

func BenchmarkEventsTwoColumns(b *testing.B) {
	benchLines(b, "user STRING, amount INT", events())
}

func BenchmarkNested(b *testing.B) {
	var t strings.Builder
	for i := 0; t.Len() < 1<<20; i++ {
		fmt.Fprintf(&t, "{\"id\":%d,\"tags\":[\"a\",\"b\",\"tag%d\"],\"at\":{\"lat\":%d.25,\"lon\":-%d.5},\"note\":\"über \\u00e9 %d\",\"ok\":true}\n",
			i, i%9, i%90, i%180, i)
	}
	benchLines(b, "id BIGINT, tags ARRAY<STRING>, at STRUCT<lat:DOUBLE,lon:DOUBLE>, note STRING, ok BOOLEAN", t.String())
}
