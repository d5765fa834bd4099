// Package sourcetest checks that a connector keeps the contract of package source. A connector's own tests call Batch and Stream
// with a harness that opens its tables; the engine's connectors are held to the same suites.
//
// It imports nothing of the engine, so that connectors outside of this module can use it.
package sourcetest
