package agg

import "math"

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
	return int64(math.Round(unbiased(raw, m, p)))
}

// unbiased corrects an estimate of few values: it finds the number for which such an estimate is to be expected.
func unbiased(raw, m float64, p int) float64 {
	n := raw
	for range 12 {
		step := expected(n, m, p) - raw
		n -= step
		if math.Abs(step) < 0.01 {
			break
		}
	}
	return max(n, 0)
}

// expected is the mean of the raw estimate of n values. A register is at most k with the probability exp(-n/m/2^k), nearly enough
// independently of the others.
func expected(n, m float64, p int) float64 {
	mean, square, below, unit := 0.0, 0.0, 0.0, 1.0
	for range 64 {
		upTo := math.Exp(-n / m * unit)
		mean += unit * (upTo - below)
		square += unit * unit * (upTo - below)
		below = upTo
		unit /= 2
	}
	return alpha(p) * m / mean * (1 + (square-mean*mean)/(m*mean*mean))
}
