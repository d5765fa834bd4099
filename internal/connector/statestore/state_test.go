package statestore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // local[N]
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/source/sourcetest"
)

// states are the checkpoints of some queries over three files, read in a batch each, with two partitions. What is expected of them was
// recorded from Apache Spark 4.2.0.
type states struct {
	t     *testing.T
	spark *millrace.Session
	dir   string
}

func newStates(t *testing.T, provider string) *states {
	t.Helper()
	spark, err := millrace.Connect(t.Context(), "local[2]")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = spark.Close() })
	s := &states{t: t, spark: spark, dir: t.TempDir()}
	for k, v := range map[string]string{
		"spark.sql.shuffle.partitions": "2", "spark.sql.session.timeZone": "UTC", "spark.sql.streaming.stateStore.providerClass": provider,
	} {
		if err := spark.Conf().Set(t.Context(), k, v); err != nil {
			t.Fatal(err)
		}
	}
	s.write("in", "a", "10:01 a 1", "10:02 b 2")
	s.write("in", "b", "10:03 a 3", "10:16 c 4")
	s.write("in", "c", "10:31 d 5")
	s.write("other", "a", "10:01 a 10", "10:02 x 20")
	s.write("other", "b", "10:03 b 30", "10:16 c 40")
	s.write("other", "c", "10:31 d 50")
	return s
}

func (s *states) write(dir, name string, rows ...string) {
	s.t.Helper()
	var out strings.Builder
	for _, r := range rows {
		p := strings.Fields(r)
		fmt.Fprintf(&out, "{\"ts\":\"2026-01-01 %s:00\",\"k\":%q,\"v\":%s}\n", p[0], p[1], p[2])
	}
	file := filepath.Join(s.dir, dir, name+".json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *states) stream(dir string) *millrace.DataFrame {
	return s.spark.ReadStream().SchemaDDL("ts TIMESTAMP, k STRING, v INT").Option("maxFilesPerTrigger", "1").JSON(filepath.Join(s.dir, dir))
}

func (s *states) events() *millrace.DataFrame { return s.stream("in").WithWatermark("ts", "5 minutes") }

// run runs a query to the end of its input and returns its checkpoint.
func (s *states) run(name string, df *millrace.DataFrame, mode millrace.OutputMode) string {
	s.t.Helper()
	dir := filepath.Join(s.dir, "checkpoint-"+name)
	q, err := df.WriteStream().OutputMode(mode).Format("noop").Option("checkpointLocation", dir).Trigger(millrace.AvailableNow()).Start(s.t.Context())
	if err == nil {
		err = q.AwaitTermination(s.t.Context())
	}
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return dir
}

// read reads a state with options: name, value, name, value.
func (s *states) read(format, dir string, options ...string) ([]string, error) {
	r := s.spark.Read().Format(format)
	for i := 0; i < len(options); i += 2 {
		r = r.Option(options[i], options[i+1])
	}
	rows, err := r.Load(dir).Collect(s.t.Context())
	var out []string
	for _, row := range rows {
		out = append(out, strings.NewReplacer("2026-01-01 ", "", "\"", "", "_0: ", ": ", "_1: ", ": ").Replace(fmt.Sprint(row)))
	}
	slices.Sort(out)
	return out, err
}

func (s *states) expect(what string, want []string, format, dir string, options ...string) {
	s.t.Helper()
	got, err := s.read(format, dir, options...)
	if err != nil {
		s.t.Errorf("%s: %v", what, err)
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		s.t.Errorf("%s (-want +got)\n%s", what, d)
	}
}

func TestStates(t *testing.T) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		t.Run(provider, func(t *testing.T) {
			s := newStates(t, provider)
			agg := s.run("agg", s.events().GroupBy(f.Window("ts", "10 minutes"), f.Col("k")).
				Agg(f.Count(f.Lit(1)).As("n"), f.Sum("v").As("total"), f.Avg("v"), f.Max("k")), millrace.Append)
			d := "[key: [window: [start: 10:30:00, end: 10:40:00], k: d], value: [count: 1, sum: 5, sum: 5, count: 1, max: d], partition_id: 0]"
			c := "[key: [window: [start: 10:10:00, end: 10:20:00], k: c], value: [count: 1, sum: 4, sum: 4, count: 1, max: c], partition_id: 1]"
			s.expect("windows", []string{d}, "statestore", agg)
			s.expect("windows of batch 1", []string{
				"[key: [window: [start: 10:00:00, end: 10:10:00], k: a], value: [count: 2, sum: 4, sum: 4, count: 2, max: a], partition_id: 1]",
				"[key: [window: [start: 10:00:00, end: 10:10:00], k: b], value: [count: 1, sum: 2, sum: 2, count: 1, max: b], partition_id: 1]",
				c,
			}, "statestore", agg, "batchId", "1")
			s.expect("changes", []string{
				"[batch_id: 1, change_type: update, key: [window: [start: 10:00:00, end: 10:10:00], k: a], value: [count: 2, sum: 4, sum: 4, count: 2, max: a], partition_id: 1]",
				"[batch_id: 1, change_type: update, " + c[1:],
				"[batch_id: 2, change_type: delete, key: [window: [start: 10:00:00, end: 10:10:00], k: a], value: null, partition_id: 1]",
				"[batch_id: 2, change_type: delete, key: [window: [start: 10:00:00, end: 10:10:00], k: b], value: null, partition_id: 1]",
				"[batch_id: 2, change_type: update, " + d[1:],
				"[batch_id: 3, change_type: delete, key: [window: [start: 10:10:00, end: 10:20:00], k: c], value: null, partition_id: 1]",
			}, "statestore", agg, "readChangeFeed", "true", "changeStartBatchId", "1")
			s.expect("one partition", []string{c}, "statestore", agg, "snapshotStartBatchId", "0", "snapshotPartitionId", "1", "batchId", "2")
			s.expect("operators", []string{
				"[operatorId: 0, operatorName: stateStoreSave, stateStoreName: default, numPartitions: 2, minBatchId: 0, maxBatchId: 3, operatorProperties: null]",
			}, "state-metadata", agg)

			s.expect("dedup", []string{"[key: [k: d, ts: 10:31:00], value: [__dummy__: null], partition_id: 0]"},
				"statestore", s.run("dedup", s.events().DropDuplicates("k", "ts"), millrace.Append))
			s.expect("within", []string{"[key: [k: d], value: [expiresAtMicros: 1767263760000000], partition_id: 0]"},
				"statestore", s.run("within", s.events().DropDuplicatesWithinWatermark("k"), millrace.Append))
			s.expect("sessions", []string{
				"[key: [k: a, sessionStartTime: 10:01:00], value: [session_window: [start: 10:01:00, end: 10:08:00], k: a, count: 2], partition_id: 0]",
				"[key: [k: b, sessionStartTime: 10:02:00], value: [session_window: [start: 10:02:00, end: 10:07:00], k: b, count: 1], partition_id: 1]",
				"[key: [k: c, sessionStartTime: 10:16:00], value: [session_window: [start: 10:16:00, end: 10:21:00], k: c, count: 1], partition_id: 0]",
			}, "statestore", s.run("sessions", s.events().GroupBy(f.SessionWindow("ts", "5 minutes"), f.Col("k")).Count(), millrace.Append), "batchId", "1")
			s.expect("total", []string{"[key: [], value: [count: 5], partition_id: 0]"},
				"statestore", s.run("total", s.events().GroupBy().Count(), millrace.Complete))
			s.expect("limit", []string{"[key: [key: null], value: [value: 2], partition_id: 0]"},
				"statestore", s.run("limit", s.events().Limit(2), millrace.Append))

			right := s.stream("other").Select(f.Col("ts").As("rts"), f.Col("k").As("rk"), f.Col("v").As("rv")).WithWatermark("rts", "5 minutes")
			join := s.run("join", s.events().Join(right,
				f.Expr("k = rk AND rts BETWEEN ts - INTERVAL 10 MINUTES AND ts + INTERVAL 10 MINUTES"), millrace.LeftOuterJoin), millrace.Append)
			s.expect("left", []string{
				"[key: [field0: c], value: [ts: 10:16:00, k: c, v: 4], partition_id: 0]", "[key: [field0: d], value: [ts: 10:31:00, k: d, v: 5], partition_id: 0]",
			}, "statestore", join, "joinSide", "left")
			s.expect("right", []string{
				"[key: [field0: c], value: [rts: 10:16:00, rk: c, rv: 40], partition_id: 0]", "[key: [field0: d], value: [rts: 10:31:00, rk: d, rv: 50], partition_id: 0]",
			}, "statestore", join, "joinSide", "right")
			var names []string
			rows, err := s.spark.Read().Format("state-metadata").Load(join).Select(f.Col("stateStoreName"), f.Col("_numColsPrefixKey")).Collect(t.Context())
			for _, r := range rows {
				names = append(names, fmt.Sprint(r.At(0), r.At(1)))
			}
			if d := cmp.Diff([]string{"left-keyToNumValues0", "left-keyWithIndexToValue0", "right-keyToNumValues0", "right-keyWithIndexToValue0"}, names); err != nil || d != "" {
				t.Errorf("stores of a join: %v\n%s", err, d)
			}
			s.refusals(agg, join)
			s.contract("statestore", agg, "batchId", "1")
			s.contract("statestore", join, "joinSide", "left", "batchId", "1")
			s.contract("state-metadata", join)
		})
	}
}

// contract holds a state to what every table promises.
func (s *states) contract(format, dir string, options ...string) {
	opts := source.Options{}
	for i := 0; i < len(options); i += 2 {
		opts[options[i]] = options[i+1]
	}
	s.t.Run(fmt.Sprint(format, " ", filepath.Base(dir)), func(t *testing.T) {
		sourcetest.Batch(t, func(t *testing.T) source.Batch {
			table, err := source.Lookup(format).Open(t.Context(), source.Request{Format: format, Paths: []string{dir}, Options: opts, Env: sourcetest.Env()})
			if err != nil {
				t.Fatal(err)
			}
			return table.(source.Batch)
		})
	})
}

// refusals are mistakes in options.
func (s *states) refusals(agg, join string) {
	for _, c := range []struct {
		condition, dir string
		options        []string
	}{
		{"STDS_COMMITTED_BATCH_UNAVAILABLE", agg, []string{"batchId", "99"}},
		{"STDS_COMMITTED_BATCH_UNAVAILABLE", agg, []string{"readChangeFeed", "true", "changeStartBatchId", "0", "changeEndBatchId", "99"}},
		{"STDS_COMMITTED_BATCH_UNAVAILABLE", filepath.Join(s.dir, "nothing"), nil},
		{"STDS_CONFLICT_OPTIONS", agg, []string{"readChangeFeed", "true", "changeStartBatchId", "0", "batchId", "1"}},
		{"STDS_CONFLICT_OPTIONS", agg, []string{"readChangeFeed", "true", "changeStartBatchId", "0", "snapshotPartitionId", "1"}},
		{"STDS_CONFLICT_OPTIONS", agg, []string{"stateVarName", "x", "readRegisteredTimers", "true"}},
		{"STDS_CONFLICT_OPTIONS", join, []string{"readChangeFeed", "true", "changeStartBatchId", "0", "joinSide", "left"}},
		{"STDS_CONFLICT_OPTIONS", join, []string{"joinSide", "left", "storeName", "left-keyToNumValues"}},
		{"STDS_REQUIRED_OPTION_UNSPECIFIED", agg, []string{"readChangeFeed", "true"}},
		{"STDS_REQUIRED_OPTION_UNSPECIFIED", agg, []string{"snapshotStartBatchId", "0"}},
		{"STDS_REQUIRED_OPTION_UNSPECIFIED", agg, []string{"snapshotPartitionId", "0"}},
		{"STDS_REQUIRED_OPTION_UNSPECIFIED", "", nil},
		{"STDS_INVALID_OPTION_VALUE.IS_NEGATIVE", agg, []string{"batchId", "-1"}},
		{"STDS_INVALID_OPTION_VALUE.IS_NEGATIVE", agg, []string{"operatorId", "-1"}},
		{"STDS_INVALID_OPTION_VALUE.IS_EMPTY", agg, []string{"storeName", ""}},
		{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", agg, []string{"storeName", "x"}},
		{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", agg, []string{"joinSide", "LEFT"}},
		{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", agg, []string{"batchId", "x"}},
		{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", agg, []string{"readChangeFeed", "maybe"}},
		{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", agg, []string{"changeStartBatchId", "0"}},
		{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", agg, []string{"readChangeFeed", "true", "changeStartBatchId", "2", "changeEndBatchId", "1"}},
		{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", agg, []string{"snapshotStartBatchId", "2", "snapshotPartitionId", "0", "batchId", "1"}},
		{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", agg, []string{"stateVarName", "x"}},
		{"CANNOT_LOAD_STATE_STORE.SNAPSHOT_PARTITION_ID_NOT_FOUND", agg, []string{"snapshotStartBatchId", "0", "snapshotPartitionId", "9"}},
		{"STDS_FAILED_TO_READ_STATE_SCHEMA", agg, []string{"operatorId", "5"}},
		{"STDS_FAILED_TO_READ_STATE_SCHEMA", agg, []string{"joinSide", "left"}},
		{"STDS_FAILED_TO_READ_STATE_SCHEMA", join, nil},
	} {
		_, err := s.read("statestore", c.dir, c.options...)
		if e, ok := errors.AsType[*millrace.Error](err); !ok || e.Class != c.condition {
			s.t.Errorf("%v: %v, want %s", c.options, err, c.condition)
		}
	}
}
