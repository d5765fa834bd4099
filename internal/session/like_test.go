package session

import "testing"

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "x", true}, {"*", "x", true}, {"v*", "V1", true}, {"v*", "w", false}, {"a|b", "b", true}, {"*b*", "abc", true}, {"a*c", "ab", false},
	} {
		if got := like(c.pattern, c.name); got != c.want {
			t.Errorf("%s like %s: %t", c.name, c.pattern, got)
		}
	}
}
