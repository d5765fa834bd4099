// Package mem is the state provider that keeps every key in memory: hash tables, with one segment file for each batch.
//
// A snapshot, made when the segments since the last one have grown larger than it, bounds what a restart reads. It is merged from the
// segments, which never change, while batches go on; so is deleted what nobody needs (merge.go). The provider's name in the offset log is
// millrace.mem.
//
// It is tested by the laws of package statetest, against Go's map over random batches, and with faults at every point of a merge.
package mem
