// Package avrofile is the format avro: object container files, with Avro's records in compressed blocks between marks.
//
// Records and schemas are the business of package avrorow; this one knows the files. It is tested with files that Spark has written and
// by reading what it writes, cut anywhere.
package avrofile
