package avrofile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/internal/avrorow"
	"github.com/millrace/millrace/internal/fs"
)

// A file begins with the magic, a map of texts with the schema and the name of the codec, and a mark of 16 bytes. Blocks follow: the
// number of records, the number of bytes, both as zigzag numbers, the bytes, and the mark.

var magic = []byte("Obj\x01")

const markBytes = 16

// The keys of the map.
const (
	keySchema = "avro.schema"
	keyCodec  = "avro.codec"
	// keyVersion is that of the version of Spark.
	keyVersion = "org.apache.spark.version"
	// keyOld says that days and times are in the calendar of Spark 2, keyZone in which zone its days begin.
	keyOld  = "org.apache.spark.legacyDateTime"
	keyZone = "org.apache.spark.timeZone"
)

// maxHeader is the most that a text of the map may have.
const maxHeader = 64 << 20

// header is what a file says of itself.
type header struct {
	schema avro.Schema
	text   string
	// version is that of the Spark that has written the file, old tells whether it kept to the calendar of Spark 2, zone its time zone.
	version, zone string
	old           bool
	codec         *codec
	mark          [markBytes]byte
	size          int64 // of the header, with the mark
}

// counter counts the bytes that are read.
type counter struct {
	r *bufio.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// ReadByte implements io.ByteReader.
func (c *counter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

func (c *counter) text() (string, error) {
	n, err := binary.ReadVarint(c)
	if err != nil || n < 0 || n > maxHeader {
		return "", errors.Join(errDamaged, err)
	}
	var b bytes.Buffer
	if m, err := io.CopyN(&b, c, n); err != nil || m != n {
		return "", unexpected(err)
	}
	return b.String(), nil
}

func readHeader(f fs.File) (*header, error) {
	in := &counter{r: bufio.NewReader(io.NewSectionReader(f, 0, 1<<62))}
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(in, head); err != nil || !bytes.Equal(head, magic) {
		return nil, errors.New("it is no Avro file")
	}
	h := &header{}
	codecName := ""
	for {
		n, err := binary.ReadVarint(in)
		if err != nil {
			return nil, unexpected(err)
		}
		if n == 0 {
			break
		}
		if n < 0 {
			n = -n
			if _, err := binary.ReadVarint(in); err != nil {
				return nil, unexpected(err)
			}
		}
		for range n {
			key, err := in.text()
			if err != nil {
				return nil, err
			}
			value, err := in.text()
			if err != nil {
				return nil, err
			}
			switch key {
			case keySchema:
				h.text = value
			case keyCodec:
				codecName = value
			case keyVersion:
				h.version = value
			case keyOld:
				h.old = true
			case keyZone:
				h.zone = value
			}
		}
	}
	if _, err := io.ReadFull(in, h.mark[:]); err != nil {
		return nil, unexpected(err)
	}
	h.size = in.n
	var err error
	if h.codec, err = codecOf(codecName); err != nil {
		return nil, err
	}
	h.schema, err = avrorow.Parse(h.text)
	return h, err
}

// blocks reads the blocks of a range of a file: those whose preceding mark begins in it.
type blocks struct {
	h      *header
	in     *counter
	at     int64 // where the preceding mark begins
	end    int64
	packed []byte
	text   []byte
}

// newBlocks reads from off to end.
func newBlocks(f fs.File, h *header, off, end int64) (*blocks, error) {
	b := &blocks{h: h, at: h.size - markBytes, end: end}
	from := h.size
	if off > b.at {
		var err error
		if from, err = findMark(f, h.mark[:], off, end); err != nil {
			return nil, err
		}
		b.at = from - markBytes
	}
	b.in = &counter{r: bufio.NewReaderSize(io.NewSectionReader(f, from, 1<<62), 128<<10), n: from}
	return b, nil
}

// findMark finds where the first mark that begins from off to end ends. Without one it gives a place behind end.
func findMark(f fs.File, mark []byte, off, end int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for off < end {
		n, err := f.ReadAt(buf, off)
		if i := bytes.Index(buf[:n], mark); i >= 0 {
			return off + int64(i) + markBytes, nil
		}
		if err == io.EOF || n < markBytes {
			break
		}
		if err != nil {
			return 0, err
		}
		off += int64(n - markBytes + 1)
	}
	return end + markBytes, nil
}

// next gives the number of records of the next block, and with unpack their bytes, which are valid until the next call.
func (b *blocks) next(unpack bool) (n int64, text []byte, err error) {
	if b.at >= b.end {
		return 0, nil, io.EOF
	}
	if n, err = binary.ReadVarint(b.in); err != nil {
		return 0, nil, err // the end of the file is that of its blocks
	}
	size, err := binary.ReadVarint(b.in)
	if err != nil {
		return 0, nil, unexpected(err)
	}
	if n < 0 || size < 0 || size > maxBlock {
		return 0, nil, errDamaged
	}
	if unpack {
		b.packed = b.packed[:0]
		if b.packed, err = take(b.in, b.packed, int(size)); err != nil {
			return 0, nil, err
		}
	} else if _, err := io.CopyN(io.Discard, b.in, size); err != nil {
		return 0, nil, unexpected(err)
	}
	b.at = b.in.n
	var mark [markBytes]byte
	if _, err := io.ReadFull(b.in, mark[:]); err != nil {
		return 0, nil, unexpected(err)
	}
	if mark != b.h.mark {
		return 0, nil, fmt.Errorf("%w: a block does not end with the mark of the file", errDamaged)
	}
	if unpack {
		if b.text, err = b.h.codec.unpack(b.text[:0], b.packed); err != nil {
			return 0, nil, err
		}
	}
	return n, b.text, nil
}

// take reads size bytes. A damaged size costs no more memory than there are bytes.
func take(r io.Reader, buf []byte, size int) ([]byte, error) {
	for len(buf) < size {
		from := len(buf)
		n := min(size-from, max(cap(buf)-from, 1<<20))
		if cap(buf)-from < n {
			buf = append(make([]byte, 0, from+n), buf...)
		}
		buf = buf[:from+n]
		if _, err := io.ReadFull(r, buf[from:]); err != nil {
			return nil, unexpected(err)
		}
	}
	return buf, nil
}

func unexpected(err error) error {
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
