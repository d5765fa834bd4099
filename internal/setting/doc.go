// Package setting has the settings of sessions: the names of those that the engine goes by, what Spark knows with its defaults and which
// values it takes, and Values, what a session has set.
//
// A setting is read by its constant here, wherever that is, so that each has one place. What only streaming queries go by is named in
// package stream, and what a server is started with in package connect. The package knows nothing of sessions.
//
// Its tests say which values are refused, and with which condition, and that every default is a value that its setting takes.
package setting
