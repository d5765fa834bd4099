// Package socket is the source that reads lines of text from a TCP server: for trying things out with netcat.
//
// Nothing of it can be read twice: lines live in memory until their batch is committed, and a query that is started again on a used
// checkpoint has lost the lines that it had not committed.
//
// It is tested with a server of its own, and by the contract of package sourcetest.
package socket

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Format opens socket sources.
type Format struct{}

// Open implements source.Format.
func (Format) Open(_ context.Context, req source.Request) (source.Table, error) {
	if req.Schema != nil && len(req.Schema.Fields) > 0 {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.USER_SCHEMA", "provider", req.Format)
	}
	t := &table{now: req.Env.Now}
	var ok bool
	if t.host, ok = req.Options.Get("host"); !ok {
		return nil, errclass.New("INVALID_STREAMING_OPTION.NO_HOST")
	}
	port, ok := req.Options.Get("port")
	if !ok {
		return nil, errclass.New("INVALID_STREAMING_OPTION.NO_PORT")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, errclass.New("INVALID_STREAMING_OPTION.NOT_A_NUMBER", "option", "port", "value", port)
	}
	t.port = port
	if v, ok := req.Options.Get("includeTimestamp"); ok {
		on, err := strconv.ParseBool(v)
		if err != nil {
			return nil, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "includeTimestamp", "value", v, "requirement", "it is true or false")
		}
		t.stamped = on
	}
	return t, nil
}

type table struct {
	host, port string
	stamped    bool
	now        func() time.Time
}

// Schema implements source.Table.
func (t *table) Schema() types.StructType {
	st := types.StructType{Fields: []types.Field{{Name: "value", Type: types.String, Nullable: true}}}
	if t.stamped {
		st.Fields = append(st.Fields, types.Field{Name: "timestamp", Type: types.Timestamp, Nullable: true})
	}
	return st
}

// Stream implements source.Streamer.
func (t *table) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	return &stream{t: t, want: env.Want, base: -1}, nil
}

type line struct {
	text string
	at   int64 // microseconds
}

// stream reads in a goroutine of its own, which Close ends and waits for.
type stream struct {
	t    *table
	want source.Projection
	news chan<- struct{} // nil: nobody wants to hear of lines
	conn net.Conn
	done chan struct{}

	mu    sync.Mutex
	last  source.Offset // that LatestOffset gave
	base  int64         // the offset before the first of lines; -1 is before the first line at all
	lines []line
}

// LatestOffset implements source.Stream. Offsets number the lines from 0.
func (s *stream) LatestOffset(ctx context.Context, start source.Offset, _ source.Limit) (source.Offset, error) {
	if s.conn == nil {
		from, err := position(start)
		if err != nil {
			return nil, err
		}
		if err := s.connect(ctx, from); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.base + int64(len(s.lines))
	if end < 0 {
		return nil, nil
	}
	s.last = source.Offset(strconv.FormatInt(end, 10))
	return s.last, nil
}

// Notify implements source.Notifier.
func (s *stream) Notify(news chan<- struct{}) { s.news = news }

// ReportLatest implements source.Reporter.
func (s *stream) ReportLatest() source.Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Metrics implements source.Reporter.
func (s *stream) Metrics() map[string]string { return nil }

func position(o source.Offset) (n int64, err error) {
	if o == nil {
		return -1, nil
	}
	if err := json.Unmarshal(o, &n); err != nil {
		return 0, fmt.Errorf("socket: the offset %s is no line number: %w", o, err)
	}
	return n, nil
}

func (s *stream) connect(ctx context.Context, from int64) error {
	address := net.JoinHostPort(s.t.host, s.t.port)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return errclass.New("STREAMING_SOURCE_UNREACHABLE", "address", address).WithCause(err)
	}
	s.conn, s.base, s.done = conn, from, make(chan struct{})
	go s.read()
	return nil
}

func (s *stream) read() {
	defer close(s.done)
	r := bufio.NewReader(s.conn)
	for {
		text, err := r.ReadString('\n')
		if text != "" && (err == nil || err == io.EOF) {
			s.mu.Lock()
			s.lines = append(s.lines, line{trim(text), s.t.now().UnixMicro()})
			s.mu.Unlock()
			select {
			case s.news <- struct{}{}:
			default:
			}
		}
		if err != nil {
			// The end of the connection is the end of the input, not of the query.
			return
		}
	}
}

func trim(text string) string {
	for len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r') {
		text = text[:len(text)-1]
	}
	return text
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
	s.mu.Lock()
	defer s.mu.Unlock()
	lo, hi := from-s.base, to-s.base
	if s.conn == nil || lo < 0 || hi > int64(len(s.lines)) {
		return nil, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "checkpointLocation", "value", "a used checkpoint",
			"requirement", "the socket source cannot read lines again that were received before a restart; start the query on a new checkpoint")
	}
	return []source.Split{&split{lines: s.lines[lo:hi:hi], want: s.want, schema: s.t.Schema()}}, nil
}

// Commit implements source.Stream.
func (s *stream) Commit(_ context.Context, end source.Offset) error {
	to, err := position(end)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := to - s.base; n > 0 && n <= int64(len(s.lines)) {
		s.lines, s.base = append([]line(nil), s.lines[n:]...), to
	}
	return nil
}

// Description implements source.Stream.
func (s *stream) Description() string {
	return fmt.Sprintf("TextSocketV2[host: %s, port: %s]", s.t.host, s.t.port)
}

// Close implements source.Stream.
func (s *stream) Close() error {
	if s.conn == nil {
		return nil
	}
	err := s.conn.Close()
	<-s.done
	return err
}

type split struct {
	lines  []line
	want   source.Projection
	schema types.StructType
}

// Open implements source.Split.
func (s *split) Open(context.Context) (source.Reader, error) { return &reader{split: *s}, nil }

type reader struct{ split }

// Next implements source.Reader.
func (r *reader) Next(context.Context) (arrow.RecordBatch, error) {
	if len(r.lines) == 0 {
		return nil, io.EOF
	}
	columns := r.want.Columns
	if columns == nil {
		for _, f := range r.schema.Fields {
			columns = append(columns, f.Name)
		}
	}
	fields, cols := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, name := range columns {
		cols[i] = r.column(name)
		fields[i] = arrow.Field{Name: name, Type: cols[i].DataType(), Nullable: true}
	}
	n := len(r.lines)
	r.lines = nil
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(n)), nil
}

func (r *reader) column(name string) arrow.Array {
	if name == "timestamp" {
		b := array.NewTimestampBuilder(memory.NewGoAllocator(), &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"})
		for _, l := range r.lines {
			b.Append(arrow.Timestamp(l.at))
		}
		return b.NewArray()
	}
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for _, l := range r.lines {
		b.Append(l.text)
	}
	return b.NewArray()
}

// Close implements source.Reader.
func (r *reader) Close() error { return nil }
