// Package convert translates between the messages of Spark Connect and the engine's own trees: relations and expressions become
// unresolved plans, commands become requests to the session, types and literals go both ways.
//
// It resolves nothing and runs nothing. What a relation needs of the session while it is translated (the schema of its input,
// rows that were uploaded, a rendered table) it asks through the interface Session. A message that leaves out what it must have,
// nests too deeply or asks for what the engine does not do ends in an error that names it; it never panics.
//
// Its tests hold translated texts and literals against what Spark shows of them; what relations and commands mean is tested by the
// suite of the root package and by conformance.
package convert
