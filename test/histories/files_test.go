package histories

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
)

// onDisk is the format json on the disk of the engine at hand, which can lose power.
const onDisk = "json-on-disk"

// filesToFiles is a query over the folder /in and a stream, written to the folder /out or to a table in memory.
type filesToFiles struct {
	e     *milltest.Engine
	t     *rapid.T
	df    *millrace.DataFrame
	table bool
	run   *millrace.StreamingQuery
	log   []string
}

func (q *filesToFiles) start() {
	w := q.df.WriteStream().Option("checkpointLocation", "/checkpoint").Format(onDisk).Option("path", "/out")
	if q.table {
		w = q.df.WriteStream().Option("checkpointLocation", "/checkpoint").Format("memory").QueryName("out").OutputMode(millrace.Complete)
	}
	run, err := w.Start(q.e.Context())
	if err != nil {
		q.t.Fatalf("start: %v\n%s", err, strings.Join(q.log, "\n"))
	}
	q.run = run
	q.process()
}

func (q *filesToFiles) process() {
	if err := q.run.ProcessAllAvailable(q.e.Context()); err != nil {
		q.t.Fatalf("query: %v\n%s", err, strings.Join(q.log, "\n"))
	}
}

func (q *filesToFiles) stop() {
	if err := q.run.Stop(context.WithoutCancel(q.e.Context())); err != nil {
		q.t.Fatalf("stop: %v", err)
	}
}

// crash processes until power fails, if there are so many writes, and starts again.
func (q *filesToFiles) crash(write int, survivors uint64) {
	q.e.CrashAtWrite(write)
	err := q.run.ProcessAllAvailable(q.e.Context())
	crashed := q.e.Crashed()
	if !crashed && err != nil {
		q.t.Fatalf("query: %v", err)
	}
	if crashed {
		q.stop()
	}
	q.e.PowerOn(rand.New(rand.NewPCG(survivors, 0)).IntN)
	if crashed {
		q.start()
	}
}

// TestFileHistories: rows of files, of which a batch takes a few, and of a stream beside them come to a folder once, whatever happens to
// the query and to the files that have been read; a table in memory has the same rows.
func TestFileHistories(t *testing.T) {
	forAsLongAs(t, checks/3, func(t *rapid.T) {
		e := milltest.New(t, settings(t)...)
		source.Register(onDisk, files.Format{Kind: jsonfile.Kind{}, FS: e.Disk()})
		sink.Register(onDisk, filesink.Format{Kind: jsonfile.SinkKind{}, FS: e.Disk()})
		in := e.Stream("id INT, k STRING").LimitPerBatch(rapid.IntRange(0, 2).Draw(t, "limit"))
		e.WriteFile("/in/000.json", "")
		read := e.Session.ReadStream().SchemaDDL("id INT, k STRING")
		if n := rapid.IntRange(0, 2).Draw(t, "files"); n > 0 {
			read = read.Option("maxFilesPerTrigger", fmt.Sprint(n))
		}
		if rapid.Bool().Draw(t, "latest first") {
			read = read.Option("latestFirst", "true")
		}
		clean := rapid.SampledFrom([]string{"off", "delete", "archive"}).Draw(t, "clean")
		read = read.Option("cleanSource", clean)
		if clean == "archive" {
			read = read.Option("sourceArchiveDir", "/archive")
		}
		both := read.Format(onDisk).Load("/in").Union(in.DataFrame())
		q := &filesToFiles{e: e, t: t, df: both, table: rapid.IntRange(0, 3).Draw(t, "table") == 0}
		want := map[string]int{}
		distinct := !q.table && rapid.Bool().Draw(t, "distinct")
		switch {
		case q.table:
			q.df = both.GroupBy("id", "k").Count()
		case distinct:
			q.df = both.DropDuplicates()
		}
		q.start()
		steps := rapid.IntRange(1, 7).Draw(t, "steps")
		for i := range steps + 1 {
			var rows [][]any
			var text strings.Builder
			for range rapid.IntRange(0, 3).Draw(t, "rows") {
				id, k := rapid.IntRange(0, 5).Draw(t, "id"), rapid.SampledFrom([]string{"a", "ß", ""}).Draw(t, "k")
				rows = append(rows, []any{id, k})
				fmt.Fprintf(&text, "{\"id\":%d,\"k\":%q}\n", id, k)
				want[fmt.Sprintf("%d %s", id, k)]++
			}
			if i == steps { // a table in memory is empty until a batch runs
				in.Add([]any{9, "end"})
				want["9 end"]++
			}
			if rapid.Bool().Draw(t, "file") {
				q.log = append(q.log, "file "+text.String())
				e.Clock.Advance(time.Millisecond) // a folder is known by its time
				e.WriteFile(fmt.Sprintf("/in/%03d.json", i+1), text.String())
			} else {
				q.log = append(q.log, "stream "+text.String())
				in.Add(rows...)
			}
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0:
				q.log = append(q.log, "restart")
				q.stop()
				q.start()
			case 1, 2:
				k := rapid.IntRange(1, 60).Draw(t, "write")
				q.log = append(q.log, fmt.Sprint("crash at write ", k))
				q.crash(k, rapid.Uint64().Draw(t, "survivors"))
			case 3:
				q.process()
			}
		}
		q.process()
		var got map[string]int
		if q.table {
			in.Add([]any{9, "end"})
			want["9 end"]++
			q.process()
			got = q.counts()
		} else {
			got = q.lines()
		}
		if distinct {
			for k := range want {
				want[k] = 1
			}
		}
		q.stop()
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("rows that came (-brought +came):\n%s\n%s", d, strings.Join(q.log, "\n"))
		}
	})
}

// counts are the rows of the table.
func (q *filesToFiles) counts() map[string]int {
	rows, err := q.e.Session.Table("out").Collect(q.e.Context())
	if err != nil {
		q.t.Fatalf("%v", err)
	}
	out := map[string]int{}
	for _, r := range rows {
		out[fmt.Sprintf("%v %v", r.At(0), r.At(1))] += int(r.At(2).(int64))
	}
	return out
}

// lines are the rows of the folder.
func (q *filesToFiles) lines() map[string]int {
	rows, err := q.e.Folder("/out")
	if err != nil {
		q.t.Fatalf("%v", err)
	}
	slices.Sort(rows)
	out := map[string]int{}
	for _, text := range rows {
		var r struct {
			ID int    `json:"id"`
			K  string `json:"k"`
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			q.t.Fatalf("%s: %v", text, err)
		}
		out[fmt.Sprintf("%d %s", r.ID, r.K)]++
	}
	return out
}
