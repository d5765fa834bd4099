// Command kill shows that a query loses and doubles nothing when its process dies: it runs a windowed aggregation from JSON files into a
// Parquet folder in a process of its own, kills that with SIGKILL at random moments, starts it again, and in the end compares
// the folder with the batch query over the same files.
//
//	go run ./test/kill -n 50
package main
