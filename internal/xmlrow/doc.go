// Package xmlrow turns XML text into columns and columns into XML text, with Spark's options and rules: what an element, an attribute
// or the text between them becomes in a schema, which schema some records have, what becomes of a record that does not fit.
//
// It knows records, no files. It is tested against answers of Apache Spark 4.2.0.
package xmlrow
