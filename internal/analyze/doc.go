// Package analyze turns an unresolved plan into a resolved one, or into the error that Spark would give: relations are looked up
// in a catalog or opened by their connectors, names become columns, calls are bound to functions with their implicit casts, and the
// short-hands of the DataFrame API and of SQL become plain operators. Afterwards it checks what only a whole plan shows:
// grouping, aggregates out of place and, with CheckStreaming, what a stream cannot do in an output mode.
//
// It works in one pass from the leaves up. A node is resolved over resolved children and never looked at again, so a rule may
// rely on the types and columns below it. The package knows the function registries, package source for connectors and an
// interface of its own for views and tables; it knows no protocol, no physical operators and runs nothing, except that constant
// arguments are folded for functions that want to see them.
//
// It is tested by tables of plans with the resolved tree, the schema or the error class they give, and by comparing error classes
// and parameters with the recorded conformance results.
package analyze
