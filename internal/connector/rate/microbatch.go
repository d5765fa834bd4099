package rate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
)

// MicroBatch is the rate-micro-batch source: every batch has the same number of rows, and all of them the same timestamp.
type MicroBatch struct{}

// Open implements source.Format.
func (MicroBatch) Open(_ context.Context, req source.Request) (source.Table, error) {
	if err := noUserSchema(req); err != nil {
		return nil, err
	}
	if _, ok := req.Options.Get("rowsPerBatch"); !ok {
		return nil, errclass.New("INVALID_STREAMING_OPTION.MISSING", "option", "rowsPerBatch", "provider", req.Format)
	}
	t := &microTable{}
	var parts int64
	for _, o := range []struct {
		name             string
		to               *int64
		otherwise, least int64
	}{
		{"rowsPerBatch", &t.rows, 0, 1},
		{"startTimestamp", &t.start, 0, 0},
		{"advanceMillisPerBatch", &t.advance, 1000, 0},
		{"numPartitions", &parts, int64(req.Env.Parallelism), 1},
	} {
		var err error
		if *o.to, err = number(req.Options, o.name, o.otherwise, o.least); err != nil {
			return nil, err
		}
	}
	t.parts = int(parts)
	return t, nil
}

type microTable struct {
	table
	rows, start, advance int64
	parts                int
}

// Stream implements source.Streamer.
func (t *microTable) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	return &microStream{t: t, env: env}, nil
}

type microStream struct {
	t   *microTable
	env source.StreamEnv
	// bounded is set by PrepareAvailableNow; last is then the end of the one batch that the run has.
	bounded bool
	last    source.Offset
}

// microOffset is the number of rows so far and the timestamp that the next batch will have.
type microOffset struct {
	Offset    int64 `json:"offset"`
	Timestamp int64 `json:"timestamp"`
}

func (t *microTable) read(o source.Offset) (m microOffset, err error) {
	if o == nil {
		return microOffset{0, t.start}, nil
	}
	m = microOffset{-1, -1}
	if err := json.Unmarshal(o, &m); err != nil || m.Offset < 0 || m.Timestamp < 0 { // another source's
		return m, errclass.New("STREAMING_CHECKPOINT_CORRUPT_FILE", "file", "offsets", "reason", "the offset "+string(o)+" is not one of the rate-micro-batch source",
			"advice", "The sources of the query may have changed; use another checkpointLocation.").WithCause(err)
	}
	return m, nil
}

func (t *microTable) next(m microOffset) microOffset {
	return microOffset{m.Offset + t.rows, m.Timestamp + t.advance}
}

func (m microOffset) json() source.Offset {
	return source.Offset(fmt.Sprintf(`{"offset":%d,"timestamp":%d}`, m.Offset, m.Timestamp))
}

// PrepareAvailableNow implements source.AvailableNow: what is available is one batch.
func (s *microStream) PrepareAvailableNow(context.Context) error {
	s.bounded = true
	return nil
}

// LatestOffset implements source.Stream. There is always one more batch.
func (s *microStream) LatestOffset(_ context.Context, start source.Offset, _ source.Limit) (source.Offset, error) {
	if s.last != nil {
		return s.last, nil
	}
	m, err := s.t.read(start)
	if err != nil {
		return nil, err
	}
	end := s.t.next(m).json()
	if s.bounded {
		s.last = end
	}
	return end, nil
}

// Plan implements source.Stream.
func (s *microStream) Plan(_ context.Context, start, end source.Offset) ([]source.Split, error) {
	from, err := s.t.read(start)
	if err != nil {
		return nil, err
	}
	to, err := s.t.read(end)
	if err != nil {
		return nil, err
	}
	at := func(int64) int64 { return from.Timestamp * 1000 }
	return cut(from.Offset, to.Offset, s.t.parts, at, s.env.Want), nil
}

// Commit implements source.Stream.
func (s *microStream) Commit(context.Context, source.Offset) error { return nil }

// Description implements source.Stream.
func (s *microStream) Description() string {
	return fmt.Sprintf("RatePerMicroBatchStream[rowsPerBatch=%d, numPartitions=%d, startTimestamp=%d, advanceMsPerBatch=%d]",
		s.t.rows, s.t.parts, s.t.start, s.t.advance)
}

// Close implements source.Stream.
func (s *microStream) Close() error { return nil }
