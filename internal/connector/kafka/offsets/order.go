package offsets

import (
	"slices"
	"unicode/utf16"
)

// Spark keeps topics and partitions in hash tables while it writes them, so their order is that of the tables. It matters to those who compare
// checkpoints as texts.

// hashOfText is the hash of a string in Java.
func hashOfText(s string) uint32 {
	h := uint32(0)
	for _, c := range utf16.Encode([]rune(s)) {
		h = 31*h + uint32(c)
	}
	return h
}

func hashOfNumber(n int32) uint32 { return uint32(n) }

// tableOrder puts keys in the order of a table that has 16 places and doubles whenever three quarters are taken.
func tableOrder[K any](keys []K, hash func(K) uint32) []K {
	size := uint32(16)
	for uint32(len(keys)) >= size/4*3 {
		size *= 2
	}
	improved := func(k K) uint32 {
		h := hash(k)
		return h ^ h>>16
	}
	out := slices.Clone(keys)
	slices.SortStableFunc(out, func(a, b K) int {
		x, y := improved(a), improved(b)
		if i, j := x&(size-1), y&(size-1); i != j {
			return int(i) - int(j)
		}
		return int(int64(int32(x)) - int64(int32(y))) // within a place by the hash, a signed number
	})
	return out
}
