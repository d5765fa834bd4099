package stream

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

var remote = flag.String("remote", "", "run the scripts against the Spark Connect server at this address, which must see our files")

func rewriting() bool { return flag.Lookup("rewrite").Value.String() == "true" }

// TestRemote runs the scripts against a server, to record what is right: with -rewrite the results are its own. What it can't be told
// (crashes, the clock, a look into state) keeps its result.
func TestRemote(t *testing.T) {
	if *remote == "" {
		t.Skip("no -remote address")
	}
	scripts(t, func(t *testing.T, path string, l limits) {
		if l.noRemote {
			t.Skip("the script says that Spark can't be asked")
		}
		s, err := millrace.Connect(t.Context(), *remote, millrace.WithConf("spark.sql.shuffle.partitions", "2"),
			millrace.WithConf("spark.sql.session.timeZone", "UTC"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r := &runner{t: &server{s: s, dir: t.TempDir(), schemas: map[string]types.StructType{}, dirs: map[string]string{}}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			got := r.run(t, d)
			switch {
			case rerun.ReplaceAllString(d.Expected, "") == got:
				return d.Expected // a restart is none here, so its batches are not run again
			case d.Cmd == "expect" && d.Expected != "" && !strings.HasPrefix(got, "[") || strings.HasPrefix(got, "[_LEGACY_ERROR"):
				return d.Expected // what Spark refuses without a condition has one with us
			}
			return got
		})
	})
}

// server runs scripts on a Spark Connect server. Streams are directories of JSON files, one file for what one command brings; the query
// writes to a memory sink, whose rows are told apart by the number that each batch has written.
type server struct {
	s       *millrace.Session
	dir     string
	schemas map[string]types.StructType
	dirs    map[string]string // by stream
	files   int

	q       *millrace.StreamingQuery
	mode    string
	name    string
	queries int
	seen    int // reports
	rows    int // of the memory sink
}

func (s *server) session() *millrace.Session { return s.s }

func (s *server) stream(name string, schema types.StructType, perBatch int) (*millrace.DataFrame, error) {
	s.schemas[name] = schema
	s.files++
	s.dirs[name] = filepath.Join(s.dir, fmt.Sprintf("%s-%d", name, s.files))
	if err := os.MkdirAll(s.path(name), 0o777); err != nil {
		return nil, err
	}
	r := s.s.ReadStream().Format("json").Schema(schema)
	if perBatch > 0 {
		r = r.Option("maxFilesPerTrigger", perBatch)
	}
	return r.Load(s.path(name)), nil
}

func (s *server) path(name string) string { return s.dirs[name] }

// add writes a file for each unit and then gives them their names, as much at once as possible.
func (s *server) add(us []unit) error {
	var names [][2]string
	for _, u := range us {
		content, err := s.lines(u)
		if err != nil {
			return err
		}
		s.files++
		final := filepath.Join(s.path(u.stream), fmt.Sprintf("%06d.json", s.files))
		temp := filepath.Join(s.dir, "."+filepath.Base(final))
		if err := os.WriteFile(temp, []byte(content), 0o666); err != nil {
			return err
		}
		// Files are taken in the order of their times.
		at := time.Now().Add(-time.Hour).Add(time.Duration(s.files) * time.Second)
		if err := os.Chtimes(temp, at, at); err != nil {
			return err
		}
		names = append(names, [2]string{temp, final})
	}
	if len(names) > 1 {
		s.awaitLull()
	}
	for _, n := range names {
		if err := os.Rename(n[0], n[1]); err != nil {
			return err
		}
	}
	return nil
}

// lookEvery is the trigger of a query over several streams. Such a query looks at all of them when a whole second begins, so that files
// that come in between are one batch.
const lookEvery = time.Second

// awaitLull waits until no such query looks at its streams for a while.
func (s *server) awaitLull() {
	for into := time.Duration(0); into < lookEvery/10 || into > lookEvery/2; into = time.Since(time.Now().Truncate(lookEvery)) {
		time.Sleep(lookEvery / 20)
	}
}

func (s *server) lines(u unit) (string, error) {
	schema, ok := s.schemas[u.stream]
	if !ok {
		return "", fmt.Errorf("there is no stream %q", u.stream)
	}
	var b strings.Builder
	for _, text := range u.rows {
		row, err := milltest.ParseRow(text, schema)
		if err != nil {
			return "", err
		}
		m := map[string]any{}
		for i, v := range row {
			switch x := v.(type) {
			case types.Micros:
				v = x.Time().Format(time.RFC3339Nano)
			case float64:
				v = json.Number(strconv.FormatFloat(x, 'e', -1, 64)) // a zero keeps its sign
				if math.IsNaN(x) {
					v = "NaN"
				}
			}
			m[schema.Fields[i].Name] = v
		}
		line, err := json.Marshal(m)
		if err != nil {
			return "", err
		}
		b.Write(append(line, '\n'))
	}
	return b.String(), nil
}

func (s *server) checkpoint() string { return filepath.Join(s.dir, "checkpoint-"+s.name) }

func (s *server) start(df *millrace.DataFrame, sp spec) error {
	s.queries++
	s.name, s.mode, s.seen, s.rows = fmt.Sprintf("q%d", s.queries), sp.mode, 0, 0
	t, err := triggerOf(sp.trigger)
	if err != nil {
		return err
	}
	if len(s.dirs) > 1 && sp.trigger == "" {
		t = millrace.ProcessingTime(lookEvery)
	}
	s.q, err = df.WriteStream().OutputMode(millrace.OutputMode(sp.mode)).Format("memory").QueryName(s.name).Trigger(t).
		Option("checkpointLocation", s.checkpoint()).Start(context.Background())
	return err
}

func (s *server) process() ([]milltest.Batch, error) {
	return s.collect(s.q.ProcessAllAvailable(context.Background()))
}

func (s *server) await() ([]milltest.Batch, error) {
	return s.collect(s.q.AwaitTermination(context.Background()))
}

func (s *server) collect(failed error) ([]milltest.Batch, error) {
	ctx := context.Background()
	ps, err := s.q.RecentProgress(ctx)
	if err != nil {
		return nil, err
	}
	var rows []millrace.Row
	if failed == nil {
		if rows, err = s.s.Table(s.name).Collect(ctx); err != nil {
			return nil, err
		}
	}
	ran := slices.DeleteFunc(slices.Clone(ps[s.seen:]), func(p millrace.StreamingQueryProgress) bool {
		_, ran := p.DurationMs["addBatch"]
		return !ran
	})
	if s.mode == "complete" && len(ran) > 1 {
		s.seen = len(ps)
		return nil, errSkipped // the memory sink has the last one's table only
	}
	var out []milltest.Batch
	for _, p := range ran {
		b, err := milltest.BatchOf(p)
		if err != nil {
			return nil, err
		}
		n := int(p.Sink.NumOutputRows)
		mine := rows
		if s.mode != "complete" && failed == nil {
			if s.rows+n > len(rows) {
				return nil, fmt.Errorf("the memory sink has %d rows, batch %d should end at row %d", len(rows), b.ID, s.rows+n)
			}
			mine = rows[s.rows : s.rows+n]
			s.rows += n
		}
		for _, r := range mine {
			b.Rows = append(b.Rows, milltest.PlainRow(r))
		}
		if ms, ok := s.committed(b.ID); ok && !b.Watermark.IsZero() {
			b.Next = time.UnixMilli(ms)
		}
		out = append(out, b)
	}
	s.seen = len(ps)
	return out, failed
}

func (s *server) committed(batch int64) (int64, bool) {
	content, err := os.ReadFile(filepath.Join(s.checkpoint(), "commits", fmt.Sprint(batch)))
	if err != nil {
		return 0, false
	}
	return milltest.NextWatermark(content)
}

func (s *server) advance(time.Duration) ([]milltest.Batch, error) { return nil, errSkipped }

func (s *server) crash(words) ([]milltest.Batch, string, error) { return nil, "", errSkipped }

func (s *server) restart(*millrace.DataFrame, spec) error { return nil }

func (s *server) stop() error { return s.q.Stop(context.Background()) }

func (s *server) state(words) (string, error) { return "", errSkipped }

func (s *server) folder(string) (string, error) { return "", errSkipped }

func (s *server) try(df *millrace.DataFrame, sp spec) error {
	old := *s
	defer func() { queries := s.queries; *s = old; s.queries = queries }()
	if err := s.start(df, sp); err != nil {
		return err
	}
	err := s.q.ProcessAllAvailable(context.Background())
	if err == nil {
		return s.q.Stop(context.Background())
	}
	if e := s.failure(); e != nil {
		err = e
	}
	return err
}

func (s *server) failure() error {
	e, err := s.q.Exception(context.Background())
	if err != nil || e == nil {
		return err
	}
	return e
}
