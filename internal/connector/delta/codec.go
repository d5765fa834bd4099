package delta

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/parquetfile"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// codec reads and writes checkpoints.
type codec struct{}

// Read implements core.Codec.
func (codec) Read(ctx context.Context, fsys fs.FS, path string, want types.StructType, each func(*vec.Batch) error) error {
	d, err := parquetfile.Kind{}.Prepare(source.Request{})
	if err != nil {
		return err
	}
	info, err := fsys.Stat(path)
	if err != nil {
		return err
	}
	f := &files.File{FS: fsys, Path: path, Size: info.Size(), ModTime: info.ModTime()}
	rows, err := d.Open(ctx, files.Piece{File: f, Len: f.Size}, want, nil)
	if err != nil {
		return err
	}
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows.Close()
		}
		if err == nil {
			err = each(b)
		}
		if err != nil {
			return errors.Join(err, rows.Close())
		}
	}
}

// Encode implements core.Codec.
func (codec) Encode(w fs.Writer, schema types.StructType, batches []*vec.Batch) error {
	enc, err := parquetfile.SinkKind{}.Prepare(sink.Request{})
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(w, 256<<10)
	f, err := enc.Create(buf, schema)
	if err != nil {
		return err
	}
	for _, b := range batches {
		if err := f.Write(b); err != nil {
			return err
		}
	}
	return errors.Join(f.Close(), buf.Flush())
}

// OpenLog is the log of the table in a folder.
func OpenLog(fsys fs.FS, path string, now func() time.Time) *core.Log {
	if now == nil {
		now = time.Now
	}
	return &core.Log{FS: fsys, Path: path, Codec: codec{}, Now: now}
}
