package transform

import (
	"encoding/binary"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Keys of the state begin with four bytes that say where they belong (state.HashBytes). All of a grouping key lies together:
//
//	hash  key  variable  rest       a state variable: rest is empty, an element's number, or a map's key
//	hash  key  0         time       a timer
//
// where hash is the partition hash and key the grouping key in order. What is looked for by time lies apart, under the number of the
// partition instead of the hash, which leads to the same shard:
//
//	partition  FE  time  hash key                 timers by time
//	partition  FD  time  hash key variable rest   values by the end of their life
//	shard      FC  shard                          how many rows it has, less those that others count
//	0          FB                                 the state variables
//
// A grouping key never begins with a byte above 1, and variables are numbered far below FB00, so that the two do not mix.
const (
	byTimer  = 0xFE
	byExpiry = 0xFD
	counter  = 0xFC
	catalog  = 0xFB

	timers      = 0 // the variable that stands for timers
	maxVariable = 0xFAFF
)

func appendVariable(b []byte, number uint16) []byte { return binary.BigEndian.AppendUint16(b, number) }

// indexKey begins a key of an index.
func indexKey(b []byte, partition int, index byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(partition)), index)
}

// counterKey is a counter: that of shard was, as it was numbered when the state had been dealt out last, in a shard.
func counterKey(shard, was int) []byte {
	return binary.BigEndian.AppendUint32(indexKey(nil, shard, counter), uint32(was))
}

// Rekey implements stateful.Rekeyer. Counters go to any shard: it is their sum that counts.
func (t *Transform) Rekey(key []byte, partitions int) ([]byte, error) {
	if len(key) <= state.HashBytes {
		return nil, errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "a key is cut off")
	}
	out := append([]byte(nil), key...)
	switch index := key[state.HashBytes]; index {
	case byTimer, byExpiry:
		at := state.HashBytes + 1 + 8
		if len(key) < at+state.HashBytes {
			return nil, errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "an entry of an index is cut off")
		}
		hash := binary.BigEndian.Uint32(key[at:])
		binary.BigEndian.PutUint32(out, uint32(state.PartitionOf(hash, partitions)))
	case counter:
		if len(key) != state.HashBytes+1+4 {
			return nil, errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "a counter is cut off")
		}
		was := binary.BigEndian.Uint32(key[state.HashBytes+1:])
		binary.BigEndian.PutUint32(out, was%uint32(state.Shards(partitions)))
	}
	return out, nil
}

func catalogKey() []byte { return indexKey(nil, 0, catalog) }

// after is the first key behind all that begin with a prefix.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// appendColumn writes one column of a grouping key. All of them may be null.
func appendColumn(b []byte, v *vec.Vector, i int, t types.DataType) ([]byte, error) {
	if v.IsNull(i) {
		return append(b, 0), nil
	}
	switch t := t.(type) {
	case types.LongType, types.TimestampType, types.TimestampNTZType:
		return processor.AppendLong(b, vec.At[int64](v, i)), nil
	case types.IntegerType, types.DateType:
		return processor.AppendInt(b, vec.At[int32](v, i)), nil
	case types.StringType:
		if t.Collation != "" {
			return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", "a state key of the type "+t.SQL())
		}
		return processor.AppendString(b, v.StringAt(i)), nil
	}
	return processor.AppendKey(b, vec.ValueAt(v, i), t, true)
}

// decode turns bytes of grouping keys, without the hash, into columns.
func decode(ts []types.DataType, keys [][]byte) ([]*vec.Vector, error) {
	builders := make([]*vec.Builder, len(ts))
	for i, t := range ts {
		builders[i] = vec.NewBuilder(t)
	}
	for _, k := range keys {
		rest := k
		for i, t := range ts {
			v, left, err := processor.ReadKey(rest, t, true)
			if err == nil {
				err = builders[i].AppendValue(v)
			}
			if err != nil {
				return nil, errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", err.Error())
			}
			rest = left
		}
	}
	cols := make([]*vec.Vector, len(ts))
	for i, b := range builders {
		cols[i] = b.Finish()
	}
	return cols, nil
}

// partitions are those of a shard, in order.
func partitions(shard, count int) []int {
	var out []int
	for p := shard; p < count; p += state.Shards(count) {
		out = append(out, p)
	}
	return out
}
