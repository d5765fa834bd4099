// Package bind turns resolved plan expressions into compiled ones: attributes become column positions, calls their kernels.
//
// It is the only place where the two meet; what an expression means is settled by the analyser before, how it is computed by
// package expr after.
package bind
