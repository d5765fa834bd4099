// Package stream tests streaming queries by scripts: what a stream brings, and what each micro-batch gives. README.md describes the
// language. The scripts of testdata run under variants of everything that must not matter, with power failing at every write, and
// against real Spark to record what is right.
package stream
