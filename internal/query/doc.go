// Package query is a batch query from its resolved plan to its rows: it has the plan optimised and turned into operators, and runs
// them for rows in memory or for a sink.
//
// What a plan may name and what a session has kept is settled before it comes here; streams have a driver of their own. It is tested
// through package session and the suites under test.
package query
