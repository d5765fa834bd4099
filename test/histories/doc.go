// Package histories holds the laws that streaming queries obey, over random queries, data and histories: where the input is cut into
// batches, where a query is stopped, crashes and starts again, and how many partitions and workers it has do not matter.
//
// The tests are small enough for every run; -rapid.checks makes them long, -rapid.seed repeats one.
package histories
