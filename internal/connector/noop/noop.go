// Package noop is the sink that computes every row and keeps none: for measuring, and for queries that are run for what they observe.
// It is tested wherever a query is to run and its rows do not matter.
package noop

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
)

// Format opens noop sinks.
type Format struct{}

// Open implements sink.Format.
func (Format) Open(context.Context, sink.Request) (sink.Sink, error) { return noop{}, nil }

// noop is the sink, its batches and their writers.
type noop struct{}

// Info implements sink.Sink.
func (noop) Info() sink.Info {
	return sink.Info{Description: "NoopTable", CountsRows: true, Recovers: true}
}

// Begin implements sink.Sink.
func (noop) Begin(context.Context, int64) (sink.Batch, bool, error) { return batch{}, false, nil }

// Stage lets the stream compute batches before they are logged: there is nothing to be seen of them.
func (noop) Stage(context.Context, sink.Batch, []sink.Message, *fs.Round) error { return nil }

// Close implements sink.Sink.
func (noop) Close() error { return nil }

type batch struct{}

// Writer implements sink.Batch.
func (batch) Writer(context.Context, int) (sink.Writer, error) { return writer{}, nil }

// Commit implements sink.Batch.
func (batch) Commit(context.Context, []sink.Message) error { return nil }

// Abort implements sink.Batch.
func (batch) Abort(context.Context) {}

type writer struct{}

// Write implements sink.Writer.
func (writer) Write(context.Context, arrow.RecordBatch) error { return nil }

// WriteBatch takes vectors, for callers inside the engine.
func (writer) WriteBatch(context.Context, *vec.Batch) error { return nil }

// Close implements sink.Writer.
func (writer) Close(context.Context) (sink.Message, error) { return nil, nil }

// Abort implements sink.Writer.
func (writer) Abort() {}
