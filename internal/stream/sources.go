package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
)

// input is a source of a running query.
type input struct {
	plan   *sourcePlan
	stream source.Stream
	// start is where the next batch begins: the end of the last one. end is where the batch at hand ends.
	start, end source.Offset
	// from is where the batch that ran last began, or start when none has run in this trigger.
	from source.Offset
	rows atomic.Int64 // read in the batch at hand
}

// moved tells whether the batch at hand has data of the source.
func (in *input) moved() bool { return in.end != nil && !sameOffset(in.start, in.end) }

// sameOffset compares offsets as JSON texts, whatever blanks are in them.
func sameOffset(a, b source.Offset) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// holder is a source whose LatestOffset writes to a log of its own, and can leave that to the query.
type holder interface {
	// Hold has LatestOffset leave its entries.
	Hold()
	// Held is the entry that LatestOffset has left, or nil. It must be durable before the offset is logged.
	Held() *fs.Staged
}

// openInputs opens the streams of a plan. Their offsets come from the log later. news gets a token when a source has heard of something.
func openInputs(ctx context.Context, plans []*sourcePlan, ck *checkpoint.Checkpoint, news chan<- struct{}) ([]*input, error) {
	var ins []*input
	for i, p := range plans {
		s, err := p.table.Stream(ctx, source.StreamEnv{Log: &sourceLog{fsys: ck.FS(), dir: ck.SourceDir(i)}, Want: p.want})
		if err != nil {
			return ins, err
		}
		if h, ok := s.(holder); ok {
			h.Hold()
		}
		if n, ok := s.(source.Notifier); ok {
			n.Notify(news)
		}
		ins = append(ins, &input{plan: p, stream: s})
	}
	return ins, nil
}

// latest asks for the end of the next batch. A source that has nothing yet answers nil.
func (in *input) latest(ctx context.Context, limit source.Limit) error {
	end, err := in.stream.LatestOffset(ctx, in.start, limit)
	if err != nil {
		return err
	}
	if end == nil {
		end = in.start
	}
	in.end = end
	return nil
}

// parts cuts the rows of the batch at hand.
func (in *input) parts(ctx context.Context) (exec.Parts, error) {
	in.rows.Store(0)
	if !in.moved() {
		return exec.Parts{}, nil
	}
	splits, err := in.stream.Plan(ctx, in.start, in.end)
	if err != nil {
		return exec.Parts{}, err
	}
	return exec.SplitParts(splits, in.plan.out), nil
}

// sourceLog is a source's private log in the checkpoint.
type sourceLog struct {
	fsys fs.FS
	dir  string
	made bool
}

// Add implements source.Log.
func (l *sourceLog) Add(n int64, content []byte) error {
	if !l.made {
		if err := fs.MakeDirs(l.fsys, l.dir); err != nil {
			return err
		}
		l.made = true
	}
	return fs.WriteOnce(context.Background(), l.fsys, l.file(n), content)
}

// Get implements source.Log.
func (l *sourceLog) Get(n int64) ([]byte, error) { return fs.ReadFile(l.fsys, l.file(n)) }

// Dir implements source.Log.
func (l *sourceLog) Dir() string { return l.dir }

func (l *sourceLog) file(n int64) string { return filepath.Join(l.dir, strconv.FormatInt(n, 10)) }

// report is the source's part of a report, before the counts. In a report of a batch that has run, start has moved on already; from
// is where the batch began.
func (in *input) report() SourceProgress {
	p := SourceProgress{Description: in.stream.Description(), StartOffset: in.from, EndOffset: in.start}
	if r, ok := in.stream.(source.Reporter); ok {
		p.LatestOffset, p.Metrics = r.ReportLatest(), r.Metrics()
	}
	return p
}
