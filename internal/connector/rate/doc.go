// Package rate makes rows out of nothing: the rate source counts at a pace by the clock, rate-micro-batch gives each batch the same
// number of rows. Both are for tests and demonstrations.
package rate
