package stream

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/stream/streamtest"
	"github.com/millrace/millrace/types"
)

// BenchmarkLatency measures a windowed count of a few rows from one batch to the next on the local disk, with its fsyncs: quantiles of a
// batch, the mean of each step as progress tells it, and how many fsyncs there are. A batch begins when its offsets are logged. Each batch
// but the first closes the windows of the one before and writes them to a file; where many keys are held, none are closed.
func BenchmarkLatency(b *testing.B) {
	for _, c := range []struct {
		keys  int
		delay string
	}{{0, "1m"}, {200_000, "20000h"}} {
		b.Run(fmt.Sprint("held=", c.keys), func(b *testing.B) {
			disk := &watchedDisk{FS: fs.Local()}
			w := newWorld(b)
			w.rt = engine.New(engine.Runtime{FS: disk, Parallelism: 2})
			w.m = NewManager(w.rt, NewRegistry())
			w.conf["spark.sql.streaming.numRecentProgressUpdates"] = fmt.Sprint(b.N + 10)
			s := streamtest.NewSource("ts TIMESTAMP, k STRING")
			s.PerBatch = 1
			for i := range b.N {
				at := types.MicrosOf(streamtest.Day.Add(time.Duration(i) * time.Minute))
				if i == 0 && c.keys > 0 {
					s.Add(held(c.keys, at)...)
				}
				s.Add([]any{at, "a"}, []any{at, "b"})
			}
			w.views["e"] = marked(streamOf(s), "ts", c.delay)
			n := w.query("SELECT window(ts, '1 minute') w, k, count(*) n FROM e GROUP BY window(ts, '1 minute'), k")
			r := w.request(n, "append", Trigger{Kind: AvailableNow})
			r.Sink = filesink.Format{Kind: jsonfile.SinkKind{}, FS: disk}
			r.Path = filepath.Join(b.TempDir(), "out")
			r.Options = map[string]string{"checkpointLocation": b.TempDir()}
			b.ResetTimer()
			q := w.start(r)
			if _, err := q.AwaitTermination(context.Background(), -1); err != nil {
				b.Fatal(err)
			}
			disk.report(b)
			steps := map[string]int64{}
			for _, p := range q.RecentProgress() {
				if _, executed := p.DurationMs["addBatch"]; executed && p.BatchID > 0 {
					for step, ms := range p.DurationMs {
						steps[step] += ms
					}
				}
			}
			for _, step := range slices.Sorted(maps.Keys(steps)) {
				b.ReportMetric(float64(steps[step])/float64(b.N), step+"-ms")
			}
		})
	}
}

// held is a first batch of many keys.
func held(keys int, at types.Micros) [][]any {
	rows := make([][]any, keys)
	for i := range rows {
		rows[i] = []any{at, fmt.Sprint("held ", i)}
	}
	return rows
}

// watchedDisk counts fsyncs and notes when entries of an offset log get their names.
type watchedDisk struct {
	fs.FS
	syncs atomic.Int64
	mu    sync.Mutex
	begun []time.Time // batches
	first int64       // syncs before the second batch
}

func (d *watchedDisk) report(b *testing.B) {
	if len(d.begun) < 3 {
		return
	}
	var gaps []time.Duration
	for i := 2; i < len(d.begun); i++ {
		gaps = append(gaps, d.begun[i].Sub(d.begun[i-1]))
	}
	slices.Sort(gaps)
	for _, percent := range []int{50, 95, 100} {
		at := max(0, (len(gaps)*percent+99)/100-1)
		b.ReportMetric(float64(gaps[at].Microseconds())/1000, fmt.Sprintf("p%d-ms", percent))
	}
	b.ReportMetric(float64(d.syncs.Load()-d.first)/float64(len(d.begun)-1), "fsyncs/batch")
}

func (d *watchedDisk) named(name string) {
	if filepath.Base(filepath.Dir(name)) != "offsets" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = append(d.begun, time.Now())
	if len(d.begun) == 2 {
		d.first = d.syncs.Load()
	}
}

func (d *watchedDisk) RenameNew(from, to string) error {
	d.named(to)
	return d.FS.RenameNew(from, to)
}

func (d *watchedDisk) Link(from, to string) error { return fs.Link(d.FS, from, to) }

func (d *watchedDisk) Create(name string) (fs.Writer, error) {
	w, err := d.FS.Create(name)
	return &watchedWriter{w, d}, err
}

func (d *watchedDisk) Sync(name string) error {
	d.syncs.Add(1)
	return d.FS.Sync(name)
}

func (d *watchedDisk) SyncDir(name string) error {
	d.syncs.Add(1)
	return d.FS.SyncDir(name)
}

type watchedWriter struct {
	fs.Writer
	d *watchedDisk
}

func (w *watchedWriter) Sync() error {
	w.d.syncs.Add(1)
	return w.Writer.Sync()
}
