// Package agg is the registry of aggregate functions and the contract between them and whatever groups rows: batch and
// partial aggregation, streaming state, sessions, window frames and spilling all drive the same States.
//
// Groups are dense numbers handed out by the caller's key table. States grow with the highest group number. What Save gives and
// Merge takes is part of the checkpoint format: names, types and meaning of the State columns must not change.
//
// The package knows arguments as vectors and nothing of plans or keys. It is tested against answers recorded from Spark (testdata,
// made by record.py), each computed at once, in parts that are merged, and from a state that was saved.
package agg
