package javare

import (
	"slices"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"b", "abc", true},
		{"^b", "abc", false},
		{`\d+`, "a1", true},
		{`(?<=a)b`, "abc", true}, // look-behind: the slow engine
		{`(a)\1`, "aa", true},    // back reference
		{`a++b`, "aab", true},    // possessive
		{`x(a)?+a`, "xay", false},
		{`^a{1,2}+a`, "aa", false},
		{`\p{Alpha}+`, "x", true}, // Java's classes
		{`[\p{Upper}_]`, "_", true},
		{`\p{IsLatin}`, "é", true},
		{`\u0041`, "A", true},
		{`a\Z`, "a\n", true},
		{`(?i)ABC`, "abc", true},
		{`[]a]`, "]", true},
		{`^\h*$`, " \t", true},
	} {
		re, err := Compile(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		if got := re.Match([]byte(c.text)); got != c.want {
			t.Errorf("%s on %q: %v", c.pattern, c.text, got)
		}
	}
	if _, err := Compile("("); err == nil {
		t.Error("an open group compiles")
	}
}

func TestFind(t *testing.T) {
	for _, pattern := range []string{`ä(b)?(c)`, `ä(b)?(?=c)(c)`} {
		re, err := Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if re.Groups() != 2 {
			t.Errorf("%s: %d groups", pattern, re.Groups())
		}
		var all [][]int
		re.All([]byte("üäc äbc"), func(loc []int) bool {
			all = append(all, slices.Clone(loc))
			return true
		})
		want := [][]int{{2, 5, -1, -1, 4, 5}, {6, 10, 8, 9, 9, 10}}
		if !slices.EqualFunc(all, want, slices.Equal[[]int]) {
			t.Errorf("%s: %v, want %v", pattern, all, want)
		}
		if got := re.Find([]byte("üäc äbc"), 4); !slices.Equal(got, want[1]) {
			t.Errorf("%s from 4: %v", pattern, got)
		}
	}
}
