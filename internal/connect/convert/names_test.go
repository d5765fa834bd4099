package convert

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
)

func TestAttributeName(t *testing.T) {
	for in, want := range map[string][]string{
		"a":            {"a"},
		"a.b":          {"a", "b"},
		"a b-c":        {"a b-c"},
		"`a.b`":        {"a.b"},
		"`a.b`.c":      {"a.b", "c"},
		"x.`a``b`":     {"x", "a`b"},
		"1":            {"1"},
		"(id * 2)":     {"(id * 2)"},
		"w.`start.x`.": nil,
		"":             nil,
		"a.":           nil,
		".a":           nil,
		"a..b":         nil,
		"a`b":          nil,
		"`a":           nil,
		"`a`b":         nil,
	} {
		got, err := AttributeName(in)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", in, d)
		}
		if (err == nil) != (want != nil) || err != nil && !errclass.Has(err, "INVALID_ATTRIBUTE_NAME_SYNTAX") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func FuzzAttributeName(f *testing.F) {
	f.Add("a.`b.c`")
	f.Fuzz(func(t *testing.T, s string) {
		parts, err := AttributeName(s)
		if err != nil {
			return
		}
		again, err := AttributeName(errclass.Ident(parts...))
		if err != nil {
			t.Fatalf("%q, quoted: %v", s, err)
		}
		if d := cmp.Diff(parts, again); d != "" {
			t.Error(d)
		}
	})
}
