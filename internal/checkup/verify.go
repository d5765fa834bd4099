package checkup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/providers"
)

// Finding is something that is wrong with a checkpoint.
type Finding struct {
	// File is what it is about, below the checkpoint where it lies there.
	File string
	Err  error
}

// String is a line for people.
func (f Finding) String() string {
	text := f.Err.Error()
	if e, ok := errors.AsType[*errclass.Error](f.Err); ok {
		text = e.Detail()
		if cause := errors.Unwrap(e); cause != nil {
			text += ": " + cause.Error()
		}
	}
	return f.File + ": " + text
}

// Report is what a look at a checkpoint has found.
type Report struct {
	Dir      string
	ID       string
	Findings []Finding
	// Next is the batch with which a query would go on, if nothing is in the way. Planned is set when it has been planned.
	Next    int64
	Planned bool
	// WatermarkMs is the watermark of that batch, Offsets where it starts, or where it ends if it has been planned.
	WatermarkMs int64
	Offsets     []json.RawMessage
	Operators   []Operator
	Provider    string
	Partitions  string
}

// Operator is a stateful operator with the size of its state at the start of the next batch.
type Operator struct {
	checkpoint.Operator
	Rows int64
	Err  error // why the state can't be loaded
}

// examiner looks at one checkpoint.
type examiner struct {
	fsys fs.FS
	dir  string
	ck   *checkpoint.Checkpoint
	Report

	sources map[int]*checkpoint.SourceLog // of file sources
}

// Verify reads every file of a checkpoint that a restart may need, and says what is wrong. A query may run on it.
func Verify(ctx context.Context, fsys fs.FS, dir string) (*Report, error) {
	x, err := examine(ctx, fsys, dir)
	if err != nil {
		return nil, err
	}
	return &x.Report, nil
}

func examine(ctx context.Context, fsys fs.FS, dir string) (*examiner, error) {
	x := &examiner{fsys: fsys, dir: dir, Report: Report{Dir: dir}, sources: map[int]*checkpoint.SourceLog{}}
	if _, err := fsys.ReadDir(dir); err != nil {
		return nil, err
	}
	var err error
	x.ck, err = checkpoint.Open(ctx, fsys, dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		x.find(filepath.Join(dir, "metadata"), err)
		// The logs can be read all the same.
		if x.ck, err = checkpoint.OpenLogs(fsys, dir); err != nil {
			return nil, err
		}
	}
	x.ID = x.ck.ID
	_, planned := x.ck.Offsets.LatestID()
	_, committed := x.ck.Commits.LatestID()
	if x.ID == "" && len(x.Findings) == 0 && (planned || committed) {
		x.find(filepath.Join(dir, "metadata"), errclass.New("STREAMING_CHECKPOINT_MISSING_METADATA_FILE", "checkpointLocation", dir))
	}
	x.logs()
	if err := x.operators(); err != nil {
		return nil, err
	}
	x.resume(ctx)
	if err := x.sourceLogs(); err != nil {
		return nil, err
	}
	if _, _, err := x.ck.WantedPartitions(); err != nil {
		x.find(filepath.Join(x.ck.StateDir(), "_repartition"), err)
	}
	return x, nil
}

func (x *examiner) find(file string, err error) {
	if rel, rerr := filepath.Rel(x.dir, file); rerr == nil && !strings.HasPrefix(rel, "..") {
		file = rel
	}
	f := Finding{File: file, Err: err}
	if !slices.ContainsFunc(x.Findings, func(g Finding) bool { return g.String() == f.String() }) {
		x.Findings = append(x.Findings, f)
	}
}

// logs reads all entries of the two logs.
func (x *examiner) logs() {
	for i, id := range x.ck.Offsets.IDs() {
		if _, err := x.ck.Offsets.Get(id); err != nil {
			x.find(x.entry("offsets", id), err)
		}
		if i > 0 && !x.ck.Offsets.Has(id-1) {
			_, err := x.ck.Offsets.Get(id - 1)
			x.find(x.entry("offsets", id-1), err)
		}
	}
	newest, planned := x.ck.Offsets.LatestID()
	for i, id := range x.ck.Commits.IDs() {
		if _, err := x.ck.Commits.Get(id); err != nil {
			x.find(x.entry("commits", id), err)
		}
		if i > 0 && !x.ck.Commits.Has(id-1) {
			_, err := x.ck.Commits.Get(id - 1)
			x.find(x.entry("commits", id-1), err)
		}
		if !planned || id > newest {
			x.find(x.entry("offsets", id), fmt.Errorf("it is not there, but batch %d is in the commit log", id))
		}
	}
}

func (x *examiner) entry(log string, id int64) string {
	return filepath.Join(x.dir, log, strconv.FormatInt(id, 10))
}

// resume finds out where a query would go on, and whether the state is there for it.
func (x *examiner) resume(ctx context.Context) {
	at, err := x.ck.Resume()
	if err != nil {
		x.find(x.dir, err)
		return
	}
	x.Next, x.Planned, x.WatermarkMs = at.Batch, at.Logged != nil, at.WatermarkMs
	last := at.Logged
	if last == nil {
		last = at.Previous
	}
	if last == nil {
		return
	}
	x.Offsets = x.ck.BySource(last.Offsets)
	x.Provider, _ = last.Metadata.Conf.Get(providers.Key)
	x.Partitions, _ = last.Metadata.Conf.Get(setting.ShufflePartitions)
	for i := range x.Operators {
		o := &x.Operators[i]
		var dir string
		o.Rows, dir, o.Err = x.load(ctx, o.ID, at.Batch, last)
		if o.Err != nil && !errclass.Has(o.Err, "STATE_OF_SPARK") { // which is well where it is at home
			x.find(dir, o.Err)
		}
	}
}

// place says where the state of an operator lies as an entry of the offset log has it, and how much larger versions are than the numbers
// of the files there.
func (x *examiner) place(op int64, entry *checkpoint.OffsetSeq) (r state.Reader, dir string, shift int64, err error) {
	text, _ := entry.Metadata.Conf.Get(checkpoint.GenerationKey)
	g, err := checkpoint.ParseGeneration(text)
	if err != nil {
		g = checkpoint.Generation{}
	}
	dir = filepath.Join(g.Dir(x.ck.StateDir()), strconv.FormatInt(op, 10), "0")
	if err == nil {
		name, _ := entry.Metadata.Conf.Get(providers.Key)
		r, err = providers.ReaderOf(name, x.fsys)
	}
	return r, dir, g.Shift(), err
}

// load reads the state of an operator at a version and counts its rows.
func (x *examiner) load(ctx context.Context, op, version int64, entry *checkpoint.OffsetSeq) (rows int64, dir string, err error) {
	r, dir, shift, err := x.place(op, entry)
	if version == 0 {
		return 0, dir, nil
	}
	if err != nil {
		return 0, dir, err
	}
	rows, err = r.Count(ctx, dir, version-shift)
	return rows, dir, err
}

// header reads what is known of an operator from its state, newest first.
func (x *examiner) header(op int64) (h state.Header, ok bool) {
	for _, id := range slices.Backward(x.ck.Offsets.IDs()) {
		e, err := x.ck.Offsets.Get(id)
		if err != nil {
			continue
		}
		r, dir, shift, err := x.place(op, &e)
		if err != nil {
			continue
		}
		if h, err = r.Header(dir, id-shift); err == nil {
			return h, true
		}
	}
	return h, false
}

// operators reads the metadata of the operators. One that has state and no metadata, or damaged ones, is a finding.
func (x *examiner) operators() error {
	ids, err := x.ck.OperatorIDs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		op, err := x.ck.Operator(id)
		if err != nil {
			x.find(x.ck.OperatorFile(id), err)
			op = checkpoint.Operator{ID: id}
		}
		x.Operators = append(x.Operators, Operator{Operator: op})
	}
	return nil
}

// sourceLogs reads the logs of the sources.
func (x *examiner) sourceLogs() error {
	for i, offset := range x.Offsets {
		dir := x.ck.SourceDir(i)
		if n, ok := fileOffset(offset); ok {
			x.fileSource(i, dir, n)
			continue
		}
		if _, _, err := checkpoint.ReadStart(x.fsys, dir); err != nil {
			x.find(filepath.Join(dir, "0"), err)
		}
	}
	return nil
}

// fileOffset is the offset of a file source: how far its log has been read.
func fileOffset(offset json.RawMessage) (n int64, ok bool) {
	var o struct{ LogOffset *int64 }
	if offset == nil || json.Unmarshal(offset, &o) != nil || o.LogOffset == nil {
		return 0, false
	}
	return *o.LogOffset, true
}

func (x *examiner) fileSource(i int, dir string, n int64) {
	l, err := checkpoint.OpenSourceLog(x.fsys, dir, checkpoint.CompactOptions{})
	if err != nil {
		x.find(dir, err)
		return
	}
	x.sources[i] = l
	if err := l.Check(n); err != nil {
		x.find(dir, err)
	}
	if last, ok := l.LatestID(); ok && last > n {
		if err := l.Check(last); err != nil {
			x.find(dir, err)
		}
	}
}
