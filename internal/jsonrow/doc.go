// Package jsonrow turns JSON text into rows of column builders and columns into JSON text, by the rules of Spark's JSON source,
// from_json and to_json.
//
// It owns the scanner (schema directed: it never builds a tree), the inference of schemas, the writer and the options that all of
// them share. It knows neither files nor plans: text comes in as bytes and leaves as bytes.
//
// The scanner is tested by tables recorded from Spark and fuzzed against a slow model over encoding/json; what is written must be
// read back unchanged.
package jsonrow
