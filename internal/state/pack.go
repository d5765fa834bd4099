package state

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/s2"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// packer packs what is written to it with S2. Its output is a block without the length in front: several become one, behind one
// another, so that parts of a body can be packed side by side. Large writes are packed where they lie.
type packer struct {
	out     []byte
	size    int // bytes written
	pending []byte
}

// packAlone is how large a write must be to be packed by itself.
const packAlone = 1 << 16

// Write implements io.Writer.
func (p *packer) Write(b []byte) (int, error) {
	p.size += len(b)
	if len(b) >= packAlone {
		p.flush()
		p.pack(b)
		return len(b), nil
	}
	if len(p.pending)+len(b) > packAlone {
		p.flush()
	}
	p.pending = append(p.pending, b...)
	return len(b), nil
}

func (p *packer) flush() {
	if len(p.pending) > 0 {
		p.pack(p.pending)
		p.pending = p.pending[:0]
	}
}

// packPart bounds what is packed in one piece, and with it the room that is made for what does not shrink.
const packPart = 1 << 22

func (p *packer) pack(b []byte) {
	for len(b) > 0 {
		part := b[:min(len(b), packPart)]
		b = b[len(part):]
		p.out = slices.Grow(p.out, s2.MaxEncodedLen(len(part)))
		block := s2.Encode(p.out[len(p.out):cap(p.out)], part)
		_, n := binary.Uvarint(block)
		p.out = append(p.out, block[n:]...)
	}
}

// joinPacked makes one block of what packers hold.
func joinPacked(ps ...*packer) ([]byte, error) {
	size, packed := 0, binary.MaxVarintLen64
	for _, p := range ps {
		p.flush()
		size += p.size
		packed += len(p.out)
	}
	if size > math.MaxUint32 {
		return nil, fmt.Errorf("a segment of state can't hold %d bytes, 4 GiB are the most", size)
	}
	out := binary.AppendUvarint(make([]byte, 0, packed), uint64(size))
	for _, p := range ps {
		out = append(out, p.out...)
	}
	return out, nil
}

// endOfStream ends an Arrow stream.
var endOfStream = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// packTable packs the batches of shards, nil for those without rows, as one Arrow stream: nothing at all when there are none.
func packTable(st types.StructType, shards []*vec.Batch, workers int) ([]*packer, error) {
	rows := 0
	for _, b := range shards {
		if b != nil {
			rows += b.N
		}
	}
	if rows == 0 {
		return nil, nil
	}
	schema := types.ArrowSchema(st, types.ArrowOptions{})
	ps := make([]*packer, len(shards))
	for i := range ps {
		ps[i] = &packer{}
	}
	head := ipc.GetSchemaPayload(schema, memory.DefaultAllocator)
	if _, err := head.WritePayload(ps[0]); err != nil {
		return nil, err
	}
	err := eachShard(len(shards), rows*len(st.Fields), workers, func(i int) error {
		if shards[i] == nil {
			return nil
		}
		rec, err := vec.ToArrow(shards[i].Own(), schema)
		if err != nil {
			return err
		}
		body, err := ipc.GetRecordBatchPayload(rec)
		if err != nil {
			return err
		}
		_, err = body.WritePayload(ps[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	_, err = ps[len(ps)-1].Write(endOfStream)
	return ps, err
}

// manyValues is how many values make it worth the while to look at shards side by side.
const manyValues = 1 << 14

// eachShard is Spec.EachShard.
func eachShard(shards, values, workers int, f func(shard int) error) error {
	workers = min(shards, workers)
	if workers < 2 || values < manyValues {
		for i := range shards {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, shards)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < shards; i += workers {
				errs[i] = guarded(f, i)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// guarded makes a panic an error, as it is where the batch runs.
func guarded(f func(int) error, i int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errclass.Internal(fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	return f(i)
}
