package fn

// twister is the Mersenne Twister MT19937, seeded as Spark seeds that of shuffle and uuid, so that a seed gives the results that it
// gives there.
type twister struct {
	state [624]uint32
	next  int
}

func newTwister(seed int64) *twister {
	t := &twister{}
	key := [2]uint32{uint32(uint64(seed) >> 32), uint32(seed)}
	s := &t.state
	s[0] = 19650218
	for i := uint32(1); i < 624; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + i
	}
	i := 1
	step := func() {
		if i++; i == 624 {
			s[0], i = s[623], 1
		}
	}
	for k := range 624 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[k%2] + uint32(k%2)
		step()
	}
	for range 623 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		step()
	}
	s[0] = 1 << 31
	t.next = 624
	return t
}

func (t *twister) refill() {
	s := &t.state
	for i := range s {
		y := s[i]&(1<<31) | s[(i+1)%624]&(1<<31-1)
		s[i] = s[(i+397)%624] ^ y>>1 ^ 0x9908b0df*(y&1)
	}
	t.next = 0
}

func (t *twister) uint32() uint32 {
	if t.next == len(t.state) {
		t.refill()
	}
	y := t.state[t.next]
	t.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (t *twister) uint64() uint64 {
	high := uint64(t.uint32()) << 32
	return high | uint64(t.uint32())
}

// below draws a number from 0 below n.
func (t *twister) below(n int32) int32 {
	if n&-n == n {
		return int32(int64(n) * int64(t.uint32()>>1) >> 31)
	}
	for {
		bits := int32(t.uint32() >> 1)
		v := bits % n
		if bits-v+(n-1) >= 0 {
			return v
		}
	}
}
