// Package filesink is what all file formats have in common as sinks: names of files, partition directories, and the moment at which
// files become part of the output.
//
// A stream's output is what its _spark_metadata log lists: a batch is written into place and then entered in the log, durably and
// in one step, so that every batch is in the output once or not at all. A batch write puts its files into a hidden folder and moves
// them into place when all are complete. A format adds a Kind: how the rows of one file are encoded.
//
// It is tested with real files through the contract suite of package sink, with crashes at every write, and with full disks.
package filesink
