package delta

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// stream follows a table: first the files that it has, or the versions from some one on, then each new version.
type stream struct {
	t    *Table
	log  *core.Log
	own  source.Log
	read *reading

	opts    streamOptions
	checked bool    // options and the table's identity
	first   *offset // where the stream begins, once that is settled
	bound   int64   // last version to be read, or MaxInt64
	// snapshot is the version that the stream began with, and its files in order, while they are read.
	snapshot int64
	files    []core.Change
	// Versions that were looked at, to be read again soon.
	versions map[int64][]core.Change
	// quiet is a place from which nothing that has rows was found up to the version after.
	quiet, after int64
	listed       time.Time // time of the log's folder when it was last searched for gaps
}

// streamOptions are those of a reader.
type streamOptions struct {
	maxFiles       int64
	maxBytes       int64
	ignoreDeletes  bool
	ignoreChanges  bool
	skipChanges    bool
	startVersion   string
	startTimestamp string
}

// Stream implements source.Streamer.
func (t *Table) Stream(_ context.Context, env source.StreamEnv) (source.Stream, error) {
	r, err := t.plan(env.Want)
	if err != nil {
		return nil, err
	}
	return &stream{t: t, log: t.snap.Log(), own: env.Log, read: r, bound: math.MaxInt64, snapshot: -1, quiet: -1, versions: map[int64][]core.Change{}}, nil
}

// Description implements source.Stream.
func (s *stream) Description() string { return "DeltaSource[" + fs.Location(s.log.Path) + "]" }

// Close implements source.Stream.
func (s *stream) Close() error { return nil }

func illegalOption(name, value, why string) error {
	return errclass.New("DELTA_ILLEGAL_OPTION", "name", name, "input", value, "explain", why)
}

func flagOption(get func(string) (string, bool), name string) (bool, error) {
	v, ok := get(name)
	switch strings.ToLower(v) {
	case "true":
		return true, nil
	case "false", "":
		return false, nil
	}
	if !ok {
		return false, nil
	}
	return false, illegalOption(name, v, "it must be true or false.")
}

// parse reads the options. As in Spark a mistake in them is found by the running query.
func (o *streamOptions) parse(opts source.Options) error {
	o.maxFiles, o.maxBytes = 1000, math.MaxInt64
	files, haveFiles := opts.Get("maxFilesPerTrigger")
	if haveFiles {
		n, err := strconv.ParseInt(files, 10, 32)
		if err != nil || n <= 0 {
			return illegalOption("maxFilesPerTrigger", files, "it must be a positive number.")
		}
		o.maxFiles = n
	}
	if text, ok := opts.Get("maxBytesPerTrigger"); ok {
		n, ok := amount.Bytes(text)
		if !ok || n <= 0 {
			return illegalOption("maxBytesPerTrigger", text, "it must be a size such as 10m.")
		}
		o.maxBytes = n
		if !haveFiles {
			o.maxFiles = math.MaxInt64
		}
	}
	var err error
	for name, to := range map[string]*bool{
		"ignoreDeletes": &o.ignoreDeletes, "ignoreChanges": &o.ignoreChanges, "skipChangeCommits": &o.skipChanges, "ignoreFileDeletion": &o.ignoreChanges,
	} {
		v := false
		if v, err = flagOption(opts.Get, name); err != nil {
			return err
		}
		*to = *to || v
	}
	o.startVersion, _ = opts.Get("startingVersion")
	o.startTimestamp, _ = opts.Get("startingTimestamp")
	if o.startVersion != "" && o.startTimestamp != "" {
		return errclass.New("DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET", "version", o.startVersion, "timestamp", o.startTimestamp)
	}
	if o.startVersion != "" && o.startVersion != "latest" {
		if n, err := strconv.ParseInt(o.startVersion, 10, 64); err != nil || n < 0 {
			return illegalOption("startingVersion", o.startVersion, "it must be a version or latest.")
		}
	}
	return nil
}

// check looks at what the first call finds: options, and whether the table is still the one that was analysed.
func (s *stream) check(ctx context.Context) error {
	if s.checked {
		return nil
	}
	if err := s.opts.parse(s.t.req.Options); err != nil {
		return err
	}
	now, err := s.log.Latest(ctx)
	if err != nil {
		return err
	}
	if now == nil {
		return errclass.New("DELTA_SCHEMA_NOT_SET", "path", s.log.Path)
	}
	s.checked = true
	return s.sameTable(now.Metadata)
}

func (s *stream) sameTable(m *core.Metadata) error {
	if m.ID != s.t.snap.Metadata.ID {
		return errclass.New("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE", "oldTableId", s.t.snap.Metadata.ID, "newTableId", m.ID)
	}
	return nil
}

// PrepareAvailableNow implements source.AvailableNow.
func (s *stream) PrepareAvailableNow(ctx context.Context) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	now, err := s.log.Latest(ctx)
	if err != nil || now == nil {
		return err
	}
	s.bound = now.Version
	return nil
}

// begin settles where a stream without a checkpoint begins.
func (s *stream) begin(ctx context.Context) (offset, error) {
	if s.first != nil {
		return *s.first, nil
	}
	o := offset{SourceVersion: 1, ReservoirID: s.t.snap.Metadata.ID, Index: -1}
	now, err := s.log.Latest(ctx)
	if err != nil {
		return o, err
	}
	switch {
	case s.opts.startVersion == "latest":
		if o.Version, err = s.settle(func() (int64, error) { return now.Version + 1, nil }); err != nil {
			return o, err
		}
	case s.opts.startVersion != "":
		o.Version, _ = strconv.ParseInt(s.opts.startVersion, 10, 64)
		if err := s.startable(ctx, o.Version, now.Version); err != nil {
			return o, err
		}
	case s.opts.startTimestamp != "":
		if o.Version, err = s.settle(func() (int64, error) { return s.t.versionFrom(s.opts.startTimestamp) }); err != nil {
			return o, err
		}
	default:
		if s.bound < now.Version {
			o.Version = s.bound
		} else {
			o.Version = now.Version
		}
		o.IsStarting = true
	}
	s.first = &o
	return o, nil
}

// settle finds the version that a stream begins with once and for all: asked again after a restart, the table would give another one.
func (s *stream) settle(find func() (int64, error)) (int64, error) {
	if s.own == nil {
		return find()
	}
	if b, err := s.own.Get(0); err == nil {
		if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			return v, nil
		}
	}
	v, err := find()
	if err != nil {
		return 0, err
	}
	if err := s.own.Add(0, strconv.AppendInt(nil, v, 10)); err != nil && !errors.Is(err, fs.ErrExist) {
		return 0, err
	}
	return v, nil
}

// startable checks that the commits from a version on are there.
func (s *stream) startable(ctx context.Context, v, latest int64) error {
	versions, err := s.log.Versions()
	if err != nil {
		return err
	}
	if v > latest || len(versions) > 0 && v < versions[0].Number {
		return errclass.New("DELTA_VERSION_NOT_FOUND", "userVersion", strconv.FormatInt(v, 10),
			"earliest", strconv.FormatInt(versions[0].Number, 10), "latest", strconv.FormatInt(latest, 10))
	}
	if s.t.feed {
		return recorded(ctx, s.log, v, latest)
	}
	return nil
}

// LatestOffset implements source.Stream.
func (s *stream) LatestOffset(ctx context.Context, start source.Offset, limit source.Limit) (source.Offset, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	var at offset
	var err error
	if start == nil {
		at, err = s.begin(ctx)
	} else {
		at, err = parseOffset(start, s.t.snap.Metadata.ID)
	}
	if err != nil {
		return nil, err
	}
	files, bytes := s.opts.maxFiles, s.opts.maxBytes
	if limit == source.LimitNone {
		files, bytes = math.MaxInt64, math.MaxInt64
	}
	end, found := at, false
	if at.IsStarting {
		adds, err := s.starting(ctx, at.Version)
		if err != nil {
			return nil, err
		}
		for i := at.Index + 1; i < int64(len(adds)) && files > 0 && bytes > 0; i++ {
			end.Index, found = i, true
			files, bytes = files-1, bytes-adds[i].Size
		}
		if end.Index >= int64(len(adds))-1 {
			end = offset{SourceVersion: 1, ReservoirID: at.ReservoirID, Version: at.Version + 1, Index: -1}
			if start == nil {
				// The first batch ends with the table as it was: run again after a restart, it finds that version by its end.
				return end.json(), nil
			}
		}
	}
	if !end.IsStarting {
		more, err := s.admit(ctx, &end, files, bytes)
		if err != nil {
			return nil, err
		}
		found = found || more
	}
	if !found {
		return start, nil
	}
	return end.json(), nil
}

// admit moves an offset over the files of versions, as far as limits allow; it tells whether there were any.
func (s *stream) admit(ctx context.Context, end *offset, files, bytes int64) (bool, error) {
	found := false
	at := *end
	if at.Index < 0 && at.Version == s.quiet {
		at.Version = s.after
	}
	for at.Version <= s.bound && files > 0 && bytes > 0 {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		adds, err := s.version(at.Version)
		if errors.Is(err, fs.ErrNotExist) {
			if err := s.gap(at.Version); err != nil {
				return false, err
			}
			break
		}
		if err != nil {
			return false, err
		}
		// The two sides of an updated row must not come in different batches: of changes a version comes as a whole.
		for i := at.Index + 1; i < int64(len(adds)) && (s.t.feed || files > 0 && bytes > 0); i++ {
			at.Index = i
			files, bytes = files-1, bytes-adds[i].Size
			*end, found = at, true
		}
		if at.Index < int64(len(adds))-1 {
			return found, nil
		}
		at.Version, at.Index = at.Version+1, -1
		if len(adds) > 0 {
			*end = at
		}
	}
	if !found && end.Index < 0 {
		s.quiet, s.after = end.Version, at.Version
	} else if found {
		*end = at
	}
	return found, nil
}

// gap finds out whether a version that is not there was followed by others: then it is lost, and with it the rows.
func (s *stream) gap(v int64) error {
	info, err := s.log.FS.Stat(s.log.Path + "/" + core.LogDir)
	if err != nil {
		return s.lost(v)
	}
	if info.ModTime().Equal(s.listed) {
		return nil
	}
	versions, err := s.log.Versions()
	if err != nil {
		return err
	}
	s.listed = info.ModTime()
	n := len(versions)
	if n == 0 || versions[n-1].Number < v {
		if n == 0 || versions[n-1].Number < v-1 {
			return s.recreated(v)
		}
		return nil
	}
	for _, have := range versions {
		if have.Number == v { // it has come just now
			return nil
		}
	}
	return s.lost(v)
}

// recreated looks at a log that is shorter than it was: of another table, or cut off.
func (s *stream) recreated(v int64) error {
	now, err := s.log.Latest(context.Background())
	if err != nil {
		return err
	}
	if now != nil {
		if err := s.sameTable(now.Metadata); err != nil {
			return err
		}
		if now.Version >= v-1 {
			return nil
		}
	}
	return s.lost(v)
}

func (s *stream) lost(v int64) error {
	return errclass.New("DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE", "version", strconv.FormatInt(v, 10), "logPath", s.log.Path+"/"+core.LogDir)
}

// starting are the files that the table has as of the version that the stream begins with.
func (s *stream) starting(ctx context.Context, v int64) ([]core.Change, error) {
	if s.snapshot == v {
		return s.files, nil
	}
	snap, err := s.log.Snapshot(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := s.fits(snap.Metadata, v); err != nil {
		return nil, err
	}
	adds, err := snap.Ordered(ctx)
	if err != nil {
		return nil, err
	}
	s.snapshot, s.files = v, unchanged(adds)
	if s.t.feed {
		if !snap.Metadata.ChangeFeed() {
			return nil, core.NoChangeFeed(v, v, v)
		}
		at, err := s.log.TimeOf(v)
		if err != nil {
			return nil, err
		}
		for i := range s.files {
			s.files[i].Version, s.files[i].Kind = at, core.RowInserted
		}
	}
	return s.files, nil
}

// version are the files whose rows a version brings. A change that the stream cannot follow is an error.
func (s *stream) version(v int64) ([]core.Change, error) {
	if adds, ok := s.versions[v]; ok {
		return adds, nil
	}
	actions, err := s.log.Read(v)
	if err != nil {
		return nil, err
	}
	var adds []*core.Add
	removed := ""
	for _, a := range actions {
		switch {
		case a.Metadata != nil:
			if err := s.sameTable(a.Metadata); err != nil {
				return nil, err
			}
			if err := s.fits(a.Metadata, v); err != nil {
				return nil, err
			}
			if s.t.feed && !a.Metadata.ChangeFeed() {
				return nil, core.NoChangeFeed(v, v, v)
			}
		case a.Protocol != nil:
			if err := a.Protocol.CheckRead(s.log.Path); err != nil {
				return nil, err
			}
		case a.Add != nil && a.Add.DataChange:
			adds = append(adds, a.Add)
		case a.Remove != nil && a.Remove.DataChange:
			removed = a.Remove.Path
		}
	}
	files, err := s.followed(v, actions, adds, removed)
	if err != nil {
		return nil, err
	}
	if len(s.versions) > 10_000 {
		clear(s.versions)
	}
	s.versions[v] = files
	return files, nil
}

// followed are those of the files that a version adds which the stream reads, or its changes. removed is a file that it takes out, if there
// is one.
func (s *stream) followed(v int64, actions []core.Action, adds []*core.Add, removed string) ([]core.Change, error) {
	if s.t.feed {
		at, err := s.log.TimeOf(v)
		if err != nil {
			return nil, err
		}
		return s.log.Changes(at, actions)
	}
	version := strconv.FormatInt(v, 10)
	switch {
	case removed == "":
	case s.opts.skipChanges:
		return nil, nil
	case len(adds) > 0 && !s.opts.ignoreChanges:
		return nil, errclass.New("DELTA_SOURCE_TABLE_IGNORE_CHANGES", "version", version, "file", adds[0].Path, "dataPath", s.log.Path)
	case len(adds) == 0 && !s.opts.ignoreChanges && !s.opts.ignoreDeletes:
		return nil, errclass.New("DELTA_SOURCE_IGNORE_DELETE", "version", version, "removedFile", removed, "dataPath", s.log.Path)
	}
	return unchanged(adds), nil
}

// fits checks that the columns of a version can be read as those that the query was made for: there may be fewer, not others.
func (s *stream) fits(m *core.Metadata, v int64) error {
	have, err := m.Schema()
	if err != nil {
		return err
	}
	want := s.t.snap.Schema
	if readable(have, want) {
		return nil
	}
	return errclass.New("DELTA_SCHEMA_CHANGED_WITH_VERSION", "version", strconv.FormatInt(v, 10), "readSchema", want.SimpleString(), "dataSchema", have.SimpleString())
}

func readable(have, want types.StructType) bool {
	for _, f := range have.Fields {
		i := want.IndexFold(f.Name)
		if i < 0 || !readableType(f.Type, want.Fields[i].Type) || f.Nullable && !want.Fields[i].Nullable {
			return false
		}
	}
	return true
}

func readableType(have, want types.DataType) bool {
	switch h := have.(type) {
	case types.StructType:
		w, ok := want.(types.StructType)
		return ok && readable(h, w)
	case types.ArrayType:
		w, ok := want.(types.ArrayType)
		return ok && readableType(h.Element, w.Element)
	case types.MapType:
		w, ok := want.(types.MapType)
		return ok && readableType(h.Key, w.Key) && readableType(h.Value, w.Value)
	}
	return types.SameType(have, want)
}

// Plan implements source.Stream.
func (s *stream) Plan(ctx context.Context, start, end source.Offset) ([]source.Split, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	to, err := parseOffset(end, s.t.snap.Metadata.ID)
	if err != nil {
		return nil, err
	}
	from := offset{Index: -1}
	switch {
	case start != nil:
		if from, err = parseOffset(start, s.t.snap.Metadata.ID); err != nil {
			return nil, err
		}
	case to.IsStarting:
		from = offset{Version: to.Version, Index: -1, IsStarting: true}
	case s.opts.startVersion == "" && s.opts.startTimestamp == "" && s.first == nil:
		// The first batch, run again: it began with the table as it was at the version before its end, or earlier.
		from = offset{Version: to.Version - 1, Index: -1, IsStarting: true}
	default:
		if from, err = s.begin(ctx); err != nil {
			return nil, err
		}
	}
	var adds []core.Change
	if from.IsStarting {
		all, err := s.starting(ctx, from.Version)
		if err != nil {
			return nil, err
		}
		stop := int64(len(all)) - 1
		if to.IsStarting && to.Version == from.Version {
			stop = to.Index
		}
		for i := from.Index + 1; i <= stop && i < int64(len(all)); i++ {
			adds = append(adds, all[i])
		}
		from = offset{Version: from.Version + 1, Index: -1}
	}
	if !to.IsStarting {
		for v := from.Version; v < to.Version || v == to.Version && to.Index >= 0; v++ {
			files, err := s.version(v)
			if errors.Is(err, fs.ErrNotExist) {
				return nil, s.lost(v)
			}
			if err != nil {
				return nil, err
			}
			for i, a := range files {
				if v == from.Version && int64(i) <= from.Index || v == to.Version && int64(i) > to.Index {
					continue
				}
				adds = append(adds, a)
			}
		}
	}
	return s.read.splits(adds)
}

// Commit implements source.Stream.
func (s *stream) Commit(_ context.Context, end source.Offset) error {
	o, err := parseOffset(end, s.t.snap.Metadata.ID)
	if err != nil {
		return err
	}
	if !o.IsStarting {
		s.files, s.snapshot = nil, -1
	}
	for v := range s.versions {
		if v < o.Version {
			delete(s.versions, v)
		}
	}
	return nil
}
