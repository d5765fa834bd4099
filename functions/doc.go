// Package functions has the functions that make Columns: aggregates, windows of time, dates, strings and so on. It is meant to be
// imported as f:
//
//	import f "github.com/millrace/millrace/functions"
//
//	events.GroupBy(f.Window(f.Col("ts"), "10 minutes")).Agg(f.Sum("amount").As("total"))
//
// An argument that is a column can be a Column or the name of one; all of a variadic function must be the same. Arguments of other types are
// literals. A function that is not here can be called by its name with Call, or written in SQL with Expr.
//
// Most of the package is written by gen from functions.txt. It only builds expressions by way of package millrace: what a function means,
// and whether it exists, is the engine's to know. The API's test-suite runs a sample of them.
package functions

//go:generate go run ./gen
