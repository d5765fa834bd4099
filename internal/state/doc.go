// Package state is what streaming operators remember between micro-batches: versioned, durable tables, or ordered bytes, behind
// providers.
//
// Version N of a state is what batch N starts from; batch N makes version N+1. A version exists on disk before the batch is
// committed and counts only once it is: a failed attempt's segment is replaced by the next attempt's.
//
// The package owns the contract and the segment file format, described in docs/format/state.md. It knows vectors, not what
// the values mean: an operator keeps its value columns itself, indexed by the table's row numbers, and hands them over for
// saving. Providers: mem keeps every key in memory, lsm what does not fit there in files.
//
// Package statetest has the laws that every provider is tested by: it is a map, keeps what is durable, refuses what is damaged or of
// others.
package state
