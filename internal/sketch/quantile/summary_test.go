package quantile

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A quantile's rank is off by no more than the error allows, however the values are spread over summaries that are merged, saved and read.
func TestRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		relative := 1 / float64(rapid.SampledFrom([]int{5, 50, 1000, 1 << 30}).Draw(t, "accuracy"))
		n := rapid.IntRange(1, 3).Draw(t, "parts")
		distinct := rapid.SampledFrom([]int{1, 10, 1 << 40}).Draw(t, "distinct")
		seed := rapid.Uint64().Draw(t, "seed")
		var all []float64
		whole := New(relative)
		for range n {
			part := New(relative)
			for range rapid.SampledFrom([]int{0, 1, 7, 1000, headSize + 11}).Draw(t, "values") {
				seed = seed*6364136223846793005 + 1442695040888963407
				x := float64(seed >> 20 % uint64(distinct))
				part.Add(x)
				all = append(all, x)
			}
			read, err := Parse(part.Image(nil))
			if err != nil {
				t.Fatal(err)
			}
			whole.Merge(read)
		}
		fractions := []float64{0, 0.01, 0.5, 0.77, 1}
		values, ok := whole.Quantiles(fractions)
		if ok != (len(all) > 0) {
			t.Fatalf("%d values, found %t", len(all), ok)
		}
		slices.Sort(all)
		for i, x := range values {
			first, found := slices.BinarySearch(all, x)
			if !found {
				t.Fatalf("%v is none of the values", x)
			}
			behind, _ := slices.BinarySearch(all, math.Nextafter(x, math.Inf(1))) // its last rank
			rank := math.Ceil(fractions[i] * float64(len(all)))
			// Merging adds the errors of both sides; half a rank is lost to rounding.
			off := 2*float64(n)*relative*float64(len(all)) + 1
			if float64(behind) < rank-off || float64(first+1) > rank+off {
				t.Fatalf("the %v-quantile of %d values has ranks %d to %d, not %v ± %v", fractions[i], len(all), first+1, behind, rank, off)
			}
		}
	})
}

// What a summary keeps does not grow with the number of values.
func TestSizeIsBounded(t *testing.T) {
	s := New(1.0 / 1000)
	for i := range 2_000_000 {
		s.Add(float64(i * 7919 % 1_000_003))
	}
	if n := len(s.Image(nil)); n > 300_000 {
		t.Errorf("%d bytes", n)
	}
}

func TestImagesOfSomethingElse(t *testing.T) {
	image := New(0.1).Image(nil)
	for _, b := range [][]byte{nil, {1}, image[1:], append(slices.Clone(image), 0), append([]byte{9}, image[1:]...)} {
		if _, err := Parse(b); err == nil {
			t.Errorf("%x is taken", b)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	s := New(1e-4)
	x := uint64(1)
	for b.Loop() {
		x = x*6364136223846793005 + 1442695040888963407
		s.Add(float64(x >> 11))
	}
}
