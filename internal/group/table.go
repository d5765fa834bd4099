package group

import (
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// None is the group number of a row whose key is absent.
const None = ^uint32(0)

// Table maps keys to numbers. It belongs to one goroutine.
type Table interface {
	// Resolve finds the group of each of n rows and stores it in ids. Absent keys are added when insert is set, and the new
	// numbers appended to fresh, which is returned, in order of first occurrence; otherwise they become None. Keys are Flat or
	// Const.
	Resolve(keys []*vec.Vector, n int, insert bool, ids, fresh []uint32) []uint32
	// Cap is one more than the highest number in use so far.
	Cap() int
	// Len is the number of keys present.
	Len() int
	// Keys returns the key columns of some groups, Owned.
	Keys(ids []uint32) []*vec.Vector
	// Live appends the numbers of all present groups, in the order of insertion.
	Live(ids []uint32) []uint32
	// Delete removes groups. Their numbers are not used again: numbers always ascend in the order of insertion. A caller whose keys
	// come and go makes a new table when Cap has grown far beyond Len.
	Delete(ids []uint32)
	// Probe returns a view for another goroutine that only looks up, valid as long as nobody adds or deletes.
	Probe() Table
	// Bytes estimates the memory held.
	Bytes() int64
}

// New returns an empty table for keys of the given types. Without types there is exactly one possible key.
func New(keyTypes []types.DataType) Table {
	if len(keyTypes) == 1 {
		switch vec.PhysOf(keyTypes[0]) {
		case vec.PhysInt64:
			return newInts(keyTypes[0], loadInt64)
		case vec.PhysInt32:
			return newInts(keyTypes[0], loadInt32)
		case vec.PhysBytes:
			if s, ok := keyTypes[0].(types.StringType); !ok || s.Collation == "" {
				return newBytes(keyTypes, true)
			}
		}
	}
	return newBytes(keyTypes, false)
}

// index is the open-addressing part shared by all kinds: slots hold a group number plus one, and every group remembers its
// hash, so that growing needs no keys.
type index struct {
	slots  []uint32
	mask   uint64
	hashes []uint64 // by group
	live   vec.Bitmap
	used   int // slots in use, those of deleted keys (tombstone) included
	count  int
}

const tombstone = ^uint32(0)

func (x *index) init() {
	x.slots = make([]uint32, 64)
	x.mask = 63
}

// reserve makes room for n more keys, so that a loop of insertions never grows the table.
func (x *index) reserve(n int) {
	need := x.used + n
	if need*8 <= len(x.slots)*5 {
		return
	}
	size := len(x.slots)
	for (x.count+n)*2 > size {
		size *= 2
	}
	slots := make([]uint32, size)
	mask := uint64(size - 1)
	for g, h := range x.hashes {
		if !x.live.Get(g) {
			continue
		}
		i := h & mask
		for slots[i] != 0 {
			i = (i + 1) & mask
		}
		slots[i] = uint32(g) + 1
	}
	x.slots, x.mask, x.used = slots, mask, x.count
}

// add gives a new key a number. The caller stores it in the slot and keeps the key.
func (x *index) add(h uint64) uint32 {
	x.count++
	g := len(x.hashes)
	x.hashes = append(x.hashes, h)
	if g>>6 >= len(x.live) {
		x.live = append(x.live, 0)
	}
	x.live.Set(g)
	return uint32(g)
}

// remove frees a group's slot.
func (x *index) remove(g uint32) {
	for i := x.hashes[g] & x.mask; ; i = (i + 1) & x.mask {
		if x.slots[i] == g+1 {
			x.slots[i] = tombstone
			break
		}
	}
	x.live.Clear(int(g))
	x.count--
}

func (x *index) Cap() int { return len(x.hashes) }
func (x *index) Len() int { return x.count }

func (x *index) Live(ids []uint32) []uint32 {
	for g := range x.hashes {
		if x.live.Get(g) {
			ids = append(ids, uint32(g))
		}
	}
	return ids
}

func (x *index) bytes() int64 { return int64(len(x.slots))*4 + int64(cap(x.hashes))*8 }
