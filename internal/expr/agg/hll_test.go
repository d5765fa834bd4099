package agg

import (
	"math"
	"testing"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// TestApproxCountDistinct counts sets of many sizes: small ones exactly or nearly so, large ones within the promised deviation.
func TestApproxCountDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 2, 10, 50, 100, 300, 400, 500, 600, 800, 1000, 2000, 2500, 3000, 10000, 100000} {
		s := &sketches{p: 9}
		s.Grow(1)
		v := vec.NewFixed(types.Long, n)
		for i := range vec.Fixed[int64](v) {
			vec.Fixed[int64](v)[i] = int64(i) * 7919
		}
		groups := make([]uint32, n)
		s.Update(nil, groups, []*vec.Vector{v})
		s.Update(nil, groups, []*vec.Vector{v})
		got := vec.Fixed[int64](s.Emit(&expr.Eval{}, []uint32{0}))[0]
		if want, ok := recordedCounts[n]; ok && got != want {
			t.Errorf("%d values are counted as %d, by Spark as %d", n, got, want)
		}
		if off := math.Abs(float64(got) - float64(n)); n <= 10 && off > 0 || off > 0.1*float64(n) {
			t.Errorf("%d values are counted as %d", n, got)
		}
	}
}

// TestCountsOfOtherSizes compares with what Spark counts of the numbers from 0 to n-1.
func TestCountsOfOtherSizes(t *testing.T) {
	for _, c := range []struct {
		rsd  float64
		n    int
		want int64
	}{{0.05, 1000, 1026}, {0.01, 1000, 996}, {0.2, 1000, 748}, {0.05, 20000, 19522}, {0.01, 20000, 19867}, {0.2, 20000, 18488}} {
		s := &sketches{p: int(math.Ceil(2 * math.Log(1.106/c.rsd) / math.Log(2)))}
		s.Grow(1)
		v := vec.NewFixed(types.Long, c.n)
		for i := range vec.Fixed[int64](v) {
			vec.Fixed[int64](v)[i] = int64(i)
		}
		s.Update(nil, make([]uint32, c.n), []*vec.Vector{v})
		if got := vec.Fixed[int64](s.Emit(&expr.Eval{}, []uint32{0}))[0]; got != c.want {
			t.Errorf("%d values are counted as %d for %v, by Spark as %d", c.n, got, c.rsd, c.want)
		}
	}
}

// recordedCounts are what Spark counts for these sets.
var recordedCounts = map[int]int64{300: 279, 500: 494, 800: 765, 1000: 913, 3000: 2962}
