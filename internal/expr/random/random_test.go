package random

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Counts are those of Apache Spark 4.2.0: spark.range(20).sample(True, fraction, seed) in two partitions.
func TestPoissonCountsOfSpark(t *testing.T) {
	for _, c := range []struct {
		seed int64
		mean float64
		want []int
	}{
		{42, 2.5, []int{1, 2, 1, 1, 1, 1, 3, 4, 3, 4, 4, 2, 4, 4, 2, 2, 2, 2, 5, 1}},
		{-5, 0.5, []int{1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0}},
		{7, 30, []int{35, 31, 29, 27, 34, 31, 26, 41, 38, 41, 30, 24, 32, 21, 42, 27, 23, 29, 26, 28}},
		{7, 0, make([]int, 20)},
	} {
		var got []int
		for part := range 2 {
			p := NewPoisson(c.mean, Seed(c.seed, part))
			for range 10 {
				got = append(got, p.Next())
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("mean %g, seed %d: (-Spark +got)\n%s", c.mean, c.seed, d)
		}
	}
}

// Counts with a mean that Spark treats in another way have that mean all the same.
func TestLargePoissonCounts(t *testing.T) {
	for _, mean := range []float64{39.9, 40, 40.1, 1000} {
		p, sum := NewPoisson(mean, 3), 0
		for range 2000 {
			sum += p.Next()
		}
		if got := float64(sum) / 2000; math.Abs(got-mean) > 5*math.Sqrt(mean/2000) {
			t.Errorf("mean %g: %g", mean, got)
		}
	}
}

// The logarithm differs from Go's in the last digit at most.
func TestLog(t *testing.T) {
	r := NewXORShift(1)
	for range 100_000 {
		x := r.Float64()
		if a, b := log(x), math.Log(x); math.Abs(a-b) > 2.3e-16*math.Abs(b) {
			t.Fatalf("log(%v) = %v, not %v", x, a, b)
		}
	}
}
