package milltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/lsm"
	"github.com/millrace/millrace/internal/state/mem"
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
	rows := map[string]string{}
	dir := fmt.Sprintf("state/%d", operator)
	for _, shard := range q.List(dir) {
		if _, err := strconv.Atoi(shard); err != nil {
			continue
		}
		if custom, err := q.lookCustom(path.Join(dir, shard)); err != nil {
			q.e.t.Fatalf("state: %v", err)
		} else if custom != nil {
			return custom
		}
		look := q.lookSegments
		if slices.ContainsFunc(q.List(path.Join(dir, shard)), lsm.IsFile) {
			look = q.lookTree
		}
		if err := look(rows, path.Join(dir, shard)); err != nil {
			q.e.t.Fatalf("state: %v", err)
		}
	}
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

func (q *Query) lookSegments(rows map[string]string, dir string) error {
	for _, f := range q.segments(dir) {
		if err := q.apply(rows, f.name); err != nil {
			return err
		}
	}
	return nil
}

func (q *Query) lookTree(rows map[string]string, dir string) error {
	c, err := lsm.Inspect(q.e.disk.found(), path.Join(q.Checkpoint(), dir), -1)
	for _, b := range c.Rows {
		for i := range b.N {
			row := FormatRow(rowAt(b.Cols, i))
			rows[row] = row
		}
	}
	return err
}

// lookCustom is State for the folder of a stateful processor; nil when it belongs to another operator.
func (q *Query) lookCustom(dir string) ([]string, error) {
	full := path.Join(q.Checkpoint(), dir)
	version, newest := int64(-1), ""
	for _, name := range q.List(dir) {
		base, _, _ := strings.Cut(name, ".")
		if v, err := strconv.ParseInt(base, 10, 64); err == nil && v > version {
			version, newest = v, name
		}
	}
	if version < 1 {
		return nil, nil
	}
	fsys, err := q.copied(dir) // the query may be at work on it
	if err != nil {
		return nil, err
	}
	var h state.Header
	var p state.KVProvider = mem.Provider{FS: fsys}
	if lsm.IsFile(newest) {
		p = lsm.Provider{FS: fsys, Memory: &lsm.Memory{}}
		h, err = lsm.InspectHeader(fsys, full, version)
	} else {
		var content []byte
		if content, err = q.ReadFile(path.Join(dir, newest)); err == nil {
			h, err = state.ReadHeader(newest, content)
		}
	}
	if err != nil || h.Operator != transform.OperatorName {
		return nil, err
	}
	spec := state.Spec{Name: h.Operator, Meaning: h.Meaning, Partitions: h.Partitions}
	spec.Operator, _ = strconv.Atoi(path.Base(path.Dir(full)))
	for _, text := range h.Keys {
		t, err := types.ParseType(text)
		if err != nil {
			return nil, err
		}
		spec.Keys = append(spec.Keys, types.Field{Type: t})
	}
	s, err := p.OpenKV(path.Dir(path.Dir(full)), spec)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.Load(q.e.ctx, version); err != nil {
		return nil, err
	}
	var kvs []state.KV
	for i := range state.Shards(h.Partitions) {
		kvs = append(kvs, s.KV(i))
	}
	out := []string{}
	err = transform.Look(kvs, spec.KeyTypes(), func(e transform.Entry) error {
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
	})
	slices.Sort(out)
	return out, err
}

// copied is a file system with a copy of a directory of the checkpoint.
func (q *Query) copied(dir string) (fs.FS, error) {
	to := errfs.NewMem()
	err := fs.MakeDirs(to, path.Join(q.Checkpoint(), dir))
	for _, name := range q.Files() {
		if err != nil || !strings.HasPrefix(name, dir+"/") {
			continue
		}
		var content []byte
		if content, err = q.ReadFile(name); err != nil {
			break
		}
		full := path.Join(q.Checkpoint(), name)
		if err = fs.MakeDirs(to, path.Dir(full)); err == nil {
			err = write(to, full, content)
		}
	}
	return to, err
}

func write(fsys fs.FS, name string, content []byte) error {
	w, err := fsys.Create(name)
	if err != nil {
		return err
	}
	_, err = w.Write(content)
	return errors.Join(err, w.Close())
}

type segment struct {
	version  int64
	snapshot bool
	name     string
}

// segments are the files from which the newest state of a shard is read, in order.
func (q *Query) segments(dir string) []segment {
	var files []segment
	for _, name := range q.List(dir) {
		base, kind, _ := strings.Cut(name, ".")
		if v, err := strconv.ParseInt(base, 10, 64); err == nil {
			files = append(files, segment{v, kind == "snapshot", path.Join(dir, name)})
		}
	}
	// A snapshot is its version whole, the changes of that version in it.
	slices.SortFunc(files, func(a, b segment) int {
		switch {
		case a.version != b.version:
			return int(a.version - b.version)
		case a.snapshot:
			return 1
		}
		return -1
	})
	for i := len(files) - 1; i > 0; i-- {
		if files[i].snapshot {
			return files[i:]
		}
	}
	return files
}

func (q *Query) apply(rows map[string]string, name string) error {
	content, err := q.ReadFile(name)
	if err != nil {
		return err
	}
	_, shards, err := state.Inspect(name, content)
	if err != nil {
		return err
	}
	for _, c := range shards {
		for i := range c.Deletes {
			delete(rows, FormatRow(rowAt(c.Deleted, i)))
		}
		for i := range c.Puts {
			key := rowAt(c.Keys, i)
			rows[FormatRow(key)] = FormatRow(append(key, rowAt(c.Values, i)...))
		}
	}
	return nil
}

func rowAt(cols []*vec.Vector, i int) types.Row {
	r := make(types.Row, len(cols))
	for c, v := range cols {
		r[c] = vec.ValueAt(v, i)
	}
	return r
}
