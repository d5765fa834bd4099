// Package topitems counts the values of a column that are most frequent, for approx_top_k and the functions that keep its sketches in
// tables: values as items of a sketch, with the hash that they have in Spark, and the struct that such a sketch travels in.
//
// The package knows vectors and types and nothing of calls. It is tested by images that are read back and, through the functions
// above it, against answers of Apache Spark.
package topitems
