// Package parquetfile is the file format parquet: reading what any writer made, and writing what Spark and others read.
//
// It owns the mapping of schemas, the decoding of pages into vectors, the use of row-group statistics, and the writer. When reading, footers,
// page headers and the rarer encodings are those of the Arrow library, as is compression. Lists, maps and structs are put together from
// definition and repetition levels here.
//
// It is tested by reading back what was written, against files that other writers made (testdata), and by damaging files.
package parquetfile
