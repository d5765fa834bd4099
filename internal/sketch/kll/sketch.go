// Package kll tells approximate quantiles and ranks, with the KLL sketches of Apache DataSketches and their images. An item of level i
// stands for 2^i of the values; a level that is full gives every other item to the next one. Which of each pair goes up is left to
// chance, so only small sketches are the same each time.
//
// Images of small sketches are compared with Spark's in the tests of package sketch, quantiles of large ones with the values.
package kll

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Sizes of sketches.
const (
	MinK     = 8
	MaxK     = math.MaxUint16
	DefaultK = 200

	minWidth = 8 // of a level
)

// Item is what sketches are made of.
type Item interface{ int64 | float64 | float32 }

// Sketch keeps some of the values that were added.
type Sketch[T Item] struct {
	k, least int // least is the smallest k of what was merged, which decides about errors
	n        uint64
	room     int   // how many more items fit until a level has to be compacted
	levels   [][]T // the lowest in the order of coming, the others sorted
	low, top T
}

// New returns an empty sketch of size k.
func New[T Item](k int) *Sketch[T] {
	return &Sketch[T]{k: k, least: k, room: k, levels: make([][]T, 1)}
}

// K is the size, N the number of values added.
func (s *Sketch[T]) K() int { return s.k }

// N is the number of values added.
func (s *Sketch[T]) N() int64 { return int64(s.n) }

// Size estimates the memory held, in bytes.
func (s *Sketch[T]) Size() int64 {
	n := 0
	for _, l := range s.levels {
		n += cap(l)
	}
	return int64(n*8 + len(s.levels)*24 + 80)
}

// Add adds a value. NaN does not count.
func (s *Sketch[T]) Add(x T) {
	if x != x {
		return
	}
	s.bound(x, x)
	s.n++
	s.push(x)
}

func (s *Sketch[T]) bound(low, top T) {
	if s.n == 0 {
		s.low, s.top = low, top
		return
	}
	s.low, s.top = min(s.low, low), max(s.top, top)
}

func (s *Sketch[T]) push(x T) {
	if s.room <= 0 {
		level := 0
		for len(s.levels[level]) < width(s.k, len(s.levels), level) {
			level++
		}
		s.compact(level)
		s.measure()
	}
	s.levels[0] = append(s.levels[0], x)
	s.room--
}

// compact gives half of a level to the next one.
func (s *Sketch[T]) compact(level int) {
	if level == len(s.levels)-1 {
		s.levels = append(s.levels, nil)
	}
	x := s.levels[level]
	even := len(x) &^ 1
	if level > 0 { // the smallest stays behind where one is left over; in the lowest level it is the newest
		x = x[len(x)-even:]
	} else {
		x = x[:even]
		slices.Sort(x)
	}
	half := make([]T, 0, even/2+len(s.levels[level+1]))
	up := s.levels[level+1]
	for i := int(rand.Uint32() & 1); i < even; i += 2 {
		for len(up) > 0 && up[0] < x[i] {
			half, up = append(half, up[0]), up[1:]
		}
		half = append(half, x[i])
	}
	half = append(half, up...)
	rest := s.levels[level]
	if level > 0 {
		rest = rest[:len(rest)-even]
	} else {
		rest = append(rest[:0], rest[even:]...)
	}
	s.levels[level], s.levels[level+1] = rest, half
}

func (s *Sketch[T]) measure() { s.room = capacity(s.k, len(s.levels)) - s.retained() }

func (s *Sketch[T]) retained() int {
	n := 0
	for _, l := range s.levels {
		n += len(l)
	}
	return n
}

// width is how many items a level may have before it is full: two thirds of that of the level above.
func width(k, levels, level int) int {
	depth := levels - level - 1
	part := func(k, depth int) int {
		return int((uint64(2*k)<<depth/threes[depth] + 1) >> 1)
	}
	if depth <= 30 {
		return max(minWidth, part(k, depth))
	}
	half := depth / 2
	return max(minWidth, part(part(k, half), depth-half))
}

var threes = func() (p [31]uint64) {
	p[0] = 1
	for i := range p[1:] {
		p[i+1] = 3 * p[i]
	}
	return p
}()

func capacity(k, levels int) int {
	n := 0
	for i := range levels {
		n += width(k, levels, i)
	}
	return n
}

// Merge adds another sketch, which is left as it is.
func (s *Sketch[T]) Merge(o *Sketch[T]) {
	if o.n == 0 {
		return
	}
	s.bound(o.low, o.top)
	n := s.n + o.n
	for i := len(o.levels[0]) - 1; i >= 0; i-- { // the newest first, as images have them
		s.push(o.levels[0][i])
	}
	if len(o.levels) > 1 {
		s.least = min(s.least, o.least)
		for len(s.levels) < len(o.levels) {
			s.levels = append(s.levels, nil)
		}
		for i, l := range o.levels[1:] {
			s.levels[i+1] = merged(s.levels[i+1], l)
		}
		s.shrink()
		s.measure()
	}
	s.n = n
}

func merged[T Item](x, y []T) []T {
	out := make([]T, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		if y[0] < x[0] {
			out, y = append(out, y[0]), y[1:]
		} else {
			out, x = append(out, x[0]), x[1:]
		}
	}
	return append(append(out, x...), y...)
}

// shrink compacts full levels from the lowest on until all is small enough.
func (s *Sketch[T]) shrink() {
	n, most := s.retained(), capacity(s.k, len(s.levels))
	for level := 0; level < len(s.levels) && n >= most; level++ {
		if have := len(s.levels[level]); have >= width(s.k, len(s.levels), level) {
			above := len(s.levels)
			s.compact(level)
			n -= have / 2
			if len(s.levels) > above {
				most = capacity(s.k, len(s.levels))
			}
		}
	}
}

// View are the items of a sketch in order, for any number of questions.
type View[T Item] struct {
	items []T
	upTo  []int64 // how many values are not behind each item
}

// View puts the items in order.
func (s *Sketch[T]) View() *View[T] {
	type weighted struct {
		x T
		w int64
	}
	all := make([]weighted, 0, s.retained())
	for i, l := range s.levels {
		for _, x := range l {
			all = append(all, weighted{x, 1 << i})
		}
	}
	slices.SortStableFunc(all, func(a, b weighted) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	v := &View[T]{items: make([]T, len(all)), upTo: make([]int64, len(all))}
	total := int64(0)
	for i, a := range all {
		total += a.w
		v.items[i], v.upTo[i] = a.x, total
	}
	return v
}

// Quantile is the smallest item that at least this part of all values, from 0 to 1, is not behind.
func (v *View[T]) Quantile(rank float64) T {
	n := v.upTo[len(v.upTo)-1]
	at := rank * float64(n)
	if n <= 1e15 {
		at = math.Floor(at*1e6+0.5) / 1e6
	}
	want := int64(math.Ceil(at))
	i := sort.Search(len(v.upTo), func(i int) bool { return v.upTo[i] >= want })
	return v.items[min(i, len(v.items)-1)]
}

// Rank is the part of all values that are not behind x.
func (v *View[T]) Rank(x T) float64 {
	i := sort.Search(len(v.items), func(i int) bool { return v.items[i] > x })
	if i == 0 {
		return 0
	}
	return float64(v.upTo[i-1]) / float64(v.upTo[len(v.upTo)-1])
}
