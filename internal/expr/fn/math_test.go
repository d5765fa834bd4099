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
