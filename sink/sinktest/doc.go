// Package sinktest checks that a connector keeps the contract of package sink: a user's own sink that passes can be trusted with
// exactly-once output as far as the contract promises it. The engine's connectors are held to the same suite.
//
// It imports nothing of the engine, so that connectors outside of this module can use it.
package sinktest
