package csvrow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func benchLines(b *testing.B, r *Reader, text string) {
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

// events is about a megabyte of the benchmark's events.
func events(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, format, 1+i%28, i%24, i%60, i*7%60, i%1000, 1+i%999, i%1000)
	}
	return b.String()
}

const (
	eventsDDL = "ts TIMESTAMP, user STRING, amount INT, item INT"
	plain     = "2026-01-%02dT%02d:%02d:%02d,u%d,%d,%d\n"
)

func BenchmarkEvents(b *testing.B) {
	benchLines(b, newReader(b, eventsDDL, "", DefaultOptions()), events(plain))
}

func BenchmarkEventsTwoColumns(b *testing.B) {
	benchLines(b, newReader(b, eventsDDL, "user,amount", DefaultOptions()), events(plain))
}

func BenchmarkStrings(b *testing.B) {
	benchLines(b, newReader(b, "a STRING, b STRING, c STRING, d STRING", "", DefaultOptions()), events(plain))
}

func BenchmarkQuoted(b *testing.B) {
	benchLines(b, newReader(b, eventsDDL, "", DefaultOptions()), events("\"2026-01-%02dT%02d:%02d:%02d\",\"u%d\",\"%d\",\"%d\"\n"))
}

func BenchmarkEscapes(b *testing.B) {
	o := DefaultOptions()
	o.Escape = '"'
	benchLines(b, newReader(b, eventsDDL, "", o), events("2026-01-%02dT%02d:%02d:%02d,\"u\"\"%d\",%d,%d\n"))
}

func BenchmarkTrim(b *testing.B) {
	o := DefaultOptions()
	o.TrimLeft, o.TrimRight = true, true
	benchLines(b, newReader(b, eventsDDL, "", o), events(plain))
}

func BenchmarkCount(b *testing.B) {
	r, err := NewReader(newSchema(b, eventsDDL), types.StructType{}, DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	benchLines(b, r, events(plain))
}
