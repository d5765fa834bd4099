package agg

import (
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// linearLimits are the estimates, by p from 4, below which counting empty registers is the better method.
var linearLimits = [...]float64{10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 11500, 20000, 50000, 120000, 350000}

// alpha corrects the harmonic mean of m registers.
func alpha(p int) float64 {
	switch p {
	case 4:
		return 0.673
	case 5:
		return 0.697
	case 6:
		return 0.709
	}
	return 0.7213 / (1 + 1.079/float64(int(1)<<p))
}

// estimate gives the number of different values that registers of 2^p stand for.
func estimate(registers []uint8, p int) int64 {
	m := float64(len(registers))
	inverse, empty := 0.0, 0
	for _, r := range registers {
		inverse += 1 / float64(uint64(1)<<r)
		if r == 0 {
			empty++
		}
	}
	raw := alpha(p) * m * m / inverse
	if empty > 0 {
		if h := m * math.Log(m/float64(empty)); p <= 18 && h <= linearLimits[p-4] || raw <= 2.5*m {
			return int64(math.Round(h))
		}
	}
	if raw > 5*m {
		return int64(math.Round(raw))
	}
	return int64(math.Round(raw - bias(raw, p)))
}

// biases has, for each size from 2^4 registers on, raw estimates in order and then by how much each is too high: numbers of 64 bits in
// little endian. They are those of the appendix to "HyperLogLog in Practice" (Heule, Nunkesser, Hall), as Apache Spark has them.
//
//go:embed hll_bias.bin
var biases []byte

// biasPoints is how many raw estimates there are for each size.
var biasPoints = [...]int{79, 159, 200, 200, 200, 201, 200, 201, 201, 200, 201, 201, 200, 201, 200}

const nearest = 6

var biasTable = sync.OnceValue(func() (t [len(biasPoints)]struct{ raw, bias []float64 }) {
	b := biases
	read := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		b = b[8*n:]
		return x
	}
	for i, n := range biasPoints {
		t[i].raw, t[i].bias = read(n), read(n)
	}
	return t
})

// bias is by how much a raw estimate is too high: the mean over the points of the table that are nearest to it.
func bias(raw float64, p int) float64 {
	if p-4 >= len(biasPoints) {
		return 0
	}
	t := biasTable()[p-4]
	at, _ := slices.BinarySearch(t.raw, raw)
	from := max(at-nearest+1, 0)
	to := min(from+nearest, len(t.raw))
	for to < len(t.raw) && math.Abs(t.raw[to]-raw) < math.Abs(t.raw[from]-raw) {
		from++
		to++
	}
	sum := 0.0
	for _, x := range t.bias[from:to] {
		sum += x
	}
	return sum / float64(to-from)
}
