package sorted

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pairs reads a cursor to its end.
func pairs(next func() (Entry, bool)) []string {
	var out []string
	for e, ok := next(); ok; e, ok = next() {
		out = append(out, string(e.Key)+"="+string(e.Value))
	}
	return out
}

func modelPairs(model map[string]string, from, to string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(model)) {
		if k >= from && (to == "" || k < to) {
			out = append(out, k+"="+model[k])
		}
	}
	return out
}

// TestCursorsAreSnapshots: whatever happens to a map while cursors are open, each gives what was there when it was made.
func TestCursorsAreSnapshots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, model := New(), map[string]string{}
		type open struct {
			c    *Cursor
			want []string
		}
		var cursors []open
		for i := range rapid.IntRange(0, 600).Draw(t, "before") {
			k := fmt.Sprintf("%04d", i*7%600)
			m.Set(Entry{Key: []byte(k), Value: []byte("old")})
			model[k] = "old"
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			k := fmt.Sprintf("%04d", rapid.IntRange(0, 600).Draw(t, "key"))
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				v := rapid.StringN(0, 5, 9).Draw(t, "value")
				was, replaced := m.Set(Entry{Key: []byte(k), Value: []byte(v)})
				if old, ok := model[k]; ok != replaced || string(was.Value) != old {
					t.Fatalf("set %s replaced %q", k, was.Value)
				}
				model[k] = v
			case 2:
				was, found := m.Delete([]byte(k))
				if old, ok := model[k]; ok != found || string(was.Value) != old {
					t.Fatalf("delete %s removed %q", k, was.Value)
				}
				delete(model, k)
			case 3:
				to := fmt.Sprintf("%04d", rapid.IntRange(0, 600).Draw(t, "to"))
				if rapid.IntRange(0, 3).Draw(t, "unbounded") == 0 {
					cursors = append(cursors, open{m.Scan([]byte(k), nil), modelPairs(model, k, "")})
				} else {
					cursors = append(cursors, open{m.Scan([]byte(k), []byte(to)), modelPairs(model, k, to)})
				}
			case 4:
				if n := len(cursors); n > 0 {
					c := cursors[n-1]
					cursors = cursors[:n-1]
					if rapid.Bool().Draw(t, "close early") {
						c.c.Close()
					} else if d := cmp.Diff(c.want, pairs(c.c.Next)); d != "" {
						t.Fatalf("cursor (-want +got)\n%s", d)
					}
				}
			}
		}
		for _, c := range cursors {
			if d := cmp.Diff(c.want, pairs(c.c.Next)); d != "" {
				t.Fatalf("cursor at the end (-want +got)\n%s", d)
			}
		}
		if d := cmp.Diff(modelPairs(model, "", ""), pairs(m.Scan(nil, nil).Next)); d != "" {
			t.Fatalf("map (-want +got)\n%s", d)
		}
		bytesHeld := int64(0)
		for k, v := range model {
			bytesHeld += int64(len(k)+len(v)) + entryBytes
		}
		if m.Len() != len(model) || m.Bytes() != bytesHeld {
			t.Fatalf("%d entries in %d bytes, want %d in %d", m.Len(), m.Bytes(), len(model), bytesHeld)
		}
	})
}

func BenchmarkSet(b *testing.B) {
	m := New()
	keys := make([][]byte, 1<<16)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "%08x key", i*2654435761&0xffffffff)
	}
	b.ReportAllocs()
	value := bytes.Repeat([]byte("v"), 24)
	for i := 0; b.Loop(); i++ {
		m.Set(Entry{Key: keys[i%len(keys)], Value: value})
	}
}
