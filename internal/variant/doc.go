// Package variant has the binary form of VARIANT values: bytes for the value and bytes for the names of its fields, as Parquet's
// encoding defines them and Spark writes them. It reads values in place, builds them, follows paths through them and tells their schemas.
//
// It knows neither texts nor columns: package jsonrow turns JSON into variants and back, package fn casts them. The tests of
// jsonrow compare its bytes with what Apache Spark 4.2.0 makes of the same texts, and hand it bytes that are broken in every place.
package variant
