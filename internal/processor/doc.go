// Package processor is what a stateful processor of a program and the operator that runs it have in common: the interfaces between the
// two, and the bytes of state variables and of their keys.
//
// The root package wraps a program's typed processor into a Processor; package stateful/transform runs it. Rows travel as Arrow
// records, a shard's rows at once, so that both sides work column by column. State travels as bytes: a Codec is compiled for a Go type
// once, and because the bytes follow the SQL type alone, Read gives any state variable back without the program that wrote it. The
// formats are described in docs/format/custom-state.md and must not change.
//
// The package knows nothing of vectors, plans and stores, because programs that only talk to a server link it too. Tests hold codecs
// against Read, and the order of keys against that of their values.
package processor
