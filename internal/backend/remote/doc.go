// Package remote runs plans on a Spark Connect server, millrace's or Spark's, over gRPC.
//
// Executions are reattachable: when a connection breaks, or the server ends a long stream, the client goes on after the last response
// that it has seen. Calls that are safe to repeat are repeated while the server is unavailable.
package remote
