package rate

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
)

// folder is a source log that exists only as a folder.
type folder struct{ dir string }

func (f folder) Add(int64, []byte) error   { return nil }
func (f folder) Get(int64) ([]byte, error) { return nil, fs.ErrNotExist }
func (f folder) Dir() string               { return f.dir }

func values(t *testing.T, splits []source.Split) (vs, ts []int64) {
	t.Helper()
	for _, s := range splits {
		r, err := s.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for {
			rec, err := r.Next(context.Background())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			vs = append(vs, rec.Column(1).(*array.Int64).Int64Values()...)
			for _, x := range rec.Column(0).(*array.Timestamp).TimestampValues() {
				ts = append(ts, int64(x))
			}
		}
	}
	slices.Sort(vs)
	slices.Sort(ts)
	return vs, ts
}

func TestRateCountsOnAcrossARestart(t *testing.T) {
	ctx := context.Background()
	now := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	start := func() source.Stream {
		table, err := Rate{FS: fs.Local()}.Open(ctx, source.Request{
			Format: "rate", Stream: true, Options: source.Options{"rowsPerSecond": "5", "numPartitions": "2"},
			Env: source.Env{Now: func() time.Time { return now }},
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := table.(source.Streamer).Stream(ctx, source.StreamEnv{Log: folder{dir}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := start()
	if at, err := first.LatestOffset(ctx, nil, source.LimitDefault); err != nil || string(at) != "0" {
		t.Fatalf("offset %s at the start, %v", at, err)
	}
	now = now.Add(2900 * time.Millisecond)
	two, err := first.LatestOffset(ctx, nil, source.LimitDefault)
	if err != nil || string(two) != "2" {
		t.Fatalf("offset %s after 2.9 s, %v; want whole seconds", two, err)
	}
	if at := first.(source.Reporter).ReportLatest(); string(at) != "2" {
		t.Errorf("reports %s", at)
	}
	splits, err := first.Plan(ctx, nil, two)
	if err != nil {
		t.Fatal(err)
	}
	vs, ts := values(t, splits)
	if len(vs) != 10 || vs[0] != 0 || vs[9] != 9 {
		t.Errorf("values %v, want 0 to 9", vs)
	}
	begin := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC).UnixMicro()
	if ts[0] != begin || ts[9] != begin+1_800_000 {
		t.Errorf("timestamps from %d to %d, want %d to %d", ts[0], ts[9], begin, begin+1_800_000)
	}

	now = now.Add(10 * time.Second)
	second := start()
	end, err := second.LatestOffset(ctx, two, source.LimitDefault)
	if err != nil || string(end) != "12" {
		t.Fatalf("offset %s after the restart, %v; want 12, with the seconds it was down", end, err)
	}
	if splits, err = second.Plan(ctx, two, end); err != nil {
		t.Fatal(err)
	}
	if vs, _ = values(t, splits); len(vs) != 50 || vs[0] != 10 || vs[49] != 59 {
		t.Errorf("%d values from %d to %d, want 10 to 59", len(vs), vs[0], vs[len(vs)-1])
	}
}

// However a ramp is set, no second takes rows back, and after it the full rate runs.
func TestRampUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &rateTable{perSecond: rapid.Int64Range(1, 1000).Draw(t, "rate"), ramp: rapid.Int64Range(0, 30).Draw(t, "ramp")}
		for s := range r.ramp + 5 {
			grown := r.before(s+1) - r.before(s)
			if grown < 0 || s >= r.ramp && grown != r.perSecond {
				t.Fatalf("second %d has %d rows at %d a second with a ramp of %d s", s, grown, r.perSecond, r.ramp)
			}
		}
	})
}

func TestBadOptions(t *testing.T) {
	for _, c := range []struct{ option, value, class string }{
		{"rowsPerSecond", "0", "INVALID_STREAMING_OPTION.VALUE"},
		{"rowsPerSecond", "abc", "INVALID_STREAMING_OPTION.NOT_A_NUMBER"},
		{"numPartitions", "0", "INVALID_STREAMING_OPTION.VALUE"},
		{"rampUpTime", "-1s", "INVALID_STREAMING_OPTION.VALUE"},
		{"rampUpTime", "soon", "INVALID_STREAMING_OPTION.NOT_A_NUMBER"},
	} {
		_, err := Rate{}.Open(context.Background(), source.Request{Format: "rate", Stream: true, Options: source.Options{c.option: c.value}})
		if !errclass.Has(err, c.class) {
			t.Errorf("%s=%s: got %v, want %s", c.option, c.value, err, c.class)
		}
	}
}

func TestMicroBatchesAreAllAlike(t *testing.T) {
	ctx := context.Background()
	table, err := MicroBatch{}.Open(ctx, source.Request{
		Format: "rate-micro-batch", Stream: true, Env: source.Env{Parallelism: 2},
		Options: source.Options{"rowsPerBatch": "4", "startTimestamp": "1000", "advanceMillisPerBatch": "250"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := table.(source.Streamer).Stream(ctx, source.StreamEnv{})
	var at source.Offset
	for batch := range int64(3) {
		end, err := s.LatestOffset(ctx, at, source.LimitDefault)
		if err != nil {
			t.Fatal(err)
		}
		splits, err := s.Plan(ctx, at, end)
		if err != nil {
			t.Fatal(err)
		}
		vs, ts := values(t, splits)
		if want := []int64{batch * 4, batch*4 + 1, batch*4 + 2, batch*4 + 3}; !slices.Equal(vs, want) {
			t.Errorf("batch %d has %v, want %v", batch, vs, want)
		}
		if want := (1000 + batch*250) * 1000; ts[0] != want || ts[3] != want {
			t.Errorf("batch %d is at %v, want %d", batch, ts, want)
		}
		at = end
	}
	if string(at) != `{"offset":12,"timestamp":1750}` {
		t.Errorf("offset %s", at)
	}
	if err := s.(source.AvailableNow).PrepareAvailableNow(ctx); err != nil {
		t.Fatal(err)
	}
	for range 2 { // one more batch, and then nothing
		if at, err = s.LatestOffset(ctx, at, source.LimitDefault); err != nil || string(at) != `{"offset":16,"timestamp":2000}` {
			t.Errorf("offset %s, %v", at, err)
		}
	}
}
