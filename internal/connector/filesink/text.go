package filesink

import (
	"errors"
	"io"

	"golang.org/x/text/transform"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/sink"
)

// TextOptions are what formats of lines have in common.
type TextOptions struct {
	Sep      string
	Encoding string
	codec    *files.Codec
	ext      string
}

// ParseTextOptions reads the options compression, lineSep and encoding of a format. ext is how the names of its files end.
func ParseTextOptions(req sink.Request, ext string) (TextOptions, error) {
	o, err := parseTextOptions(req, ext, files.LineSepOption)
	if err == nil {
		o.Encoding, err = files.EncodingOption(req.Options.Get, req.Format)
	}
	return o, err
}

// ParseRawOptions is ParseTextOptions for a format whose option encoding is only that of lineSep.
func ParseRawOptions(req sink.Request, ext string) (TextOptions, error) {
	return parseTextOptions(req, ext, files.EncodedLineSep)
}

func parseTextOptions(req sink.Request, ext string, lineSep func(get func(string) (string, bool), format string) (string, error)) (TextOptions, error) {
	o := TextOptions{Sep: "\n", ext: ext}
	var err error
	if o.codec, err = files.CodecOption(req.Options.Get); err != nil {
		return o, err
	}
	sep, err := lineSep(req.Options.Get, req.Format)
	if sep != "" {
		o.Sep = sep
	}
	return o, err
}

// Ext is the end of a file's name.
func (o TextOptions) Ext() string {
	if o.codec != nil {
		return o.ext + o.codec.Ext
	}
	return o.ext
}

// Lines prints the rows of a batch.
type Lines interface {
	// Head is what stands at the beginning of a file, with its line break.
	Head(b []byte) []byte
	// Bind takes the rows to be printed.
	Bind(b *vec.Batch) error
	// AppendRow prints a row with its line break.
	AppendRow(b []byte, i int) []byte
}

// Tailed is implemented by Lines that end a file with something.
type Tailed interface {
	// Tail is what stands at the end of a file.
	Tail(b []byte) []byte
}

// textFile is a file of lines.
type textFile struct {
	lines   Lines
	w       io.Writer
	closers []io.Closer
	buf     []byte
}

// Create begins a file of lines.
func (o TextOptions) Create(w io.Writer, lines Lines) (File, error) {
	f := &textFile{lines: lines, w: w}
	if o.codec != nil {
		c, err := o.codec.Writer(f.w)
		if err != nil {
			return nil, err
		}
		f.w, f.closers = c, append(f.closers, c)
	}
	if enc, _ := files.FindEncoding(o.Encoding); enc != nil {
		t := transform.NewWriter(f.w, enc.NewEncoder())
		f.w, f.closers = t, append(f.closers, t)
	}
	f.buf = lines.Head(f.buf)
	return f, nil
}

// flushBytes is how much text is handed on at a time.
const flushBytes = 64 << 10

// Write implements File.
func (f *textFile) Write(b *vec.Batch) error {
	if err := f.lines.Bind(b); err != nil {
		return err
	}
	for i := range b.N {
		f.buf = f.lines.AppendRow(f.buf, i)
		if len(f.buf) >= flushBytes {
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Held implements Holder.
func (f *textFile) Held() int64 { return int64(len(f.buf)) }

func (f *textFile) flush() error {
	_, err := f.w.Write(f.buf)
	f.buf = f.buf[:0]
	return err
}

// Close implements File.
func (f *textFile) Close() error {
	if t, ok := f.lines.(Tailed); ok {
		f.buf = t.Tail(f.buf)
	}
	err := f.flush()
	for i := len(f.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, f.closers[i].Close())
	}
	return err
}
