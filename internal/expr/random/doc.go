// Package random has the generators behind Spark's rand, samples and exchanges, so that a seed gives the numbers that it gives there: XORShift,
// and Poisson counts over WELL19937c.
//
// It knows numbers only. Its tests have sequences recorded from Apache Spark 4.2.0.
package random
