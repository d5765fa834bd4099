// Command differential asks millrace and a real Apache Spark the same random questions and prints where their answers differ.
//
//	go run ./test/differential -spark sc://localhost:15099 -time 1h
//
// A question is a SQL text: an expression over a table of values that hurt, or a query around such expressions. Everything follows from
// -seed, so a difference can be asked again (-seed N -n 1), and it is made smaller before it is printed: of an expression the
// smallest part is shown whose answers differ. Differences that are known and stay are listed in known.go with the reason.
//
// What a run has printed can be kept, and asked again when something has changed: -again FILE.
//
// Questions of a file are asked with -file, and Spark's answers to them written down with -record: testdata/*.jsonl are from Apache Spark
// 4.2.0, and hold what differed once.
//
// The test of the package needs no Spark. It asks the engine alone: whatever the question, the answer is rows or an error of a
// condition, never an internal one, and it does not depend on how the work is spread.
package main
