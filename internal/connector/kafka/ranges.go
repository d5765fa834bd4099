package kafka

import (
	"math"

	"github.com/millrace/millrace/internal/connector/kafka/offsets"
)

// divide cuts spans into those of splits, of which none is empty: with at most so many records in each, or else at least so many in all.
// Without the two limits, which are 0 then, a partition is read by one worker.
func divide(spans []span, minPartitions, maxRecords int64) []span {
	var out []span
	for _, s := range spans {
		switch size := s.end - s.start; {
		case size <= 0:
		case maxRecords > 0:
			out = cut(out, s, (size+maxRecords-1)/maxRecords)
		default:
			out = append(out, s)
		}
	}
	if maxRecords > 0 || int64(len(out)) >= minPartitions {
		return out
	}
	// Small spans stay whole, the others get parts in proportion to their sizes.
	var total, whole float64
	count := int64(0)
	for _, s := range out {
		total += float64(s.end - s.start)
	}
	small := make([]bool, len(out))
	for i, s := range out {
		if share(s, total, minPartitions) == 1 {
			small[i] = true
			whole += float64(s.end - s.start)
			count++
		}
	}
	var parts []span
	for i, s := range out {
		n := int64(1)
		if !small[i] {
			n = share(s, total-whole, max(1, minPartitions-count))
		}
		parts = cut(parts, s, n)
	}
	return parts
}

func share(s span, total float64, of int64) int64 {
	return max(1, int64(math.Floor(float64(s.end-s.start)/total*float64(of)+0.5)))
}

// cut appends n parts of a span.
func cut(out []span, s span, n int64) []span {
	left, at := s.end-s.start, s.start
	for i := range n {
		size := left / (n - i)
		left -= size
		if size > 0 {
			out = append(out, span{s.part, at, at + size})
		}
		at += size
	}
	return out
}

// prorate takes at most limit offsets after from, of all partitions together, in proportion to what there is in each. It takes one of a
// partition that would get less.
func prorate(limit int64, from, until offsets.Map) offsets.Map {
	total := 0.0
	for p, end := range until {
		if begin, ok := from[p]; ok && end > begin {
			total += float64(end - begin)
		}
	}
	if total < 1 {
		return until
	}
	out := make(offsets.Map, len(until))
	for p, end := range until {
		begin, ok := from[p]
		if !ok || end <= begin {
			out[p] = end
			continue
		}
		part := float64(limit) * (float64(end-begin) / total)
		if part < 1 {
			part = math.Ceil(part)
		} else {
			part = math.Floor(part)
		}
		if part >= float64(end-begin) {
			out[p] = end
		} else {
			out[p] = begin + int64(part)
		}
	}
	return out
}
