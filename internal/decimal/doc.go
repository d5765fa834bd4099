// Package decimal computes with the unscaled values of decimals: 128-bit integers whose scale the caller keeps. It rounds half
// away from zero, as SQL decimals do, and tells when a result has more digits than its precision allows.
//
// It knows nothing of vectors but their 128-bit value type. It is tested against math/big.
package decimal
