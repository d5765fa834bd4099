// Package lsm is the state provider for states larger than memory: rows lie in a log-structured merge tree, and what a batch touches is
// brought into memory. The provider's name in the offset log is millrace.lsm.
//
// The tree, a pebble database without a log, is scratch: it is made by this process in the folder live and is never synced. What is
// durable are the changes of each batch, one file as the memory provider has it, and now and then a snapshot: links to the tree's
// files, which never change, with a file that names them. A version is loaded from the newest snapshot before it and the changes
// since. docs/format/state-lsm.md describes the files.
//
// A table is a working set: the rows that the batch has asked for, found through the same hash tables as in the memory provider, with
// the same row numbers for the operators. Behind it stands the tree as it was after the last batch; it does not change until the
// batch's changes are durable. Rows stay in memory for the next batch while there is room.
//
// All stores of a process share one Memory. The package must not know what values mean.
//
// Tests compare it with the memory provider on random histories and whole streams, on file systems that lose power and have full or
// damaged disks.
package lsm
