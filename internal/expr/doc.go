// Package expr evaluates compiled expressions over column batches. It is the only evaluator of the engine: batch and
// streaming, filters, projections, join conditions and sinks all run through it.
//
// A Node computes one vector for the dense rows of a batch and belongs to one worker: it keeps scratch memory that its next
// Eval reuses, so its result is Borrowed. An error is a position, not an abort: kernels note bad rows in Eval.Errs and go
// on, and the operator delivers the rows before the first bad one. Conditional nodes (AND, OR, CASE, IF, COALESCE) evaluate a
// branch only over the rows that reach it, so that a row that Spark would not have looked at cannot fail.
//
// Functions live in fn (scalar) and agg (aggregate), one file per family; they never see a selection. This package knows
// vectors and types, and nothing of plans, names or protocols.
//
// Package exprtest runs a node over rows one by one, in batches of several layouts and among rows that do not count: all must give the
// same. The answers of functions are recorded from Spark, in fn and agg.
package expr
