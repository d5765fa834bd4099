// Package delta reads and writes tables of the format Delta Lake, in batch and as streams.
//
// It owns how a table's files become rows and rows become files: pruning by partition values and statistics, deleted rows, names of
// columns in files, the offsets of streams over a table, and the batches of streams and writes as commits. The log itself is package
// internal/delta; data files are Parquet, through package parquetfile. What a statement such as MERGE does is worked out in package
// deltatable, which reads and writes through here.
//
// Rows that are written become rows of the table by a Shaper, which the session is: casts, generated columns and checks are
// expressions, which connectors do not know.
//
// It is tested with sample tables that Spark wrote, by cutting the power at every call of the file system, and by several writers at
// once; conformance (test/conformance, suite delta) compares with Spark, and test/delta with delta-rs.
package delta
