package milltest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/providers"
	"github.com/millrace/millrace/internal/stateful/transform"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Log returns the last batch in the offset log, which was planned, and the last in the commit log, which is done; -1 for none.
func (q *Query) Log() (offsets, commits int64) { return q.last("offsets"), q.last("commits") }

func (q *Query) last(dir string) int64 {
	last := int64(-1)
	for _, name := range q.List(dir) {
		if n, err := strconv.ParseInt(name, 10, 64); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// List are the names in a directory of the query's checkpoint, sorted; none when it does not exist.
func (q *Query) List(dir string) []string {
	entries, err := q.e.disk.found().ReadDir(path.Join(q.Checkpoint(), dir))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Files are all files of the query's checkpoint, as paths below it, sorted.
func (q *Query) Files() []string {
	var out []string
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := q.e.disk.found().ReadDir(path.Join(q.Checkpoint(), dir))
		if err != nil {
			return
		}
		for _, e := range entries {
			if name := path.Join(dir, e.Name()); e.IsDir() {
				walk(name)
			} else {
				out = append(out, name)
			}
		}
	}
	walk("")
	slices.Sort(out)
	return out
}

// ReadFile is the content of a file of the query's checkpoint.
func (q *Query) ReadFile(name string) ([]byte, error) {
	return fs.ReadFile(q.e.disk.found(), path.Join(q.Checkpoint(), name))
}

// nextWatermark reads what the commit log says of a batch.
func (q *Query) nextWatermark(batch int64) (ms int64, ok bool) {
	content, err := q.ReadFile(fmt.Sprintf("commits/%d", batch))
	if err != nil {
		return 0, false
	}
	return NextWatermark(content)
}

// NextWatermark reads from an entry of a commit log, ours or Spark's, the watermark of the batch that follows, in milliseconds.
func NextWatermark(content []byte) (ms int64, ok bool) {
	_, body, _ := strings.Cut(string(content), "\n")
	var c struct{ NextBatchWatermarkMs *int64 }
	if json.Unmarshal([]byte(body), &c) != nil || c.NextBatchWatermarkMs == nil {
		return 0, false
	}
	return *c.NextBatchWatermarkMs, true
}

// State is what a stateful operator remembers, as its files say: for each row the key columns and then the operator's own columns,
// sorted. Operators are counted from the sources, from 0. Of a stateful processor it is its state variables and timers:
//
//	sum (ann): 15
//	count (ann)[tea]: 2 until 12:10
//	timer (ann) at 10:15
func (q *Query) State(operator int) []string {
	q.e.t.Helper()
	rows, err := q.look(operator)
	if err != nil {
		q.e.t.Fatalf("state: %v", err)
	}
	slices.Sort(rows)
	return rows
}

func (q *Query) look(operator int) ([]string, error) {
	rows := []string{}
	fsys := q.e.disk.found()
	ck, err := checkpoint.Open(q.e.ctx, fsys, q.Checkpoint(), checkpoint.Options{ReadOnly: true})
	if err != nil {
		return rows, err
	}
	_, entry, planned, err := ck.Offsets.Latest()
	if err != nil || !planned {
		return rows, err
	}
	text, _ := entry.Metadata.Conf.Get(checkpoint.GenerationKey)
	generation, err := checkpoint.ParseGeneration(text)
	if err != nil {
		return rows, err
	}
	provider, _ := entry.Metadata.Conf.Get(providers.Key)
	reader, err := providers.ReaderOf(provider, fsys)
	if err != nil {
		return rows, err
	}
	dir := path.Join(generation.Dir(ck.StateDir()), strconv.Itoa(operator), "0")
	h, err := reader.Header(dir, -1)
	if err != nil {
		return rows, err
	}
	if h.Operator == transform.OperatorName {
		return q.lookCustom(reader, dir, h)
	}
	c, err := reader.Content(q.e.ctx, dir, -1)
	for _, b := range c.Rows {
		for i := range b.N {
			rows = append(rows, FormatRow(vec.RowAt(b, i)))
		}
	}
	return rows, err
}

// lookCustom is State for a stateful processor.
func (q *Query) lookCustom(reader state.Reader, dir string, h state.Header) ([]string, error) {
	spec, err := h.Spec()
	if err != nil {
		return nil, err
	}
	out := []string{}
	each := func(e transform.Entry) error {
		at := FormatCell(types.Micros(e.At * 1000))
		line := "timer " + FormatRow(e.Group) + " at " + at
		if e.Variable != "" {
			line = e.Variable + " " + FormatRow(e.Group)
			if e.Kind == processor.Map {
				line += "[" + FormatCell(e.MapKey) + "]"
			}
			line += ": " + FormatCell(e.Value)
			if e.At != 0 {
				line += " until " + at
			}
		}
		out = append(out, line)
		return nil
	}
	err = reader.KVs(q.e.ctx, dir, h.Version, func(kvs []state.KV) error { return transform.Look(kvs, spec.KeyTypes(), each) })
	return out, err
}
