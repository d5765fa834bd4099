// Package deltatable is what statements and writers do to a table of the format Delta Lake: rows deleted, updated, merged and replaced,
// columns and properties altered, files compacted, old ones deleted, versions listed and restored.
//
// It works such a statement out as plans over the table, has the session that it runs in resolve and run them, and commits the files that
// come of it as one version. It does not know how names become tables, nor what the catalog has: that is package session, which finds a
// table and hands it over. The log is package delta, files and streams are package connector/delta.
//
// It is tested through the statements that a session runs (package session), by conformance cases that Spark has answered, and with other
// writers at the same table (test/delta).
package deltatable
