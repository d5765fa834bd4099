package csvrow

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// optionsOf reads options as a user gives them.
func optionsOf(t testing.TB, given map[string]string) Options {
	t.Helper()
	lower := map[string]string{}
	for k, v := range given {
		lower[strings.ToLower(k)] = v
	}
	o, err := ParseOptions(func(key string) (string, bool) {
		s, ok := lower[strings.ToLower(key)]
		return s, ok
	}, nil, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// record is a line and the values that Apache Spark 4.2.0 finds in it, without the nulls at its end.
type record struct {
	Options map[string]string `json:"o"`
	Text    string            `json:"t"`
	Values  []*string         `json:"v"`
}

func goldenPath() string {
	if p := os.Getenv("CSV_GOLDENS"); p != "" {
		return p
	}
	return "testdata/lines.jsonl"
}

func goldens[T any](t testing.TB, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	for s := bufio.NewScanner(f); s.Scan(); {
		var r T
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// valuesOf are the machine's tokens as the reader sees them.
func valuesOf(m *machine, o *Options) []*string {
	var out []*string
	for _, t := range m.toks {
		s := m.name(t, o)
		if t.kind == tokNull || s == o.NullValue {
			out = append(out, nil)
		} else {
			out = append(out, &s)
		}
	}
	for len(out) > 0 && out[len(out)-1] == nil {
		out = out[:len(out)-1]
	}
	return out
}

func show(v []*string) string {
	parts := make([]string, len(v))
	for i, s := range v {
		if parts[i] = "null"; s != nil {
			parts[i] = "<" + *s + ">"
		}
	}
	return strings.Join(parts, " ")
}

func TestMachineGoldens(t *testing.T) {
	wrong := map[string]int{}
	for _, r := range goldens[record](t, goldenPath()) {
		o := optionsOf(t, r.Options)
		m := newMachine(&o)
		m.line([]byte(r.Text), len(r.Text))
		got, want := show(valuesOf(m, &o)), show(r.Values)
		if got != want || m.fault != noFault {
			key, _ := json.Marshal(r.Options)
			if wrong[string(key)]++; wrong[string(key)] <= 3 {
				t.Errorf("%s %q:\n got %s\nwant %s (fault %d)", key, r.Text, got, want, m.fault)
			}
		}
	}
	for k, n := range wrong {
		t.Errorf("%s: %d wrong", k, n)
	}
}

// document is a text whose records may span lines and what Apache Spark 4.2.0 makes of it.
type document struct {
	Options map[string]string `json:"o"`
	Text    string            `json:"t"`
	Rows    []struct {
		Values  []*string `json:"v"`
		Corrupt *string   `json:"c"`
	} `json:"r"`
}

func TestDocumentGoldens(t *testing.T) {
	path := "testdata/documents.jsonl"
	if p := os.Getenv("CSV_DOCUMENTS"); p != "" {
		path = p
	}
	const width = 9
	wrong := map[string]int{}
	for _, d := range goldens[document](t, path) {
		o := optionsOf(t, d.Options)
		o.MultiLine, o.Prune = true, false
		r := newReader(t, "c0 STRING, c1 STRING, c2 STRING, c3 STRING, c4 STRING, c5 STRING, c6 STRING, c7 STRING, c8 STRING, _corrupt_record STRING", "", o)
		if o.Header {
			r.SkipHeader()
		}
		err := r.Document([]byte(d.Text))
		for more := true; more && err == nil; {
			more, err = r.Records(1 << 10)
		}
		var want []string
		for _, row := range d.Rows {
			values := append(row.Values, make([]*string, width-len(row.Values))...)
			line := make([]string, width+1)
			for i, s := range append(values, row.Corrupt) {
				if line[i] = "null"; s != nil {
					line[i] = *s
				}
			}
			want = append(want, strings.Join(line, " | "))
		}
		got := rowsOf(r.Take())
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			key, _ := json.Marshal(d.Options)
			if wrong[string(key)]++; wrong[string(key)] <= 3 {
				t.Errorf("%s %q: %v\n-want +got\n%s", key, d.Text, err, diff)
			}
		}
	}
	for k, n := range wrong {
		t.Errorf("%s: %d wrong", k, n)
	}
}
