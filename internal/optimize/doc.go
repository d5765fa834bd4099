// Package optimize rewrites a resolved logical plan into an equal one that costs less: constants are folded, filters move towards
// the sources, columns that nobody reads are dropped.
//
// The list of rules is short on purpose. A rule must not let an expression that can fail see rows that it would not have seen
// in Spark; folding never raises an error early.
//
// Plans before and after are goldens in testdata, and a law holds for random ones: an optimised plan gives the same rows, or the same
// error.
package optimize
