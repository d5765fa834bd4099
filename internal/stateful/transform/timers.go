package transform

import (
	"context"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
)

// timed tells whether timers can be used now.
func (sh *shard) timed(operation string) error {
	switch {
	case sh.t.TimeMode == processor.None:
		return errclass.New("STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_TIME_MODE",
			"operationType", operation, "timeMode", sh.t.TimeMode.String())
	case sh.key == nil:
		return errclass.New("STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE",
			"operationType", operation, "handleState", sh.phase)
	}
	return nil
}

// timerRow is the key of a timer of the grouping key at hand, timerEntry that of its entry in the index.
func (sh *shard) timerRow(ms int64) []byte {
	sh.scratch = processor.AppendTime(appendVariable(append(sh.scratch[:0], sh.key...), timers), ms)
	return sh.scratch
}

func (sh *shard) timerEntry(ms int64) []byte {
	sh.index = append(processor.AppendTime(indexKey(sh.index[:0], sh.partition, byTimer), ms), sh.key...)
	return sh.index
}

// RegisterTimer implements processor.Handle. A timer that there is already stays one.
func (sh *shard) RegisterTimer(ms int64) error {
	if err := sh.timed("register_timer"); err != nil {
		return err
	}
	sh.custom[registeredTimers]++
	if err := sh.fail(sh.kv.Put(sh.timerRow(ms), nil)); err != nil {
		return err
	}
	return sh.fail(sh.kv.Put(sh.timerEntry(ms), nil))
}

// DeleteTimer implements processor.Handle.
func (sh *shard) DeleteTimer(ms int64) error {
	if err := sh.timed("delete_timer"); err != nil {
		return err
	}
	sh.custom[deletedTimers]++
	if err := sh.fail(sh.kv.Delete(sh.timerRow(ms))); err != nil {
		return err
	}
	return sh.fail(sh.kv.Delete(sh.timerEntry(ms)))
}

// Timers implements processor.Handle.
func (sh *shard) Timers() ([]int64, error) {
	if err := sh.timed("list_timers"); err != nil {
		return nil, err
	}
	prefix := appendVariable(append([]byte(nil), sh.key...), timers)
	var out []int64
	err := sh.each(prefix, after(prefix), func(key, _ []byte) (bool, error) {
		ms, _, err := processor.ReadTime(key[len(prefix):])
		out = append(out, ms)
		return true, err
	})
	return out, err
}

// dueTimer is a timer that has expired.
type dueTimer struct {
	at        int64
	partition int
	key       []byte // hash and grouping key
}

// due are the timers that have expired by a time, by partition and time.
func (sh *shard) due(ms int64) ([]dueTimer, error) {
	var out []dueTimer
	for _, p := range sh.mine {
		from := indexKey(nil, p, byTimer)
		to := after(from)
		if ms < maxTime {
			to = processor.AppendTime(from[:len(from):len(from)], ms+1)
		}
		err := sh.each(from, to, func(key, _ []byte) (bool, error) {
			at, rest, err := processor.ReadTime(key[len(from):])
			if err == nil && len(rest) < state.HashBytes {
				err = errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "a timer is cut off")
			}
			out = append(out, dueTimer{at, p, append([]byte(nil), rest...)})
			return true, err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// timerChunk is how many keys of timers are decoded at a time.
const timerChunk = 4096

// fire tells the processor of expired timers. One that an earlier call has deleted is left out; one that is registered now waits for
// the next batch, whatever its time is.
func (sh *shard) fire(ctx context.Context, due []dueTimer) error {
	for len(due) > 0 {
		chunk := due[:min(len(due), timerChunk)]
		due = due[len(chunk):]
		keys := make([][]byte, len(chunk))
		for i, d := range chunk {
			keys[i] = d.key[state.HashBytes:]
		}
		cols, err := decode(sh.t.KeyTypes(), keys)
		if err != nil {
			return err
		}
		if err := sh.bindKeys(vec.NewBatch(len(chunk), cols...)); err != nil {
			return err
		}
		for i, d := range chunk {
			sh.begin(d.key, d.partition)
			_, still, err := sh.kv.Get(sh.timerRow(d.at))
			if err != nil {
				return err
			}
			if !still {
				continue
			}
			sh.custom[expiredTimers]++
			if err := sh.call(ctx, "handleExpiredTimer", func() error { return sh.inst.Timer(ctx, i, d.at) }); err != nil {
				return err
			}
			if err := sh.DeleteTimer(d.at); err != nil {
				return err
			}
			if err := sh.take(false); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		sh.end()
	}
	return nil
}
