// Package group maps key rows to dense group numbers: the hash tables under aggregation, deduplication, joins and the
// in-memory state.
//
// It owns the open-addressing tables, one specialised kind for each common key shape. What is stored for a group lives with the
// caller, in columns indexed by group number. Equality is SQL's for grouping: nulls are equal, NaN equals NaN and −0.0 equals 0.0.
//
// It is tested against Go's map, over every shape of keys.
package group
