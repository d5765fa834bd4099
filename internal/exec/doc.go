// Package exec runs physical operators over column batches, for batch queries and micro-batches alike.
//
// An Op hands out its rows as Parts: a fixed number of streams in ordinal order, each read by one worker. Narrow operators wrap
// the parts of their child; breakers (aggregation, sort, join build) run the child's parts side by side inside Parts and cut the
// result anew. How rows are cut depends on the data and the plan, never on the number of workers, and results are gathered in
// ordinal order: the same input gives the same bytes with 1, 2 or 5 workers.
//
// The package knows vectors and expressions; it knows no names, plans, protocols or logs. Operators that keep state between
// micro-batches are in package stateful.
//
// It is tested against slow models of the operators, with batches and numbers of workers of any size, which must not show, and with so
// little memory that everything goes to files.
package exec
