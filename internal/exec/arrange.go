package exec

import (
	"slices"

	"github.com/millrace/millrace/internal/vec"
)

// Order says how the groups of a HashAgg come out. No query may rely on it, but most programs print groups as they come, so it is that of
// Spark, whose groups come from a table for the one kind of aggregates and from a sort for the other.
type Order uint8

const (
	// ByPartition is by the part of the input that has the group's first row, in one part by the hash partition of the key, and in one of
	// those by first row.
	ByPartition Order = iota
	// ByPartitionOrKey is ByPartition as long as there are no more than hashedGroups groups, and ByKey for more.
	ByPartitionOrKey
	// ByKey is by the keys, ascending, nulls first.
	ByKey
)

// Nulls says how keys with nulls come out ByPartition. Spark has a quick table for keys without nulls and a second one for the others.
type Nulls uint8

const (
	// NullsAmong are where their first rows are.
	NullsAmong Nulls = iota
	// NullsBehind come behind the other keys of their part and partition: partial results come from two tables.
	NullsBehind
	// NullsLast come behind all others: final results do so as well.
	NullsLast
)

// Arrange is how groups are dealt out and come out.
type Arrange struct {
	Order Order
	Nulls Nulls
	// Placed says that the rows of a group lie in one part already: there is no exchange, and groups come by part, in one by first row or key.
	Placed bool
	// Idle are keys that say nothing because they are constants or repeat another one.
	Idle []bool
}

// hashed are the keys that decide about partitions.
func (a *Arrange) hashed(keys []*vec.Vector) []*vec.Vector {
	if a.Idle == nil {
		return keys
	}
	out := make([]*vec.Vector, 0, len(keys))
	for i, k := range keys {
		if !a.Idle[i] {
			out = append(out, k)
		}
	}
	return out
}

const (
	// hashedGroups is how many groups of aggregates without a state of fixed size Spark keeps in a table.
	hashedGroups = 128
	// sortedGroups is how many groups of a shard are put in order at most: more than that nobody looks through.
	sortedGroups = 1 << 15
	// smallBytes is the size of an exchange that makes one part: Spark joins partitions that small.
	smallBytes = 1 << 20
)

// Shards is how many shares an exchange is computed in.
func (t *Task) Shards() int { return max(1, min(t.Partitions, t.Workers)) }

// Shard is the share that has a key's hash partition: each has some that follow each other.
func (t *Task) Shard(hash uint32) int {
	return Shard(hash, t.Partitions) * t.Shards() / t.Partitions
}

// together makes one shard of all when they are small: its chunks come by part, and in one by shard.
func together(shards [][]Chunk) [][]Chunk {
	size := int64(0)
	var all []Chunk
	for _, chunks := range shards {
		for _, c := range chunks {
			if c.batch == nil {
				return shards
			}
			size += max(c.size, int64(c.batch.SizeBytes()))
		}
		if size > smallBytes {
			return shards
		}
		all = append(all, chunks...)
	}
	slices.SortStableFunc(all, func(a, b Chunk) int { return a.part - b.part })
	return [][]Chunk{all}
}

// arrange returns the groups of a table in the order in which they come out, and for each its hash partition if that decided.
func (h *HashAgg) arrange(t *Task, x *hashTable) (ids, partitions []uint32) {
	live := x.table.Live(nil)
	n := len(live)
	if len(h.Keys) == 0 || n == 0 {
		return live, nil
	}
	if n > sortedGroups && t.Coalesce {
		return live, nil
	}
	sorted := h.Order == ByKey || h.Order == ByPartitionOrKey && n > hashedGroups
	if sorted && n <= sortedGroups {
		ids := vec.SortIndex(x.table.Keys(live), nil, n)
		if t.Coalesce || h.Placed {
			return ids, nil
		}
		live, x.ends = ids, nil
	}
	// What is sorted: twice the partition, and one more for a key with nulls.
	place := make([]uint32, n)
	var hashes []uint32
	anyNull := false
	for from := 0; from < n; from += vec.BatchRows {
		some := live[from:min(from+vec.BatchRows, n)]
		keys := h.hashed(x.table.Keys(some))
		if !h.Placed {
			hashes = vec.PartitionHash(keys, len(some), hashes)
			for i, hash := range hashes {
				place[from+i] = uint32(Shard(hash, t.Partitions)) << 1
			}
		}
		for _, k := range keys {
			if h.Nulls != NullsAmong && !sorted && k.HasNulls() {
				anyNull = true
				for i := range some {
					if k.IsNull(i) {
						place[from+i] |= 1
					}
				}
			}
		}
	}
	if h.Placed && !anyNull {
		return live, nil
	}
	ends := x.ends
	if !t.Coalesce || h.Placed {
		ends = nil
	}
	out, placed := make([]uint32, n), make([]uint32, n)
	next := make([]int, 2*t.Partitions)
	from := 0
	for _, to := range append(ends, n) {
		byPlace(live[from:to], place[from:to], next, out[from:to], placed[from:to])
		from = to
	}
	if anyNull && h.Nulls == NullsLast && (t.Coalesce || h.Placed) {
		nullsLast(out, placed)
	}
	if t.Coalesce || h.Placed {
		return out, nil
	}
	return out, placed
}

// byPlace sorts groups by place, stably, into out and placed. next is scratch, a number for each place.
func byPlace(ids, place []uint32, next []int, out, placed []uint32) {
	if len(ids) < len(next)/8 {
		rows := make([]int, len(ids))
		for i := range rows {
			rows[i] = i
		}
		slices.SortStableFunc(rows, func(a, b int) int { return int(place[a]) - int(place[b]) })
		for i, r := range rows {
			out[i], placed[i] = ids[r], place[r]
		}
		return
	}
	clear(next)
	for _, p := range place {
		next[p]++
	}
	at := 0
	for p, n := range next {
		next[p] = at
		at += n
	}
	for i, p := range place {
		out[next[p]], placed[next[p]] = ids[i], p
		next[p]++
	}
}

// nullsLast moves the groups whose keys have nulls to the end.
func nullsLast(ids, placed []uint32) {
	var last []uint32
	at := 0
	for i, g := range ids {
		if placed[i]&1 == 1 {
			last = append(last, g)
			continue
		}
		ids[at] = g
		at++
	}
	copy(ids[at:], last)
}

// stretches cuts a shard's groups by hash partition, into the lists of all partitions.
func stretches(ids, placed []uint32, lists [][]uint32) {
	for from := 0; from < len(ids); {
		to := from + 1
		for to < len(ids) && placed[to]>>1 == placed[from]>>1 {
			to++
		}
		lists[placed[from]>>1] = ids[from:to:to]
		from = to
	}
}
