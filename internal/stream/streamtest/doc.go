// Package streamtest is what tests of streaming queries stand on: a source and a sink in memory, a clock that is turned by hand and
// settings that need no session. Nothing in it sleeps, and nothing outlives the values that a test holds.
package streamtest
