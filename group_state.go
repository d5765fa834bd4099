package millrace

import (
	"context"
	"iter"
	"time"

	"github.com/millrace/millrace/internal/errclass"
)

// GroupState is the state of one group in FlatMapGroupsWithState and MapGroupsWithState: at most one value and one timeout.
type GroupState[S any] struct {
	mode   TimeMode
	timers TimerValues
	p      interface {
		setTimeout(t time.Time) error
	}
	value    *ValueState[S]
	timedOut bool
}

// Get is the state; ok is false when there is none.
func (g *GroupState[S]) Get() (state S, ok bool, err error) { return g.value.Get() }

// Update sets the state.
func (g *GroupState[S]) Update(state S) error { return g.value.Update(state) }

// Remove removes the state and the timeout.
func (g *GroupState[S]) Remove() error {
	return firstError(g.value.Clear(), g.p.setTimeout(time.Time{}))
}

// HasTimedOut tells whether the call is for a timeout. Then there are no rows.
func (g *GroupState[S]) HasTimedOut() bool { return g.timedOut }

// Now is the time of the batch, Watermark the watermark, or the zero Time when there is none.
func (g *GroupState[S]) Now() time.Time { return g.timers.Now }

// Watermark is the watermark, or the zero Time when there is none.
func (g *GroupState[S]) Watermark() time.Time { return g.timers.Watermark }

// SetTimeout makes the function be called without rows when no rows have come for the group for a duration, in processing time.
func (g *GroupState[S]) SetTimeout(d time.Duration) error {
	if g.mode != TimeModeProcessingTime {
		return wrongTimeout("SetTimeout", g.mode)
	}
	if d <= 0 {
		return errclass.New("VALUE_NOT_BETWEEN", "argName", "The timeout", "min", "1ms", "max", "any duration", "value", d.String())
	}
	return g.p.setTimeout(g.timers.Now.Add(d))
}

// SetTimeoutAt makes the function be called without rows when no rows have come for the group until the watermark passes a time, which must
// be later than the watermark is.
func (g *GroupState[S]) SetTimeoutAt(t time.Time) error {
	if g.mode != TimeModeEventTime {
		return wrongTimeout("SetTimeoutAt", g.mode)
	}
	if !t.After(g.timers.Watermark) {
		return errclass.New("VALUE_NOT_BETWEEN", "argName", "The timeout", "min", g.timers.Watermark.String(), "max", "any time", "value", t.String())
	}
	return g.p.setTimeout(t)
}

func wrongTimeout(operation string, mode TimeMode) error {
	return errclass.New("STATEFUL_PROCESSOR_CANNOT_PERFORM_OPERATION_WITH_INVALID_TIME_MODE", "operationType", operation, "timeMode", string(mode))
}

// GroupStateOptions are what FlatMapGroupsWithState can be told.
type GroupStateOptions struct {
	OutputMode OutputMode
	// Timeout is the clock of timeouts; there are none unless set.
	Timeout TimeMode
}

// FlatMapGroupsWithState calls a function for every group with rows, with the state that the last call for the group has left, and for groups
// whose timeout is over. It is the simple form of TransformWithState, and works where that does: state is a value named "groupState". A
// timeout counts until the next call for its group, which has to set another.
func FlatMapGroupsWithState[K, I, S, O any](g *GroupedData,
	f func(ctx context.Context, key K, rows iter.Seq[I], state *GroupState[S], emit func(O) error) error, opts GroupStateOptions,
) *DataFrame {
	return TransformWithState[K, I, O](g, &groupProcessor[K, I, S, O]{f: f}, TransformOptions{OutputMode: opts.OutputMode, TimeMode: opts.Timeout})
}

// MapGroupsWithState is FlatMapGroupsWithState for a function that gives one row each time.
func MapGroupsWithState[K, I, S, O any](g *GroupedData,
	f func(ctx context.Context, key K, rows iter.Seq[I], state *GroupState[S]) (O, error), opts GroupStateOptions,
) *DataFrame {
	return FlatMapGroupsWithState(g, func(ctx context.Context, key K, rows iter.Seq[I], state *GroupState[S], emit func(O) error) error {
		out, err := f(ctx, key, rows, state)
		if err != nil {
			return err
		}
		return emit(out)
	}, opts)
}

// groupProcessor is the StatefulProcessor of FlatMapGroupsWithState.
type groupProcessor[K, I, S, O any] struct {
	f     func(ctx context.Context, key K, rows iter.Seq[I], state *GroupState[S], emit func(O) error) error
	h     *StatefulProcessorHandle
	state GroupState[S]
}

// Init implements StatefulProcessor.
func (p *groupProcessor[K, I, S, O]) Init(h *StatefulProcessorHandle) (err error) {
	p.h = h
	p.state = GroupState[S]{mode: h.TimeMode(), p: p}
	p.state.value, err = NewValueState[S](h, "groupState")
	return err
}

// HandleInputRows implements StatefulProcessor.
func (p *groupProcessor[K, I, S, O]) HandleInputRows(ctx context.Context, key K, rows iter.Seq[I], timers TimerValues, emit func(O) error) error {
	if err := p.setTimeout(time.Time{}); err != nil {
		return err
	}
	p.state.timers, p.state.timedOut = timers, false
	return p.f(ctx, key, rows, &p.state, emit)
}

// HandleExpiredTimer implements TimerHandler.
func (p *groupProcessor[K, I, S, O]) HandleExpiredTimer(ctx context.Context, key K, _ ExpiredTimer, timers TimerValues, emit func(O) error) error {
	p.state.timers, p.state.timedOut = timers, true
	return p.f(ctx, key, func(func(I) bool) {}, &p.state, emit)
}

// setTimeout replaces the timeout of the group, or removes it.
func (p *groupProcessor[K, I, S, O]) setTimeout(t time.Time) error {
	if p.h.TimeMode() == TimeModeNone {
		return nil
	}
	old, err := p.h.Timers()
	for _, o := range old {
		if err == nil && !o.Equal(t) {
			err = p.h.DeleteTimer(o)
		}
	}
	if err != nil || t.IsZero() {
		return err
	}
	return p.h.RegisterTimer(t)
}
