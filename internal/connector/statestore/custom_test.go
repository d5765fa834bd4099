package statestore_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/millrace/millrace"
)

// order is a row of the states' files.
type order struct {
	TS time.Time `millrace:"ts"`
	K  string    `millrace:"k"`
	V  int       `millrace:"v"`
}

// ledger remembers something of each kind, and has a timer for each row.
type ledger struct {
	h       *millrace.StatefulProcessorHandle
	total   *millrace.ValueState[int]
	amounts *millrace.ListState[int]
	seen    *millrace.MapState[string, order]
}

func (l *ledger) Init(h *millrace.StatefulProcessorHandle) (err error) {
	l.h = h
	if l.total, err = millrace.NewValueState[int](h, "total"); err != nil {
		return err
	}
	if l.amounts, err = millrace.NewListState[int](h, "amounts"); err != nil {
		return err
	}
	l.seen, err = millrace.NewMapState[string, order](h, "seen")
	return err
}

func (l *ledger) HandleInputRows(_ context.Context, _ string, orders iter.Seq[order], _ millrace.TimerValues, _ func(string) error) error {
	total, _, err := l.total.Get()
	if err != nil {
		return err
	}
	for o := range orders {
		total += o.V
		if err := l.amounts.Append(o.V); err != nil {
			return err
		}
		if err := l.seen.Update(o.K+"!", o); err != nil {
			return err
		}
		if err := l.h.RegisterTimer(o.TS.Add(time.Hour)); err != nil {
			return err
		}
	}
	return l.total.Update(total)
}

func TestCustomState(t *testing.T) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		t.Run(provider, func(t *testing.T) {
			s := newStates(t, provider)
			dir := s.run("custom", millrace.TransformWithState(s.events().GroupBy("k"), &ledger{},
				millrace.TransformOptions{TimeMode: millrace.TimeModeEventTime}), millrace.Append)
			at := func(name string, more ...string) []string {
				return append([]string{"stateVarName", name, "batchId", "0"}, more...)
			}
			s.expect("a value", []string{
				"[key: [k: a], value: [value: 4], partition_id: 0]",
				"[key: [k: b], value: [value: 2], partition_id: 1]",
				"[key: [k: c], value: [value: 4], partition_id: 0]",
			}, "statestore", dir, "stateVarName", "total", "batchId", "1")
			s.expect("a value of one partition", []string{"[key: [k: b], value: [value: 2], partition_id: 1]"},
				"statestore", dir, at("total", "snapshotStartBatchId", "0", "snapshotPartitionId", "1")...)
			s.expect("elements of lists", []string{
				"[key: [k: a], list_element: [value: 1], partition_id: 0]", "[key: [k: a], list_element: [value: 3], partition_id: 0]",
				"[key: [k: b], list_element: [value: 2], partition_id: 1]", "[key: [k: c], list_element: [value: 4], partition_id: 0]",
			}, "statestore", dir, "stateVarName", "amounts", "batchId", "1")
			s.expect("lists", []string{
				"[key: [k: a], list_value: [[value: 1], [value: 3]], partition_id: 0]",
				"[key: [k: b], list_value: [[value: 2]], partition_id: 1]", "[key: [k: c], list_value: [[value: 4]], partition_id: 0]",
			}, "statestore", dir, "stateVarName", "amounts", "batchId", "1", "flattenCollectionTypes", "false")
			s.expect("entries of maps", []string{
				"[key: [k: a], user_map_key: [value: a!], user_map_value: [ts: 10:01:00, k: a, v: 1], partition_id: 0]",
				"[key: [k: b], user_map_key: [value: b!], user_map_value: [ts: 10:02:00, k: b, v: 2], partition_id: 1]",
			}, "statestore", dir, at("seen")...)
			s.expect("timers", []string{
				"[key: [k: a], expiration_timestamp_ms: 1767265260000, partition_id: 0]",
				"[key: [k: b], expiration_timestamp_ms: 1767265320000, partition_id: 1]",
			}, "statestore", dir, "readRegisteredTimers", "true", "batchId", "0")
			for _, c := range []struct {
				condition string
				options   []string
			}{
				{"STDS_REQUIRED_OPTION_UNSPECIFIED", nil},
				{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", []string{"stateVarName", "tutal"}},
				{"STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", []string{"stateVarName", "total", "flattenCollectionTypes", "some"}},
				{"STDS_CONFLICT_OPTIONS", []string{"stateVarName", "total", "joinSide", "left"}},
				{"STDS_CONFLICT_OPTIONS", []string{"stateVarName", "total", "readChangeFeed", "true", "changeStartBatchId", "0"}},
			} {
				_, err := s.read("statestore", dir, c.options...)
				if e, ok := errors.AsType[*millrace.Error](err); !ok || e.Class != c.condition {
					t.Errorf("%v: %v, not %s", c.options, err, c.condition)
				}
			}
		})
	}
}
