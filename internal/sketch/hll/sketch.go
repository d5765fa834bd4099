// Package hll counts different values approximately, with the HyperLogLog sketches of Apache DataSketches in the form with one byte a
// register. A small sketch is a list of hashes, a larger one a hash set of them; both become registers when that is smaller.
//
// How a sketch came about shows in its image (the order of the list, the estimate that was kept up while registers changed), and
// images are compared byte by byte with Spark's in the tests of package sketch.
package hll

import "github.com/millrace/millrace/internal/sketch"

// Sizes of sketches as powers of two.
const (
	MinLgK = 4
	MaxLgK = 21
)

type mode uint8

const (
	list mode = iota
	set
	dense
)

const (
	lgList   = 3
	lgSet    = 5
	slotBits = 26
	slotMask = 1<<slotBits - 1
)

// Sketch is a HyperLogLog sketch of 2^LgK registers.
type Sketch struct {
	lgK  int
	mode mode

	// list and set: different hashes, 0 for a free place
	coupons []uint32
	count   int

	// dense
	registers  []uint8
	outOfOrder bool // merged from others, so that inOrder means nothing
	stale      bool // min, atMin, sum0 and sum1 have to be counted again
	min        int  // of the registers, 0 while they are updated one by one
	atMin      int  // how many registers are at min
	inOrder    float64
	sum0, sum1 float64 // of 2^-r over the registers below 32 and the others
}

// New returns an empty sketch.
func New(lgK int) *Sketch { return &Sketch{lgK: lgK, coupons: make([]uint32, 1<<lgList)} }

// LgK is the logarithm of the number of registers.
func (s *Sketch) LgK() int { return s.lgK }

// Size is the memory held, in bytes.
func (s *Sketch) Size() int64 { return int64(len(s.coupons))*4 + int64(len(s.registers)) + 112 }

// AddLong adds a number.
func (s *Sketch) AddLong(x int64) { s.addHash(sketch.HashLong(x, sketch.Seed)) }

// AddBytes adds a text or bytes; none at all do not count.
func (s *Sketch) AddBytes(b []byte) {
	if len(b) > 0 {
		s.addHash(sketch.Hash(b, sketch.Seed))
	}
}

func (s *Sketch) addHash(h1, h2 uint64) { s.add(coupon(h1, h2)) }

// add adds a coupon.
func (s *Sketch) add(c uint32) {
	switch s.mode {
	case list:
		s.addToList(c)
	case set:
		s.addToSet(c)
	default:
		s.raise(int(c)&(len(s.registers)-1), uint8(c>>slotBits))
	}
}

func (s *Sketch) addToList(c uint32) {
	for i, have := range s.coupons {
		if have == c {
			return
		}
		if have != 0 {
			continue
		}
		s.coupons[i] = c
		s.count++
		switch {
		case s.count < len(s.coupons):
		case s.lgK < 8:
			s.toDense()
		default:
			all := s.coupons
			s.mode, s.coupons = set, make([]uint32, 1<<lgSet)
			for _, c := range all {
				s.coupons[find(s.coupons, c)] = c
			}
		}
		return
	}
}

func (s *Sketch) addToSet(c uint32) {
	i := find(s.coupons, c)
	if s.coupons[i] == c {
		return
	}
	s.coupons[i] = c
	s.count++
	switch {
	case 4*s.count <= 3*len(s.coupons):
	case len(s.coupons) >= 1<<(s.lgK-3):
		s.toDense()
	default:
		all := s.coupons
		s.coupons = make([]uint32, 2*len(all))
		for _, c := range all {
			if c != 0 {
				s.coupons[find(s.coupons, c)] = c
			}
		}
	}
}

// find returns the place of c in a hash set that is not full, or the free one where it belongs.
func find(coupons []uint32, c uint32) int {
	mask := uint32(len(coupons) - 1)
	i := c & mask
	for coupons[i] != 0 && coupons[i] != c {
		i = (i + ((c&slotMask)>>lg(len(coupons)) | 1)) & mask
	}
	return int(i)
}

// toDense makes registers of coupons. The estimate so far goes on from the number of coupons, which is more exact.
func (s *Sketch) toDense() {
	coupons, estimate := s.coupons, s.Estimate()
	s.makeDense()
	for _, c := range coupons {
		if c != 0 {
			s.add(c)
		}
	}
	s.inOrder = estimate
}

func (s *Sketch) makeDense() {
	k := 1 << s.lgK
	*s = Sketch{lgK: s.lgK, mode: dense, registers: make([]uint8, k), atMin: k, sum0: float64(k)}
}

// raise sets a register to at least v, and keeps up with the sums.
func (s *Sketch) raise(i int, v uint8) {
	old := s.registers[i]
	if v <= old {
		return
	}
	s.registers[i] = v
	s.inOrder += float64(len(s.registers)) / (s.sum0 + s.sum1)
	if old < 32 {
		s.sum0 -= inversePower(old)
	} else {
		s.sum1 -= inversePower(old)
	}
	if v < 32 {
		s.sum0 += inversePower(v)
	} else {
		s.sum1 += inversePower(v)
	}
	if old == 0 {
		s.atMin--
	}
}

// recount counts the registers again after a merge that went by them alone.
func (s *Sketch) recount() {
	if !s.stale || s.mode != dense {
		return
	}
	s.stale = false
	s.min, s.atMin, s.sum0, s.sum1 = 64, 0, float64(len(s.registers)), 0
	for _, v := range s.registers {
		switch {
		case v == 0:
		case v < 32:
			s.sum0 += inversePower(v) - 1
		default:
			s.sum1 += inversePower(v) - 1
		}
		switch x := int(v); {
		case x < s.min:
			s.min, s.atMin = x, 1
		case x == s.min:
			s.atMin++
		}
	}
}

func (s *Sketch) setOutOfOrder() { s.outOfOrder, s.inOrder = true, 0 }

func (s *Sketch) empty() bool { return s.mode != dense && s.count == 0 }

// Clone returns a copy.
func (s *Sketch) Clone() *Sketch {
	c := *s
	c.coupons = append([]uint32(nil), s.coupons...)
	c.registers = append([]uint8(nil), s.registers...)
	return &c
}

// foldTo returns a copy with fewer registers.
func (s *Sketch) foldTo(lgK int) *Sketch {
	f := New(lgK)
	f.makeDense()
	s.giveTo(f)
	f.inOrder, f.outOfOrder = s.inOrder, s.outOfOrder
	if f.outOfOrder {
		f.inOrder = 0
	}
	return f
}

// giveTo adds to another sketch whatever this one has.
func (s *Sketch) giveTo(to *Sketch) {
	for _, c := range s.coupons {
		if c != 0 {
			to.add(c)
		}
	}
	for i, v := range s.registers {
		if v != 0 {
			to.add(uint32(v)<<slotBits | uint32(i))
		}
	}
}

// Union merges sketches into one that has no more than 2^max registers, and as few as the smallest of those that have registers.
type Union struct {
	max int
	s   *Sketch
}

// NewUnion returns an empty union.
func NewUnion(maxLgK int) *Union { return &Union{maxLgK, New(maxLgK)} }

// Add merges a sketch, which is left as it is.
func (u *Union) Add(o *Sketch) {
	g := u.s
	switch {
	case o.empty():
	case o.mode == list:
		o.giveTo(g)
	case o.mode == set:
		if g.empty() && o.lgK == g.lgK {
			u.s = o.Clone()
			return
		}
		o.giveTo(g)
	case g.mode != dense:
		var c *Sketch
		if o.lgK > u.max {
			c = o.foldTo(u.max)
		} else {
			c = o.Clone()
		}
		g.giveTo(c)
		u.s = c
	default:
		if o.lgK < g.lgK {
			g = g.foldTo(o.lgK)
			u.s = g
		}
		mask := len(g.registers) - 1
		for i, v := range o.registers {
			if v > g.registers[i&mask] {
				g.registers[i&mask] = v
			}
		}
		g.stale = true
		g.setOutOfOrder()
	}
}

// Result is the union so far. It belongs to the union.
func (u *Union) Result() *Sketch {
	u.s.recount()
	return u.s
}
