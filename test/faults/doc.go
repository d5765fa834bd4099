// Package faults makes file systems fail under streaming queries that read files and write files: at every call of a run, one after the
// other, in every way in which a disk fails. A query may end with an error that says which file and what is wrong with it; when the
// fault is gone, a new run must end with the rows of a run without faults.
//
// The test takes a sample of the calls; with -faults.all it takes all of them (make faults).
package faults
