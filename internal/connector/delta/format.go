package delta

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Format reads tables.
type Format struct{ FS fs.FS }

// Place finds the folder of a request: an absolute path.
func Place(given string) (string, error) {
	if given == "" {
		return "", errclass.New("INVALID_STREAMING_OPTION.NO_PATH").WithKind(errclass.IllegalArgument)
	}
	path, err := fs.ParseLocation(given)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", errclass.New("INVALID_OPTION_VALUE", "option", "path", "format", "delta", "value", given, "requirement", err.Error()+".").WithCause(err)
	}
	return path, nil
}

// travel is the version that a reader asks for; at most one of the fields is set.
type travel struct {
	version   *int64
	timestamp *time.Time
	text      string // of the time
}

var (
	versionSuffix = regexp.MustCompile(`^(.*)@[vV](\d+)$`)
	timeSuffix    = regexp.MustCompile(`^(.*)@(\d{17})$`)
)

// Open implements source.Format.
func (f Format) Open(ctx context.Context, req source.Request) (source.Table, error) {
	given := ""
	if len(req.Paths) > 0 {
		given = req.Paths[0]
	} else {
		given, _ = req.Options.Get("path")
	}
	if len(req.Paths) > 1 {
		return nil, errclass.New("INVALID_OPTION_VALUE", "option", "path", "format", "delta", "value", strings.Join(req.Paths, ", "),
			"requirement", "a Delta table has one path.")
	}
	path, err := Place(given)
	if err != nil {
		return nil, err
	}
	at, err := travelOf(&req)
	if err != nil {
		return nil, err
	}
	t := &Table{req: req, env: req.Env}
	log := OpenLog(f.FS, path, req.Env.Now)
	exists, err := log.Exists()
	if err != nil {
		return nil, err
	}
	if !exists && at == (travel{}) {
		if p, v := splitSuffix(path); v != (travel{}) {
			at, log = v, OpenLog(f.FS, p, req.Env.Now)
			if exists, err = log.Exists(); err != nil {
				return nil, err
			}
		}
	}
	if !exists {
		return nil, f.missing(log, &req)
	}
	if req.Stream && at != (travel{}) {
		return nil, errclass.New("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS")
	}
	if t.snap, err = open(ctx, log, at, req.Env.Now); err != nil {
		return nil, err
	}
	t.pinned = at != (travel{})
	if req.Schema != nil {
		return nil, givenSchema(*req.Schema, t.snap.Schema)
	}
	if t.feed = changeFeed(&req); t.feed && !req.Stream {
		if _, _, err := t.changeRange(); err != nil {
			return nil, err
		}
	}
	return t, t.arrange()
}

func changeFeed(req *source.Request) bool {
	for _, k := range []string{"readChangeFeed", "readChangeData"} {
		if v, _ := req.Options.Get(k); strings.EqualFold(v, "true") {
			return true
		}
	}
	return false
}

// givenSchema is the error for a reader that brings a schema.
func givenSchema(given, have types.StructType) error {
	if types.SameType(types.Nullable(given), types.Nullable(have)) {
		return errclass.New("UNSUPPORTED_FEATURE.TABLE_OPERATION", "tableName", "delta", "operation", "a schema given by the reader").WithKind(errclass.Unsupported)
	}
	return errclass.New("DELTA_READ_SOURCE_SCHEMA_CONFLICT", "given", given.SimpleString(), "schema", have.SimpleString())
}

// missing is the error for a folder without a table.
func (f Format) missing(log *core.Log, req *source.Request) error {
	if req.Stream {
		return errclass.New("DELTA_SCHEMA_NOT_SET", "path", log.Path)
	}
	if _, err := f.FS.Stat(log.Path); errors.Is(err, fs.ErrNotExist) {
		return errclass.New("PATH_NOT_FOUND", "path", fs.ShortURI(log.Path))
	}
	return errclass.New("DELTA_TABLE_NOT_FOUND", "tableName", log.Path)
}

// splitSuffix takes a version or a time off the end of a path.
func splitSuffix(path string) (string, travel) {
	if m := versionSuffix.FindStringSubmatch(path); m != nil {
		if v, err := strconv.ParseInt(m[2], 10, 64); err == nil {
			return m[1], travel{version: &v}
		}
	}
	if m := timeSuffix.FindStringSubmatch(path); m != nil {
		if t, err := time.Parse("20060102150405.000", m[2][:14]+"."+m[2][14:]); err == nil {
			return m[1], travel{timestamp: &t, text: m[2]}
		}
	}
	return path, travel{}
}

// travelOf reads the options versionAsOf and timestampAsOf.
func travelOf(req *source.Request) (travel, error) {
	version, byVersion := req.Options.Get("versionAsOf")
	stamp, byTime := req.Options.Get("timestampAsOf")
	switch {
	case byVersion && byTime:
		return travel{}, errclass.New("DELTA_ONEOF_IN_TIMETRAVEL")
	case byVersion:
		v, err := strconv.ParseInt(strings.TrimSpace(version), 10, 64)
		if err != nil {
			return travel{}, errclass.New("DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE", "timeTravelKey", "versionAsOf").WithCause(err)
		}
		return travel{version: &v}, nil
	case byTime:
		t, ok := parseTime(stamp, req.Env.Zone)
		if !ok {
			return travel{}, errclass.New("DELTA_TIMESTAMP_INVALID", "expr", "'"+stamp+"'")
		}
		return travel{timestamp: &t, text: stamp}, nil
	}
	return travel{}, nil
}

// parseTime reads a time as a cast to TIMESTAMP does.
func parseTime(s string, zone *time.Location) (time.Time, bool) {
	t, ok := datetime.ParseText([]byte(strings.TrimSpace(s)))
	if !ok || !t.HasDate {
		return time.Time{}, false
	}
	if zone == nil {
		zone = time.UTC
	}
	if t.HasZone {
		if zone, ok = datetime.ParseZone(t.Zone); !ok {
			return time.Time{}, false
		}
	}
	return time.UnixMicro(datetime.NewZone(zone).Instant(t.Local)).UTC(), true
}

const stampLayout = "2006-01-02 15:04:05.999"

// open gives the snapshot that is asked for.
func open(ctx context.Context, log *core.Log, at travel, clock func() time.Time) (*core.Snapshot, error) {
	if now, err := log.Latest(ctx); err != nil || at == (travel{}) { // as in Spark, whoever cannot read the table cannot read what it was
		return now, err
	}
	switch {
	case at.version != nil:
		s, err := log.Snapshot(ctx, *at.version)
		if err != nil {
			return nil, err
		}
		return s, retained(log, s, clock)
	case at.timestamp != nil:
		v, err := VersionAt(log, *at.timestamp, at.text)
		if err != nil {
			return nil, err
		}
		s, err := log.Snapshot(ctx, v)
		if err != nil {
			return nil, err
		}
		return s, retained(log, s, clock)
	}
	return log.Latest(ctx)
}

// VersionAt is the version that a table had at a time.
func VersionAt(log *core.Log, t time.Time, text string) (int64, error) {
	versions, err := log.Versions()
	if err != nil {
		return 0, err
	}
	if len(versions) == 0 {
		return 0, errclass.New("DELTA_TABLE_NOT_FOUND", "tableName", log.Path)
	}
	v, ok, after := core.At(versions, t)
	switch {
	case !ok:
		return 0, errclass.New("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", "userTimestamp", text, "commitTs", versions[0].Time.UTC().Format(stampLayout))
	case after && t.After(v.Time):
		return 0, errclass.New("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "providedTimestamp", text, "commitTimestamp", v.Time.UTC().Format(stampLayout))
	}
	return v.Number, nil
}

// retained refuses versions whose files may have been deleted, but for the last one.
func retained(log *core.Log, s *core.Snapshot, now func() time.Time) error {
	info, err := log.FS.Stat(log.CommitFile(s.Version))
	if err != nil {
		return nil //nolint:nilerr // the commit is in a checkpoint; how old it is cannot be told
	}
	if now == nil {
		now = time.Now
	}
	keep := s.Metadata.DeletedFileRetention()
	if now().Sub(info.ModTime()) <= keep {
		return nil
	}
	if _, err := log.FS.Stat(log.CommitFile(s.Version + 1)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errclass.New("DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION", "version", strconv.FormatInt(s.Version, 10),
		"hours", strconv.Itoa(int(keep.Hours())))
}
