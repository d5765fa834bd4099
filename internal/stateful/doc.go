// Package stateful holds the operators that exist only in streams: those that keep state between micro-batches, and the one that
// observes event time.
//
// They run inside the operator trees of package exec and find what belongs to the micro-batch in Batch: the two watermark
// bounds, the loaded state stores, and the place where figures are collected. What a watermark is and when it moves is decided by
// package stream; an operator is handed its bounds.
//
// It is tested against slow models over random events; whole queries are tested in test/stream, test/histories and test/faults.
package stateful
