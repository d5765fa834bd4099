package rate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
)

// Rate is the rate source. Its offsets are whole seconds since the query first started, so a restart makes up for the seconds it was
// down.
type Rate struct{ FS fs.FS }

// Open implements source.Format.
func (r Rate) Open(_ context.Context, req source.Request) (source.Table, error) {
	if err := noUserSchema(req); err != nil {
		return nil, err
	}
	t := &rateTable{fsys: r.FS, now: req.Env.Now, parts: req.Env.Parallelism, partsText: "default"}
	var err error
	if t.perSecond, err = number(req.Options, "rowsPerSecond", 1, 1); err != nil {
		return nil, err
	}
	if t.ramp, err = seconds(req.Options, "rampUpTime"); err != nil {
		return nil, err
	}
	if _, given := req.Options.Get("numPartitions"); given {
		n, err := number(req.Options, "numPartitions", 1, 1)
		if err != nil {
			return nil, err
		}
		t.parts, t.partsText = int(n), strconv.FormatInt(n, 10)
	}
	return t, nil
}

type rateTable struct {
	table
	fsys            fs.FS
	now             func() time.Time
	perSecond, ramp int64
	parts           int
	partsText       string
}

// Stream implements source.Streamer.
func (t *rateTable) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	return &rateStream{t: t, env: env, start: -1}, nil
}

type rateStream struct {
	t     *rateTable
	env   source.StreamEnv
	start int64 // ms since 1970 of second 0, or -1 before it is known
	last  int64 // second up to which time has been seen
}

// begin reads when the query first started, or writes it down.
func (s *rateStream) begin(ctx context.Context) error {
	if s.start >= 0 {
		return nil
	}
	text, ok, err := checkpoint.ReadStart(s.t.fsys, s.env.Log.Dir())
	if err != nil {
		return err
	}
	if ok {
		return json.Unmarshal(text, &s.start)
	}
	start := s.t.now().UnixMilli()
	if err := checkpoint.WriteStart(ctx, s.t.fsys, s.env.Log.Dir(), checkpoint.RateStart, json.RawMessage(strconv.FormatInt(start, 10))); err != nil {
		return err
	}
	s.start = start
	return nil
}

// LatestOffset implements source.Stream.
func (s *rateStream) LatestOffset(ctx context.Context, _ source.Offset, _ source.Limit) (source.Offset, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	// A clock that was set back does not take rows back.
	s.last = max(s.last, (s.t.now().UnixMilli()-s.start)/1000)
	return offset(s.last), nil
}

func offset(n int64) source.Offset { return source.Offset(strconv.FormatInt(n, 10)) }

func second(o source.Offset) (n int64, err error) {
	if o == nil {
		return 0, nil
	}
	if err := json.Unmarshal(o, &n); err != nil {
		return 0, fmt.Errorf("rate: the offset %s is not a number of seconds: %w", o, err)
	}
	return n, nil
}

// before is how many rows come before a second. While the rate ramps up, it grows by the same amount each second.
func (t *rateTable) before(sec int64) int64 {
	if t.ramp == 0 {
		return sec * t.perSecond
	}
	step := t.perSecond / (t.ramp + 1)
	if sec <= t.ramp {
		if sec%2 == 1 {
			return step * sec * ((sec + 1) / 2)
		}
		return step * (sec / 2) * (sec + 1)
	}
	return t.before(t.ramp) + (sec-t.ramp)*t.perSecond
}

// Plan implements source.Stream.
func (s *rateStream) Plan(ctx context.Context, start, end source.Offset) ([]source.Split, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	from, err := second(start)
	if err != nil {
		return nil, err
	}
	to, err := second(end)
	if err != nil || to <= from {
		return nil, err
	}
	s.last = max(s.last, to)
	lo, hi := s.t.before(from), s.t.before(to)
	if hi <= lo {
		return nil, nil
	}
	// Timestamps are spread evenly over the range.
	micros := float64(to-from) * 1e6 / float64(hi-lo)
	base := (s.start + from*1000) * 1000
	at := func(v int64) int64 { return base + int64(math.Round(float64(v-lo)*micros))/1000*1000 }
	return cut(lo, hi, s.t.parts, at, s.env.Want), nil
}

// ReportLatest implements source.Reporter.
func (s *rateStream) ReportLatest() source.Offset {
	if s.start < 0 {
		return nil
	}
	return offset(s.last)
}

// Metrics implements source.Reporter.
func (s *rateStream) Metrics() map[string]string { return nil }

// Commit implements source.Stream.
func (s *rateStream) Commit(context.Context, source.Offset) error { return nil }

// Description implements source.Stream. Spark's has no closing bracket either.
func (s *rateStream) Description() string {
	return fmt.Sprintf("RateStreamV2[rowsPerSecond=%d, rampUpTimeSeconds=%d, numPartitions=%s", s.t.perSecond, s.t.ramp, s.t.partsText)
}

// Close implements source.Stream.
func (s *rateStream) Close() error { return nil }
