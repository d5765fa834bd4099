package files

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	bzip2w "github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/millrace/millrace/internal/errclass"
)

// Codec is a way to compress a text file as a whole.
type Codec struct {
	// Ext is the extension of files, with its dot.
	Ext    string
	reader func(io.Reader) (io.ReadCloser, error)
	writer func(io.Writer) (io.WriteCloser, error)
}

var codecs = map[string]*Codec{
	"gzip": {".gz", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }, func(w io.Writer) (io.WriteCloser, error) {
		return gzip.NewWriterLevel(w, gzip.DefaultCompression)
	}},
	"deflate": {".deflate", zlib.NewReader, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil }},
	"bzip2": {".bz2", func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }, func(w io.Writer) (io.WriteCloser, error) {
		return bzip2w.NewWriter(w, nil)
	}},
	"zstd": {".zst", func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) }},
	"snappy": {".snappy", newBlockReader(s2.DecodedLen, s2.Decode), func(w io.Writer) (io.WriteCloser, error) {
		return &blockWriter{w: w, encode: func(dst, src []byte) ([]byte, error) { return s2.EncodeSnappy(dst[:cap(dst)], src), nil }}, nil
	}},
	"lz4": {".lz4", newLZ4Reader, func(w io.Writer) (io.WriteCloser, error) { return &blockWriter{w: w, encode: encodeLZ4}, nil }},
}

// codecOf finds the codec of a file by its extension; nil when it is not compressed.
func codecOf(path string) *Codec {
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".zstd" {
		ext = ".zst"
	}
	for _, c := range codecs {
		if c.Ext == ext {
			return c
		}
	}
	return nil
}

// Compressed tells whether a file is compressed as a whole, by its extension.
func Compressed(path string) bool { return codecOf(path) != nil }

// classes are the names that Hadoop's classes have.
var classes = map[string]string{
	"org.apache.hadoop.io.compress.BZip2Codec": "bzip2", "org.apache.hadoop.io.compress.DeflateCodec": "deflate",
	"org.apache.hadoop.io.compress.DefaultCodec": "deflate", "org.apache.hadoop.io.compress.GzipCodec": "gzip",
	"org.apache.hadoop.io.compress.Lz4Codec": "lz4", "org.apache.hadoop.io.compress.SnappyCodec": "snappy",
}

// FindCodec finds the codec that a writer's option names; nil stands for none.
func FindCodec(name string) (*Codec, error) {
	if short, ok := classes[name]; ok {
		name = short
	}
	name = strings.ToLower(name)
	if name == "none" || name == "uncompressed" {
		return nil, nil
	}
	if c := codecs[name]; c != nil {
		return c, nil
	}
	return nil, errclass.New("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION", "codecName", name,
		"availableCodecs", "bzip2, deflate, gzip, lz4, none, snappy, uncompressed, zstd")
}

// CodecOption is the codec that the option compression or codec names. Readers go by the names of files, but the option must be right.
func CodecOption(get func(key string) (string, bool)) (*Codec, error) {
	name, ok := get("compression")
	if !ok {
		if name, ok = get("codec"); !ok {
			return nil, nil
		}
	}
	return FindCodec(name)
}

// Writer compresses what is written to it into w.
func (c *Codec) Writer(w io.Writer) (io.WriteCloser, error) { return c.writer(w) }

// Hadoop stores snappy and LZ4 in blocks: the length of the text, then stretches of compressed bytes, each behind its length, all
// big-endian, until the text is whole.

const maxBlock = 64 << 20

// blockReader reads such a file.
type blockReader struct {
	r      *bufio.Reader
	decode func(dst, src []byte) ([]byte, error)
	left   int // of the block's text
	text   []byte
	packed []byte
	buf    []byte
}

func newBlockReader(size func([]byte) (int, error), decode func(dst, src []byte) ([]byte, error)) func(io.Reader) (io.ReadCloser, error) {
	return func(r io.Reader) (io.ReadCloser, error) {
		return io.NopCloser(&blockReader{r: bufio.NewReader(r), decode: func(dst, src []byte) ([]byte, error) {
			n, err := size(src)
			if err != nil || n > maxBlock {
				return nil, fmt.Errorf("a block of %d bytes: %w", n, errBadBlock)
			}
			return decode(dst[:cap(dst)], src)
		}}), nil
	}
}

var errBadBlock = fmt.Errorf("the compressed data are damaged")

// Read implements io.Reader.
func (b *blockReader) Read(p []byte) (int, error) {
	for len(b.text) == 0 {
		for b.left == 0 {
			n, err := b.length()
			if err != nil {
				return 0, err // io.EOF between blocks is the end
			}
			b.left = n
		}
		n, err := b.length()
		if err != nil {
			return 0, unexpected(err)
		}
		if cap(b.packed) < n {
			b.packed = make([]byte, n)
		}
		b.packed = b.packed[:n]
		if _, err := io.ReadFull(b.r, b.packed); err != nil {
			return 0, unexpected(err)
		}
		if cap(b.buf) < b.left {
			b.buf = make([]byte, b.left)
		}
		if b.text, err = b.decode(b.buf, b.packed); err != nil {
			return 0, err
		}
		if len(b.text) > b.left {
			return 0, errBadBlock
		}
		b.left -= len(b.text)
	}
	n := copy(p, b.text)
	b.text = b.text[n:]
	return n, nil
}

func (b *blockReader) length() (int, error) {
	var w [4]byte
	if _, err := io.ReadFull(b.r, w[:]); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(w[:])
	if n > maxBlock {
		return 0, errBadBlock
	}
	return int(n), nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// newLZ4Reader reads Hadoop's blocks, or the frames of the lz4 program.
func newLZ4Reader(r io.Reader) (io.ReadCloser, error) {
	br := bufio.NewReader(r)
	if magic, _ := br.Peek(4); bytes.Equal(magic, []byte{0x04, 0x22, 0x4D, 0x18}) {
		return io.NopCloser(lz4.NewReader(br)), nil
	}
	return io.NopCloser(&blockReader{r: br, decode: func(dst, src []byte) ([]byte, error) {
		n, err := lz4.UncompressBlock(src, dst[:cap(dst)])
		if err != nil {
			return nil, err
		}
		return dst[:n], nil
	}}), nil
}

func encodeLZ4(dst, src []byte) ([]byte, error) {
	if need := lz4.CompressBlockBound(len(src)); cap(dst) < need {
		dst = make([]byte, need)
	}
	n, err := lz4.CompressBlock(src, dst[:cap(dst)], nil)
	return dst[:n], err
}

// blockWriter writes such a file.
type blockWriter struct {
	w      io.Writer
	encode func(dst, src []byte) ([]byte, error)
	text   []byte
	packed []byte
}

const writeBlock = 64 << 10

// Write implements io.Writer.
func (b *blockWriter) Write(p []byte) (int, error) {
	b.text = append(b.text, p...)
	for len(b.text) >= writeBlock {
		if err := b.flush(b.text[:writeBlock]); err != nil {
			return 0, err
		}
		b.text = b.text[:copy(b.text, b.text[writeBlock:])]
	}
	return len(p), nil
}

func (b *blockWriter) flush(text []byte) error {
	var err error
	if b.packed, err = b.encode(b.packed, text); err != nil {
		return err
	}
	var head [8]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(text)))
	binary.BigEndian.PutUint32(head[4:], uint32(len(b.packed)))
	if _, err := b.w.Write(head[:]); err != nil {
		return err
	}
	_, err = b.w.Write(b.packed)
	return err
}

// Close implements io.Closer; it does not close the writer below.
func (b *blockWriter) Close() error {
	if len(b.text) == 0 {
		return nil
	}
	return b.flush(b.text)
}
