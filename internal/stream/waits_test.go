package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	filesource "github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stream/streamtest"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// slowDisk takes a second for each fsync, whoever else is being served.
type slowDisk struct{ fs.FS }

func (d slowDisk) Create(name string) (fs.Writer, error) {
	w, err := d.FS.Create(name)
	return slowWriter{w}, err
}

func (d slowDisk) Sync(name string) error {
	time.Sleep(time.Second)
	return d.FS.Sync(name)
}

func (d slowDisk) SyncDir(name string) error {
	time.Sleep(time.Second)
	return d.FS.SyncDir(name)
}

type slowWriter struct{ fs.Writer }

func (w slowWriter) Sync() error {
	time.Sleep(time.Second)
	return w.Writer.Sync()
}

// TestWaitsForTheDisk counts how often a batch waits for the disk, by a clock on which nothing else takes time. What may be synced side by
// side counts once: contents while the offset log is written (two waits, three when a source has a log of its own), then the names of all
// that makes the batch.
func TestWaitsForTheDisk(t *testing.T) {
	const counts = "SELECT window(ts, '1 minute') w, k, count(*) n FROM e GROUP BY window(ts, '1 minute'), k"
	for _, c := range []struct {
		name, query, mode string
		fromFiles         bool
		toFiles           bool
		options           map[string]string
		want              time.Duration
	}{
		{"stateful to files", counts, "append", false, true, nil, 3 * time.Second},
		{"two operators", "dedup-agg e k ts", "append", false, true, nil, 3 * time.Second},
		{"late rows kept", counts, "append", false, true, map[string]string{"lateRowsPath": "/late"}, 3 * time.Second},
		{"stateless to files", "SELECT k FROM e", "append", false, true, nil, 3 * time.Second},
		{"from files to files", counts, "append", true, true, nil, 4 * time.Second},
		{"to a sink that may show rows at once", "SELECT k, count(*) n FROM e GROUP BY k", "update", false, false, nil, 6 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const batches = 20
				w := newWorld(t)
				w.rt = engine.New(engine.Runtime{FS: slowDisk{w.mem}, Parallelism: 2})
				w.m = NewManager(w.rt, NewRegistry())
				sink.Register("json", filesink.Format{Kind: jsonfile.SinkKind{}, FS: w.rt.FS})
				w.views["e"] = marked(minutes(t, w, batches, c.fromFiles), "ts", "1m")
				r := w.request(w.query(c.query), c.mode, Trigger{Kind: AvailableNow})
				maps.Copy(r.Options, c.options)
				if c.toFiles {
					r.Sink, r.Path = filesink.Format{Kind: jsonfile.SinkKind{}, FS: w.rt.FS}, "/out"
				}
				q := w.start(r)
				if _, err := q.AwaitTermination(context.Background(), -1); err != nil {
					t.Fatal(err)
				}
				began := map[int64]time.Time{}
				for _, p := range q.RecentProgress() {
					if _, executed := p.DurationMs["addBatch"]; executed {
						began[p.BatchID] = p.Timestamp
					}
				}
				for id := int64(3); id < batches-1; id++ {
					if id%10 == 8 || id%10 == 9 {
						continue // logs of files are compacted
					}
					if took := began[id+1].Sub(began[id]).Truncate(time.Second); took != c.want {
						t.Errorf("batch %d waits %v, want %v", id, took, c.want)
					}
				}
			})
		})
	}
}

// minutes is a stream of two rows for each batch, a minute later than those before.
func minutes(t *testing.T, w *world, batches int, files bool) *plan.Scan {
	at := func(i int) time.Time { return streamtest.Day.Add(time.Duration(i) * time.Minute) }
	if !files {
		s := streamtest.NewSource("ts TIMESTAMP, k STRING")
		s.PerBatch = 1
		for i := range batches {
			s.Add([]any{types.MicrosOf(at(i)), "a"}, []any{types.MicrosOf(at(i)), "b"})
		}
		return streamOf(s)
	}
	for i := range batches {
		text := fmt.Sprintf(`{"ts": %[1]q, "k": "a"}`+"\n"+`{"ts": %[1]q, "k": "b"}`, at(i).Format(time.RFC3339))
		w.mem.SetClock(func() time.Time { return at(i) })
		if err := errors.Join(w.mem.MkdirAll("/in"), fs.WriteOnce(t.Context(), w.mem, fmt.Sprintf("/in/%03d.json", i), []byte(text))); err != nil {
			t.Fatal(err)
		}
	}
	st, err := types.ParseDDL("ts TIMESTAMP, k STRING")
	if err != nil {
		t.Fatal(err)
	}
	table, err := filesource.Format{Kind: jsonfile.Kind{}, FS: w.rt.FS}.Open(t.Context(), source.Request{
		Format: "json", Schema: &st, Paths: []string{"/in"}, Stream: true, Options: source.Options{"maxFilesPerTrigger": "1"},
		Env: source.Env{Now: time.Now, Zone: time.UTC, Conf: w.conf.Value},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &plan.Scan{ID: plan.NewID(), Source: table, Name: "json", Out: plan.Attrs(table.Schema()), Stream: true}
}
