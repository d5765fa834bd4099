package avrofile

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
	"sync"

	bzip2w "github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/millrace/millrace/internal/errclass"
)

// maxBlock is the most bytes that a block may have.
const maxBlock = 1 << 30

var errDamaged = errors.New("the Avro data are damaged")

// codec is a way to compress blocks.
type codec struct {
	name string // in files
	ext  string
	// unpack appends the content of a block to dst.
	unpack func(dst, block []byte) ([]byte, error)
	// packer begins a file at a level of compression, where the codec has levels.
	packer func(level int) (packer, error)
}

// packer compresses blocks into dst, which it may make larger.
type packer func(dst, block []byte) ([]byte, error)

var codecs = map[string]*codec{
	"uncompressed": {
		name: "null", unpack: func(dst, block []byte) ([]byte, error) { return append(dst, block...), nil },
		packer: func(int) (packer, error) {
			return func(dst, block []byte) ([]byte, error) { return append(dst, block...), nil }, nil
		},
	},
	"snappy": {name: "snappy", ext: ".snappy", unpack: unpackSnappy, packer: func(int) (packer, error) { return packSnappy, nil }},
	"deflate": {
		name: "deflate", ext: ".deflate",
		unpack: func(dst, block []byte) ([]byte, error) { return readAll(dst, flate.NewReader(bytes.NewReader(block))) },
		packer: func(level int) (packer, error) {
			w, err := flate.NewWriter(io.Discard, level)
			if err != nil {
				return nil, err
			}
			return func(dst, block []byte) ([]byte, error) {
				out := bytes.NewBuffer(dst)
				w.Reset(out)
				return written(out, w, block)
			}, nil
		},
	},
	"bzip2": {
		name: "bzip2", ext: ".bzip2",
		unpack: func(dst, block []byte) ([]byte, error) { return readAll(dst, bzip2.NewReader(bytes.NewReader(block))) },
		packer: func(int) (packer, error) {
			return func(dst, block []byte) ([]byte, error) {
				out := bytes.NewBuffer(dst)
				w, err := bzip2w.NewWriter(out, nil)
				if err != nil {
					return nil, err
				}
				return written(out, w, block)
			}, nil
		},
	},
	"xz": {
		name: "xz", ext: ".xz",
		unpack: func(dst, block []byte) ([]byte, error) {
			r, err := xz.NewReader(bytes.NewReader(block))
			if err != nil {
				return nil, err
			}
			return readAll(dst, r)
		},
		packer: func(int) (packer, error) {
			return func(dst, block []byte) ([]byte, error) {
				out := bytes.NewBuffer(dst)
				w, err := xz.WriterConfig{DictCap: max(xzDict, len(block))}.NewWriter(out)
				if err != nil {
					return nil, err
				}
				return written(out, w, block)
			}, nil
		},
	},
	"zstandard": {name: "zstandard", ext: ".zstandard", unpack: unpackZstd, packer: func(level int) (packer, error) {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
		if err != nil {
			return nil, err
		}
		return func(dst, block []byte) ([]byte, error) { return e.EncodeAll(block, dst), nil }, nil
	}},
}

// xzDict is how far back xz looks: blocks are smaller.
const xzDict = 64 << 10

// findCodec finds the codec that a writer asks for.
func findCodec(name string) (*codec, error) {
	if c := codecs[strings.ToLower(name)]; c != nil {
		return c, nil
	}
	return nil, errclass.New("CODEC_SHORT_NAME_NOT_FOUND", "codecName", name)
}

// codecOf finds the codec that a file names.
func codecOf(name string) (*codec, error) {
	if name == "" {
		name = "null"
	}
	for _, c := range codecs {
		if c.name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("its blocks are compressed with %q, which is not known", name)
}

// level is the setting of a codec's level, or its default.
func level(name string, conf func(string) string) int {
	def := map[string]int{"deflate": -1, "zstandard": 3}[name]
	if n, err := strconv.Atoi(conf("spark.sql.avro." + name + ".level")); err == nil {
		return n
	}
	return def
}

func written(out *bytes.Buffer, w io.WriteCloser, block []byte) ([]byte, error) {
	if _, err := w.Write(block); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// readAll appends what a reader gives.
func readAll(dst []byte, r io.Reader) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	n, err := io.Copy(out, io.LimitReader(r, maxBlock+1))
	if err == nil && n > maxBlock {
		err = errDamaged
	}
	return out.Bytes(), err
}

// unpackSnappy reads a block that has the checksum of its content behind it.
func unpackSnappy(dst, block []byte) ([]byte, error) {
	if len(block) < 4 {
		return nil, errDamaged
	}
	sum := binary.BigEndian.Uint32(block[len(block)-4:])
	block = block[:len(block)-4]
	n, err := s2.DecodedLen(block)
	if err != nil || n > maxBlock {
		return nil, errDamaged
	}
	from := len(dst)
	if cap(dst)-from < n {
		dst = append(make([]byte, 0, from+n), dst...)
	}
	out, err := s2.Decode(dst[from:from+n], block)
	if err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(out) != sum {
		return nil, fmt.Errorf("%w: a checksum is wrong", errDamaged)
	}
	return dst[:from+n], nil
}

func packSnappy(dst, block []byte) ([]byte, error) {
	if most := s2.MaxEncodedLen(len(block)); cap(dst)-len(dst) < most {
		dst = append(make([]byte, 0, len(dst)+most+4), dst...)
	}
	packed := s2.EncodeSnappy(dst[len(dst):cap(dst)], block)
	return binary.BigEndian.AppendUint32(dst[:len(dst)+len(packed)], crc32.ChecksumIEEE(block)), nil
}

// zstdDecoder is for all: it keeps nothing between blocks.
var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) { return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBlock)) })

func unpackZstd(dst, block []byte) ([]byte, error) {
	d, err := zstdDecoder()
	if err != nil {
		return nil, err
	}
	return d.DecodeAll(block, dst)
}
