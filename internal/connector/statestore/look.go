package statestore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/lsm"
	"github.com/millrace/millrace/internal/state/mem"
	"github.com/millrace/millrace/internal/vec"
)

// operatorState is the state of one operator of a checkpoint, at the version that a batch has made.
type operatorState struct {
	fsys fs.FS
	dir  string
	tree bool // the provider is millrace.lsm
	// ahead is by how much versions are ahead of the files' numbers, after the number of partitions was changed.
	ahead int64
}

// keyRepartitioned is the setting in the offset log that says V/S: from batch V on the state lies in a folder of its own, where version
// V is number S.
const keyRepartitioned = "spark.millrace.streaming.state.repartitioned"

// committed returns the last batch that was committed.
func committed(ctx context.Context, fsys fs.FS, dir string) (int64, *checkpoint.Checkpoint, error) {
	ck, err := checkpoint.Open(ctx, fsys, dir, checkpoint.Options{ReadOnly: true})
	if err != nil {
		return 0, nil, err
	}
	last, ok := ck.Commits.LatestID()
	if !ok {
		return 0, ck, errclass.New("STDS_COMMITTED_BATCH_UNAVAILABLE", "checkpointLocation", dir)
	}
	return last, ck, nil
}

// find looks for the state of an operator.
func find(fsys fs.FS, ck *checkpoint.Checkpoint, o options) (*operatorState, error) {
	s := &operatorState{fsys: fsys}
	logged, err := ck.Offsets.Get(o.batch)
	if err != nil {
		return nil, err
	}
	top := ck.StateDir()
	if place, ok := logged.Metadata.Conf.Get(keyRepartitioned); ok {
		var version, number int64
		if _, err := fmt.Sscanf(place, "%d/%d", &version, &number); err != nil {
			return nil, o.noSchema(fmt.Errorf("%s is %q", keyRepartitioned, place))
		}
		top, s.ahead = filepath.Join(top, fmt.Sprintf("from-%d", version)), version-number
	}
	s.dir = filepath.Join(top, strconv.FormatInt(o.operator, 10), "0")
	entries, err := fsys.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, o.noSchema(fmt.Errorf("there is no folder %s", s.dir))
	}
	if err != nil {
		return nil, err
	}
	s.tree = slices.ContainsFunc(entries, func(e fs.Entry) bool { return lsm.IsFile(e.Name()) })
	return s, nil
}

// noSchema is the error of a state that does not say what its columns are.
func (o options) noSchema(why error) error {
	return errclass.New("STDS_FAILED_TO_READ_STATE_SCHEMA", "sourceOptions", o.text()).WithCause(why)
}

func (o options) text() string {
	parts := []string{"checkpoint " + o.dir, fmt.Sprintf("operatorId %d", o.operator), "storeName " + o.storeName}
	if o.side != "" {
		parts = append(parts, "joinSide "+o.side)
	}
	return strings.Join(parts, ", ")
}

// number is that of the files of the version behind a batch.
func (s *operatorState) number(batch int64) int64 { return batch + 1 - s.ahead }

func (s *operatorState) header(batch int64) (state.Header, error) {
	if s.tree {
		return lsm.InspectHeader(s.fsys, s.dir, s.number(batch))
	}
	return mem.InspectHeader(s.fsys, s.dir, s.number(batch))
}

// content is what the state holds behind a batch; nothing before the first.
func (s *operatorState) content(ctx context.Context, batch int64) (state.Content, error) {
	switch {
	case batch < 0:
		return state.Content{}, nil
	case s.tree:
		return lsm.Inspect(s.fsys, s.dir, s.number(batch))
	}
	return mem.Inspect(ctx, s.fsys, s.dir, s.number(batch))
}

// changes are what a batch has done to the state. Of millrace.lsm they are what differs: a row that was written again as it had been
// is not among them.
func (s *operatorState) changes(ctx context.Context, batch int64) (state.Content, error) {
	if !s.tree {
		return mem.InspectChanges(s.fsys, s.dir, s.number(batch))
	}
	before, err := s.content(ctx, batch-1)
	if err != nil {
		return before, err
	}
	now, err := s.content(ctx, batch)
	if err != nil {
		return now, err
	}
	keys := len(now.Header.Keys)
	was, is := map[string]string{}, map[string]bool{}
	each(before.Rows, func(b *vec.Batch, i int) { was[rowText(b.Cols[:keys], i)] = rowText(b.Cols, i) })
	out := state.Content{Header: now.Header}
	out.Rows = choose(now.Rows, func(b *vec.Batch, i int) bool {
		k := rowText(b.Cols[:keys], i)
		is[k] = true
		old, there := was[k]
		return !there || old != rowText(b.Cols, i)
	})
	out.Gone = choose(before.Rows, func(b *vec.Batch, i int) bool { return !is[rowText(b.Cols[:keys], i)] })
	for _, b := range out.Gone {
		b.Cols = b.Cols[:keys]
	}
	return out, nil
}

func each(batches []*vec.Batch, do func(b *vec.Batch, i int)) {
	for _, b := range batches {
		for i := range b.N {
			do(b, i)
		}
	}
}

// choose returns the rows that a condition holds for.
func choose(batches []*vec.Batch, keep func(b *vec.Batch, i int) bool) []*vec.Batch {
	var out []*vec.Batch
	for _, b := range batches {
		var idx []uint32
		for i := range b.N {
			if keep(b, i) {
				idx = append(idx, uint32(i))
			}
		}
		if len(idx) > 0 {
			out = append(out, vec.NewBatch(len(idx), vec.TakeAll(b.Cols, idx)...))
		}
	}
	return out
}

func rowText(cols []*vec.Vector, i int) string {
	var out strings.Builder
	for _, c := range cols {
		fmt.Fprintf(&out, "%#v\n", vec.ValueAt(c, i))
	}
	return out.String()
}
