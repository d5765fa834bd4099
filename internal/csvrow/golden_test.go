package csvrow

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
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

func goldens(t testing.TB, path string) []record {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []record
	for s := bufio.NewScanner(f); s.Scan(); {
		var r record
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
	for _, r := range goldens(t, goldenPath()) {
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
