// Package quantile tells approximate quantiles within a bound of error, by the summaries of Greenwald and Khanna: a sorted list of
// some of the values, each with the number of values that it stands for and how far its rank may be off. What a summary keeps grows
// with the logarithm of the number of values.
//
// The sizes of buffers and the order of steps are those of Spark's percentile_approx, so that one summary of the same values in the
// same order gives the same quantiles.
//
// Tests hold ranks against the sorted values, and look at the size of summaries of many.
package quantile

import (
	"math"
	"slices"
)

const (
	// headSize is how many values are collected before they are sorted into the list.
	headSize = 50_000
	// compressAt is the length of the list from which it is made shorter each time.
	compressAt = 10_000
)

// sample is a value of the list. gap is how much its lowest rank lies above that of the sample before it, slack how much higher than
// the lowest its rank may be.
type sample struct {
	value      float64
	gap, slack int64
}

// Summary keeps some of the values that were added.
type Summary struct {
	relative float64 // the largest error of a rank, as a part of the number of values
	list     []sample
	count    int64 // of the values in list
	head     []float64
	short    bool // nothing was added since the list was made shorter
}

// New returns an empty summary that tells ranks to within relative times the number of values.
func New(relative float64) *Summary { return &Summary{relative: relative, short: true} }

// Size estimates the memory held, in bytes.
func (s *Summary) Size() int64 { return int64(cap(s.list)*24 + cap(s.head)*8 + 80) }

// Add adds a value. NaN comes last when values are sorted, but compares with nothing, as in Spark: with it in, quantiles may be off.
func (s *Summary) Add(x float64) {
	s.head = append(s.head, x)
	s.short = false
	if len(s.head) >= headSize {
		s.flush()
		if len(s.list) >= compressAt {
			s.list = compressed(s.list, 2*s.relative*float64(s.count))
		}
	}
}

// sortNumbers sorts in ascending order, -0.0 before 0.0 and NaN last.
func sortNumbers(xs []float64) {
	slices.Sort(xs)
	zeros, negative := 0, 0
	first, _ := slices.BinarySearch(xs, 0)
	for ; first+zeros < len(xs) && xs[first+zeros] == 0; zeros++ {
		if math.Signbit(xs[first+zeros]) {
			negative++
		}
	}
	for i := range zeros {
		xs[first+i] = 0
		if i < negative {
			xs[first+i] = math.Copysign(0, -1)
		}
	}
	n := 0
	for n < len(xs) && xs[n] != xs[n] {
		n++
	}
	if n > 0 {
		copy(xs, xs[n:])
		for i := len(xs) - n; i < len(xs); i++ {
			xs[i] = math.NaN()
		}
	}
}

// flush sorts the collected values into the list.
func (s *Summary) flush() {
	if len(s.head) == 0 {
		return
	}
	sortNumbers(s.head)
	list := make([]sample, 0, len(s.list)+len(s.head))
	old := s.list
	for i, x := range s.head {
		for len(old) > 0 && old[0].value <= x {
			list, old = append(list, old[0]), old[1:]
		}
		s.count++
		slack := int64(0) // the smallest and the largest value have exact ranks
		if len(list) > 0 && (len(old) > 0 || i < len(s.head)-1) {
			slack = int64(math.Floor(2 * s.relative * float64(s.count)))
		}
		list = append(list, sample{value: x, gap: 1, slack: slack})
	}
	s.list = append(list, old...)
	s.head = s.head[:0]
}

// compressed joins samples with those behind them as long as the error stays below limit. It works in place.
func compressed(list []sample, limit float64) []sample {
	if len(list) == 0 {
		return list
	}
	at := len(list) - 1 // where the next sample to keep goes, from behind
	head := list[at]
	first := list[0]
	for i := len(list) - 2; i >= 1; i-- {
		if x := list[i]; float64(x.gap+head.gap+head.slack) < limit {
			head.gap += x.gap
		} else {
			list[at] = head
			at--
			head = x
		}
	}
	list[at] = head
	if len(list) > 1 && first.value <= head.value {
		at--
		list[at] = first
	}
	return append(list[:0], list[at:]...)
}

// compress makes the summary as short as its error allows.
func (s *Summary) compress() {
	if s.short {
		return
	}
	s.flush()
	s.list = compressed(s.list, 2*s.relative*float64(s.count))
	s.head = nil
	s.short = true
}

// Merge adds the values of another summary, which is compressed by that.
func (s *Summary) Merge(o *Summary) {
	s.compress()
	o.compress()
	switch {
	case o.count == 0:
		return
	case s.count == 0:
		s.relative, s.count, s.list = o.relative, o.count, slices.Clone(o.list)
		return
	}
	// A sample of one list lies somewhere between two of the other: its rank is less certain by what those two leave open.
	mine, theirs := s.list, o.list
	addMine := int64(math.Floor(2 * o.relative * float64(o.count)))
	addTheirs := int64(math.Floor(2 * s.relative * float64(s.count)))
	list := make([]sample, 0, len(mine)+len(theirs))
	i, k := 0, 0
	for i < len(mine) && k < len(theirs) {
		var x sample
		if mine[i].value < theirs[k].value {
			x = mine[i]
			i++
			if k > 0 {
				x.slack += addMine
			}
		} else {
			x = theirs[k]
			k++
			if i > 0 {
				x.slack += addTheirs
			}
		}
		list = append(list, x)
	}
	list = append(append(list, mine[i:]...), theirs[k:]...)
	s.relative = max(s.relative, o.relative)
	s.count += o.count
	s.list = compressed(list, 2*s.relative*float64(s.count))
}

// Quantiles returns, for each fraction from 0 to 1, a value whose rank is that part of the number of values or close to it; ok is false
// if there are no values.
func (s *Summary) Quantiles(fractions []float64) (values []float64, ok bool) {
	s.compress()
	if len(s.list) == 0 {
		return nil, false
	}
	widest := int64(math.MinInt64)
	for _, x := range s.list {
		widest = max(widest, x.slack+x.gap)
	}
	values = make([]float64, len(fractions))
	for i, f := range fractions {
		values[i] = s.quantile(f, float64(widest)/2)
	}
	return values, true
}

func (s *Summary) quantile(fraction, off float64) float64 {
	last := len(s.list) - 1
	switch {
	case fraction <= s.relative || last == 0:
		return s.list[0].value
	case fraction >= 1-s.relative:
		return s.list[last].value
	}
	rank := math.Ceil(fraction * float64(s.count))
	low := int64(0)
	for _, x := range s.list[:last] {
		low += x.gap
		if float64(low+x.slack)-off <= rank && rank <= float64(low)+off {
			return x.value
		}
	}
	return s.list[last].value
}
