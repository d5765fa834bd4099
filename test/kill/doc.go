// Command kill shows that a query loses and doubles nothing when its process dies: it runs a query in a process of its own, feeds it, kills it
// with SIGKILL again and again, starts it again, and in the end compares what the query has written with the batch query over the whole
// input. With -python a reader that is not millrace (check.py) counts as well.
//
//	go run ./test/kill -n 50 -python "$(scripts/venv.sh)" files-windows-parquet files-rows-parquet files-rows-delta
//	go run ./test/kill -n 50 -broker 127.0.0.1:9092 kafka-windows-kafka kafka-rows-delta
//
// A pipeline is INPUT-QUERY-OUTPUT: files or kafka; windows (an aggregation with a watermark) or rows (no state); parquet, delta or kafka.
//
// A third of the kills come at any moment from the start of the process on. The others wait for the next batch to begin, or for the
// sink's next commit, because those moments are short. What each has hit is counted.
package main
