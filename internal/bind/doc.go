// Package bind turns resolved plan expressions into compiled ones: attributes become column positions, calls their kernels.
//
// It is the only place where the two meet; what an expression means is settled by the analyser before, how it is computed by
// package expr after.
//
// Its tests are about which columns are read and what is constant; what expressions give is tested in packages fn and agg, and in
// whole queries.
package bind
