package milltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/uuid"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Format is the name under which streams of this package are read: a DataFrame over one is
// ReadStream().Format(milltest.Format).Option("stream", s.ID()).
const Format = "milltest"

// Stream is a streaming source that a test fills. What one Add brings is one unit: a batch takes it whole or not at all. A stream
// outlives the queries that read it.
type Stream struct {
	e      *Engine
	id     string
	name   string
	schema types.StructType
	vector int // rows in an Arrow record, 0 for all of a split
	splits int

	mu    sync.Mutex
	units []*vec.Batch
	limit int
	noEnd bool
	fail  error
}

// Stream makes an empty stream with columns given as DDL, such as "ts TIMESTAMP, user STRING".
func (e *Engine) Stream(ddl string) *Stream {
	e.t.Helper()
	st, err := types.ParseDDL(ddl)
	if err != nil {
		e.t.Fatalf("stream: %v", err)
	}
	s := &Stream{e: e, id: uuid.NewString(), name: "MilltestStream", schema: st, vector: e.o.vector, splits: e.o.splits}
	streams.add(s)
	e.t.Cleanup(func() { streams.drop(s) })
	return s
}

// ID is what the option stream names the stream by.
func (s *Stream) ID() string { return s.id }

// Named sets what the stream is called in progress reports before its schema, so that the sources of a query can be told apart; without
// it, MilltestStream. It returns the stream.
func (s *Stream) Named(name string) *Stream {
	s.name = name
	return s
}

// Schema is the schema of the stream's rows.
func (s *Stream) Schema() types.StructType { return s.schema }

// DataFrame reads the stream in the engine's session.
func (s *Stream) DataFrame() *millrace.DataFrame { return s.In(s.e.Session) }

// In reads the stream in another session, in this process.
func (s *Stream) In(session *millrace.Session) *millrace.DataFrame {
	return session.ReadStream().Format(Format).Option("stream", s.id).Load()
}

// Add brings rows. Their values are what CreateDataFrame takes.
func (s *Stream) Add(rows ...[]any) {
	s.e.t.Helper()
	list := make([]types.Row, len(rows))
	for i, r := range rows {
		row, err := types.ToRow(r, s.schema)
		if err != nil {
			s.e.t.Fatalf("row %d of %v: %v", i, rows, err)
		}
		list[i] = row
	}
	s.AddRows(list)
}

// AddText brings rows written as ParseRow reads them, one a line.
func (s *Stream) AddText(lines ...string) {
	s.e.t.Helper()
	var list []types.Row
	for _, line := range strings.Split(strings.Join(lines, "\n"), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		row, err := ParseRow(line, s.schema)
		if err != nil {
			s.e.t.Fatalf("%v", err)
		}
		list = append(list, row)
	}
	s.AddRows(list)
}

// AddRows brings rows in the engine's own form.
func (s *Stream) AddRows(rows []types.Row) {
	s.e.t.Helper()
	b := vec.NewBatch(len(rows))
	for c, bld := range vec.NewBuilders(s.schema) {
		for _, r := range rows {
			if err := bld.AppendValue(r[c]); err != nil {
				s.e.t.Fatalf("column %s: %v", s.schema.Fields[c].Name, err)
			}
		}
		b.Cols = append(b.Cols, bld.Finish())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units = append(s.units, b)
}

// LimitPerBatch makes a batch take no more than n units; 0 is no limit.
func (s *Stream) LimitPerBatch(n int) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = n
	return s
}

// WithoutEnd makes the stream one that cannot fix its end for Trigger.AvailableNow.
func (s *Stream) WithoutEnd() *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noEnd = true
	return s
}

// Fail makes every further use of the stream fail, until it is called with nil.
func (s *Stream) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// check is called by everything that reads the stream.
func (s *Stream) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	return s.e.disk.alive()
}

// streams are the streams of this process, by id. It is registered as a format with the first engine.
var streams registry

type registry struct {
	once sync.Once
	mu   sync.Mutex
	byID map[string]*Stream
}

func (r *registry) add(s *Stream) {
	r.once.Do(func() { source.Register(Format, r) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[string]*Stream{}
	}
	r.byID[s.id] = s
}

func (r *registry) drop(s *Stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, s.id)
}

// Open implements source.Format.
func (r *registry) Open(_ context.Context, req source.Request) (source.Table, error) {
	id, _ := req.Options.Get("stream")
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.byID[id]
	if s == nil {
		return nil, fmt.Errorf("milltest: there is no stream %q in this process", id)
	}
	return table{s}, nil
}

// table is a Stream as the engine sees it.
type table struct{ s *Stream }

// Schema implements source.Table.
func (t table) Schema() types.StructType { return t.s.schema }

// Stream implements source.Streamer.
func (t table) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	r := &reading{s: t.s, end: -1}
	for i, f := range t.s.schema.Fields {
		if env.Want.Columns == nil {
			r.cols, r.out.Fields = append(r.cols, i), append(r.out.Fields, f)
		}
	}
	for _, name := range env.Want.Columns {
		i := t.s.schema.IndexFold(name)
		if i < 0 {
			return nil, fmt.Errorf("milltest: there is no column %s", name)
		}
		r.cols, r.out.Fields = append(r.cols, i), append(r.out.Fields, t.s.schema.Fields[i])
	}
	if t.s.noEnd {
		return r, nil
	}
	return &ending{r}, nil
}

// reading is one query's use of a stream. An offset is the number of units taken.
type reading struct {
	s    *Stream
	cols []int
	out  types.StructType
	end  int64 // fixed for availableNow, or -1
}

// ending is a reading that can fix its end.
type ending struct{ *reading }

// PrepareAvailableNow implements source.AvailableNow.
func (r *ending) PrepareAvailableNow(context.Context) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.end = int64(len(r.s.units))
	return nil
}

func offset(o source.Offset) (int64, error) {
	if o == nil {
		return 0, nil
	}
	var n int64
	err := json.Unmarshal(o, &n)
	return n, err
}

// LatestOffset implements source.Stream.
func (r *reading) LatestOffset(_ context.Context, start source.Offset, limit source.Limit) (source.Offset, error) {
	if err := r.s.check(); err != nil {
		return nil, err
	}
	from, err := offset(start)
	if err != nil {
		return nil, err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	to := int64(len(r.s.units))
	if r.end >= 0 {
		to = min(to, r.end)
	}
	if r.s.limit > 0 && limit == source.LimitDefault {
		to = min(to, from+int64(r.s.limit))
	}
	if to == 0 {
		return nil, nil
	}
	return source.Offset(strconv.FormatInt(to, 10)), nil
}

// Plan implements source.Stream.
func (r *reading) Plan(_ context.Context, start, end source.Offset) ([]source.Split, error) {
	if err := r.s.check(); err != nil {
		return nil, err
	}
	from, err := offset(start)
	if err != nil {
		return nil, err
	}
	to, err := offset(end)
	if err != nil {
		return nil, err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if to > int64(len(r.s.units)) {
		return nil, fmt.Errorf("milltest: the stream has %d units, offset %d is past its end", len(r.s.units), to)
	}
	schema := types.ArrowSchema(r.out, types.ArrowOptions{})
	var out []source.Split
	for _, u := range r.s.units[from:to] {
		for p := range r.s.splits {
			lo, hi := u.N*p/r.s.splits, u.N*(p+1)/r.s.splits
			rows := vec.NewBatch(hi - lo)
			for _, c := range r.cols {
				rows.Cols = append(rows.Cols, u.Cols[c].Slice(lo, hi-lo))
			}
			out = append(out, split{rows, schema, r.s.vector})
		}
	}
	return out, nil
}

// Commit implements source.Stream.
func (r *reading) Commit(context.Context, source.Offset) error { return r.s.check() }

// Description implements source.Stream.
func (r *reading) Description() string { return r.s.name + "[" + r.s.schema.SimpleString() + "]" }

// Close implements source.Stream.
func (r *reading) Close() error { return nil }

type split struct {
	rows   *vec.Batch
	schema *arrow.Schema
	vector int
}

// Open implements source.Split.
func (s split) Open(context.Context) (source.Reader, error) { return &reader{s: s}, nil }

type reader struct {
	s    split
	next int
}

// Next implements source.Reader.
func (r *reader) Next(context.Context) (arrow.RecordBatch, error) {
	left := r.s.rows.N - r.next
	if left == 0 {
		return nil, io.EOF
	}
	n := left
	if r.s.vector > 0 {
		n = min(n, r.s.vector)
	}
	b := r.s.rows.Slice(r.next, n)
	r.next += n
	return vec.ToArrow(b, r.s.schema)
}

// Close implements source.Reader.
func (r *reader) Close() error { return nil }
