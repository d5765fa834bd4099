package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/checkpoint"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/source"
)

// stream reads the files of a table as they come.
//
// An offset counts entries of the source's own log in the checkpoint. An entry names the files of one batch and is durable before
// its offset is given out, or before that is logged where the query has asked for it (Hold), so the batch reads the same files after a restart. Entries behind the last offset of the query's own log
// belong to the next batch.
type stream struct {
	t    *Table
	plan *plan
	opts streamOptions
	dir  string // of the log

	log    *checkpoint.SourceLog // nil before the first use
	last   int64                 // newest entry of the log, -1 for none
	known  knownFiles
	lister *lister
	newest int64 // modification time, in ms, of the newest file that a batch has taken
	// pending are files that no batch has taken yet, in the order in which they will be.
	pending []entry
	hold    bool
	held    *fs.Staged
	// fixed is set when the end is: nothing is looked for any more.
	fixed     bool
	committed int64
	cleaner   *cleaner
}

// Stream implements source.Streamer.
func (t *Table) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	opts, err := parseStreamOptions(t.req)
	if err != nil {
		return nil, err
	}
	for _, o := range []string{"modifiedBefore", "modifiedAfter"} {
		if v, ok := t.req.Options.Get(o); ok {
			return nil, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", o, "value", "'"+v+"'", "requirement", "file streams do not take it.")
		}
	}
	if opts.clean != cleanOff && t.log != nil {
		return nil, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "cleanSource", "value", "set",
			"requirement", "it must be off for the output of a file sink, whose log names the files.")
	}
	p, err := t.plan(env.Want)
	if err != nil {
		return nil, err
	}
	s := &stream{t: t, plan: p, opts: opts, last: -1, committed: -1, lister: t.lister()}
	if env.Log != nil {
		s.dir = env.Log.Dir()
	}
	s.lister.dirs = map[string]*knownDir{}
	s.known = newKnownFiles(opts.byName)
	s.lister.skip = s.known.has
	if s.cleaner, err = newCleaner(t, opts); err != nil {
		return nil, err
	}
	return s, nil
}

// open reads the source's log.
func (s *stream) open() error {
	if s.log != nil {
		return nil
	}
	interval, err := setting.Positive(s.t.conf, setting.SourceLogInterval)
	if err != nil {
		return err
	}
	opts := checkpoint.CompactOptions{Now: s.t.env.Now, Interval: int(interval)}
	opts.MinBatchesToRetain, _ = strconv.ParseInt(s.t.conf(setting.MinBatches), 10, 64)
	if d, err := parseDuration(s.t.conf(setting.SourceLogDelay)); err == nil {
		opts.CleanupDelay = d
	}
	opts.KeepExpired = s.t.conf(setting.SourceLogDeletion) == "false"
	log, err := checkpoint.OpenSourceLog(s.t.fsys, s.dir, opts)
	if err != nil {
		return err
	}
	all, err := log.All()
	if err != nil {
		return err
	}
	for _, f := range all {
		path, err := fs.ParseURI(f.Path)
		if err != nil {
			return errclass.New("STREAMING_CHECKPOINT_CORRUPT_FILE", "file", log.Dir(), "reason", err.Error(), "advice", "Restore it from a copy.").WithCause(err)
		}
		s.known.add(path)
		s.newest = max(s.newest, f.TimestampMs)
	}
	if id, ok := log.LatestID(); ok {
		s.last = id
	}
	if err := s.sameInput(all); err != nil {
		return err
	}
	s.log = log
	return nil
}

// sameInput refuses a checkpoint whose latest files lie elsewhere: they were another query's, or this query's input has been moved.
func (s *stream) sameInput(logged []checkpoint.SourceFile) error {
	base := s.t.paths[0]
	if len(s.t.paths) > 1 || s.t.opts.basePath != "" || s.lister.globs && isGlob(base) {
		return nil
	}
	for _, f := range logged {
		if f.BatchID != s.last {
			continue
		}
		path, err := fs.ParseURI(f.Path)
		if err != nil || path == base {
			continue
		}
		if rel, err := filepath.Rel(base, path); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
			return errclass.New("CHECKPOINT_SOURCE_PATH_MISMATCH", "logged", fs.ShortURI(path), "path", fs.ShortURI(base))
		}
	}
	return nil
}

// offset is the JSON of a position.
type offset struct {
	LogOffset int64 `json:"logOffset"`
}

func appendOffset(n int64) source.Offset {
	return source.Offset(`{"logOffset":` + strconv.FormatInt(n, 10) + `}`)
}

func parseOffset(o source.Offset) (int64, error) {
	if o == nil {
		return -1, nil
	}
	// A bare number is what the first releases wrote.
	if n, err := strconv.ParseInt(strings.TrimSpace(string(o)), 10, 64); err == nil {
		return n, nil
	}
	p := offset{LogOffset: -1}
	if err := json.Unmarshal(o, &p); err != nil || p.LogOffset < 0 {
		return 0, errclass.New("STREAMING_CHECKPOINT_CORRUPT_FILE", "file", "offsets", "reason", "the offset "+string(o)+" is not one of a file source.",
			"advice", "The sources of the query may have changed their order; use another checkpointLocation.")
	}
	return p.LogOffset, nil
}

// LatestOffset implements source.Stream. It takes the files of the next batch and writes them down.
func (s *stream) LatestOffset(ctx context.Context, start source.Offset, limit source.Limit) (source.Offset, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	from, err := parseOffset(start)
	if err != nil {
		return nil, err
	}
	if from > s.last {
		// Files that come now would get numbers that count as read, and nobody would ever see them.
		return nil, errclass.New("STREAMING_CHECKPOINT_CORRUPT_FILE", "file", s.log.Dir(),
			"reason", fmt.Sprintf("the query has read the files up to entry %d, and the log ends with entry %d.", from, s.last),
			"advice", "Restore the sources folder from a copy, or use another checkpointLocation.")
	}
	if s.opts.latestFirst || !s.waiting(limit) {
		if err := s.look(ctx); err != nil {
			return nil, err
		}
	}
	chosen := s.choose(limit)
	if len(chosen) > 0 {
		logged := make([]checkpoint.SourceFile, len(chosen))
		for i, e := range chosen {
			logged[i] = checkpoint.SourceFile{Path: fs.URI(e.path), TimestampMs: e.mod.UnixMilli()}
			s.newest = max(s.newest, logged[i].TimestampMs)
		}
		if err := s.enter(ctx, s.last+1, logged); err != nil {
			return nil, err
		}
		s.last++
		s.drop(len(chosen))
	}
	if s.last <= from || s.last < 0 {
		return start, nil
	}
	return appendOffset(s.last), nil
}

// drop takes files out of line. What is left is not moved: a batch must cost no more because many wait.
func (s *stream) drop(n int) {
	clear(s.pending[:n])
	if s.pending = s.pending[n:]; len(s.pending) == 0 {
		s.pending = nil
	}
}

// Hold has LatestOffset leave the entries of the source's log to be made durable by the query.
func (s *stream) Hold() { s.hold = true }

// Held gives the entry that LatestOffset has left, once; nil when it has left none. It must be durable before the offset is logged.
func (s *stream) Held() *fs.Staged {
	e := s.held
	s.held = nil
	return e
}

// enter writes the entry of a batch into the log, or leaves it to Held.
func (s *stream) enter(ctx context.Context, id int64, files []checkpoint.SourceFile) (err error) {
	if !s.hold {
		return s.log.Add(ctx, id, files)
	}
	if err := s.log.Clean(); err != nil { // after the entry before
		return err
	}
	s.held, err = s.log.Stage(ctx, id, files)
	return err
}

// look lists the directories for files that nobody has seen and puts them into line.
func (s *stream) look(ctx context.Context) error {
	if s.fixed {
		return nil
	}
	var f found
	var err error
	if s.t.log != nil {
		if err = s.t.log.Refresh(); err != nil {
			return err
		}
		f, err = s.lister.fromSinkLog(s.t.log)
	} else {
		f, err = s.lister.list(ctx, false)
	}
	if err != nil {
		return err
	}
	// Age is counted from the newest file that was read, not from the clock: a stream that was down for long loses nothing.
	bound := int64(math.MinInt64)
	if s.opts.maxFileAge != math.MaxInt64 {
		bound = s.newest - s.opts.maxFileAge.Milliseconds()
	}
	before := len(s.pending)
	for _, e := range f.entries {
		if s.known.add(e.path) && e.mod.UnixMilli() >= bound {
			s.pending = append(s.pending, e)
		}
	}
	if len(s.pending) == before {
		return nil
	}
	slices.SortStableFunc(s.pending, func(a, b entry) int {
		if s.opts.latestFirst {
			a, b = b, a
		}
		return a.mod.Compare(b.mod)
	})
	return nil
}

// choose takes as many pending files as a batch may have.
func (s *stream) choose(limit source.Limit) []entry {
	if limit == source.LimitNone {
		return s.pending
	}
	switch {
	case s.opts.maxFiles > 0:
		return s.pending[:min(int64(len(s.pending)), s.opts.maxFiles)]
	case s.opts.maxBytes > 0:
		total := int64(0)
		for i, e := range s.pending {
			if total += e.size; total > s.opts.maxBytes && i > 0 {
				return s.pending[:i]
			}
		}
	}
	return s.pending
}

// waiting tells that so many files are in line that a batch leaves some: then nobody needs to look for more. A folder of very many files that
// others come into all the time is listed once for all of them, and not for each batch.
func (s *stream) waiting(limit source.Limit) bool {
	return limit != source.LimitNone && len(s.choose(limit)) < len(s.pending)
}

// PrepareAvailableNow implements source.AvailableNow.
func (s *stream) PrepareAvailableNow(ctx context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	s.fixed = true
	return nil
}

// Plan implements source.Stream.
func (s *stream) Plan(_ context.Context, start, end source.Offset) ([]source.Split, error) {
	if s.t.fault != nil {
		return nil, s.t.fault
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	from, err := parseOffset(start)
	if err != nil {
		return nil, err
	}
	to, err := parseOffset(end)
	if err != nil {
		return nil, err
	}
	var files []*File
	for id := from + 1; id <= to; id++ {
		logged, err := s.log.Get(id)
		if err != nil {
			return nil, err
		}
		for _, l := range logged {
			f, err := s.file(l)
			if err != nil {
				return nil, err
			}
			if f != nil {
				files = append(files, f)
			}
		}
	}
	return s.plan.splits(files), nil
}

// file looks at a file that the log names. Nil means that it is gone and that this is no error.
func (s *stream) file(l checkpoint.SourceFile) (*File, error) {
	path, err := fs.ParseURI(l.Path)
	if err != nil {
		return nil, errclass.New("FAILED_READ_FILE.NO_HINT", "path", l.Path, "reason", reason(err)).WithCause(err)
	}
	info, err := s.t.fsys.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && s.t.opts.ignoreMissing {
			return nil, nil
		}
		return nil, ReadError(path, err)
	}
	f := &File{FS: s.t.fsys, Path: path, Size: info.Size(), ModTime: info.ModTime()}
	if len(s.t.parts.Fields) > 0 {
		f.Values, err = s.t.values(partsBetween(filepath.VolumeName(path)+string(filepath.Separator), path, true))
	}
	return f, err
}

// Commit implements source.Stream. The files of the batches up to end may be cleaned.
func (s *stream) Commit(ctx context.Context, end source.Offset) error {
	if s.cleaner == nil {
		return nil
	}
	to, err := parseOffset(end)
	if err != nil {
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	if s.committed < 0 {
		s.committed = to - 1 // batches of earlier runs were that run's
	}
	for id := s.committed + 1; id <= to; id++ {
		logged, err := s.log.Get(id)
		if err != nil {
			return err
		}
		for _, l := range logged {
			if path, err := fs.ParseURI(l.Path); err == nil {
				s.cleaner.clean(ctx, path)
			}
		}
	}
	s.committed = max(s.committed, to)
	return nil
}

// Description implements source.Stream.
func (s *stream) Description() string {
	names := make([]string, len(s.t.paths))
	for i, p := range s.t.paths {
		names[i] = fs.Location(p)
	}
	return "FileStreamSource[" + strings.Join(names, ",") + "]"
}

// Close implements source.Stream.
func (s *stream) Close() error {
	if s.cleaner != nil {
		s.cleaner.close()
	}
	return nil
}

// knownFiles are those that were taken into line once, by path or by name. They are not read again, whatever becomes of them. There may be
// millions of them, so that they are known by 128 bits of hashes.
type knownFiles struct {
	byName bool
	seeds  [2]maphash.Seed
	seen   map[[2]uint64]struct{}
}

func newKnownFiles(byName bool) knownFiles {
	return knownFiles{byName: byName, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, seen: map[[2]uint64]struct{}{}}
}

// key is that of a name in a directory; it is what below makes of them that counts.
func (k *knownFiles) key(dir, name string) (key [2]uint64) {
	for i := range key {
		var h maphash.Hash
		h.SetSeed(k.seeds[i])
		if !k.byName {
			h.WriteString(dir)
			if !strings.HasSuffix(dir, string(filepath.Separator)) {
				h.WriteByte(filepath.Separator)
			}
		}
		h.WriteString(name)
		key[i] = h.Sum64()
	}
	return key
}

func (k *knownFiles) has(dir, name string) bool {
	_, ok := k.seen[k.key(dir, name)]
	return ok
}

// add notes a file and tells whether it is new.
func (k *knownFiles) add(path string) bool {
	key := k.key(filepath.Dir(path), filepath.Base(path))
	if _, ok := k.seen[key]; ok {
		return false
	}
	k.seen[key] = struct{}{}
	return true
}
