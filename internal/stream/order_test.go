package stream

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/fs"
)

// tracedDisk notes when files are about to get their names, and when what was synced is durable.
type tracedDisk struct {
	fs.FS
	mu     sync.Mutex
	events []string
}

func (d *tracedDisk) note(what, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, what+" "+filepath.ToSlash(name)+";")
}

func (d *tracedDisk) Rename(from, to string) error {
	d.note("name", to)
	return d.FS.Rename(from, to)
}

func (d *tracedDisk) RenameNew(from, to string) error {
	d.note("name", to)
	return d.FS.RenameNew(from, to)
}

func (d *tracedDisk) SyncDir(name string) error {
	err := d.FS.SyncDir(name)
	d.note("dir", name)
	return err
}

func (d *tracedDisk) Create(name string) (fs.Writer, error) {
	w, err := d.FS.Create(name)
	d.note("create", name)
	return &tracedWriter{w, d, name}, err
}

type tracedWriter struct {
	fs.Writer
	d    *tracedDisk
	name string
}

func (w *tracedWriter) Sync() error {
	err := w.Writer.Sync()
	w.d.note("content", w.name)
	return err
}

// TestOrderOfWrites looks at what a crash may find: no offsets have their name before what they mean is in the source's log, nothing of a batch
// before the batch's offsets are durable, no entry in the sink's log before the files it lists, no commit before state and output.
func TestOrderOfWrites(t *testing.T) {
	const batches = 9 // before the log of the sink is compacted
	w := newWorld(t)
	disk := &tracedDisk{FS: w.mem}
	w.rt = engine.New(engine.Runtime{FS: disk, Parallelism: 2})
	w.m = NewManager(w.rt, NewRegistry())
	w.views["e"] = marked(minutes(t, w, batches, true), "ts", "1m")
	r := w.request(w.query("dedup e ts k"), "append", Trigger{Kind: AvailableNow})
	r.Sink, r.Path = filesink.Format{Kind: jsonfile.SinkKind{}, FS: disk}, "/out"
	q := w.start(r)
	if _, err := q.AwaitTermination(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	// at finds an event behind another one.
	at := func(from int, event string) int {
		t.Helper()
		i := slices.IndexFunc(disk.events[from:], func(e string) bool { return strings.HasPrefix(e, event) })
		if i < 0 {
			t.Fatalf("no %q after event %d of\n%s", event, from, strings.Join(disk.events, "\n"))
		}
		return from + i
	}
	begun := 0
	for n := range batches {
		named := at(0, fmt.Sprintf("name /ck/offsets/%d;", n))
		logged := at(named, "dir /ck/offsets;")
		source := at(0, fmt.Sprintf("name /ck/sources/0/%d;", n))
		if known := at(source, "dir /ck/sources/0;"); named < known {
			t.Errorf("batch %d is logged at %d, the files that it reads at %d", n, named, known)
		}
		made := at(begun, "create /out/part-")
		rows, names := at(made, "content /out/part-"), at(made, "dir /out;")
		state := at(0, fmt.Sprintf("name /ck/state/0/0/%d.delta;", n+1))
		output := at(0, fmt.Sprintf("name /out/_spark_metadata/%d", n))
		done := max(at(state, "dir /ck/state/0/0;"), at(output, "dir /out/_spark_metadata;"))
		commit := at(0, fmt.Sprintf("name /ck/commits/%d;", n))
		if state < logged || output < logged {
			t.Errorf("batch %d: state at %d and output at %d have their names before it is logged at %d", n, state, output, logged)
		}
		if output < rows || output < names {
			t.Errorf("batch %d: rows are durable at %d, the name of their file at %d, and listed at %d", n, rows, names, output)
		}
		if commit < done {
			t.Errorf("batch %d: committed at %d, state and output are durable at %d", n, commit, done)
		}
		begun = output
	}
}
