package lsm

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/s2"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// A file is a line that names its format, and blocks: the length of the content, a checksum of the block's number and the content,
// the content. Behind the last block stand a zero and the number of blocks.
const (
	changesMagic  = "millrace lsm changes 1\n"
	snapshotMagic = "millrace lsm snapshot 1\n"

	// blockBytes is how large the content of a block becomes before it is packed, but for the one operation that it ends with.
	blockBytes = 1 << 20
	// maxBlock bounds what a damaged length can make us ask for.
	maxBlock = 1 << 31
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(number uint32, content []byte) uint32 {
	var n [4]byte
	binary.LittleEndian.PutUint32(n[:], number)
	return crc32.Update(crc32.Checksum(n[:], castagnoli), castagnoli, content)
}

// blockWriter writes a file.
type blockWriter struct {
	w      io.Writer
	number uint32
	size   int64
	err    error
	// ops is the block being filled.
	ops    []byte
	packed []byte
}

func newBlockWriter(w io.Writer, magic string) *blockWriter {
	b := &blockWriter{w: w}
	b.write([]byte(magic))
	return b
}

func (b *blockWriter) write(p []byte) {
	if b.err == nil {
		_, b.err = b.w.Write(p)
		b.size += int64(len(p))
	}
}

func (b *blockWriter) block(content []byte) {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(content)))
	binary.LittleEndian.PutUint32(head[4:], checksum(b.number, content))
	b.write(head[:])
	b.write(content)
	b.number++
}

// header writes a block of JSON.
func (b *blockWriter) header(v any) {
	content, err := json.Marshal(v)
	if err != nil && b.err == nil {
		b.err = err
	}
	b.block(content)
}

// flush writes the operations gathered.
func (b *blockWriter) flush() {
	if len(b.ops) > 0 {
		b.packed = s2.Encode(b.packed[:cap(b.packed)], b.ops)
		b.block(b.packed)
		b.ops = b.ops[:0]
	}
}

// full writes the operations gathered when they are many.
func (b *blockWriter) full() {
	if len(b.ops) >= blockBytes {
		b.flush()
	}
}

// end completes the file.
func (b *blockWriter) end() error {
	b.flush()
	var tail [8]byte
	binary.LittleEndian.PutUint32(tail[4:], b.number)
	b.write(tail[:])
	return b.err
}

// blockReader reads a file.
type blockReader struct {
	r      io.Reader
	name   string
	number uint32
	buf    []byte
	ops    []byte
}

func newBlockReader(r io.Reader, name, magic string) (*blockReader, error) {
	b := &blockReader{r: r, name: name}
	got := make([]byte, len(magic))
	if _, err := io.ReadFull(r, got); err != nil {
		return nil, b.damaged(err)
	}
	if string(got) != magic {
		return nil, b.damaged(fmt.Errorf("it does not begin with %q", magic[:len(magic)-1]))
	}
	return b, nil
}

// block returns the next block, valid until the next call, or io.EOF.
func (b *blockReader) block() ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(b.r, head[:]); err != nil {
		return nil, b.damaged(err)
	}
	n, sum := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if n == 0 {
		if sum != b.number {
			return nil, b.damaged(fmt.Errorf("it says it has %d blocks and has %d", sum, b.number))
		}
		if _, err := io.ReadFull(b.r, head[:1]); err != io.EOF {
			return nil, b.damaged(errors.Join(errors.New("there is something behind its end"), err))
		}
		return nil, io.EOF
	}
	content, err := b.content(int(n))
	if err != nil {
		return nil, err
	}
	if checksum(b.number, content) != sum {
		return nil, b.damaged(fmt.Errorf("the checksum of block %d does not match", b.number))
	}
	b.number++
	return content, nil
}

// content reads a block. The length is not to be trusted: memory is asked for as bytes come.
func (b *blockReader) content(n int) ([]byte, error) {
	b.buf = b.buf[:0]
	for len(b.buf) < n {
		from := len(b.buf)
		to := min(n, from+blockBytes)
		if cap(b.buf) < to {
			b.buf = append(make([]byte, 0, min(n, 2*to)), b.buf...)
		}
		b.buf = b.buf[:to]
		if _, err := io.ReadFull(b.r, b.buf[from:]); err != nil {
			return nil, b.damaged(err)
		}
	}
	return b.buf, nil
}

func (b *blockReader) header(v any) error {
	content, err := b.block()
	if err == io.EOF {
		err = b.damaged(errors.New("it has no header"))
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, v); err != nil {
		return b.damaged(err)
	}
	return nil
}

// unpack returns the next block of operations, valid until the next call, or io.EOF.
func (b *blockReader) unpack() ([]byte, error) {
	packed, err := b.block()
	if err != nil {
		return nil, err
	}
	if n, err := s2.DecodedLen(packed); err != nil || n > maxBlock {
		return nil, b.damaged(fmt.Errorf("block %d does not unpack", b.number-1))
	}
	if b.ops, err = s2.Decode(b.ops[:cap(b.ops)], packed); err != nil {
		return nil, b.damaged(err)
	}
	return b.ops, nil
}

// damaged makes an error of one that says what is wrong with the file.
func (b *blockReader) damaged(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return damaged(b.name, err)
}

// damaged is the error of a file that does not hold what it should. An error of the disk says itself what it is about.
func damaged(name string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrNotExist) {
		return errclass.FileIO(e).WithCause(fmt.Errorf("state %s: %w", name, err))
	}
	return errclass.New("CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE", "fileToRead", name).WithCause(err)
}

// The operations in a block.
const (
	opPut    = 1 // key, value: each with its length before it
	opDelete = 2 // key
	opExpire = 3 // shard, event time as in keys: rows up to it are gone
)

func appendPut(ops, key []byte, value ...[]byte) []byte {
	ops = append(ops, opPut)
	ops = append(binary.AppendUvarint(ops, uint64(len(key))), key...)
	size := 0
	for _, v := range value {
		size += len(v)
	}
	ops = binary.AppendUvarint(ops, uint64(size))
	for _, v := range value {
		ops = append(ops, v...)
	}
	return ops
}

func appendDelete(ops, key []byte) []byte {
	ops = append(ops, opDelete)
	return append(binary.AppendUvarint(ops, uint64(len(key))), key...)
}

func appendExpire(ops []byte, shard int, bound int64) []byte {
	return appendTime(append(ops, opExpire, byte(shard)), bound)
}

var errOps = errors.New("an operation is cut off")

// cut reads a length and as many bytes.
func cut(p []byte) (s, rest []byte, err error) {
	n, w := binary.Uvarint(p)
	if w <= 0 || uint64(len(p)-w) < n {
		return nil, nil, errOps
	}
	return p[w : w+int(n)], p[w+int(n):], nil
}
