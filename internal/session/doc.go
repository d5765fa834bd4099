// Package session is what one session of a user consists of, below any protocol: its settings, temporary views and tables, and
// the path from a plan to rows.
//
// It ties the stages together (analyse, then package query), renders explain texts and runs the SQL statements that are no queries; those
// about Delta tables it hands to package deltatable. It knows plans and vectors; it knows no protocol messages, no operations and no
// other sessions.
//
// Its tests run statements and queries in a session without a protocol; most answers are recorded from Spark, in testdata.
package session
