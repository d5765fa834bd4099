package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/sink/sinktest"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

// add appends lines to a file.
func add(t *testing.T, path string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string, stream bool) source.Table {
	t.Helper()
	table, err := Source{}.Open(t.Context(), source.Request{
		Paths: []string{path}, Stream: stream, Options: source.Options{"maxLines": "2"}, Env: sourcetest.Env(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestBatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	add(t, path, "a", "", "c")
	sourcetest.Batch(t, func(t *testing.T) source.Batch { return open(t, path, false).(source.Batch) })
}

func TestStream(t *testing.T) {
	path, n := filepath.Join(t.TempDir(), "in"), 0
	sourcetest.Stream(t, sourcetest.StreamHarness{
		Open: func(t *testing.T) source.Streamer { return open(t, path, true).(source.Streamer) },
		Add: func(t *testing.T) {
			add(t, path, fmt.Sprint("a", n), "", fmt.Sprint("c", n))
			n++
		},
	})
}

func TestSink(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	sinktest.Stream(t, sinktest.Harness{
		Open: func(t *testing.T) sink.Sink {
			s, err := Sink{}.Open(t.Context(), sink.Request{Schema: sinktest.Schema(), Path: dir, Stream: true, Env: sinktest.Env()})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Read: func(t *testing.T) []string {
			var rows []string
			names, err := filepath.Glob(dir + "/[0-9]*")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(string(text)) {
					rows = append(rows, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", " | "))
				}
			}
			return rows
		},
	})
}
