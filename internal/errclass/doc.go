// Package errclass is the registry of every error condition a user can see.
//
// It owns the condition names (Spark's public ones), their SQLSTATEs, our own message
// templates with named parameters, and the kind of each condition, from which the Java class
// names that Spark Connect clients look at are derived. It knows nothing of plans, types or
// protos: it is the bottom of the import graph.
//
// A condition is added to the table of its subject (parse.go, analysis.go, streaming.go, ...)
// and raised with New:
//
//	return errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident("db", "t"))
//
// Parameter values are given ready for print: identifiers through Ident, SQL texts through
// Expr, config keys through Conf. A test scans the sources of the whole module and fails for
// a call of New whose condition is unknown or whose parameters are not those of the template.
package errclass
