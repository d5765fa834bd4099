// Package csvrow turns CSV text into rows of column builders and columns into CSV text, by the rules of Spark's CSV source, from_csv
// and to_csv.
//
// It owns the scanner (schema directed, without an allocation for a row), the inference of schemas, the writer and the options that
// all of them share. It knows neither files nor plans: text comes in as bytes and leaves as bytes.
//
// There are two ways through a record. Nearly all lines have plain fields, or fields with quotes around and none inside; they are
// scanned once, straight into the builders. All others, and all unusual dialects, go through the machine of machine.go, which
// follows the states of the parser that Spark uses, with its surprises.
//
// In tests, the two ways are fuzzed against each other; tables recorded from Spark say what both must give; what is written must be read back
// unchanged.
package csvrow
