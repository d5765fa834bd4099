package files

import "testing"

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern string
		yes, no []string
	}{
		{"*.json", []string{"a.json", ".json", "a.b.json"}, []string{"a.jsonx", "json"}},
		{"x*", []string{"x", "x1", "xé"}, []string{"y", "ax"}},
		{"a?c", []string{"abc", "aéc"}, []string{"ac", "abbc"}},
		{"[ab]1", []string{"a1", "b1"}, []string{"c1"}},
		{"[a-c0-9]", []string{"b", "5"}, []string{"d", "ab"}},
		{"[^a]x", []string{"bx"}, []string{"ax"}},
		{"[]a]", []string{"]", "a"}, []string{"b"}},
		{"{a,b*}.x", []string{"a.x", "b.x", "bb.x"}, []string{"c.x"}},
		{"{a{1,2},b}", []string{"a1", "a2", "b"}, []string{"a"}},
		{`\*\{`, []string{"*{"}, []string{"a{"}},
		{"a*b*c", []string{"abc", "aXbYc", "abbcc"}, []string{"ab", "acb"}},
		{"**", []string{"", "x"}, nil},
		{"", []string{""}, []string{"a"}},
	}
	for _, tt := range tests {
		p, err := compilePattern(tt.pattern)
		if err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		for _, s := range tt.yes {
			if !p.match(s) {
				t.Errorf("%q does not match %q", tt.pattern, s)
			}
		}
		for _, s := range tt.no {
			if p.match(s) {
				t.Errorf("%q matches %q", tt.pattern, s)
			}
		}
	}
	for _, s := range []string{"[a", "{a", `a\`} {
		if _, err := compilePattern(s); err == nil {
			t.Errorf("%q compiles", s)
		}
	}
}
