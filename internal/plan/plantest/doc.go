// Package plantest lets tests of the optimiser and the planner start from SQL: a small catalog of tables in memory, resolved plans of
// queries over it, their trees as text that does not change from run to run, and their rows.
//
// It is for tests only.
package plantest
