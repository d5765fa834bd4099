package streamtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Source is a stream that a test fills. Every Add is one unit that a batch takes whole; the offset is the number of the last unit
// taken, as a bare integer. A Source outlives the queries that read it, as a directory of files would.
type Source struct {
	schema types.StructType

	mu    sync.Mutex
	units []*vec.Batch

	// PerBatch limits how many units a batch takes; 0 is no limit.
	PerBatch int
	// Pieces cuts every unit into that many splits.
	Pieces int
	// NoEnd makes a source that cannot fix its end for availableNow.
	NoEnd bool
	// Hears makes a source that tells a query of new units by itself.
	Hears bool
	// Fail, when set, is asked before every LatestOffset and Plan.
	Fail func(call string) error

	committed source.Offset
	news      chan<- struct{}
}

// NewSource returns an empty source with columns given as DDL.
func NewSource(ddl string) *Source {
	st, err := types.ParseDDL(ddl)
	if err != nil {
		panic(err)
	}
	return &Source{schema: st}
}

// Schema implements source.Table.
func (s *Source) Schema() types.StructType { return s.schema }

// Add appends a unit of rows. Values follow the conventions of package types; a text for a TIMESTAMP is read as in Time.
func (s *Source) Add(rows ...[]any) {
	bs := vec.NewBuilders(s.schema)
	for _, r := range rows {
		for i, v := range r {
			if text, ok := v.(string); ok && types.Equal(s.schema.Fields[i].Type, types.Timestamp) {
				v = types.MicrosOf(Time(text))
			}
			if err := bs[i].AppendValue(v); err != nil {
				panic(fmt.Sprintf("column %s: %v", s.schema.Fields[i].Name, err))
			}
		}
	}
	b := vec.NewBatch(len(rows))
	for _, bld := range bs {
		b.Cols = append(b.Cols, bld.Finish())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units = append(s.units, b)
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Committed is the offset that the query needs no more.
func (s *Source) Committed() source.Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.committed
}

// Stream implements source.Streamer.
func (s *Source) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	st := &memoryStream{s: s, end: -1}
	names := env.Want.Columns
	if names == nil {
		for _, f := range s.schema.Fields {
			names = append(names, f.Name)
		}
	}
	for _, name := range names {
		for i, f := range s.schema.Fields {
			if f.Name == name {
				st.cols = append(st.cols, i)
			}
		}
	}
	for _, c := range st.cols {
		st.out.Fields = append(st.out.Fields, s.schema.Fields[c])
	}
	if s.Hears {
		return &hearingStream{st}, nil
	}
	if s.NoEnd {
		return st, nil
	}
	return &endingStream{st}, nil
}

type memoryStream struct {
	s    *Source
	cols []int
	out  types.StructType
	end  int64 // fixed for availableNow, or -1
}

type hearingStream struct{ *memoryStream }

// Notify implements source.Notifier.
func (m *hearingStream) Notify(news chan<- struct{}) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.news = news
}

type endingStream struct{ *memoryStream }

// PrepareAvailableNow implements source.AvailableNow.
func (m *endingStream) PrepareAvailableNow(context.Context) error {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.end = int64(len(m.s.units)) - 1
	return nil
}

func number(o source.Offset) int64 {
	if o == nil {
		return -1
	}
	var n int64
	if err := json.Unmarshal(o, &n); err != nil {
		panic(err)
	}
	return n
}

func (m *memoryStream) LatestOffset(_ context.Context, start source.Offset, limit source.Limit) (source.Offset, error) {
	if m.s.Fail != nil {
		if err := m.s.Fail("LatestOffset"); err != nil {
			return nil, err
		}
	}
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	to := int64(len(m.s.units)) - 1
	if m.end >= 0 {
		to = min(to, m.end)
	}
	if from := number(start); m.s.PerBatch > 0 && limit == source.LimitDefault {
		to = min(to, from+int64(m.s.PerBatch))
	}
	if to < 0 {
		return nil, nil
	}
	return source.Offset(strconv.FormatInt(to, 10)), nil
}

func (m *memoryStream) Plan(_ context.Context, start, end source.Offset) ([]source.Split, error) {
	if m.s.Fail != nil {
		if err := m.s.Fail("Plan"); err != nil {
			return nil, err
		}
	}
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	var out []source.Split
	pieces := max(1, m.s.Pieces)
	for i := number(start) + 1; i <= number(end); i++ {
		u := m.s.units[i]
		for p := range pieces {
			lo, hi := u.N*p/pieces, u.N*(p+1)/pieces
			rows := &vec.Batch{N: hi - lo}
			for _, c := range m.cols {
				rows.Cols = append(rows.Cols, u.Cols[c].Slice(lo, hi-lo))
			}
			out = append(out, memorySplit{rows, types.ArrowSchema(m.out, types.ArrowOptions{})})
		}
	}
	return out, nil
}

func (m *memoryStream) Commit(_ context.Context, end source.Offset) error {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	m.s.committed = end
	return nil
}

func (m *memoryStream) Description() string { return "MemoryStream[" + m.s.schema.SimpleString() + "]" }
func (m *memoryStream) Close() error        { return nil }

type memorySplit struct {
	rows   *vec.Batch
	schema *arrow.Schema
}

func (s memorySplit) Open(context.Context) (source.Reader, error) { return &memoryReader{s: s}, nil }

type memoryReader struct {
	s    memorySplit
	done bool
}

func (r *memoryReader) Next(context.Context) (arrow.RecordBatch, error) {
	if r.done {
		return nil, io.EOF
	}
	r.done = true
	return vec.ToArrow(r.s.rows, r.s.schema)
}

func (r *memoryReader) Close() error { return nil }
