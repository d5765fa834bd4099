// Package mem is the state provider that keeps every key in memory: hash tables, with one segment file for each batch.
//
// A snapshot, written in the background of a batch when the segments since the last one have grown as large as it, bounds what a
// restart reads. The provider's name in the offset log is millrace.mem.
package mem
