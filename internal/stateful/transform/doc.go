// Package transform runs stateful processors of programs: transformWithState, in streams and over tables.
//
// It owns the operator, what the keys of its state look like (keys.go), state variables and timers as a processor sees them (package
// processor's Handle and State), and the list of state variables in the checkpoint, by which a changed processor is told from one that
// only has more variables. It does not know Go types: a processor is a processor.Program, which takes Arrow records.
//
// In a batch, a shard goes through its groups in the order of partition and key, then through the timers that are due, and then removes
// what has outlived its time to live. All of it belongs to one goroutine.
//
// It is tested from outside, with processors of real programs: transform_test.go of the root package, over both state providers.
package transform
