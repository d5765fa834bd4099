// Package sql reads Spark's SQL dialect: it turns a statement, a query, an expression or a name into the unresolved tree of
// package plan, and prints such trees again as text.
//
// A hand-written lexer feeds a recursive descent parser for statements and queries and a precedence-climbing one for
// expressions. In Spark nearly every keyword is also an identifier, so no word is reserved: where a word could start a
// clause or be a name, one or two tokens of look-ahead decide. The package knows no tables, functions or column types; data
// types inside a text are read by package types and intervals by package interval.
//
// The first error stops the parser by moving it to the end of its input, where every loop ends: functions go on with
// meaningless results that nobody gets to see. Nesting is bounded, so a hostile text ends in an error and not in a stack
// overflow.
//
// It is tested by tables of texts and trees, by errors recorded from Spark, by the law parse(format(parse(x))) = parse(x),
// and by fuzzing.
package sql
