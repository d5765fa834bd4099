package filesink

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// maxOpen is how many files of partitions one writer keeps open. Beyond it the one that was written to longest ago is finished, and
// its partition goes on in another file.
const maxOpen = 128

// bufferSize is that of each file being written.
const bufferSize = 256 << 10

// Limits say when a file is full and its partition goes on in another; 0 for no limit.
type Limits struct {
	Records int64
	// Bytes counts what was written and what the format still holds. A file ends with the row that reaches it.
	Bytes int64
}

// ParseLimits reads the options of a writer, or the settings of the session.
func ParseLimits(req sink.Request) (l Limits, err error) {
	get := func(option, key string) (string, bool) {
		text, ok := req.Options.Get(option)
		if !ok && req.Env.Conf != nil {
			text = req.Env.Conf(key)
			ok = text != ""
		}
		return text, ok
	}
	if text, ok := get("maxRecordsPerFile", setting.MaxRecordsPerFile); ok {
		if l.Records, err = strconv.ParseInt(text, 10, 64); err != nil {
			return l, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "maxRecordsPerFile", "value", "'"+text+"'", "requirement", "it must be a whole number.").
				WithKind(errclass.NumberFormat)
		}
	}
	if text, ok := get("maxBytesPerFile", setting.MaxBytesPerFile); ok {
		n, ok := amount.Bytes(text)
		if !ok || n < 0 {
			return l, errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", "maxBytesPerFile", "value", "'"+text+"'", "requirement", "it must be a size such as 128m, or 0.")
		}
		l.Bytes = n
	}
	return l, nil
}

// Holder is implemented by files that keep rows before they write them.
type Holder interface {
	// Held is about how many bytes they will be.
	Held() int64
}

// Output is what the files of one writer have in common.
type Output struct {
	Set    *Set
	Enc    Encoder
	Schema types.StructType
	Limits Limits
	// Place gives the path of the file for a partition that has had n files before.
	Place func(partition string, n int) (path string, err error)
	// Done is told of each file that is complete.
	Done func(partition string, f File, w Written)
}

// Written is a file that is complete.
type Written struct {
	Path       string
	Size, Rows int64
}

// OpenFiles are the files that one writer has open: one for each partition that rows have come for.
type OpenFiles struct {
	out   Output
	open  map[string]*openFile
	clock int64
	count map[string]int // files of each partition
}

// openFile is a file being written.
type openFile struct {
	path string
	w    fs.Writer
	buf  *bufio.Writer
	size int64
	rows int64
	file File
	held Holder // file, if it is one
	used int64  // clock of the last write
}

// NewOpenFiles begins without any.
func NewOpenFiles(out Output) *OpenFiles {
	return &OpenFiles{out: out, open: map[string]*openFile{}, count: map[string]int{}}
}

// Write counts bytes on their way.
func (o *openFile) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.size += int64(n)
	return n, err
}

// bytes is about how large the file would be if it ended now.
func (o *openFile) bytes() int64 {
	n := o.size + int64(o.buf.Buffered())
	if o.held != nil {
		n += o.held.Held()
	}
	return n
}

// room is how many rows of size bytes in memory, of n, the file may take before it is looked at again: encoded they are not much larger.
func (l Limits) room(o *openFile, n int, size int64) int {
	room := int64(n)
	if l.Records > 0 {
		room = min(room, l.Records-o.rows)
	}
	if l.Bytes > 0 {
		room = min(room, max(1, (l.Bytes-o.bytes())/max(1, size)))
	}
	return int(room)
}

func (l Limits) full(o *openFile) bool {
	return l.Records > 0 && o.rows >= l.Records || l.Bytes > 0 && o.bytes() >= l.Bytes
}

// Write writes the rows of a batch without selection to the file of a partition.
func (f *OpenFiles) Write(partition string, b *vec.Batch) error {
	size := int64(0)
	if f.out.Limits.Bytes > 0 && b.N > 0 {
		size = int64(b.SizeBytes()) / int64(b.N)
	}
	for off := 0; off < b.N; {
		o, err := f.file(partition)
		if err != nil {
			return err
		}
		n := f.out.Limits.room(o, b.N-off, size)
		if err := o.file.Write(b.Slice(off, n)); err != nil {
			return WriteError(o.path, err)
		}
		o.rows += int64(n)
		off += n
		if f.out.Limits.full(o) {
			if err := f.finish(partition); err != nil {
				return err
			}
		}
	}
	return nil
}

// None tells whether there has been no file so far.
func (f *OpenFiles) None() bool { return len(f.count) == 0 }

// Begin opens the file of a partition, if it is not open, so that there is one without rows.
func (f *OpenFiles) Begin(partition string) error {
	_, err := f.file(partition)
	return err
}

// file gives the open file of a partition.
func (f *OpenFiles) file(partition string) (*openFile, error) {
	f.clock++
	if o := f.open[partition]; o != nil {
		o.used = f.clock
		return o, nil
	}
	if len(f.open) >= maxOpen {
		oldest, first := "", true
		for p, o := range f.open {
			if first || o.used < f.open[oldest].used {
				oldest, first = p, false
			}
		}
		if err := f.finish(oldest); err != nil {
			return nil, err
		}
	}
	path, err := f.out.Place(partition, f.count[partition])
	if err != nil {
		return nil, err
	}
	f.count[partition]++
	o := &openFile{path: path, used: f.clock}
	if o.w, err = f.out.Set.create(path); err != nil {
		return nil, WriteError(path, err)
	}
	o.buf = bufio.NewWriterSize(o, bufferSize)
	if o.file, err = f.out.Enc.Create(o.buf, f.out.Schema); err != nil {
		return nil, WriteError(path, errors.Join(err, o.w.Close()))
	}
	o.held, _ = o.file.(Holder)
	f.open[partition] = o
	return o, nil
}

// finish completes the file of a partition.
func (f *OpenFiles) finish(partition string) error {
	o := f.open[partition]
	delete(f.open, partition)
	err := o.file.Close()
	if err == nil {
		err = o.buf.Flush()
	}
	if err != nil {
		return WriteError(o.path, errors.Join(err, o.w.Close()))
	}
	f.out.Set.sync(o.path, o.w)
	f.out.Done(partition, o.file, Written{o.path, o.size, o.rows})
	return nil
}

// Close completes all files, in the order of their partitions.
func (f *OpenFiles) Close() error {
	for _, p := range slices.Sorted(maps.Keys(f.open)) {
		if err := f.finish(p); err != nil {
			f.Abort()
			return err
		}
	}
	return nil
}

// Abort closes all files as they are. The set removes them.
func (f *OpenFiles) Abort() {
	for p, o := range f.open {
		_ = o.w.Close()
		delete(f.open, p)
	}
}

// FileName is the name of a file as Spark gives it: number of the part of the rows, what tells apart the files of different jobs, and
// number of the file within its partition.
func FileName(part int, id string, partitioned bool, n int, ext string) string {
	dash := "-"
	if partitioned {
		dash = "."
	}
	return fmt.Sprintf("part-%05d-%s%sc%03d%s", part, id, dash, n, ext)
}
