// Package grpcserver serves package connect over gRPC: requests in, response streams out, errors as statuses with the details that
// Spark's clients look for. It holds no state of its own.
//
// It is tested with a gRPC client that sees every message: order, replay, reattaching, limits, details of errors.
package grpcserver
