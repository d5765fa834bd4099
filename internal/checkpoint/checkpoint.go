package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// Options say how to open a checkpoint. The zero value is right for running a query.
type Options struct {
	// ReadOnly opens for looking only: nothing is created, locked, cleaned up or synced, and a missing metadata
	// file is no error.
	ReadOnly bool
	// AllowMissingMetadata makes a new query id where logs exist and the metadata file does not
	// (spark.sql.streaming.checkpoint.verifyMetadataExists.enabled=false).
	AllowMissingMetadata bool
	// NewID makes the id of a new query; by default it is a random UUID.
	NewID func() string
}

// Checkpoint is an open checkpoint directory.
type Checkpoint struct {
	// ID is the query's id: the same for all runs on this checkpoint. It is empty when a checkpoint without
	// metadata was opened read-only.
	ID      string
	Offsets *Log[OffsetSeq]
	Commits *Log[Commit]

	fsys fs.FS
	dir  string
	lock io.Closer // nil where locks are not supported, and when read-only
}

// Open opens a checkpoint, and makes a new one where there is none. The path must not be empty.
//
// It holds a lock on the metadata file until Close, so that no second process of millrace works
// on the checkpoint; on file systems without locks the logs alone guard it. It does not see a
// running Spark: there too the logs let only one of the two go on.
func Open(ctx context.Context, fsys fs.FS, dir string, opts Options) (*Checkpoint, error) {
	c, err := OpenLogs(fsys, dir)
	if err != nil {
		return nil, err
	}
	c.ID, err = readMetadata(fsys, c.metadataFile())
	switch {
	case opts.ReadOnly && errors.Is(err, fs.ErrNotExist):
		return c, nil
	case opts.ReadOnly && err == nil:
		return c, nil
	case errors.Is(err, fs.ErrNotExist):
		if c.ID, err = c.create(ctx, opts); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	if err := c.acquire(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// OpenLogs opens a checkpoint for looking at all but its metadata, which may be damaged.
func OpenLogs(fsys fs.FS, dir string) (*Checkpoint, error) {
	c := &Checkpoint{fsys: fsys, dir: dir}
	var err error
	if c.Offsets, err = OpenOffsets(fsys, filepath.Join(dir, "offsets")); err != nil {
		return nil, err
	}
	if c.Commits, err = OpenCommits(fsys, filepath.Join(dir, "commits")); err != nil {
		return nil, err
	}
	c.Offsets.advice, c.Commits.advice = c.offsetsAdvice, c.commitsAdvice
	return c, nil
}

// create writes the metadata of a new query. Where another process has just done so, its id is ours.
func (c *Checkpoint) create(ctx context.Context, opts Options) (string, error) {
	_, planned := c.Offsets.LatestID()
	_, committed := c.Commits.LatestID()
	if (planned || committed) && !opts.AllowMissingMetadata {
		return "", errclass.New("STREAMING_CHECKPOINT_MISSING_METADATA_FILE", "checkpointLocation", c.dir)
	}
	id := ""
	if opts.NewID != nil {
		id = opts.NewID()
	} else {
		id = uuid.NewString()
	}
	if err := fs.MakeDirs(c.fsys, c.dir); err != nil {
		return "", fmt.Errorf("create checkpoint: %w", err)
	}
	file := c.metadataFile()
	if err := removeIfThere(c.fsys, filepath.Join(c.dir, ".metadata.crc")); err != nil {
		return "", fmt.Errorf("create checkpoint: %w", err)
	}
	err := fs.WriteOnce(ctx, c.fsys, file, appendMetadata(nil, id))
	if errors.Is(err, fs.ErrExist) {
		return readMetadata(c.fsys, file)
	}
	if err != nil {
		return "", fmt.Errorf("create checkpoint: %w", err)
	}
	return id, nil
}

// acquire locks the checkpoint and brings it into a state that the logs can be built upon: what is
// seen is durable, also if a previous run lost its disk between publishing and syncing, or was Spark, which does
// not sync.
func (c *Checkpoint) acquire(ctx context.Context) error {
	lock, err := c.fsys.Lock(c.metadataFile())
	switch {
	case err == nil:
		c.lock = lock
	case errors.Is(err, fs.ErrLocked):
		return errclass.New("STREAMING_CHECKPOINT_LOCKED", "checkpointLocation", c.dir).WithCause(err)
	case !errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("lock checkpoint: %w", err)
	}

	var r fs.Round
	r.File(c.fsys, c.metadataFile())
	r.Dir(c.fsys, c.dir)
	for _, f := range []*folder{c.Offsets.folder, c.Commits.folder} {
		if err := c.fsys.MkdirAll(f.dir); err != nil { // the round makes the name durable
			return fmt.Errorf("open checkpoint: %w", err)
		}
		if c.lock != nil {
			if err := removeTemps(c.fsys, f.dir); err != nil {
				return fmt.Errorf("open checkpoint: %w", err)
			}
		}
		if err := f.refresh(); err != nil { // another run may have gone on until we had the lock
			return fmt.Errorf("open checkpoint: %w", err)
		}
		if e, ok := f.latest(); ok {
			r.File(c.fsys, f.path(e))
		}
		r.Dir(c.fsys, f.dir)
	}
	if err := r.Commit(ctx); err != nil {
		return fmt.Errorf("open checkpoint: %w", err)
	}
	if c.lock != nil {
		if err := c.removeTemps(); err != nil {
			return fmt.Errorf("open checkpoint: %w", err)
		}
	}
	return nil
}

// removeTemps cleans the folders whose logs are opened later, and makes durable what is seen in them.
func (c *Checkpoint) removeTemps() error {
	if err := removeTemps(c.fsys, c.dir); err != nil {
		return err
	}
	sources := filepath.Join(c.dir, "sources")
	list, err := c.fsys.ReadDir(sources)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range list {
		if d.IsDir() {
			dir := filepath.Join(sources, d.Name())
			if err := errors.Join(removeTemps(c.fsys, dir), c.fsys.SyncDir(dir)); err != nil {
				return err
			}
		}
	}
	return c.fsys.SyncDir(sources) // a run that failed may have made a log's folder and no more
}

// Close gives up the lock. The logs must not be written afterwards.
func (c *Checkpoint) Close() error {
	if c.lock == nil {
		return nil
	}
	lock := c.lock
	c.lock = nil
	return lock.Close()
}

// Dir is the directory of the checkpoint.
func (c *Checkpoint) Dir() string { return c.dir }

// FS is the file system of the checkpoint.
func (c *Checkpoint) FS() fs.FS { return c.fsys }

// StateDir is the directory for the state of the operators.
func (c *Checkpoint) StateDir() string { return filepath.Join(c.dir, "state") }

// SourceDir is the directory of the private log of the i-th source.
func (c *Checkpoint) SourceDir(i int) string {
	return filepath.Join(c.dir, "sources", strconv.Itoa(i))
}

// CheckNoState reports STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY when there is state. A query that
// starts at batch 0 must not find any: it would be another query's.
func (c *Checkpoint) CheckNoState() error {
	list, err := c.fsys.ReadDir(c.StateDir())
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return errclass.New("STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY", "checkpointLocation", c.StateDir())
}

// Purge deletes the offsets and commits of batches before the given one.
func (c *Checkpoint) Purge(before int64) error {
	return errors.Join(c.Offsets.Purge(before), c.Commits.Purge(before))
}

func (c *Checkpoint) metadataFile() string { return filepath.Join(c.dir, "metadata") }

func appendMetadata(b []byte, id string) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, id)
	return append(b, '}')
}

func parseMetadata(content []byte) (id string, err error) {
	if len(content) == 0 {
		return "", errEmpty
	}
	err = eachField(content, func(key, value []byte) (err error) {
		if string(key) == "id" {
			id, err = stringValue(value)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if err := uuid.Validate(id); err != nil || len(id) != 36 {
		return "", noUUID(id)
	}
	return id, nil
}

// noUUID is the id of a query that cannot be one.
type noUUID string

func (id noUUID) Error() string { return "the id " + clip(string(id)) + " is not a UUID" }

func readMetadata(fsys fs.FS, file string) (string, error) {
	content, err := fs.ReadFile(fsys, file)
	if err != nil {
		return "", err
	}
	id, err := parseMetadata(content)
	if err != nil {
		err = fileError(file, err, `Restore it from a copy; if there is none, write {"id":"<any UUID>"} into it, which makes the query count as a new one for its sinks.`)
		e, ok := errors.AsType[*errclass.Error](err)
		if _, bad := errors.AsType[noUUID](err); ok && bad {
			err = e.WithKind(errclass.IllegalArgument)
		}
		return "", err
	}
	return id, nil
}

func (c *Checkpoint) offsetsAdvice(id int64) string {
	if latest, ok := c.Offsets.LatestID(); ok && latest == id && !c.Commits.Has(id) {
		return fmt.Sprintf("Restore it from a copy. If nothing of batch %d has reached the sink, it may be deleted instead: the batch is then planned afresh.", id)
	}
	return restoreAdvice
}

func (c *Checkpoint) commitsAdvice(id int64) string {
	if latest, ok := c.Offsets.LatestID(); ok && latest == id {
		return fmt.Sprintf("Restore it from a copy, or delete it: batch %d is then run again.", id)
	}
	return restoreAdvice
}

// Resume says where a query goes on.
type Resume struct {
	// Batch is the batch to run next.
	Batch int64
	// Logged is the entry of Batch in the offset log when it has been planned but not committed:
	// the batch must be run with exactly these offsets, clock, watermark and settings. Nil: plan it.
	Logged *OffsetSeq
	// Previous is the entry of Batch-1: where Batch starts. Nil for batch 0.
	Previous *OffsetSeq
	// WatermarkMs is the watermark for Batch.
	WatermarkMs int64
	// InputWatermarksMs are the watermarks of the single inputs before Batch; nil where nobody has kept them.
	InputWatermarksMs []int64
	// CommitsBehind is set when the newest commit is more than one batch behind: commits were lost
	// or removed. Only Batch is run again.
	CommitsBehind bool
}

// Resume reads the ends of the logs and finds out where to go on.
func (c *Checkpoint) Resume() (Resume, error) {
	committed, anyCommit := c.Commits.LatestID()
	n, ok := c.Offsets.LatestID()
	if anyCommit && ok && committed > n {
		// The batch would be logged again, and its commit is there: as when two runs are at work. Spark finds it out when it commits.
		return Resume{}, errclass.New("CONCURRENT_STREAM_LOG_UPDATE", "batchId", strconv.FormatInt(committed, 10)).
			WithCause(fmt.Errorf("batch %d is committed but has no entry in the offset log", committed))
	}
	if anyCommit && !ok {
		return Resume{}, fileError(filepath.Join(c.Commits.Dir(), strconv.FormatInt(committed, 10)),
			fmt.Errorf("batch %d is committed but has no entry in the offset log", committed),
			"Restore the file offsets/"+strconv.FormatInt(committed, 10)+" from a copy, or start the query with a new checkpoint location.")
	}
	if !ok {
		return Resume{}, nil
	}
	last, err := c.Offsets.Get(n)
	if err != nil {
		return Resume{}, err
	}
	var before *OffsetSeq
	if n > 0 {
		o, err := c.Offsets.Get(n - 1)
		if err != nil {
			return Resume{}, err
		}
		before = &o
	}
	if anyCommit && committed == n {
		done, err := c.Commits.Get(n)
		if err != nil {
			return Resume{}, err
		}
		return Resume{
			Batch: n + 1, Previous: &last,
			WatermarkMs:       max(last.Metadata.BatchWatermarkMs, done.NextBatchWatermarkMs),
			InputWatermarksMs: done.InputWatermarksMs,
		}, nil
	}
	return Resume{
		Batch: n, Logged: &last, Previous: before, WatermarkMs: last.Metadata.BatchWatermarkMs,
		InputWatermarksMs: last.Metadata.InputWatermarksMs,
		CommitsBehind:     n > 0 && (!anyCommit || committed < n-1),
	}, nil
}
