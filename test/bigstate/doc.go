// Command bigstate runs a streaming query over many distinct keys and says how fast it is and how much memory it takes, for states
// that are meant to be larger than memory:
//
//	go run ./test/bigstate -rows 10000000 -limit 1g -query dedup
//	go run ./test/bigstate -rows 10000000 -limit 1g -query window
//
// The dedup keeps every key; the windows hold all of them but for the last ones, which the end of the run lets out. It prints a line
// for every tenth of the rows and the peak of the resident memory at the end, which must stay below a limit given with -resident.
package main
