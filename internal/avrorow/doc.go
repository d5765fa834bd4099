// Package avrorow turns records in Avro's binary encoding into rows of column builders and columns into such records, by the rules of
// Spark's from_avro and to_avro.
//
// It owns how types and schemas correspond, how what was written by one schema is read by another, and the encoding; schemas are parsed by
// the library. It knows no container files and no plans. It is tested by what Spark answered, and what is written must be read back.
package avrorow
