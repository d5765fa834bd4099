package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/millrace/millrace/source"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"

	"github.com/millrace/millrace/internal/errclass"
)

// Pad is how many bytes there are behind every text that Lines hands out, within its slice: scanners may look at them, and at the
// end of the file they are zero.
const Pad = 16

// chunkBytes is how much text Lines hands out at a time: about what stays in a core's cache.
const chunkBytes = 512 << 10

// maxLine is the longest line that can be read: offsets within a batch are 32 bits wide.
const maxLine = 1 << 30

// TextOptions say how the bytes of a file become text.
type TextOptions struct {
	// Encoding is the name of a character set; empty for UTF-8, or what the first bytes tell.
	Encoding string
	// Raw says that the bytes are the text: nothing is told by the first ones.
	Raw bool
	// Sep ends a line; empty for a line feed, a carriage return or both.
	Sep string
}

// LineSepOption is what the option lineSep of a format says; empty when it is not given.
func LineSepOption(get func(key string) (string, bool), format string) (string, error) {
	sep, ok := get("lineSep")
	if ok && sep == "" {
		return "", errclass.New("INVALID_OPTION_VALUE", "option", "lineSep", "format", format, "value", sep, "requirement", "it must not be empty.")
	}
	return sep, nil
}

// EncodedLineSep is what the option lineSep of a format says whose text is in UTF-8 whatever its option encoding: only the end of a line is in that.
func EncodedLineSep(get func(key string) (string, bool), format string) (string, error) {
	sep, err := LineSepOption(get, format)
	if err != nil || sep == "" {
		return sep, err
	}
	name, err := EncodingOption(get, format)
	if err != nil {
		return "", err
	}
	if enc, _ := FindEncoding(name); enc != nil {
		sep, err = enc.NewEncoder().String(sep)
	}
	return sep, err
}

// RecordOptions reads what the formats of records in text share: the character set and, as ignoreCorrupt, whether files that cannot be read
// have no part in the schema. A compression that nobody knows is refused, though names of files say which one they have.
func RecordOptions(req source.Request, format string) (text TextOptions, ignoreCorrupt bool, err error) {
	if _, err := CodecOption(req.Options.Get); err != nil {
		return text, false, err
	}
	if ignoreCorrupt, err = IgnoresCorrupt(req); err != nil {
		return text, false, err
	}
	text.Encoding, err = EncodingOption(req.Options.Get, format)
	return text, ignoreCorrupt, err
}

// openText opens a file as text: decompressed, in UTF-8, without a byte order mark.
func openText(f *File, opts TextOptions) (io.Reader, func() error, error) {
	file, err := f.FS.Open(f.Path)
	if err != nil {
		return nil, nil, err
	}
	closers := []io.Closer{file}
	closeAll := func() error {
		var errs []error
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i].Close())
		}
		return errors.Join(errs...)
	}
	var r io.Reader = file
	if c := codecOf(f.Path); c != nil && f.Size > 0 {
		d, err := c.reader(r)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("decompress: %w", err), closeAll())
		}
		closers = append(closers, d)
		r = d
	}
	enc, _ := FindEncoding(opts.Encoding)
	if enc == nil && opts.Encoding == "" && !opts.Raw {
		if r, enc, err = sniff(r); err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
	}
	if enc != nil {
		r = transform.NewReader(r, enc.NewDecoder())
	}
	return r, closeAll, nil
}

// sniff looks at the first bytes for a mark, or for the zeros that UTF-16 and UTF-32 have between ASCII characters.
func sniff(r io.Reader) (io.Reader, encoding.Encoding, error) {
	var head [4]byte
	n, err := io.ReadFull(r, head[:])
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, nil, err
	}
	return io.MultiReader(bytes.NewReader(head[:n:n]), r), sniffed(head[:n]), nil
}

func sniffed(h []byte) encoding.Encoding {
	switch {
	case len(h) >= 4 && (h[0] == 0 && h[1] == 0 && h[2] == 0xFE && h[3] == 0xFF || h[0] == 0xFF && h[1] == 0xFE && h[2] == 0 && h[3] == 0):
		return utf32BOM
	case len(h) >= 2 && (h[0] == 0xFE && h[1] == 0xFF || h[0] == 0xFF && h[1] == 0xFE):
		return utf16BOM
	case len(h) < 4:
		return nil
	case h[0] == 0 && h[1] == 0 && h[2] == 0 && h[3] != 0:
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case h[0] != 0 && h[1] == 0 && h[2] == 0 && h[3] == 0:
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case h[0] == 0 && h[1] != 0 && h[2] == 0 && h[3] != 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case h[0] != 0 && h[1] == 0 && h[2] != 0 && h[3] == 0:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return nil
}

// CanCut tells whether a text file can be read in pieces.
func CanCut(f *File, opts TextOptions) bool {
	if Compressed(f.Path) || len(opts.Sep) > 1 {
		return false
	}
	if enc, _ := FindEncoding(opts.Encoding); enc != nil {
		return false
	}
	if opts.Encoding != "" || opts.Raw || f.Size <= textCut {
		return true
	}
	// A large file may turn out to be in UTF-16, which cannot be cut at any byte.
	file, err := f.FS.Open(f.Path)
	if err != nil {
		return true // the error comes again when it is read
	}
	defer file.Close()
	var head [4]byte
	n, _ := file.ReadAt(head[:], 0)
	return sniffed(head[:n]) == nil
}

// textCut is the size of the pieces that large text files are cut into.
const textCut = 16 << 20

// CutText is Decoder.Cut for files of lines.
func CutText(f *File, opts TextOptions) int64 {
	if CanCut(f, opts) {
		return textCut
	}
	return 0
}

// ReadText reads a whole file as text. There are Pad zero bytes behind its end within the slice.
func ReadText(f *File, opts TextOptions) (text []byte, end int, err error) {
	r, closeAll, err := openText(f, opts)
	if err != nil {
		return nil, 0, err
	}
	defer closeAll()
	buf := make([]byte, 0, f.Size+Pad+1)
	for {
		if len(buf)+Pad >= cap(buf) {
			buf = append(buf, make([]byte, max(4096, cap(buf)))...)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf) : cap(buf)-Pad])
		buf = buf[:len(buf)+n]
		if len(buf) > maxLine {
			return nil, 0, fmt.Errorf("the file has more than %d bytes of text, too many for one record", maxLine)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, 0, err
		}
	}
	end = len(buf)
	buf = buf[:end+Pad]
	clear(buf[end:])
	if bytes.HasPrefix(buf, utf8BOM) {
		buf, end = buf[len(utf8BOM):], end-len(utf8BOM)
	}
	return buf, end, nil
}

var utf8BOM = []byte("\uFEFF")

// Lines cuts a piece of a text file into texts of whole lines. A line belongs to the piece in which it begins.
type Lines struct {
	r     io.Reader
	close func() error
	sep   string
	buf   []byte
	from  int // start of what was not handed out yet
	to    int // end of what was read
	left  int64
	eof   bool
	first bool
	last  bool
	// skip is set until the line that began in the piece before has been passed.
	skip bool
	cut  bool
}

// OpenLines opens a piece of a file.
func OpenLines(p Piece, opts TextOptions) (*Lines, error) {
	l := &Lines{sep: opts.Sep, first: p.Off == 0}
	if p.Whole() || Compressed(p.Path) {
		r, closeAll, err := openText(p.File, opts)
		if err != nil {
			return nil, err
		}
		l.r, l.close = r, closeAll
		return l, nil
	}
	file, err := p.FS.Open(p.Path)
	if err != nil {
		return nil, err
	}
	off := p.Off
	l.left = p.Len - 1
	if off > 0 {
		// A piece starts behind the first line break at or after the byte before it, and ends behind the first at or after its last
		// byte: the same rule at both ends, so that every line is read once.
		off--
		l.left++
		l.skip = true
	}
	l.r, l.close, l.cut = io.NewSectionReader(file, off, 1<<62), file.Close, true
	return l, nil
}

// Next returns a text of whole lines, text[from:end], or io.EOF. It is valid until the next call. The text ends with a line break,
// but for the last line of a file.
func (l *Lines) Next() (text []byte, from, end int, err error) {
	for {
		if l.last {
			return nil, 0, 0, io.EOF
		}
		if err := l.fill(); err != nil {
			return nil, 0, 0, err
		}
		if l.first {
			l.first = false
			if bytes.HasPrefix(l.buf[l.from:l.to], utf8BOM) {
				l.from += len(utf8BOM)
			}
		}
		if l.skip {
			at := l.firstBreak(l.from)
			if at < 0 {
				to := l.to // all of this belongs to the line before
				if l.eof {
					l.last = true
				} else if l.sep == "" && to > l.from && l.buf[to-1] == '\r' {
					to-- // what follows tells where the line ends
				}
				l.drop(to)
				continue
			}
			l.drop(at)
			l.skip = false
			if l.cut && l.left < 0 {
				l.last = true // the line before reaches past this piece
				continue
			}
		}
		from = l.from
		if l.cut && int64(l.to-from) > l.left {
			// The piece's last byte has been read: the line that it is in is the last one.
			if at := l.firstBreak(from + int(max(l.left, 0))); at >= 0 || l.eof {
				if l.last = true; at < 0 {
					at = l.to
				}
				if at == from {
					continue
				}
				l.from = at
				return l.buf, from, at, nil
			}
		}
		end = l.lastBreak()
		if l.eof {
			l.last = true
			if end = l.to; from == end {
				continue
			}
			return l.buf, from, end, nil
		}
		if end > from {
			l.left -= int64(end - from)
			l.from = end
			return l.buf, from, end, nil
		}
		if l.to-l.from > maxLine {
			return nil, 0, 0, fmt.Errorf("a line has more than %d bytes", maxLine)
		}
		if err := l.grow(); err != nil {
			return nil, 0, 0, err
		}
	}
}

// drop passes bytes up to a position.
func (l *Lines) drop(to int) {
	l.left -= int64(to - l.from)
	l.from = to
}

// fill moves what is left to the front and reads behind it.
func (l *Lines) fill() error {
	if l.buf == nil {
		l.buf = make([]byte, chunkBytes+Pad)
	}
	l.to = copy(l.buf, l.buf[l.from:l.to])
	l.from = 0
	return l.read()
}

// grow makes the buffer larger, for a line that does not fit.
func (l *Lines) grow() error {
	b := make([]byte, 2*(len(l.buf)-Pad)+Pad)
	l.to = copy(b, l.buf[l.from:l.to])
	l.buf, l.from = b, 0
	return l.read()
}

func (l *Lines) read() error {
	room := len(l.buf) - Pad
	for !l.eof && l.to < room {
		n, err := l.r.Read(l.buf[l.to:room])
		l.to += n
		if err == io.EOF {
			l.eof = true
		} else if err != nil {
			return err
		}
	}
	if l.eof {
		clear(l.buf[l.to : l.to+Pad])
	}
	return nil
}

// firstBreak is the position behind the first line break at or after i; -1 when there is none, or more must be read to be sure.
func (l *Lines) firstBreak(i int) int {
	if i > l.to {
		return -1
	}
	text := l.buf[i:l.to]
	if l.sep != "" {
		if n := bytes.Index(text, []byte(l.sep)); n >= 0 {
			return i + n + len(l.sep)
		}
		return -1
	}
	n := bytes.IndexByte(text, '\n')
	if n >= 0 {
		text = text[:n]
	}
	if r := bytes.IndexByte(text, '\r'); r >= 0 {
		at := i + r + 1
		switch {
		case at < l.to:
			if l.buf[at] == '\n' {
				at++
			}
			return at
		case l.eof:
			return at
		}
		return -1
	}
	if n < 0 {
		return -1
	}
	return i + n + 1
}

// lastBreak is the position behind the last line break that was read, or -1.
func (l *Lines) lastBreak() int {
	text := l.buf[l.from:l.to]
	if l.sep != "" {
		if n := bytes.LastIndex(text, []byte(l.sep)); n >= 0 {
			return l.from + n + len(l.sep)
		}
		return -1
	}
	if n := bytes.LastIndexByte(text, '\n'); n >= 0 {
		return l.from + n + 1
	}
	// A carriage return at the very end may be followed by a line feed.
	if n := bytes.LastIndexByte(text[:max(len(text)-1, 0)], '\r'); n >= 0 {
		return l.from + n + 1
	}
	return -1
}

// Close closes the file.
func (l *Lines) Close() error { return l.close() }
