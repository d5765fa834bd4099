// Package plan is the logical plan: relations and expressions, unresolved as SQL text and Connect messages give them and resolved
// as the analyser leaves them, in one tree.
//
// Nodes are immutable: a rule builds new ones with MapChildren and MapExprs. Columns have identity: an Attr carries an ID that stays the
// same however often it is renamed around, as in Spark. The package knows types and the function registries; it knows no names
// (that is analyze), no protocol and no execution.
//
// It is tested with the texts that nodes print, and by taking every node apart and putting it together again.
package plan
