package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/millrace/millrace/internal/fs"
)

// SourceFile is a file that a file source has decided to read.
type SourceFile struct {
	Path        string // encoded address, see fs.URI
	TimestampMs int64  // modification time
	BatchID     int64  // entry of the log that the file belongs to
}

// SourceLog is the log of a file source. Its ids are the source's offsets, not batch ids. It has
// one writer and any number of readers.
type SourceLog struct {
	*fileLog[SourceFile]

	mu     sync.Mutex
	recent struct { // the entry added or staged last: the one that is asked for next
		id     int64
		files  []SourceFile
		staged bool // by a query that knows that it is not in the log yet
	}
}

// OpenSourceLog opens the log of a file source in its directory, which need not exist.
func OpenSourceLog(fsys fs.FS, dir string, opts CompactOptions) (*SourceLog, error) {
	l, err := openFileLog(fsys, dir, opts, appendSourceFile, parseSourceFile)
	if err != nil {
		return nil, err
	}
	s := &SourceLog{fileLog: l}
	s.recent.id = -1
	return s, nil
}

// Stage prepares the entry of an id for a round. It sets the BatchID of the files. Get knows the entry from now on.
func (l *SourceLog) Stage(ctx context.Context, id int64, files []SourceFile) (*fs.Staged, error) {
	files = numbered(id, files)
	s, err := l.stage(ctx, id, files, nil)
	if err == nil {
		l.remember(id, files, true)
	}
	return s, err
}

// Add writes the entry of an id durably. It sets the BatchID of the files.
func (l *SourceLog) Add(ctx context.Context, id int64, files []SourceFile) error {
	files = numbered(id, files)
	return l.add(ctx, id, files, func() { l.remember(id, files, false) })
}

func numbered(id int64, files []SourceFile) []SourceFile {
	files = slices.Clone(files)
	for i := range files {
		files[i].BatchID = id
	}
	return files
}

func (l *SourceLog) remember(id int64, files []SourceFile, staged bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent.id, l.recent.files, l.recent.staged = id, files, staged
}

// Get gives the files of one id, from a later compaction if its own entry is gone.
func (l *SourceLog) Get(id int64) ([]SourceFile, error) {
	l.mu.Lock()
	recent := l.recent
	l.mu.Unlock()
	e, ok := l.folder.find(id)
	if recent.id == id && (ok || recent.staged) {
		return slices.Clone(recent.files), nil
	}
	if !ok {
		for _, later := range l.folder.list() {
			if later.compact && later.id > id {
				e, ok = later, true
				break
			}
		}
	}
	if !ok {
		path := l.folder.path(entry{id: id})
		return nil, fileError(path, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}, restoreAdvice)
	}
	files, err := l.appendItems(nil, e)
	if err != nil {
		return nil, err
	}
	if e.compact {
		files = slices.DeleteFunc(files, func(f SourceFile) bool { return f.BatchID != id })
	}
	return files, nil
}

// All gives the files of all ids, oldest first.
func (l *SourceLog) All() ([]SourceFile, error) { return l.all() }

// Check reads the entries that hold what there is up to an id, and says what is wrong with them.
func (l *SourceLog) Check(upTo int64) error {
	entries, err := l.effective(upTo)
	for _, e := range entries {
		if err == nil {
			_, err = l.appendItems(nil, e)
		}
	}
	return err
}

// RemoveFrom removes the entries from an id on, the newest first.
func (l *SourceLog) RemoveFrom(id int64) error {
	for _, e := range slices.Backward(l.folder.list()) {
		if e.id < id {
			break
		}
		for _, e := range []entry{e, {id: e.id}} { // a compacted one may stand beside its plain one
			if err := errors.Join(removeIfThere(l.folder.fsys, l.folder.path(e)), l.folder.removeSum(e)); err != nil {
				return err
			}
		}
	}
	return errors.Join(l.folder.fsys.SyncDir(l.folder.dir), l.folder.refresh())
}

func appendSourceFile(b []byte, f SourceFile) []byte {
	b = append(b, `{"path":`...)
	b = appendString(b, f.Path)
	b = append(b, `,"timestamp":`...)
	b = strconv.AppendInt(b, f.TimestampMs, 10)
	b = append(b, `,"batchId":`...)
	b = strconv.AppendInt(b, f.BatchID, 10)
	return append(b, '}')
}

var errNoPath = errors.New("there is no path in it")

func parseSourceFile(line []byte) (f SourceFile, err error) {
	err = eachField(line, func(key, value []byte) (err error) {
		switch string(key) {
		case "path":
			f.Path, err = stringValue(value)
		case "timestamp":
			f.TimestampMs, err = intValue(value)
		case "batchId":
			f.BatchID, err = intValue(value)
		}
		return err
	})
	if err == nil && f.Path == "" {
		err = errNoPath
	}
	return f, err
}

// StartFormat is how a source writes down where it began.
type StartFormat int

// The formats in use.
const (
	// RateStart is that of the rate source: a version line and the time of the first start in ms.
	RateStart StartFormat = iota
	// KafkaStart is that of the Kafka source: a zero byte, a version line and the offsets. The zero byte made
	// releases before 2.1 fail rather than misread.
	KafkaStart
)

const startVersion = 1

// ReadStart reads where a source began; ok is false when it has not been written yet.
func ReadStart(fsys fs.FS, sourceDir string) (start json.RawMessage, ok bool, err error) {
	file := filepath.Join(sourceDir, "0")
	content, err := fs.ReadFile(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err == nil {
		start, err = parseStart(content)
	}
	if err != nil {
		return nil, false, fileError(file, err, restoreAdvice)
	}
	return start, true, nil
}

// WriteStart writes down durably where a source begins. It can be done once.
func WriteStart(ctx context.Context, fsys fs.FS, sourceDir string, format StartFormat, start json.RawMessage) error {
	f, err := openFolder(fsys, sourceDir)
	if err != nil {
		return err
	}
	content, err := appendStart(nil, format, start)
	if err != nil {
		return addError(filepath.Join(sourceDir, "0"), 0, err)
	}
	s, err := f.stage(entry{id: 0}, content, nil)
	if err != nil {
		return err
	}
	return commit(ctx, s)
}

func appendStart(b []byte, format StartFormat, start json.RawMessage) ([]byte, error) {
	if !json.Valid(start) {
		return nil, fmt.Errorf("the start %s is not JSON", clip(start))
	}
	if format == KafkaStart {
		b = append(b, 0)
	}
	b = append(b, "v1\n"...)
	return append(b, start...), nil
}

func parseStart(content []byte) (json.RawMessage, error) {
	if len(content) == 0 {
		return nil, errEmpty
	}
	content = bytes.TrimPrefix(content, []byte{0})
	if len(content) > 0 && content[0] == 'v' { // the first releases wrote no version
		var err error
		if _, content, err = cutVersion(content, startVersion); err != nil {
			return nil, err
		}
	}
	content = bytes.TrimSpace(content)
	if !json.Valid(content) {
		return nil, fmt.Errorf("%s is no offset", clip(content))
	}
	return slices.Clone(content), nil
}
