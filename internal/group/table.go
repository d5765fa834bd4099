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
	// Compact numbers the groups that are present anew, from 0 in the order of insertion.
	Compact()
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
	if l := wordLayout(keyTypes); l != nil {
		return newWords(l)
	}
	return newBytes(keyTypes, false)
}
