// Package remote runs plans on a Spark Connect server, millrace's or Spark's, over gRPC.
//
// Executions are reattachable: when a connection breaks, or the server ends a long stream, the client goes on after the last response
// that it has seen. Calls that are safe to repeat are repeated while the server is unavailable.
//
// It is tested against a server that does as it is told (fake_test.go): it is not there yet, breaks off, repeats itself, forgets what
// it was doing. The suite of the root package runs against real ones.
package remote
