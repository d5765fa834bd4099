// Package javare matches regular expressions as Java writes them. Most patterns run on Go's own engine, whose time is linear in
// the text; those with look-around, back references or possessive quantifiers run on a backtracking one.
//
// It works on bytes of UTF-8 and knows nothing of vectors or errors of SQL. It is tested by tables of patterns of both kinds.
package javare
