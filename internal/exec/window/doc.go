// Package window computes window functions: for each row of a partition, a value made of the rows around it.
//
// Rows are dealt out to shards by their partition keys, and each shard is sorted. Everything after that works on the columns of a sorted
// shard: partitions and peers are stretches of rows, a frame is a pair of row numbers, and most functions come down to computing for
// each row the number of another one, which is then gathered. Aggregates drive the States of package agg; frames that overlap are not
// added up again from their first row: see aggregate.go.
//
// Results are computed a batch of rows at a time, when it is asked for, so that an error stands at the row that has it and rows that
// nobody reads cost nothing but the sort. Tests compare with a row-at-a-time model; answers of Spark are in test/window.
package window
