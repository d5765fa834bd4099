package records

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The layout of a batch's head: places of its fields, counted from its first byte.
const (
	atLength      = 8
	atMagic       = 16
	atCRC         = 17
	atAttributes  = 21
	atLastDelta   = 23
	atFirstTime   = 27
	atMaxTime     = 35
	atProducer    = 43
	atCount       = 57
	headBytes     = 61
	beforeLength  = 12 // bytes that the length does not count
	attrCodec     = 0x07
	attrAppend    = 0x08 // timestamps are those of the broker
	attrTxn       = 0x10
	attrControl   = 0x20
	leastRecord   = 7 // bytes of the smallest record
	controlAborts = 0
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// head is a record batch before its records are looked at.
type head struct {
	base, last int64
	firstTime  int64
	maxTime    int64
	producer   int64
	count      int
	attrs      uint16
	payload    []byte
	at         int // of the payload in the response
}

func (h *head) codec() kgo.CompressionCodecType {
	return kgo.CompressionCodecType(h.attrs & attrCodec)
}

// OldFormatError is of records in a format from before Kafka 0.11, which has no batches.
type OldFormatError struct{ Magic int8 }

func (e *OldFormatError) Error() string {
	return fmt.Sprintf("the records have the message format %d of Kafka before 0.11", e.Magic)
}

// next reads the head of the first batch of in, which begins at the place at of the response. It returns 0 for a batch that is cut off:
// brokers cut responses anywhere.
func next(in []byte, at int, checkCRC bool) (h head, size int, err error) {
	if len(in) < atMagic+1 {
		return h, 0, nil
	}
	length := int64(int32(binary.BigEndian.Uint32(in[atLength:])))
	if length < 0 {
		return h, 0, fmt.Errorf("a record batch has the length %d", length)
	}
	if magic := int8(in[atMagic]); magic != 2 {
		return h, 0, &OldFormatError{magic}
	}
	if int64(len(in)) < length+beforeLength {
		return h, 0, nil
	}
	size = int(length + beforeLength)
	if size < headBytes {
		return h, 0, fmt.Errorf("a record batch has %d bytes only", size)
	}
	in = in[:size]
	if checkCRC {
		if want, got := binary.BigEndian.Uint32(in[atCRC:]), crc32.Checksum(in[atAttributes:], castagnoli); want != got {
			return h, 0, fmt.Errorf("a record batch has the checksum %08x, its bytes have %08x", want, got)
		}
	}
	h = head{
		base:      int64(binary.BigEndian.Uint64(in)),
		firstTime: int64(binary.BigEndian.Uint64(in[atFirstTime:])),
		maxTime:   int64(binary.BigEndian.Uint64(in[atMaxTime:])),
		producer:  int64(binary.BigEndian.Uint64(in[atProducer:])),
		count:     int(int32(binary.BigEndian.Uint32(in[atCount:]))),
		attrs:     binary.BigEndian.Uint16(in[atAttributes:]),
		payload:   in[headBytes:], at: at + headBytes,
	}
	h.last = h.base + int64(int32(binary.BigEndian.Uint32(in[atLastDelta:])))
	if h.base < 0 || h.last < h.base || h.count < 0 {
		return h, 0, fmt.Errorf("a record batch has the offsets %d to %d and %d records", h.base, h.last, h.count)
	}
	return h, size, nil
}

// Aborted is a transaction that was aborted: the records of its producer from an offset on, up to the mark of its end.
type Aborted struct{ Producer, First int64 }

// sieve leaves out the records of aborted transactions.
type sieve struct {
	rest   []Aborted // ascending by First
	inside map[int64]bool
}

func newSieve(aborted []Aborted) *sieve {
	s := &sieve{rest: slices.Clone(aborted), inside: map[int64]bool{}}
	slices.SortFunc(s.rest, func(a, b Aborted) int { return int(min(1, max(-1, a.First-b.First))) })
	return s
}

// see notes the transactions that have begun before the end of a batch: the mark of an end may be the first that is seen of them.
func (s *sieve) see(h *head) {
	for s != nil && len(s.rest) > 0 && s.rest[0].First <= h.last {
		s.inside[s.rest[0].Producer] = true
		s.rest = s.rest[1:]
	}
}

// drops tells whether a batch belongs to a transaction that was aborted.
func (s *sieve) drops(h *head) bool {
	return s != nil && h.attrs&attrTxn != 0 && s.inside[h.producer]
}

// ends notes the end of a transaction that a control batch marks.
func (s *sieve) ends(h *head) {
	if s == nil || !s.inside[h.producer] {
		return
	}
	// One record, whose key is a version and a type of two bytes each.
	i, ok := 0, true
	field := func() (v int64) {
		if ok {
			v, i = zigzag(h.payload, i)
			ok = i > 0
		}
		return v
	}
	field() // length
	i++     // attributes
	field() // time
	field() // offset
	if n := field(); !ok || n < 4 || i+4 > len(h.payload) {
		return
	}
	if binary.BigEndian.Uint16(h.payload[i+2:]) == controlAborts {
		delete(s.inside, h.producer)
	}
}

// zigzag reads a variable-length number at i and returns the place behind it, or a negative one when there is none.
func zigzag(b []byte, i int) (int64, int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return int64(b[i]>>1) ^ -int64(b[i]&1), i + 1
	}
	return longZigzag(b, i)
}

func longZigzag(b []byte, i int) (int64, int) {
	if i < 0 || i > len(b) {
		return 0, -1
	}
	u, n := binary.Uvarint(b[i:])
	if n <= 0 {
		return 0, -1
	}
	return int64(u>>1) ^ -int64(u&1), i + n
}

// End is the offset behind the last whole batch of a response that was asked for from an offset on: that offset when there is none.
func End(in []byte, from int64) (int64, error) {
	end := from
	for at := 0; at < len(in); {
		h, size, err := next(in[at:], at, false)
		if err != nil {
			return 0, err
		}
		if size == 0 {
			break
		}
		end = max(end, h.last+1)
		at += size
	}
	return end, nil
}
