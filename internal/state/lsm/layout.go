package lsm

import (
	"encoding/binary"

	"github.com/millrace/millrace/internal/state"
)

// The keys of the store. Each begins with a kind and a shard.
//
//	r shard [time] key            a row of state that is found by its key; the time when it follows from the key
//	r shard size group number     a row of state that is looked for in groups
//	t shard time number           what follows r and the shard in a row's key: rows by event time, when their own keys are not
//	m shard                       next number and number of rows
//	b shard key                   a key of state that is ordered bytes
//
// The number of a row counts the rows of its shard as they come; it is the order in which they are put out. Numbers and times are
// big-endian, the latter with the sign bit turned over, so that keys sort by them.
const (
	rowKind  = 'r'
	timeKind = 't'
	metaKind = 'm'
	byteKind = 'b'

	numberBytes = 8
	timeBytes   = 8
)

// layout says how a state is laid out, as against what its columns are: it is stored, since reading with another one gives nothing.
type layout struct {
	// Expires is set when rows have an event time.
	Expires bool `json:"expires,omitempty"`
	// ByTime is set when a row's key begins with its event time.
	ByTime bool `json:"byTime,omitempty"`
	// Grouped is set when rows are found by groups.
	Grouped bool `json:"grouped,omitempty"`
}

func layoutOf(spec *state.Spec, timed bool) layout {
	l := layout{Expires: timed || spec.Time != nil, Grouped: spec.Group != nil}
	l.ByTime = l.Expires && !timed && !l.Grouped
	return l
}

// indexed tells whether rows are found by event time through keys of their own. Then the row holds the time, too.
func (l layout) indexed() bool { return l.Expires && !l.ByTime }

// text is for messages.
func (l layout) text() string {
	switch {
	case l.Grouped && l.Expires:
		return "rows in groups that expire"
	case l.Grouped:
		return "rows in groups"
	case l.ByTime:
		return "rows that expire by a key"
	case l.Expires:
		return "rows that expire by a value"
	}
	return "rows that never expire"
}

func appendTime(p []byte, at int64) []byte { return binary.BigEndian.AppendUint64(p, uint64(at)^1<<63) }

func readTime(p []byte) int64 { return int64(binary.BigEndian.Uint64(p) ^ 1<<63) }

func appendNumber(p []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(p, n) }

func readNumber(p []byte) uint64 { return binary.BigEndian.Uint64(p) }

// appendGroup begins the key of a row in a group: no group's bytes begin those of another one.
func appendGroup(p, group []byte) []byte {
	p = binary.BigEndian.AppendUint32(p, uint32(len(group)))
	return append(p, group...)
}

// prefix is what keys of a kind in a shard begin with.
func prefix(kind byte, shard int) []byte { return []byte{kind, byte(shard)} }

// after is the first key that does not begin with p.
func after(p []byte) []byte {
	end := append([]byte(nil), p...)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// upTo are the bounds of the keys of a kind that begin with an event time above from and up to bound.
func upTo(kind byte, shard int, from, bound int64) (lower, upper []byte) {
	lower, upper = prefix(kind, shard), prefix(kind, shard)
	if from != noBound {
		lower = appendTime(lower, from+1)
	}
	return lower, appendTime(upper, bound+1) // bound is below state.NoTime
}

// noBound is the bound up to which nothing has expired.
const noBound = -1 << 63

// rowHead is what a stored row begins with: its number and, in indexed layouts, its event time.
func (l layout) headBytes() int {
	if l.indexed() {
		return numberBytes + timeBytes
	}
	return numberBytes
}

func (l layout) appendHead(p []byte, number uint64, at int64) []byte {
	p = appendNumber(p, number)
	if l.indexed() {
		p = appendTime(p, at)
	}
	return p
}

// cutHead reads the head of a stored row.
func (l layout) cutHead(row []byte) (number uint64, at int64, rest []byte, err error) {
	n := l.headBytes()
	if len(row) < n {
		return 0, 0, nil, errRow
	}
	if l.indexed() {
		at = readTime(row[numberBytes:])
	}
	return binary.BigEndian.Uint64(row), at, row[n:], nil
}

// entry reads a row of the tree.
func (l layout) entry(key, value []byte) (e entry, err error) {
	key = key[2:]
	if e.number, e.at, e.value, err = l.cutHead(value); err != nil {
		return e, err
	}
	if l.ByTime {
		if len(key) < timeBytes {
			return e, errRow
		}
		e.at, key = readTime(key), key[timeBytes:]
	}
	if !l.Grouped {
		e.key = key
	}
	return e, nil
}
