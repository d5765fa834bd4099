// Package agg is the registry of aggregate functions and the contract between them and whatever groups rows: batch and
// partial aggregation, streaming state, sessions, window frames and spilling all drive the same States.
//
// Groups are dense numbers handed out by the caller's key table. States grow with the highest group number.
package agg
