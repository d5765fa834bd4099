package files

import (
	"bytes"
	"context"
	"io"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// maxRecordBytes caps a batch of records in bytes of text.
const maxRecordBytes = 8 << 20

// RecordReader turns the text of records into rows.
type RecordReader interface {
	// Lines reads records, one a line, from text[from:end], until max rows are there, and returns where it stopped: at end, or where to
	// go on. The text has Pad bytes behind end.
	Lines(text []byte, from, end, max int) (int, error)
	// Record reads one record from a text without padding.
	Record(text []byte) error
	// Rows is the number of rows read since the last Take, which hands them out.
	Rows() int
	Take() *vec.Batch
}

// Divert is who takes the bad records of a file, in the form in which readers want him; nil when nobody does.
func Divert(ctx context.Context, f *File) func(text []byte, err error) error {
	take := source.BadRecords(ctx)
	if take == nil {
		return nil
	}
	return func(text []byte, err error) error {
		return take(source.BadRecord{File: fs.URI(f.Path), Text: string(text), Err: err})
	}
}

// ReadRecords gives the rows of a file, or a piece of one, that has a record a line.
func ReadRecords(p Piece, opts TextOptions, r RecordReader) (Rows, error) {
	lines, err := OpenLines(p, opts)
	if err != nil {
		return nil, err
	}
	return &recordRows{lines: lines, r: r, sep: opts.Sep}, nil
}

type recordRows struct {
	lines   *Lines
	r       RecordReader
	sep     string
	text    []byte
	at, end int
	err     error
}

// Next implements Rows.
func (l *recordRows) Next(ctx context.Context) (*vec.Batch, error) {
	if l.err != nil {
		return nil, l.err
	}
	for size := 0; l.r.Rows() < vec.BatchRows && size < maxRecordBytes; {
		if l.at >= l.end {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			text, from, end, err := l.lines.Next()
			if err == io.EOF {
				if l.r.Rows() == 0 {
					return nil, io.EOF
				}
				break
			}
			if err != nil {
				return nil, err
			}
			l.text, l.at, l.end = text, from, end
		}
		from := l.at
		if err := l.read(); err != nil {
			if l.r.Rows() == 0 {
				return nil, err
			}
			l.err = err // after the rows before the bad one
			break
		}
		size += l.at - from
	}
	return l.r.Take(), nil
}

func (l *recordRows) read() (err error) {
	if l.sep == "" {
		l.at, err = l.r.Lines(l.text, l.at, l.end, vec.BatchRows)
		return err
	}
	for l.at < l.end && l.r.Rows() < vec.BatchRows {
		line := l.text[l.at:l.end]
		next := l.end
		if n := bytes.Index(line, []byte(l.sep)); n >= 0 {
			line, next = line[:n], l.at+n+len(l.sep)
		}
		l.at = next
		if err := l.r.Record(line); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Rows.
func (l *recordRows) Close() error { return l.lines.Close() }

// RecordInference looks at records to find out their schema.
type RecordInference interface {
	// Lines looks at the records, one a line, of text[:end], which has Pad bytes behind it.
	Lines(text []byte, end int) error
	// Record looks at one record without padding.
	Record(text []byte) error
	// Done is set when further records change nothing.
	Done() bool
}

// InferRecords shows the records of a file that has one a line.
func InferRecords(ctx context.Context, f *File, opts TextOptions, inf RecordInference) error {
	lines, err := OpenLines(Piece{File: f, Len: f.Size}, opts)
	if err != nil {
		return err
	}
	defer lines.Close()
	for !inf.Done() {
		text, from, end, err := lines.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if opts.Sep == "" {
			err = inf.Lines(text[from:], end-from)
		} else {
			for line := range bytes.SplitSeq(text[from:end], []byte(opts.Sep)) {
				if err = inf.Record(line); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckCorruptColumn refuses a column for corrupt records that cannot hold their text.
func CheckCorruptColumn(schema types.StructType, name string) error {
	if i := schema.Index(name); i >= 0 && !types.IsString(schema.Fields[i].Type) {
		return errclass.New("INVALID_CORRUPT_RECORD_TYPE", "columnName", errclass.Ident(name), "actualType", errclass.Expr(schema.Fields[i].Type.SQL()))
	}
	return nil
}

// CheckOnlyCorruptColumn refuses to read nothing but the column for corrupt records: which records are corrupt depends on the
// other columns that are read.
func CheckOnlyCorruptColumn(want types.StructType, name string) error {
	if len(want.Fields) == 1 && want.Fields[0].Name == name {
		return errclass.New("UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN")
	}
	return nil
}
