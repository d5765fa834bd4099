package parquetfile

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/pierrec/lz4/v4"
)

// knowLZ4 makes the library know the codec LZ4, which it leaves out because writers have meant different things by it.
var knowLZ4 = sync.OnceFunc(func() { compress.RegisterCodec(compress.Codecs.Lz4, hadoopLZ4{}) })

// hadoopLZ4 is LZ4 as Hadoop has it, and Spark with it: stretches of a text, each with its length and the length of its block before it,
// big-endian. It also reads pages that are a block and nothing else.
type hadoopLZ4 struct{}

const lz4Head = 8

// Encode implements compress.Codec.
func (c hadoopLZ4) Encode(dst, src []byte) []byte {
	if bound := int(c.CompressBound(int64(len(src)))); cap(dst) < bound {
		dst = make([]byte, bound)
	}
	dst = dst[:cap(dst)]
	var z lz4.Compressor
	n, err := z.CompressBlock(src, dst[lz4Head:])
	if err != nil {
		panic(err) // the bound was kept
	}
	binary.BigEndian.PutUint32(dst, uint32(len(src)))
	binary.BigEndian.PutUint32(dst[4:], uint32(n))
	return dst[:lz4Head+n]
}

// EncodeLevel implements compress.Codec: there are no levels.
func (c hadoopLZ4) EncodeLevel(dst, src []byte, _ int) []byte { return c.Encode(dst, src) }

// CompressBound implements compress.Codec.
func (hadoopLZ4) CompressBound(n int64) int64 { return lz4Head + int64(lz4.CompressBlockBound(int(n))) }

// Decode implements compress.Codec.
func (c hadoopLZ4) Decode(dst, src []byte) []byte {
	out, err := c.DecodeWithError(dst, src)
	if err != nil {
		panic(err)
	}
	return out
}

// DecodeWithError implements compress.ErrorCodec. dst has the size of the text.
func (hadoopLZ4) DecodeWithError(dst, src []byte) ([]byte, error) {
	if n, ok := decodeStretches(dst, src); ok {
		return dst[:n], nil
	}
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	return dst[:n], nil
}

func decodeStretches(dst, src []byte) (n int, ok bool) {
	for len(src) > 0 {
		if len(src) < lz4Head {
			return 0, false
		}
		text, block := int64(binary.BigEndian.Uint32(src)), int64(binary.BigEndian.Uint32(src[4:]))
		src = src[lz4Head:]
		if text > int64(len(dst)-n) || block > int64(len(src)) {
			return 0, false
		}
		m, err := lz4.UncompressBlock(src[:block], dst[n:n+int(text)])
		if err != nil || int64(m) != text {
			return 0, false
		}
		n += m
		src = src[block:]
	}
	return n, true
}
