// Package connect is the Spark Connect service: sessions and their expiry, operations with their tags, interrupts and reattachable
// response buffers, uploads, configuration, and errors as clients look them up.
//
// Service has one method for each RPC. It is used directly by the embedded backend and by package grpcserver, which adds streams and
// statuses; nothing may work through one and not the other. What a plan means is left to package convert, what it does to package
// session and package stream. Panics end here, in an INTERNAL_ERROR.
//
// It is tested through the gRPC adapter on an in-memory connection, with limits so small that every stream is cut and reattached,
// and by PySpark programs in test/clients.
package connect
