// Package console is the sink that prints every batch as a table, as DataFrame.show does.
//
// It is tested against texts that Spark prints, and by the contract of package sinktest.
package console

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"strconv"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/show"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
)

// Format opens console sinks that print to Out.
type Format struct {
	Out io.Writer
	// Own is set when nobody else prints to Out.
	Own bool
}

// defaultRows and defaultTruncate are those of DataFrame.show.
const (
	defaultRows     = 20
	defaultTruncate = 20
)

// Open implements sink.Format.
func (f Format) Open(_ context.Context, req sink.Request) (sink.Sink, error) {
	return &consoleSink{f: f, req: req, rows: defaultRows, truncate: defaultTruncate}, nil
}

// settle reads the options. As in Spark, a mistake in them ends the running query.
func (s *consoleSink) settle() error {
	if v, ok := s.req.Options.Get("numRows"); ok {
		n, err := strconv.Atoi(v)
		if err != nil {
			return errclass.New("INVALID_STREAMING_OPTION.NOT_A_NUMBER", "option", "numRows", "value", v)
		}
		s.rows = n
	}
	if v, ok := s.req.Options.Get("truncate"); ok {
		on, err := strconv.ParseBool(v)
		if err != nil {
			return errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "truncate", "value", v, "requirement", "it is true or false")
		}
		if !on {
			s.truncate = 0
		}
	}
	return nil
}

type consoleSink struct {
	f              Format
	req            sink.Request
	rows, truncate int
}

// Info implements sink.Sink.
func (s *consoleSink) Info() sink.Info {
	// Spark shows the object's name; who reads progress may look for it.
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.req.QueryID))
	return sink.Info{Description: fmt.Sprintf("org.apache.spark.sql.execution.streaming.ConsoleTable$@%x", h.Sum32()), CountsRows: true, Recovers: true}
}

// Begin implements sink.Sink.
func (s *consoleSink) Begin(_ context.Context, id int64) (sink.Batch, bool, error) {
	if err := s.settle(); err != nil {
		return nil, false, err
	}
	return &batch{s: s, id: id}, false, nil
}

// Close implements sink.Sink.
func (s *consoleSink) Close() error { return nil }

type batch struct {
	s  *consoleSink
	id int64
}

// Writer implements sink.Batch.
func (b *batch) Writer(context.Context, int) (sink.Writer, error) {
	return &writer{want: int64(b.s.rows) + 1}, nil
}

// printing keeps the tables of several queries apart.
var printing sync.Mutex

const rule = "-------------------------------------------\n"

// Commit implements sink.Batch.
func (b *batch) Commit(_ context.Context, messages []sink.Message) error {
	var rows []arrow.RecordBatch
	for _, m := range messages {
		rows = append(rows, m.([]arrow.RecordBatch)...)
	}
	text, err := b.s.render(rows)
	if err != nil {
		return err
	}
	if !b.s.f.Own {
		printing.Lock()
		defer printing.Unlock()
	}
	_, err = fmt.Fprintf(b.s.f.Out, "%sBatch: %d\n%s%s\n", rule, b.id, rule, text)
	return err
}

func (s *consoleSink) render(records []arrow.RecordBatch) (string, error) {
	var rows []*vec.Batch
	for _, r := range records {
		b, err := vec.FromArrow(r, s.req.Schema)
		if err != nil {
			return "", err
		}
		rows = append(rows, b)
	}
	return show.Table(s.req.Schema, rows, show.Options{Rows: s.rows, Truncate: s.truncate, Format: show.Format{Zone: s.req.Env.Zone}})
}

// Abort implements sink.Batch.
func (b *batch) Abort(context.Context) {}

// writer keeps as many rows as can be shown.
type writer struct {
	want int64
	rows []arrow.RecordBatch
}

// Write implements sink.Writer.
func (w *writer) Write(_ context.Context, rows arrow.RecordBatch) error {
	if w.want > 0 && rows.NumRows() > 0 {
		w.rows = append(w.rows, rows)
		w.want -= rows.NumRows()
	}
	return nil
}

// Close implements sink.Writer.
func (w *writer) Close(context.Context) (sink.Message, error) { return w.rows, nil }

// Abort implements sink.Writer.
func (w *writer) Abort() { w.rows = nil }
