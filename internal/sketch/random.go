package sketch

// Random is the generator of java.util.Random, which decides between equals in some of Spark's sketches.
type Random struct{ state uint64 }

const (
	randomFactor = 0x5DEECE66D
	randomMask   = 1<<48 - 1
)

// NewRandom returns a generator that starts from a seed.
func NewRandom(seed int64) Random { return Random{(uint64(seed) ^ randomFactor) & randomMask} }

func (r *Random) next(bits int) uint64 {
	r.state = (r.state*randomFactor + 0xB) & randomMask
	return r.state >> (48 - bits)
}

// Below returns a number from 0 to n-1, for n that is no power of two.
func (r *Random) Below(n int32) int32 {
	for {
		u := int32(r.next(31))
		if x := u % n; u-x+(n-1) >= 0 {
			return x
		}
	}
}

// Double returns a number from 0 up to, but not, 1.
func (r *Random) Double() float64 {
	high := r.next(26) << 27
	return float64(high+r.next(27)) / (1 << 53)
}
