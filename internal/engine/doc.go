// Package engine is what the engine is given by the program that it runs in: clock, file system, log and how many cores to use.
//
// Everything that would otherwise be global comes in through a Runtime, so that a test can put a manual clock and a faulty file
// system in its place and several engines can live in one process. The package knows nothing of queries.
package engine
