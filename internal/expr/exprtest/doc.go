// Package exprtest runs expressions for tests. An expression is evaluated one row at a time, which settles what its result is,
// and then in every other way that the engine may evaluate it: over batches of three rows and of all rows, with flat,
// constant and dictionary columns, with garbage behind nulls, through a selection, and with scratch memory that has been used
// before. All must give the same values, and errors for the same rows.
//
// Tests of functions and of expression nodes use it, so that no author has to think of these cases. It knows no functions.
package exprtest
