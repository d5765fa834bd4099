// Package histories holds the laws that streaming queries obey, over random queries, data and histories: where the input is cut into
// batches, where a query is stopped, crashes and starts again, and how many partitions and workers it has do not matter.
//
// TestHistories compares every batch with what a model says, which is written a second time in plain Go: rows, watermark and the size of the
// state. A failure is printed as a script of the query and of what happened to it, made small; its seed repeats it. With -histories.time it
// and the others of the kind go on for so long each (make histories).
//
// TestFileHistories has files and folders in the place of the kit's streams and sinks.
//
// TestCuts compares queries with themselves: made of all functions that the engine has, they give as a stream what they give as a batch.
//
// The tests are small enough for every run; -rapid.checks makes them long, -rapid.seed repeats one.
package histories
