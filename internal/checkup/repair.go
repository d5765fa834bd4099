package checkup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// Options say how a checkpoint is repaired.
type Options struct {
	// DryRun only tells what would be done.
	DryRun bool
	// Output is the folder of a file sink, whose log is taken back together with the checkpoint.
	Output string
	// RowsAgain allows to go back over batches that a sink other than a file sink has been given: it is given their rows again.
	RowsAgain bool
}

// Repair takes a checkpoint back to the newest batch from which a query can go on, and says what it does, or would do. A checkpoint
// with which nothing is wrong is left as it is.
func Repair(ctx context.Context, fsys fs.FS, dir string, o Options) (steps []string, err error) {
	x, err := examine(ctx, fsys, dir)
	if err != nil {
		return nil, err
	}
	if len(x.Findings) == 0 {
		return nil, nil
	}
	r := &repairer{examiner: x, o: o}
	if err := r.plan(ctx); err != nil {
		return r.texts(), err
	}
	if o.DryRun {
		return r.texts(), nil
	}
	if unlock, err := fsys.Lock(filepath.Join(dir, "metadata")); err == nil {
		defer unlock.Close()
	} else if errors.Is(err, fs.ErrLocked) {
		return nil, errclass.New("STREAMING_CHECKPOINT_LOCKED", "checkpointLocation", dir).WithCause(err)
	}
	for _, s := range r.steps {
		if err := s.do(ctx); err != nil {
			return r.texts(), fmt.Errorf("%s: %w", s.text, err)
		}
	}
	return r.texts(), nil
}

type step struct {
	text string
	do   func(ctx context.Context) error
}

type repairer struct {
	*examiner
	o     Options
	steps []step
}

func (r *repairer) texts() []string {
	var out []string
	for _, s := range r.steps {
		out = append(out, s.text)
	}
	return out
}

func (r *repairer) step(do func(ctx context.Context) error, format string, args ...any) {
	r.steps = append(r.steps, step{fmt.Sprintf(format, args...), do})
}

// plan finds the batch to go on with and what has to be done for it.
func (r *repairer) plan(ctx context.Context) error {
	if r.ID == "" {
		id := uuid.NewString()
		r.step(func(ctx context.Context) error {
			return fs.Replace(ctx, r.fsys, filepath.Join(r.dir, "metadata"), []byte(`{"id":"`+id+`"}`))
		}, "write metadata with a new id: sinks that remember the query take it for another one")
	}
	next, planned, err := r.target(ctx)
	if err != nil {
		return err
	}
	r.metadataOfOperators()
	if _, _, err := r.ck.WantedPartitions(); err != nil {
		r.step(func(context.Context) error { return r.ck.ForgetRepartition() }, "remove the damaged request for other partitions")
	}
	if err := r.goBack(next, planned); err != nil {
		return err
	}
	r.sourcesBack(next, planned)
	if len(r.steps) == 0 {
		r.step(func(context.Context) error { return nil }, "nothing to be done: a query can go on with batch %d, what is damaged is not needed any more", next)
	}
	return nil
}

// target is the newest batch that a query can go on with: as it was planned, or anew.
func (r *repairer) target(ctx context.Context) (next int64, planned bool, err error) {
	newest, ok := r.ck.Offsets.LatestID()
	if c, any := r.ck.Commits.LatestID(); any && (!ok || c > newest) {
		newest, ok = c, true
	}
	var last error
	for n := newest + 1; ok && n >= 0; n-- {
		// Go on after batch n-1, which is done.
		if err := r.possible(ctx, n, false); err == nil {
			return n, false, nil
		} else if last == nil || n == newest+1 {
			last = err
		}
		if n == 0 {
			break
		}
		// Run batch n-1 again as it was planned.
		if err := r.possible(ctx, n-1, true); err == nil {
			return n - 1, true, nil
		}
	}
	if !ok {
		return 0, false, nil
	}
	return 0, false, fmt.Errorf("there is no batch from which a query could go on; start it with a new checkpoint location (%w)", last)
}

// possible tells whether a query can go on with a batch.
func (r *repairer) possible(ctx context.Context, n int64, planned bool) error {
	var entry *checkpoint.OffsetSeq
	need := func(id int64) error {
		e, err := r.ck.Offsets.Get(id)
		entry = &e
		return err
	}
	if n > 1 && !planned { // the start looks at the entry before the last one, too
		if err := need(n - 2); err != nil {
			return err
		}
	}
	if n > 0 {
		if err := need(n - 1); err != nil {
			return err
		}
	}
	if planned {
		if err := need(n); err != nil {
			return err
		}
	} else if n > 0 {
		if _, err := r.ck.Commits.Get(n - 1); err != nil {
			return err
		}
	}
	if entry == nil { // from the very beginning
		if ids := r.ck.Offsets.IDs(); len(ids) > 0 && ids[0] == 0 && len(r.Operators) == 0 {
			return nil
		}
		return errors.New("going back to the first batch is starting anew")
	}
	for _, o := range r.Operators {
		if _, _, err := r.load(ctx, o.ID, n, entry); err != nil {
			return err
		}
	}
	for i, offset := range r.ck.BySource(entry.Offsets) {
		if err := r.sourceAt(i, offset); err != nil {
			return err
		}
	}
	return nil
}

// sourceAt tells whether the private log of a source is whole up to an offset.
func (r *repairer) sourceAt(i int, offset []byte) error {
	dir := r.ck.SourceDir(i)
	if n, ok := fileOffset(offset); ok {
		l, err := checkpoint.OpenSourceLog(r.fsys, dir, checkpoint.CompactOptions{})
		if err != nil {
			return err
		}
		return l.Check(n)
	}
	_, _, err := checkpoint.ReadStart(r.fsys, dir)
	return err
}

// metadataOfOperators writes the metadata of operators anew whose file is damaged, from what their state says.
func (r *repairer) metadataOfOperators() {
	for _, o := range r.Operators {
		if o.Name != "" {
			continue
		}
		h, ok := r.header(o.ID)
		if !ok {
			continue
		}
		op := checkpoint.Operator{ID: o.ID, Name: h.Operator}
		stores := []string{"default"}
		switch h.Operator {
		case "symmetricHashJoin":
			stores = []string{"left-keyToNumValues", "left-keyWithIndexToValue", "right-keyToNumValues", "right-keyWithIndexToValue"}
		}
		for _, s := range stores {
			store := checkpoint.Store{Name: s, NumPartitions: int64(h.Partitions)}
			if h.Operator == "sessionWindowStateStoreSaveExec" {
				store.NumColsPrefixKey = int64(len(h.Keys) - 1)
			}
			op.Stores = append(op.Stores, store)
		}
		r.step(func(ctx context.Context) error { return r.ck.ReplaceOperator(ctx, op) },
			"write the metadata of operator %d (%s) anew, from its state", o.ID, h.Operator)
	}
}

// goBack removes what the logs know of later batches.
func (r *repairer) goBack(next int64, planned bool) error {
	firstOffset := next
	if planned {
		firstOffset++
	}
	offsets, commits := from(r.ck.Offsets.IDs(), firstOffset), from(r.ck.Commits.IDs(), next)
	if len(offsets)+len(commits) == 0 {
		return nil
	}
	how := "planned anew"
	if planned {
		how = "run again as it was planned"
	}
	last := next
	for _, ids := range [][]int64{offsets, commits} {
		if len(ids) > 0 {
			last = max(last, ids[len(ids)-1])
		}
	}
	// Batches that are run as they were planned give the rows that the sink had: it skips them or is given them again, as after a crash.
	if again := last > next || !planned; again && len(commits)+len(offsets) > 0 {
		given := last
		if len(commits) == 0 && !planned && last == next {
			given = -1 // it may have been given to the sink, as after a crash between the two
		}
		if err := r.output(next, max(given, next), planned); err != nil {
			return err
		}
	}
	if len(offsets) > 0 {
		r.step(func(context.Context) error { return r.remove("offsets", offsets) }, "remove from the offset log: %s", list(offsets))
	}
	if len(commits) > 0 {
		r.step(func(context.Context) error { return r.remove("commits", commits) }, "remove from the commit log: %s", list(commits))
	}
	r.step(func(context.Context) error { return nil }, "the query goes on with batch %d, which is %s", next, how)
	return nil
}

// output takes the log of a file sink back, or makes sure that giving rows again is what is wanted.
func (r *repairer) output(next, last int64, planned bool) error {
	if planned {
		next++ // it is the same batch again
	}
	if last < next {
		return nil
	}
	if r.o.Output == "" {
		if r.o.RowsAgain {
			r.step(func(context.Context) error { return nil }, "the sink may be given rows of the batches %d to %d again", next, last)
			return nil
		}
		return fmt.Errorf("batches %d to %d would be planned anew, but the sink may have their rows already: name the folder of a file sink by --output, so that its log goes back with the checkpoint, or allow for any other sink that it is given rows again by --rows-again", next, last)
	}
	removed, err := checkpoint.SinkEntriesFrom(r.fsys, r.o.Output, next)
	if err != nil {
		return err
	}
	if len(removed) == 0 {
		return nil
	}
	r.step(func(context.Context) error {
		for _, f := range slices.Backward(removed) {
			if err := r.fsys.Remove(f); err != nil {
				return err
			}
		}
		return r.fsys.SyncDir(filepath.Dir(removed[0]))
	}, "remove from the log of %s the batches from %d on: their files belong to the output no longer", r.o.Output, next)
	return nil
}

// sourcesBack removes damaged entries that no batch needs any more from the logs of file sources: their files are listed again.
func (r *repairer) sourcesBack(next int64, planned bool) {
	id := next
	if !planned {
		id--
	}
	e, err := r.ck.Offsets.Get(id)
	if id < 0 { // any entry tells which sources are files
		for _, any := range r.ck.Offsets.IDs() {
			if e, err = r.ck.Offsets.Get(any); err == nil {
				break
			}
		}
	}
	if err != nil {
		return
	}
	for i, offset := range r.ck.BySource(e.Offsets) {
		n, ok := fileOffset(offset)
		if !ok {
			continue
		}
		if id < 0 {
			n = -1
		}
		l, err := checkpoint.OpenSourceLog(r.fsys, r.ck.SourceDir(i), checkpoint.CompactOptions{})
		if err != nil {
			continue
		}
		last, _ := l.LatestID()
		if last <= n || l.Check(last) == nil {
			continue
		}
		r.step(func(context.Context) error { return l.RemoveFrom(n + 1) }, "remove from the log of source %d the entries from %d on: their files are listed again", i, n+1)
	}
}

func (r *repairer) remove(log string, ids []int64) error {
	for _, id := range slices.Backward(ids) { // the newest first: a crash on the way leaves a log without a gap
		name := r.entry(log, id)
		for _, f := range []string{name, filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".crc")} {
			if err := r.fsys.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return r.fsys.SyncDir(filepath.Join(r.dir, log))
}

// from are the ids from one on.
func from(ids []int64, first int64) []int64 {
	i, _ := slices.BinarySearch(ids, first)
	return ids[i:]
}

func list(ids []int64) string {
	if len(ids) == 1 {
		return strconv.FormatInt(ids[0], 10)
	}
	return fmt.Sprintf("%d to %d", ids[0], ids[len(ids)-1])
}
