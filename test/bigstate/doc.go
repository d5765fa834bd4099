// Command bigstate runs a streaming query over many distinct keys and says how fast it is and how much memory it takes, for states
// that are meant to be larger than memory:
//
//	go run ./test/bigstate -rows 10000000 -limit 1g -query dedup
//	go run ./test/bigstate -rows 10000000 -limit 1g -query window
//
// The dedup keeps every key. A window has two million of them and is let out at once when the watermark has passed it, which -hours
// delays; with the usual 6 hours ten million rows stay. A line is printed for every tenth of the rows, and at the end the peak of the
// resident memory, which must stay below a limit that is given with -resident.
package main
