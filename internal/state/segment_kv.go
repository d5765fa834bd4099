package state

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// bytesKind marks a segment of state that is ordered bytes. It has the frame of the others; in place of the two tables are lists: keys
// with values, and keys. Each key and value stands behind its length.
const bytesKind = "bytes"

// KVChanges are the changes of state as ordered bytes, on their way into a segment.
type KVChanges struct {
	shards     []ShardRange
	puts, dels []byte
}

// Shard begins the changes of the next shard.
func (c *KVChanges) Shard() { c.shards = append(c.shards, ShardRange{}) }

// Put adds a key of the shard with its value.
func (c *KVChanges) Put(key, value []byte) {
	c.puts = AppendBytes(AppendBytes(c.puts, key), value)
	c.shards[len(c.shards)-1].Puts++
}

// Delete adds a key of the shard that was removed.
func (c *KVChanges) Delete(key []byte) {
	c.dels = AppendBytes(c.dels, key)
	c.shards[len(c.shards)-1].Deletes++
}

// Encode returns the bytes of a segment.
func (c *KVChanges) Encode(h Header) ([]byte, error) {
	h.Shards = c.shards
	body := &packer{}
	for _, b := range [][]byte{c.puts, c.dels} {
		if _, err := body.Write(b); err != nil {
			return nil, err
		}
	}
	packed, err := joinPacked(body)
	if err != nil {
		return nil, err
	}
	return frame(h, len(c.puts), packed)
}

// DecodeKVSegment reads a segment back: it hands over the keys that were removed, then those that were put, in the order in which they
// lie in the segment. The slices stay as they are. name is for messages.
func DecodeKVSegment(spec Spec, name string, content []byte, put func(key, value []byte), remove func(key []byte)) (Header, error) {
	h, split, body, err := open(name, content)
	if err != nil {
		return h, err
	}
	if err := Fits(spec, h); err != nil {
		return h, err
	}
	puts, dels := 0, 0
	for _, r := range h.Shards {
		puts, dels = puts+r.Puts, dels+r.Deletes
	}
	for rest := body[split:]; len(rest) > 0; dels-- {
		var key []byte
		if key, rest, err = CutBytes(rest); err == nil {
			err = CheckKey(key)
		}
		if err != nil {
			return h, Damaged(name, err)
		}
		remove(key)
	}
	for rest := body[:split]; len(rest) > 0; puts-- {
		var key, value []byte
		if key, rest, err = CutBytes(rest); err == nil {
			value, rest, err = CutBytes(rest)
		}
		if err == nil {
			err = CheckKey(key)
		}
		if err != nil {
			return h, Damaged(name, err)
		}
		put(key, value)
	}
	if puts != 0 || dels != 0 {
		return h, Damaged(name, errors.New("it does not have as many keys as its header says"))
	}
	return h, nil
}

// CheckKey refuses keys that do not begin with a partition hash.
func CheckKey(key []byte) error {
	if len(key) < HashBytes {
		return fmt.Errorf("a key of %d bytes does not begin with a partition hash", len(key))
	}
	return nil
}

// KeyShard is the shard to which a key belongs.
func KeyShard(key []byte, partitions int) int {
	return ShardOf(binary.BigEndian.Uint32(key), partitions)
}

// AppendBytes appends bytes behind their length.
func AppendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

var errCut = errors.New("a list of bytes is cut off")

// CutBytes reads what AppendBytes has written.
func CutBytes(p []byte) (b, rest []byte, err error) {
	n, w := binary.Uvarint(p)
	if w <= 0 || uint64(len(p)-w) < n {
		return nil, nil, errCut
	}
	end := w + int(n)
	return p[w:end:end], p[end:], nil
}
