// Package checkpoint owns what a streaming query keeps beside its state: its identity, the offset
// log (the write-ahead log), the commit log, the private logs of its sources, the operators'
// metadata, and the _spark_metadata log of the file sink. All files are byte for byte those of
// version 1 of Apache Spark's layout, so that a stateless query can move between Spark and
// millrace in both directions; docs/format/checkpoint.md describes each.
//
// It must not know what an offset means, how a batch is run or what state looks like. It sits
// on internal/fs and internal/errclass and on nothing else.
//
// # Rules
//
// A log entry is written once: whole or not at all, and never replaced. Who finds its
// number taken has lost a race against another run and must stop. Entries are staged first and
// become visible and durable in an fs.Round, alone (Add) or with others (Stage). Numbers are known from
// one listing at opening; adding does not look at the directory.
//
// # Tests
//
// Goldens under testdata are what Apache Spark 4.2.0 wrote, with the paths replaced. Laws run
// every sequence into a crash at every operation (internal/fs/errfs). The parsers are fuzzed.
package checkpoint
