package histories

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/types"
)

// tally is a stateful processor with a state variable of each kind and timers. It says nothing of rows when they come: at the end of the
// five minutes behind those that a row is in, it gives what has been listed since, how many values it knows, and
// something of the watermark.
type tally struct {
	handle *millrace.StatefulProcessorHandle
	list   *millrace.ListState[int64]
	times  *millrace.MapState[int64, int64]
	fired  *millrace.ValueState[int64]
}

type tallyRow struct {
	V  *int64    `millrace:"v"`
	TS time.Time `millrace:"ts"`
}

type tallied struct {
	K  string    `millrace:"k"`
	V  int64     `millrace:"v"`
	TS time.Time `millrace:"ts"`
}

// Init defines the state variables.
func (p *tally) Init(h *millrace.StatefulProcessorHandle) (err error) {
	p.handle = h
	if p.list, err = millrace.NewListState[int64](h, "list"); err != nil {
		return err
	}
	if p.times, err = millrace.NewMapState[int64, int64](h, "times"); err != nil {
		return err
	}
	p.fired, err = millrace.NewValueState[int64](h, "fired")
	return err
}

// due is the timer of a row.
func due(at int64) int64 { return (floorDiv(at, 5*minute) + 2) * 5 * minute }

// HandleInputRows takes rows in. A value that comes a third time is forgotten.
func (p *tally) HandleInputRows(_ context.Context, _ string, rows iter.Seq[tallyRow], _ millrace.TimerValues, _ func(tallied) error) error {
	for r := range rows {
		if err := p.handle.RegisterTimer(time.UnixMicro(due(r.TS.UnixMicro()))); err != nil {
			return err
		}
		if r.V == nil {
			continue
		}
		if err := p.list.Append(*r.V); err != nil {
			return err
		}
		n, _, err := p.times.Get(*r.V)
		if err != nil {
			return err
		}
		if n == 2 {
			err = p.times.Remove(*r.V)
		} else {
			err = p.times.Update(*r.V, n+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// HandleExpiredTimer gives what there is.
func (p *tally) HandleExpiredTimer(_ context.Context, k string, timer millrace.ExpiredTimer, now millrace.TimerValues, emit func(tallied) error) error {
	var sum, known int64
	for v := range p.list.All() {
		sum += v
	}
	for range p.times.Keys() {
		known++
	}
	fired, _, err := p.fired.Get()
	if err != nil {
		return err
	}
	if err := p.fired.Update(fired + 1); err != nil {
		return err
	}
	if err := p.list.Clear(); err != nil {
		return err
	}
	return emit(tallied{k, 10_000*fired + 100*sum + 10*known + now.Watermark.UnixMilli()%7, timer.At})
}

// tallies is the model of the processor.
type tallies struct {
	kept
	in    operation
	state map[string]*tallyState
}

type tallyState struct {
	sum, fired int64
	times      map[int64]int
	timers     map[int64]bool
}

func (t *tallies) inputs() []operation      { return []operation{t.in} }
func (*tallies) watermark(in []int64) int64 { return in[0] }
func (*tallies) cleans() bool               { return true }
func (*tallies) size() int                  { return -1 }

func (t *tallies) run(_ *batch, in [][]record) []record {
	for _, r := range in[0] {
		at := int64(r[5].(types.Micros))
		if t.lateAt(at) {
			continue
		}
		k := r[0].(string)
		if t.state[k] == nil {
			t.state[k] = &tallyState{times: map[int64]int{}, timers: map[int64]bool{}}
		}
		s := t.state[k]
		s.timers[due(at)] = true
		if v, ok := r[4].(int64); ok {
			s.sum += v
			s.times[v]++
			if s.times[v] == 3 {
				delete(s.times, v)
			}
		}
	}
	var out []record
	for k, s := range t.state {
		for _, at := range slices.Sorted(maps.Keys(s.timers)) {
			if !t.finalAt(at) {
				break
			}
			delete(s.timers, at)
			out = append(out, narrow(k, 10_000*s.fired+100*s.sum+10*int64(len(s.times))+min(t.evict, endOfTime)%7, at))
			s.sum, s.fired = 0, s.fired+1
		}
	}
	return out
}

// processed draws the processor over a stage.
func (s *scheme) processed(in stage) stage {
	v := view{name: fmt.Sprintf("w%d", len(s.views)+1), of: in.view, text: "tally of " + in.view}
	v.do = func(df *millrace.DataFrame) *millrace.DataFrame {
		return millrace.TransformWithState(df.GroupBy("k"), &tally{}, millrace.TransformOptions{TimeMode: millrace.TimeModeEventTime, EventTimeColumn: "ts"})
	}
	s.views = append(s.views, v)
	return stage{&tallies{in: in.op, state: map[string]*tallyState{}}, v.name, noMark}
}
