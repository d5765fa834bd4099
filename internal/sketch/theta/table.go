// Package theta counts different values approximately, keeps a summary with each of them where that is wanted, and computes unions,
// intersections and differences. A sketch keeps the smallest hashes of all values; how many others there are follows from
// the limit (theta) below which it keeps them all. The images are those of the Theta and Tuple sketches of Apache DataSketches.
// DataSketches' images of the same values are compared with ours in the tests of package sketch.
package theta

import (
	"math"
	"math/bits"
	"slices"

	"github.com/millrace/millrace/internal/sketch"
)

// Sizes of sketches as powers of two.
const (
	MinLgK = 4
	MaxLgK = 26
)

// whole is the limit while no hash has been left out.
const whole = math.MaxInt64

// Sketch is what is known of a set: its hashes below a limit, each with a summary. For Theta sketches S is struct{}.
type Sketch[S any] struct {
	Hashes    []uint64
	Summaries []S
	limit     uint64
	empty     bool // no value at all, which is more than no hash below the limit
}

// Estimate is the number of different values.
func (c *Sketch[S]) Estimate() float64 {
	return float64(len(c.Hashes)) * (float64(whole) / float64(c.limit))
}

// Theta is the part of all hashes that the sketch keeps, from 0 to 1.
func (c *Sketch[S]) Theta() float64 { return float64(c.limit) / float64(whole) }

// Table is a set that grows: it keeps at most nearly 2^(lgK+1) hashes in a table with open addressing.
type Table[S any] struct {
	lgK       int
	hashes    []uint64
	summaries []S
	n         int
	limit     uint64
	empty     bool
}

const lgStart, lgGrow = 5, 3

// NewTable returns an empty table for 2^lgK hashes.
func NewTable[S any](lgK int) *Table[S] {
	size := 1 << lgStart
	if lgK+1 > lgStart {
		size = 1 << ((lgK+1-lgStart)%lgGrow + lgStart)
	}
	return &Table[S]{lgK: lgK, hashes: make([]uint64, size), summaries: make([]S, size), limit: whole, empty: true}
}

// Size is the number of places in the table.
func (t *Table[S]) Size() int { return len(t.hashes) }

// HashLong is the hash of a number as sketches keep it.
func HashLong(x int64) uint64 {
	h, _ := sketch.HashLong(x, sketch.Seed)
	return h >> 1
}

// HashBytes is the hash of a text or bytes.
func HashBytes(b []byte) uint64 {
	h, _ := sketch.Hash(b, sketch.Seed)
	return h >> 1
}

// HashLongs is the hash of a list of numbers.
func HashLongs(x []int64) uint64 {
	h, _ := sketch.HashLongs(x, sketch.Seed)
	return h >> 1
}

// HashInts is the hash of a list of numbers of 32 bits.
func HashInts(x []int32) uint64 {
	h, _ := sketch.HashInts(x, sketch.Seed)
	return h >> 1
}

// Add adds a hash. It returns where its summary lies, until the next call, and whether the hash is new; nil when it is not kept.
func (t *Table[S]) Add(h uint64) (summary *S, added bool) {
	t.empty = false
	if h == 0 || h >= t.limit {
		return nil, false
	}
	i := place(t.hashes, h)
	if t.hashes[i] == h {
		return &t.summaries[i], false
	}
	t.hashes[i] = h
	t.n++
	return &t.summaries[i], true
}

// Tidy has to follow each Add of a new hash, when its summary is set.
func (t *Table[S]) Tidy() {
	k := 1 << t.lgK
	switch {
	case len(t.hashes) > k:
		if t.n <= len(t.hashes)/16*15 {
			return
		}
		all := make([]uint64, 0, t.n)
		for _, h := range t.hashes {
			if h != 0 {
				all = append(all, h)
			}
		}
		t.limit = nth(all, k)
		t.remake(len(t.hashes))
	case t.n > len(t.hashes)/2:
		t.remake(len(t.hashes) << lgGrow)
	}
}

// remake moves what is below the limit to a new table.
func (t *Table[S]) remake(size int) {
	hashes, summaries := t.hashes, t.summaries
	t.hashes, t.summaries, t.n = make([]uint64, size), make([]S, size), 0
	for i, h := range hashes {
		if h != 0 && h < t.limit {
			p := place(t.hashes, h)
			t.hashes[p], t.summaries[p] = h, summaries[i]
			t.n++
		}
	}
}

// place finds a hash, or the free place where it belongs, in a table that is not full.
func place(hashes []uint64, h uint64) int {
	mask := uint64(len(hashes) - 1)
	i := h & mask
	if hashes[i] == 0 || hashes[i] == h {
		return int(i)
	}
	stride := h>>bits.TrailingZeros64(mask+1)&127<<1 + 1
	for hashes[i] != 0 && hashes[i] != h {
		i = (i + stride) & mask
	}
	return int(i)
}

// nth returns the hash that has n smaller ones; it changes the order of all.
func nth(all []uint64, n int) uint64 {
	lo, hi := 0, len(all)-1
	for lo < hi {
		pivot := all[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for all[i] < pivot {
				i++
			}
			for all[j] > pivot {
				j--
			}
			if i <= j {
				all[i], all[j] = all[j], all[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			hi = j
		case n >= i:
			lo = i
		default:
			return all[n]
		}
	}
	return all[n]
}

// Sketch returns all that the table keeps, in the table's order.
func (t *Table[S]) Sketch() *Sketch[S] { return t.below(t.limit) }

// below returns what is below a limit that is not above the table's.
func (t *Table[S]) below(limit uint64) *Sketch[S] {
	c := &Sketch[S]{limit: limit, empty: t.empty, Hashes: make([]uint64, 0, t.n), Summaries: make([]S, 0, t.n)}
	for i, h := range t.hashes {
		if h != 0 && h < limit {
			c.Hashes = append(c.Hashes, h)
			c.Summaries = append(c.Summaries, t.summaries[i])
		}
	}
	return c
}

// Union merges sketches into one of at most 2^lgK hashes.
type Union[S any] struct {
	*Table[S]
	limit uint64
	merge func(have *S, other S)
}

// NewUnion returns an empty union. merge puts summaries of the same value together.
func NewUnion[S any](lgK int, merge func(have *S, other S)) *Union[S] {
	return &Union[S]{Table: NewTable[S](lgK), limit: whole, merge: merge}
}

// Merge adds a sketch.
func (u *Union[S]) Merge(c *Sketch[S]) {
	if c.empty {
		return
	}
	u.Table.empty = false
	u.limit = min(u.limit, c.limit, u.Table.limit)
	for i, h := range c.Hashes {
		if h >= u.limit {
			continue
		}
		if s, added := u.Add(h); added {
			*s = c.Summaries[i]
			u.Tidy()
		} else if s != nil {
			u.merge(s, c.Summaries[i])
		}
	}
	u.limit = min(u.limit, u.Table.limit)
}

// Result is the union so far.
func (u *Union[S]) Result() *Sketch[S] {
	k := 1 << u.lgK
	c := u.below(min(u.limit, u.Table.limit))
	if len(c.Hashes) > k {
		c = u.below(nth(c.Hashes, k))
	}
	return c
}

// Intersect returns what two sketches have in common. merge makes one of the two summaries of a value.
func Intersect[S, T any](x *Sketch[S], y *Sketch[T], merge func(s S, t T) S) *Sketch[S] {
	if x.empty || y.empty {
		return &Sketch[S]{limit: whole, empty: true}
	}
	limit := min(x.limit, y.limit)
	at := positions(x)
	var hashes []uint64
	var summaries []S
	for i, h := range y.Hashes {
		if p := place(at.hashes, h); h < limit && at.hashes[p] == h {
			hashes, summaries = append(hashes, h), append(summaries, merge(at.summaries[p], y.Summaries[i]))
		}
	}
	c := &Sketch[S]{Hashes: hashes, Summaries: summaries, limit: limit}
	c.inTableOrder()
	return c
}

// inTableOrder puts hashes into the order in which a table for them has them.
func (c *Sketch[S]) inTableOrder() { *c = *positions(c).below(c.limit) }

// positions makes a table of all of a sketch's hashes, of the least size.
func positions[S any](c *Sketch[S]) *Table[S] {
	size := max(1<<lgStart, ceilingPower((len(c.Hashes)*16+14)/15))
	t := &Table[S]{hashes: make([]uint64, size), summaries: make([]S, size), n: len(c.Hashes), limit: c.limit, empty: c.empty}
	for i, h := range c.Hashes {
		p := place(t.hashes, h)
		t.hashes[p], t.summaries[p] = h, c.Summaries[i]
	}
	return t
}

func ceilingPower(n int) int {
	if n <= 1 {
		return 1
	}
	return 1 << bits.Len(uint(n-1))
}

// Difference returns what x has and y has not.
func Difference[S, T any](x *Sketch[S], y *Sketch[T]) *Sketch[S] {
	if x.empty {
		return &Sketch[S]{limit: whole, empty: true}
	}
	c := &Sketch[S]{limit: min(x.limit, y.limit)}
	at := positions(y)
	for i, h := range x.Hashes {
		if h < c.limit && at.hashes[place(at.hashes, h)] != h {
			c.Hashes, c.Summaries = append(c.Hashes, h), append(c.Summaries, x.Summaries[i])
		}
	}
	c.empty = len(c.Hashes) == 0 && c.limit == whole
	return c
}

// sort puts the hashes of a sketch without summaries into order.
func (c *Sketch[S]) sort() {
	if !slices.IsSorted(c.Hashes) {
		slices.Sort(c.Hashes)
	}
}

// IsUnset tells whether a sketch is the zero value, which stands for no set at all.
func (c *Sketch[S]) IsUnset() bool { return c.limit == 0 }
