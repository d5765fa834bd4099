package random

// Seed is the seed of a part: the number that java.util.Random with a seed gives after part others.
func Seed(seed int64, part int) int64 {
	const mask = 1<<48 - 1
	s := (seed ^ 0x5DEECE66D) & mask
	next := func() int64 {
		s = (s*0x5DEECE66D + 0xB) & mask
		return int64(int32(s >> 16))
	}
	for {
		n := next() << 32
		n += next()
		if part == 0 {
			return n
		}
		part--
	}
}
