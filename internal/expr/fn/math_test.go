package fn

import (
	"math"
	"testing"
)

func TestLog10(t *testing.T) {
	for k := -300; k <= 300; k++ {
		if got := log10(math.Pow10(k)); got != float64(k) {
			t.Errorf("log10(1e%d) = %v", k, got)
		}
	}
	for x, want := range map[float64]float64{ // Java's answers
		3: 0.47712125471966244, 2: 0.3010299956639812, 7: 0.8450980400142568, 0.5: -0.3010299956639812,
		0: math.Inf(-1), math.Inf(1): math.Inf(1), math.SmallestNonzeroFloat64: -323.3062153431158,
	} {
		if got := log10(x); got != want {
			t.Errorf("log10(%v) = %v, want %v", x, got, want)
		}
	}
	if !math.IsNaN(log10(-1)) {
		t.Error("log10(-1) is no NaN")
	}
}

// The smallest numbers have logarithms and powers, too. The answers are Java's.
func TestSmallestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{ln(9.99988867183e-321), -736.8272408909739},
		{power(9.99988867183e-321, 0.001), 0.4786300869941073},
		{power(9.99988867183e-321, -0.001), 2.0892961541139212},
		{power(math.SmallestNonzeroFloat64, 0.5), 2.2227587494850775e-162},
		{power(math.SmallestNonzeroFloat64, 3.25), 0},
		{power(math.SmallestNonzeroFloat64, -3.25), math.Inf(1)},
		{power(-math.SmallestNonzeroFloat64, 2), 0},
	} {
		if c.got != c.want && !(math.Abs(c.got-c.want) < 1e-10*math.Abs(c.want)) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}
