package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/fs"
)

// SinkLogDir is the name of the folder, below the output of a file sink, that holds its log.
const SinkLogDir = "_spark_metadata"

// The actions of a SinkFile. Spark no longer writes deletions.
const (
	AddFile    = "add"
	DeleteFile = "delete"
)

// SinkFile is a file that a file sink has written.
type SinkFile struct {
	Path               string // encoded address, see fs.URI
	Size               int64
	IsDir              bool
	ModificationTimeMs int64
	BlockReplication   int64
	BlockSize          int64
	Action             string
}

// NewSinkFile describes a new local file the way Spark does.
func NewSinkFile(path string, size int64, modified time.Time) SinkFile {
	return SinkFile{
		Path: fs.URI(path), Size: size, ModificationTimeMs: modified.UnixMilli(),
		BlockReplication: 1, BlockSize: 32 << 20, Action: AddFile,
	}
}

// SinkLog is the log of a file sink: the output is what it lists, whatever else lies in the
// directory. Its ids are batch ids.
type SinkLog struct {
	*fileLog[SinkFile]
}

// OpenSinkLog opens the log below the output directory of a file sink, which need not exist.
func OpenSinkLog(fsys fs.FS, output string, opts CompactOptions) (*SinkLog, error) {
	l, err := openFileLog(fsys, filepath.Join(output, SinkLogDir), opts, appendSinkFile, parseSinkFile)
	if err != nil {
		return nil, err
	}
	if r := l.opts.Retention; r > 0 {
		l.keep = func(f SinkFile, now time.Time) bool {
			return now.Sub(time.UnixMilli(f.ModificationTimeMs)) <= r
		}
	}
	return &SinkLog{l}, nil
}

// HasSinkLog reports whether a directory is the output of a file sink, so that it must be read by
// its log.
func HasSinkLog(fsys fs.FS, output string) (bool, error) {
	info, err := fsys.Stat(filepath.Join(output, SinkLogDir))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.IsDir(), err
}

// Committed reports whether the output of a batch is in the log already: it must then not be
// written again.
func (l *SinkLog) Committed(batch int64) bool {
	id, ok := l.LatestID()
	return ok && batch <= id
}

// Stage writes the entry of a batch for a round.
func (l *SinkLog) Stage(ctx context.Context, batch int64, files []SinkFile) (*fs.Staged, error) {
	return l.stage(ctx, batch, files, nil)
}

// Add writes the entry of a batch durably. The files must be durable before.
func (l *SinkLog) Add(ctx context.Context, batch int64, files []SinkFile) error {
	return l.add(ctx, batch, files, nil)
}

// Files gives the files that make up the output, in the order of the batches.
func (l *SinkLog) Files() ([]SinkFile, error) {
	files, err := l.all()
	if err != nil {
		return nil, err
	}
	deleted := map[string]bool{}
	for _, f := range files {
		if f.Action == DeleteFile {
			deleted[f.Path] = true
		}
	}
	if len(deleted) == 0 {
		return files, nil
	}
	kept := files[:0]
	for _, f := range files {
		if !deleted[f.Path] {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

func appendSinkFile(b []byte, f SinkFile) []byte {
	b = append(b, `{"path":`...)
	b = appendString(b, f.Path)
	b = append(b, `,"size":`...)
	b = strconv.AppendInt(b, f.Size, 10)
	b = append(b, `,"isDir":`...)
	b = strconv.AppendBool(b, f.IsDir)
	b = append(b, `,"modificationTime":`...)
	b = strconv.AppendInt(b, f.ModificationTimeMs, 10)
	b = append(b, `,"blockReplication":`...)
	b = strconv.AppendInt(b, f.BlockReplication, 10)
	b = append(b, `,"blockSize":`...)
	b = strconv.AppendInt(b, f.BlockSize, 10)
	b = append(b, `,"action":`...)
	b = appendString(b, f.Action)
	return append(b, '}')
}

func parseSinkFile(line []byte) (f SinkFile, err error) {
	err = eachField(line, func(key, value []byte) (err error) {
		switch string(key) {
		case "path":
			f.Path, err = stringValue(value)
		case "size":
			f.Size, err = intValue(value)
		case "isDir":
			f.IsDir, err = boolValue(value)
		case "modificationTime":
			f.ModificationTimeMs, err = intValue(value)
		case "blockReplication":
			f.BlockReplication, err = intValue(value)
		case "blockSize":
			f.BlockSize, err = intValue(value)
		case "action":
			switch string(value) { // one string for a million entries
			case `"add"`:
				f.Action = AddFile
			case `"delete"`:
				f.Action = DeleteFile
			default:
				return errors.New(clip(value) + " is neither add nor delete")
			}
		}
		return err
	})
	switch {
	case err != nil:
	case f.Path == "":
		err = errNoPath
	case f.Action == "":
		err = errors.New("there is no action in it")
	}
	return f, err
}

// SinkEntriesFrom lists the files of the log of an output folder from a batch on, in order. It is an error when the log cannot go back that
// far: what was before is then only in a compaction that is later.
func SinkEntriesFrom(fsys fs.FS, output string, batch int64) ([]string, error) {
	l, err := OpenSinkLog(fsys, output, CompactOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range l.folder.list() {
		if e.id < batch {
			continue
		}
		if e.compact {
			if plain := l.folder.path(entry{id: e.id}); exists(fsys, plain) {
				names = append(names, plain)
			}
		}
		names = append(names, l.folder.path(e))
	}
	if _, err := l.effective(batch - 1); err != nil && len(names) > 0 {
		return nil, fmt.Errorf("the log of %s cannot go back to batch %d: %w", output, batch, err)
	}
	return names, nil
}

func exists(fsys fs.FS, name string) bool {
	_, err := fsys.Stat(name)
	return err == nil
}
