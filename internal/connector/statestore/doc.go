// Package statestore reads the state of streaming queries as tables: the formats statestore, for the keys and values of one stateful
// operator at a batch or the changes of some, and state-metadata, for the operators there are.
//
// It looks at a checkpoint's files and never writes into it but for the scratch folder of the provider millrace.lsm; a running query
// is not disturbed. It knows states as their headers describe them (see state.View) and nothing of what operators do; what lies in the state of a stateful
// processor it learns from package transform.
//
// Tests write states by queries of test/stream and by hand; what the options do was recorded from Apache Spark 4.2.0.
package statestore
