package delta

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// LogDir is the folder of a table's log.
const LogDir = "_delta_log"

// Log is the log of the table in a folder. It holds no state: every process looks at the files.
type Log struct {
	FS    fs.FS
	Path  string // of the table
	Codec Codec
	Now   func() time.Time
}

func (l *Log) dir() string { return filepath.Join(l.Path, LogDir) }

func (l *Log) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

func commitName(v int64) string { return fmt.Sprintf("%020d.json", v) }

// CommitFile is the file of a version.
func (l *Log) CommitFile(v int64) string { return filepath.Join(l.dir(), commitName(v)) }

// name is how errors call the table.
func (l *Log) name() string { return "delta.`" + l.Path + "`" }

// listing is what there is in a log.
type listing struct {
	commits     []int64 // ascending
	checkpoints []checkpointFiles
}

// checkpointFiles are the files of a checkpoint.
type checkpointFiles struct {
	version int64
	parts   []string // names in order
	of      int      // how many parts it must have
}

func (c *checkpointFiles) complete() bool { return len(c.parts) == c.of }

// list reads the names in the log.
func (l *Log) list() (listing, error) {
	var out listing
	entries, err := l.FS.ReadDir(l.dir())
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	for _, e := range entries { // sorted by name, which puts parts in order
		name := e.Name()
		digits, rest, ok := strings.Cut(name, ".")
		if !ok || len(digits) != 20 {
			continue
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || v < 0 {
			continue
		}
		switch {
		case rest == "json":
			out.commits = append(out.commits, v)
		case strings.HasPrefix(rest, "checkpoint.") && (strings.HasSuffix(rest, ".parquet") || strings.HasSuffix(rest, ".json")):
			out.addCheckpoint(v, name, rest)
		}
	}
	for i := 0; i < len(out.commits); i++ {
		after := int64(-1)
		if i > 0 {
			after = out.commits[i-1]
		}
		missed, err := l.missed(after, out.commits[i])
		if err != nil {
			return out, err
		}
		for _, m := range missed {
			out.commits = slices.Insert(out.commits, i, m.Number)
			i++
		}
	}
	return out, nil
}

// missed are the commits right before a version that was listed, back to the one listed before it, that are there all the same. A folder into
// which others write is not read at one moment: its listing can have a name and lack one that is older.
func (l *Log) missed(after, listed int64) ([]Version, error) {
	var out []Version
	for v := listed - 1; v > after; v-- {
		info, err := l.FS.Stat(l.CommitFile(v))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Version{v, info.ModTime()})
	}
	slices.Reverse(out)
	return out, nil
}

// addCheckpoint takes in a file of a checkpoint: N.checkpoint.parquet, N.checkpoint.part.parts.parquet, or N.checkpoint.uuid.parquet or json.
func (out *listing) addCheckpoint(v int64, name, rest string) {
	fields := strings.Split(rest, ".")
	if len(fields) != 4 {
		out.checkpoints = append(out.checkpoints, checkpointFiles{v, []string{name}, 1})
		return
	}
	parts, err := strconv.Atoi(fields[2])
	if err != nil || parts <= 0 {
		return
	}
	for i := range out.checkpoints {
		if c := &out.checkpoints[i]; c.version == v && c.of == parts && strings.Contains(c.parts[0], ".checkpoint.") && strings.Count(c.parts[0], ".") == 4 {
			c.parts = append(c.parts, name)
			return
		}
	}
	out.checkpoints = append(out.checkpoints, checkpointFiles{v, []string{name}, parts})
}

// latest is the last version, or -1.
func (out *listing) latest() int64 {
	last := int64(-1)
	if n := len(out.commits); n > 0 {
		last = out.commits[n-1]
	}
	for _, c := range out.checkpoints {
		if c.complete() {
			last = max(last, c.version)
		}
	}
	return last
}

// earliest is the first version that a snapshot can be made of.
func (out *listing) earliest() int64 {
	if len(out.commits) > 0 && out.commits[0] == 0 {
		return 0
	}
	first := int64(-1)
	for _, c := range out.checkpoints {
		if c.complete() && (first < 0 || c.version < first) {
			first = c.version
		}
	}
	return first
}

// Exists tells whether the log has versions.
func (l *Log) Exists() (bool, error) {
	ls, err := l.list()
	return ls.latest() >= 0, err
}

// Read gives the actions of a version; the error is fs.ErrNotExist when it is not there.
func (l *Log) Read(v int64) ([]Action, error) {
	b, err := fs.ReadFile(l.FS, l.CommitFile(v))
	if err != nil {
		return nil, err
	}
	actions, err := parseCommit(b)
	if err != nil {
		return nil, errclass.New("FAILED_READ_FILE.NO_HINT", "path", fs.URI(l.CommitFile(v)), "reason", err.Error()+".").WithCause(err)
	}
	return actions, nil
}

// Version is a version with its time.
type Version struct {
	Number int64
	Time   time.Time
}

// Versions lists the commits that are there, each with its time: that of its file, moved so that times rise. With in-commit times those
// count instead.
func (l *Log) Versions() ([]Version, error) {
	entries, err := l.FS.ReadDir(l.dir())
	if err != nil {
		return nil, err
	}
	var out []Version
	for _, e := range entries {
		digits, rest, _ := strings.Cut(e.Name(), ".")
		if rest != "json" || len(digits) != 20 {
			continue
		}
		v, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		after := int64(-1)
		if n := len(out); n > 0 {
			after = out[n-1].Number
		}
		missed, err := l.missed(after, v)
		if err != nil {
			return nil, err
		}
		out = append(append(out, missed...), Version{v, info.ModTime()})
	}
	for i := range out {
		out[i].Time = out[i].Time.Truncate(time.Millisecond)
		if i > 0 && !out[i].Time.After(out[i-1].Time) {
			out[i].Time = out[i-1].Time.Add(time.Millisecond)
		}
	}
	return out, nil
}

// TimeOf finds the time of a version; one whose commit is gone has none.
func (l *Log) TimeOf(version int64) (Version, error) {
	versions, err := l.Versions()
	if err != nil {
		return Version{}, err
	}
	i, ok := slices.BinarySearchFunc(versions, version, func(v Version, n int64) int { return cmp.Compare(v.Number, n) })
	if !ok {
		return Version{Number: version}, nil
	}
	return versions[i], nil
}

// At finds the last version that is not after a time. ok is false when all are after it. last tells that the time is after the last one.
func At(versions []Version, t time.Time) (v Version, ok, last bool) {
	i, exact := slices.BinarySearchFunc(versions, t, func(v Version, t time.Time) int { return v.Time.Compare(t) })
	if exact {
		return versions[i], true, false
	}
	if i == 0 {
		return v, false, false
	}
	return versions[i-1], true, i == len(versions)
}

// lastCheckpoint is the content of _last_checkpoint.
type lastCheckpoint struct {
	Version       int64  `json:"version"`
	Size          int64  `json:"size"`
	Parts         *int   `json:"parts,omitempty"`
	SizeInBytes   int64  `json:"sizeInBytes,omitempty"`
	NumOfAddFiles *int64 `json:"numOfAddFiles,omitempty"`
}

func (l *Log) lastCheckpointFile() string { return filepath.Join(l.dir(), "_last_checkpoint") }

// readLast reads _last_checkpoint, which is a hint and no more.
func (l *Log) readLast() (c lastCheckpoint, ok bool) {
	b, err := fs.ReadFile(l.FS, l.lastCheckpointFile())
	if err != nil || json.Unmarshal(b, &c) != nil {
		return c, false
	}
	return c, true
}

// contiguous checks that commits from to to are all there.
func (l *Log) contiguous(commits []int64, from, to int64) error {
	i, _ := slices.BinarySearch(commits, from)
	for v := from; v <= to; v++ {
		if i < len(commits) && commits[i] == v {
			i++
			continue
		}
		if from == 0 && v == 0 {
			return errclass.New("DELTA_TRUNCATED_TRANSACTION_LOG", "path", l.Path, "version", strconv.FormatInt(to, 10), "missing", "0")
		}
		return errclass.New("DELTA_VERSIONS_NOT_CONTIGUOUS", "path", l.Path, "missing", strconv.FormatInt(v, 10),
			"versions", rangesOf(commits))
	}
	return nil
}

// rangesOf prints ascending numbers as 0-3, 5.
func rangesOf(vs []int64) string {
	var parts []string
	for i := 0; i < len(vs); {
		j := i
		for j+1 < len(vs) && vs[j+1] == vs[j]+1 {
			j++
		}
		if j == i {
			parts = append(parts, strconv.FormatInt(vs[i], 10))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", vs[i], vs[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// Latest gives the newest snapshot, or nil when there is no table.
func (l *Log) Latest(ctx context.Context) (*Snapshot, error) {
	ls, err := l.list()
	if err != nil || ls.latest() < 0 {
		return nil, err
	}
	return l.load(ctx, ls, ls.latest())
}

// Snapshot gives the table as of a version.
func (l *Log) Snapshot(ctx context.Context, v int64) (*Snapshot, error) {
	ls, err := l.list()
	if err != nil {
		return nil, err
	}
	if first, last := ls.earliest(), ls.latest(); v < 0 || v > last || first >= 0 && v < first {
		return nil, errclass.New("DELTA_VERSION_NOT_FOUND", "userVersion", strconv.FormatInt(v, 10),
			"earliest", strconv.FormatInt(first, 10), "latest", strconv.FormatInt(last, 10))
	}
	return l.load(ctx, ls, v)
}

// load makes the snapshot of a version: from the newest checkpoint that can be read and the commits after it.
func (l *Log) load(ctx context.Context, ls listing, v int64) (*Snapshot, error) {
	var broken error
	for i := len(ls.checkpoints) - 1; i >= 0; i-- {
		c := ls.checkpoints[i]
		if c.version > v || !c.complete() {
			continue
		}
		s, err := l.from(ctx, &c, ls.commits, v)
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		broken = err // an older one, or all commits, may do
	}
	s, err := l.from(ctx, nil, ls.commits, v)
	if err != nil && broken != nil {
		return nil, broken
	}
	return s, err
}

func (l *Log) from(ctx context.Context, c *checkpointFiles, commits []int64, v int64) (*Snapshot, error) {
	s := &Snapshot{log: l, Version: -1, txns: map[string]Txn{}, domains: map[string]Domain{}}
	next := int64(0)
	if c != nil {
		if err := s.readCheckpoint(ctx, c); err != nil {
			return nil, err
		}
		next = c.version + 1
	}
	if err := l.contiguous(commits, next, v); err != nil {
		return nil, err
	}
	for ; next <= v; next++ {
		actions, err := l.Read(next)
		if err != nil {
			return nil, err
		}
		s.apply(next, actions)
	}
	s.Version = v
	return s, s.complete()
}
