// Package physical turns an optimised logical plan into a tree of operators, for a batch query or for the micro-batches of a
// streaming one.
//
// It decides how, never what: join sides, partial aggregation, fused limits, and the numbering of stateful operators. What a plan
// means is settled before; running it is the business of exec and stateful.
//
// The trees it makes are goldens in testdata; that they give the right rows is tested with whole queries.
package physical
