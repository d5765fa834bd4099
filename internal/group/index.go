package group

import (
	"slices"

	"github.com/millrace/millrace/internal/vec"
)

// index is the open-addressing part shared by all kinds. A slot holds a group number plus one in its lower half, and the lower half
// of the key's hash in its upper one, so that most other keys are passed over without a look at them. Every group remembers that half
// of its hash, so that growing needs no keys.
type index struct {
	slots  []uint64
	mask   uint64
	hashes []uint32 // by group
	live   vec.Bitmap
	used   int // slots in use, those of deleted keys (tombstone) included
	count  int
	stale  bool // slots still have deleted keys; see refresh
}

// tombstone is the slot of a deleted key. No group has its number.
const tombstone = uint64(None)

// slotOf is the slot of a group.
func slotOf(hash uint32, g uint32) uint64 { return uint64(hash)<<32 | uint64(g+1) }

func (x *index) init() {
	x.slots = make([]uint64, 64)
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
	x.slots, x.mask = make([]uint64, size), uint64(size-1)
	x.fill()
}

// fill puts all groups into slots, which are empty.
func (x *index) fill() {
	for g, h := range x.hashes {
		if !x.live.Get(g) {
			continue
		}
		i := uint64(h) & x.mask
		for x.slots[i] != 0 {
			i = (i + 1) & x.mask
		}
		x.slots[i] = slotOf(h, uint32(g))
	}
	x.used, x.stale = x.count, false
}

// refresh brings the slots up to date after many keys were deleted. It comes before every use of them.
func (x *index) refresh() {
	if x.stale {
		clear(x.slots)
		x.fill()
	}
}

// add gives a new key a number. The caller stores it in the slot and keeps the key.
func (x *index) add(h uint32) uint32 {
	x.count++
	g := len(x.hashes)
	x.hashes = append(x.hashes, h)
	if g>>6 >= len(x.live) {
		x.live = append(x.live, 0)
	}
	x.live.Set(g)
	return uint32(g)
}

// remove frees the slots of groups.
func (x *index) remove(ids []uint32) {
	for _, g := range ids {
		x.live.Clear(int(g))
	}
	x.count -= len(ids)
	if x.stale || len(ids) > x.count { // cheaper than to look for each
		x.stale = true
		return
	}
	for _, g := range ids {
		h := x.hashes[g]
		for i := uint64(h) & x.mask; ; i = (i + 1) & x.mask {
			if x.slots[i] == slotOf(h, g) {
				x.slots[i] = tombstone
				break
			}
		}
	}
}

// compact numbers the groups that are present anew and returns their old numbers.
func (x *index) compact() []uint32 {
	old := x.Live(make([]uint32, 0, x.count))
	x.hashes = keepRows(x.hashes, old, 1)
	x.live = vec.NewBitmapSet(len(old))
	for size := len(x.slots); size > 64 && len(old)*4 < size; size /= 2 {
		x.slots, x.mask = x.slots[:size/2], uint64(size/2-1)
	}
	clear(x.slots)
	x.fill()
	return old
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

func (x *index) bytes() int64 { return int64(cap(x.slots))*8 + int64(cap(x.hashes))*4 }

const nullHash = 0x51ED270B

// addNull gives the null key of a table of one column a number.
func (x *index) addNull() uint32 {
	id := x.add(nullHash)
	s := uint64(nullHash) & x.mask
	for x.slots[s] != 0 && x.slots[s] != tombstone {
		s = (s + 1) & x.mask
	}
	if x.slots[s] == 0 {
		x.used++
	}
	x.slots[s] = slotOf(nullHash, id)
	return id
}

// keepRows moves rows of width values to the front, in their order. Memory stays in use unless it is much too large.
func keepRows[T any](xs []T, rows []uint32, width int) []T {
	to := xs[:0]
	if cap(xs) > 4*len(rows)*width+1024 {
		to = make([]T, 0, len(rows)*width)
	}
	if width == 1 {
		for _, r := range rows {
			to = append(to, xs[r])
		}
		return to
	}
	for _, r := range rows {
		to = append(to, xs[int(r)*width:int(r+1)*width]...)
	}
	return to
}

// renumbered is what a group's number plus one, or 0 for none, has become; old are the old numbers, in order.
func renumbered(old []uint32, null uint32) uint32 {
	if null == 0 {
		return 0
	}
	g, _ := slices.BinarySearch(old, null-1)
	return uint32(g) + 1
}
