package transform

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/stateful"
	"github.com/millrace/millrace/internal/vec"
)

const maxTime = math.MaxInt64

// The names of the operator's own metrics.
const (
	expiredValues    = "numValuesRemovedDueToTTLExpiry"
	registeredTimers = "numRegisteredTimers"
	deletedTimers    = "numDeletedTimers"
	expiredTimers    = "numExpiredTimers"
	timerTime        = "timerProcessingTimeMs"
	initialTime      = "initialStateProcessingTimeMs"
	droppedVars      = "numDeletedStateVars"
)

// shard is the work of one batch on one shard. It implements processor.Handle.
type shard struct {
	t     *Transform
	run   *execution
	kv    state.KV
	vars  *variables
	mine  []int // partitions
	now   int64
	phase string // for errors
	inst  processor.Instance

	// The grouping key at hand: hash and key, nil between groups.
	key       []byte
	partition int
	calls     int // of the processor

	scratch, index, length []byte
	failure                error // of the state: a processor that goes on all the same must not be believed
	declared               int

	rows, rowsBefore int64
	counted          int64 // what its own counter said
	out              []*vec.Batch
	figures          stateful.OpStats
	custom           map[string]int64
}

// fail notes an error of the state.
func (sh *shard) fail(err error) error {
	if err != nil && sh.failure == nil {
		sh.failure = err
	}
	return err
}

// begin makes a grouping key the one at hand.
func (sh *shard) begin(key []byte, partition int) {
	sh.key, sh.partition = key, partition
	sh.calls++
}

func (sh *shard) end() { sh.key = nil }

// call runs a function of the processor. Its own errors and panics become errors that name the function.
func (sh *shard) call(ctx context.Context, name string, f func() error) error {
	sh.phase = name
	err := guarded(name, f)
	switch {
	case sh.failure != nil:
		return sh.failure
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	}
	return userError(name, err)
}

func userError(name string, err error) error {
	if e, ok := errors.AsType[*errclass.Error](err); ok {
		return e
	}
	return errclass.New("TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR", "function", name, "reason", err.Error()).WithCause(err)
}

// guarded turns a panic into an error.
func guarded(name string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			cause := fmt.Errorf("panic: %v\n%s", r, debug.Stack())
			err = errclass.New("TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR", "function", name, "reason", fmt.Sprintf("panic: %v", r)).WithCause(cause)
		}
	}()
	return f()
}

// Declare implements processor.Handle.
func (sh *shard) Declare(v processor.Variable) (processor.State, error) {
	if sh.phase != "init" {
		return nil, errclass.New("STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE",
			"operationType", definers[v.Kind], "handleState", sh.phase)
	}
	known := sh.vars.find(v.Name)
	if known == nil || known.Kind != v.Kind || known.TTL != v.TTL {
		return nil, errclass.New("TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR", "function", "init",
			"reason", "it does not define the same state variables each time ("+v.Name+")")
	}
	sh.declared++
	return &stateVar{sh: sh, v: known}, nil
}

// Drop implements processor.Handle. It was done when the batch began.
func (sh *shard) Drop(string) error {
	if sh.phase != "init" {
		return errclass.New("STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_HANDLE_STATE",
			"operationType", "delete_if_exists", "handleState", sh.phase)
	}
	return nil
}

// Fail implements processor.Handle.
func (sh *shard) Fail(err error) error { return sh.fail(err) }

// Info implements processor.Handle.
func (sh *shard) Info() processor.Info { return sh.run.info }

// work runs the batch on the shard. first is set for the batch in which the initial state comes.
func (sh *shard) work(ctx context.Context, initial, rows []*vec.Batch) (err error) {
	if err := sh.readCounter(); err != nil {
		return err
	}
	if err := sh.clean(); err != nil {
		return err
	}
	due, err := sh.dueTimers(len(rows) + len(initial))
	if err != nil {
		return err
	}
	if len(rows)+len(initial) > 0 || len(due) > 0 {
		if err := sh.process(ctx, initial, rows, due); err != nil {
			return err
		}
	}
	began := time.Now()
	if sh.t.TimeMode == processor.ProcessingTime {
		if err := sh.expire(); err != nil {
			return err
		}
	}
	sh.figures.RemovalNanos = time.Since(began).Nanoseconds()
	if err := sh.nextDue(); err != nil {
		return err
	}
	return sh.writeCounter()
}

// dueTimers are the timers to fire in a batch without rows: those of a batch with rows are looked for when these are done.
func (sh *shard) dueTimers(rows int) ([]dueTimer, error) {
	if rows > 0 || sh.t.TimeMode == processor.None {
		return nil, nil
	}
	return sh.due(sh.run.timerBound)
}

func (sh *shard) process(ctx context.Context, initial, rows []*vec.Batch, due []dueTimer) (err error) {
	sh.inst = sh.run.program.New()
	if err := sh.call(ctx, "init", func() error { return sh.inst.Init(sh) }); err != nil {
		return err
	}
	if sh.declared != len(sh.vars.list) {
		return errclass.New("TRANSFORM_WITH_STATE_USER_FUNCTION_ERROR", "function", "init", "reason", "it does not define the same state variables each time")
	}
	defer func() {
		sh.end()
		if cerr := sh.call(ctx, "close", func() error { return sh.inst.Close() }); err == nil {
			err = cerr
		}
	}()
	began := time.Now()
	if len(initial) > 0 {
		err := sh.groups(ctx, initial, sh.t.Initial.Keys, sh.t.Initial.Rows, sh.t.Initial.Schema, sh.inst.BindInitial, "handleInitialState", sh.inst.Initial)
		if err != nil {
			return err
		}
		sh.custom[initialTime] = time.Since(began).Nanoseconds()
	}
	began = time.Now()
	if len(rows) > 0 {
		if err := sh.groups(ctx, rows, sh.t.Keys, sh.t.Rows, sh.t.RowSchema, sh.inst.Bind, "handleInputRows", sh.inst.Rows); err != nil {
			return err
		}
	}
	sh.figures.UpdateNanos = time.Since(began).Nanoseconds()
	began = time.Now()
	if due == nil && sh.t.TimeMode != processor.None {
		if due, err = sh.due(sh.run.timerBound); err != nil {
			return err
		}
	}
	if err := sh.fire(ctx, due); err != nil {
		return err
	}
	sh.custom[timerTime] = time.Since(began).Nanoseconds()
	return sh.take(true)
}

// take gets the rows that the processor has emitted.
func (sh *shard) take(all bool) error {
	rec, err := sh.inst.Take(all)
	if err != nil || rec == nil {
		return err
	}
	b, err := vec.FromArrow(rec, sh.t.Out)
	if err != nil {
		return err
	}
	if err := sh.checkTimes(b); err != nil {
		return err
	}
	sh.out = append(sh.out, b)
	return nil
}

// checkTimes refuses rows that would be late for whoever comes next.
func (sh *shard) checkTimes(b *vec.Batch) error {
	if sh.t.OutTime < 0 || sh.run.batch == nil {
		return nil
	}
	late := sh.run.bounds.Late
	for _, at := range stateful.TimesOf(b.Cols[sh.t.OutTime], b.N, state.NoTime) {
		if at <= late {
			return errclass.New("EMITTING_ROWS_OLDER_THAN_WATERMARK_NOT_ALLOWED",
				"currentWatermark", strconv.FormatInt(late/1000, 10), "emittedRowEventTime", strconv.FormatInt(at, 10))
		}
	}
	return nil
}

// readCounter adds up what the shard's counters say.
func (sh *shard) readCounter() error {
	from := indexKey(nil, sh.mine[0], counter)
	own := counterKey(sh.mine[0], sh.mine[0])
	return sh.each(from, after(from), func(key, value []byte) (bool, error) {
		n, w := binary.Varint(value)
		if w <= 0 {
			return false, errclass.New("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", "the number of rows is cut off")
		}
		if sh.rows += n; bytes.Equal(key, own) {
			sh.counted = n
		}
		sh.rowsBefore = sh.rows
		return true, nil
	})
}

func (sh *shard) writeCounter() error {
	if sh.rows == sh.rowsBefore {
		return nil
	}
	return sh.kv.Put(counterKey(sh.mine[0], sh.mine[0]), binary.AppendVarint(nil, sh.counted+sh.rows-sh.rowsBefore))
}

// nextDue finds the earliest time at which the shard has something to do without rows.
func (sh *shard) nextDue() error {
	sh.figures.NextDue = maxTime
	if sh.t.TimeMode != processor.ProcessingTime {
		return nil
	}
	for _, p := range sh.mine {
		for _, index := range []byte{byTimer, byExpiry} {
			from := indexKey(nil, p, index)
			err := sh.each(from, after(from), func(key, _ []byte) (bool, error) {
				at, _, err := processor.ReadTime(key[len(from):])
				sh.figures.NextDue = min(sh.figures.NextDue, at)
				return false, err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// clean removes the rows of state variables that are dropped.
func (sh *shard) clean() error {
	if len(sh.vars.gone) == 0 {
		return nil
	}
	var rows [][]byte
	err := sh.each(nil, nil, func(key, _ []byte) (bool, error) {
		if len(key) <= state.HashBytes {
			return true, nil
		}
		row := key
		if index := key[state.HashBytes]; index >= catalog {
			if index != byExpiry {
				return true, nil
			}
			row = key[state.HashBytes+1+8:]
		}
		rest := row[state.HashBytes:]
		for _, t := range sh.t.KeyTypes() {
			var err error
			if _, rest, err = processor.ReadKey(rest, t, true); err != nil {
				return false, errclass.New("STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", err.Error())
			}
		}
		if len(rest) < 2 {
			return true, nil
		}
		kind, gone := sh.vars.gone[binary.BigEndian.Uint16(rest)]
		if !gone {
			return true, nil
		}
		rows = append(rows, bytes.Clone(key))
		if len(row) == len(key) && (len(rest) == 2 || kind != processor.List) { // of a list only the row without rest was counted
			sh.rows--
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := sh.kv.Delete(r); err != nil {
			return err
		}
	}
	return nil
}
