// Package grpcserver serves package connect over gRPC: requests in, response streams out, errors as statuses with the details that
// Spark's clients look for. It holds no state of its own.
package grpcserver
