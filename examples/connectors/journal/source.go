// Package journal is a connector of one's own: a source that reads the lines of a file as they are appended, and a sink that writes each
// batch of a stream to a file of a folder, once.
//
// A program that imports it calls Register and reads and writes Format("journal").
package journal

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Register makes the connector known.
func Register() {
	source.Register("journal", Source{})
	sink.Register("journal", Sink{})
}

// Source reads the lines of a file, as a table or as a stream. A line counts when its end is there. The option maxLines bounds how many a
// batch takes.
type Source struct{}

// schema is that of the rows: a line, and where it begins.
var schema = types.Struct(types.NewField("line", types.String), types.NewField("at", types.Long))

// Open implements source.Format.
func (Source) Open(_ context.Context, req source.Request) (source.Table, error) {
	path, _ := req.Options.Get("path")
	if len(req.Paths) == 1 {
		path = req.Paths[0]
	}
	if path == "" {
		return nil, errors.New("journal: name the file to read")
	}
	if req.Schema != nil {
		return nil, errors.New("journal: its columns are line and at; leave the schema out")
	}
	t := &file{path: path}
	if text, ok := req.Options.Get("maxLines"); ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("journal: the option maxLines must be a positive number, not %q", text)
		}
		t.most = n
	}
	return t, nil
}

// file implements source.Batch and source.Streamer.
type file struct {
	path string
	most int
}

// Schema implements source.Table.
func (f *file) Schema() types.StructType { return schema }

// Scan implements source.Batch.
func (f *file) Scan(ctx context.Context, want source.Projection) ([]source.Split, error) {
	end, err := f.advance(ctx, 0, 0)
	if err != nil {
		return nil, err
	}
	return f.splits(0, end, want)
}

// Stream implements source.Streamer.
func (f *file) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	return &stream{f: f, want: env.Want, fixed: -1}, nil
}

// advance is the end of the lines behind a position, of at most so many of them if most is not 0.
func (f *file) advance(ctx context.Context, from int64, most int) (int64, error) {
	in, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return from, nil // nobody has written yet
	}
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if _, err := in.Seek(from, io.SeekStart); err != nil {
		return 0, err
	}
	r := bufio.NewReader(in)
	for n := 0; most == 0 || n < most; n++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		line, err := r.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break // the rest of the line is still to come
		}
		if err != nil {
			return 0, fmt.Errorf("journal: %s at %d: %w", f.path, from, err)
		}
		from += int64(len(line))
	}
	return from, nil
}

// splits divides a range. One part is enough here; a source of large ranges would make as many as source.Env.Parallelism says.
func (f *file) splits(from, to int64, want source.Projection) ([]source.Split, error) {
	cols := want.Columns
	if cols == nil {
		cols = schema.Names()
	}
	for _, c := range cols {
		if schema.Index(c) < 0 {
			return nil, fmt.Errorf("journal: there is no column %s", c)
		}
	}
	return []source.Split{split{f.path, from, to, cols}}, nil
}

// offset is a position in the file. In the checkpoint it is {"bytes":123}.
type offset struct {
	Bytes int64 `json:"bytes"`
}

func position(o source.Offset) (int64, error) {
	if o == nil {
		return 0, nil
	}
	var p offset
	if err := json.Unmarshal(o, &p); err != nil {
		return 0, fmt.Errorf("journal: the offset %s is none of this source: %w", o, err)
	}
	return p.Bytes, nil
}

// stream implements source.Stream and source.AvailableNow. The file itself remembers everything: that is why a range that was logged can be
// read again after a crash without a log of our own.
type stream struct {
	f     *file
	want  source.Projection
	fixed int64
}

// PrepareAvailableNow implements source.AvailableNow.
func (s *stream) PrepareAvailableNow(ctx context.Context) (err error) {
	s.fixed, err = s.f.advance(ctx, 0, 0)
	return err
}

// LatestOffset implements source.Stream.
func (s *stream) LatestOffset(ctx context.Context, start source.Offset, limit source.Limit) (source.Offset, error) {
	from, err := position(start)
	if err != nil {
		return nil, err
	}
	most := s.f.most
	if limit == source.LimitNone {
		most = 0
	}
	to, err := s.f.advance(ctx, from, most)
	if err != nil {
		return nil, err
	}
	if s.fixed >= 0 {
		to = min(to, s.fixed)
	}
	if to <= from {
		return start, nil
	}
	return json.Marshal(offset{to})
}

// Plan implements source.Stream.
func (s *stream) Plan(_ context.Context, start, end source.Offset) ([]source.Split, error) {
	from, err := position(start)
	if err != nil {
		return nil, err
	}
	to, err := position(end)
	if err != nil {
		return nil, err
	}
	return s.f.splits(from, to, s.want)
}

// Commit implements source.Stream. What was read may go now; a journal keeps it.
func (s *stream) Commit(context.Context, source.Offset) error { return nil }

// Description implements source.Stream.
func (s *stream) Description() string { return "journal[" + s.f.path + "]" }

// Close implements source.Stream.
func (s *stream) Close() error { return nil }

// split is the lines between two positions. It may be opened several times, side by side.
type split struct {
	path     string
	from, to int64
	cols     []string
}

// Open implements source.Split.
func (s split) Open(context.Context) (source.Reader, error) {
	if s.from >= s.to {
		return &reader{split: s}, nil
	}
	in, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	return &reader{split: s, in: in, lines: bufio.NewReader(io.NewSectionReader(in, s.from, s.to-s.from)), at: s.from}, nil
}

type reader struct {
	split
	in    *os.File
	lines *bufio.Reader
	at    int64
}

// chunk is how many rows a record has at most.
const chunk = 4096

// Next implements source.Reader.
func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if r.in == nil {
		return nil, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var texts []string
	var at []int64
	for len(texts) < chunk {
		line, err := r.lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		texts, at = append(texts, line[:len(line)-1]), append(at, r.at)
		r.at += int64(len(line))
	}
	if len(texts) == 0 {
		return nil, io.EOF
	}
	return r.record(texts, at), nil
}

// record has the columns that are wanted, in that order.
func (r *reader) record(texts []string, at []int64) arrow.RecordBatch {
	all := types.ArrowSchema(schema, types.ArrowOptions{})
	b := array.NewRecordBuilder(memory.DefaultAllocator, all)
	b.Field(0).(*array.StringBuilder).AppendValues(texts, nil)
	b.Field(1).(*array.Int64Builder).AppendValues(at, nil)
	rec := b.NewRecordBatch()
	fields, cols := make([]arrow.Field, len(r.cols)), make([]arrow.Array, len(r.cols))
	for i, name := range r.cols {
		c := slices.Index(schema.Names(), name)
		fields[i], cols[i] = all.Field(c), rec.Column(c)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(len(texts)))
}

// Close implements source.Reader.
func (r *reader) Close() error {
	if r.in == nil {
		return nil
	}
	err := r.in.Close()
	r.in = nil
	return err
}
