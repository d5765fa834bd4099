package histories

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

// The model is what streaming queries mean, written down a second time: slow, in plain Go over rows, and knowing nothing of vectors,
// shards, segments or logs. It is given the batches that an engine has done, and says which rows each of them has to give.

// record is a row of the model, with values as a test writes them.
type record = types.Row

// noMark is the watermark of rows that have none.
const noMark = math.MinInt64

// operation is a node of a modelled query.
type operation interface {
	inputs() []operation
	// watermark is that of the output, in milliseconds, for that of each input; noMark for none. seen is called by operations that
	// keep state with what arrives at them.
	watermark(in []int64) int64
	// run takes in the rows of one batch and gives those that go on.
	run(b *batch, in [][]record) []record
}

// keeper is an operation with state.
type keeper interface {
	operation
	// cleans tells whether it waits for the watermark.
	cleans() bool
	// size is how many rows of state it holds, or -1 when that is not modelled.
	size() int
	self() *kept
}

// kept is what all operations with state have: the watermark that arrives at them.
type kept struct {
	late, evict int64 // of this batch, in milliseconds
	bound       int64 // by which it has cleaned last in this run
}

func (k *kept) self() *kept { return k }

// lateAt tells whether an event time in microseconds is late, and finalAt whether it is final.
func (k *kept) lateAt(at int64) bool  { return k.late != noMark && at <= k.late*1000 }
func (k *kept) finalAt(at int64) bool { return k.evict != noMark && at <= k.evict*1000 }

// batch is one micro-batch.
type batch struct {
	id    int64
	stamp int64         // its clock, in milliseconds
	units [3][][]record // of the streams
	// marks collects the highest event time that each watermark has seen, in milliseconds.
	marks map[*mark]int64
}

// model is a query and what has become of it.
type model struct {
	root   operation
	global int64 // the watermark of the next batch
	before int64 // that of the batch before
	own    map[*mark]int64
	ran    bool

	latest    bool  // the fastest input counts, not the slowest
	perInput  bool  // what the watermarks have seen outlives a run
	committed int64 // the watermark that the last batch has left
	patience  int64 // how long an input may deliver nothing and still count, in milliseconds; 0 is for ever
	heard     map[*mark]int64
}

func newModel(root operation) *model {
	return &model{root: root, own: map[*mark]int64{}, heard: map[*mark]int64{}}
}

// started tells the model that another run begins: what the watermarks have seen is forgotten.
func (m *model) started(now int64) {
	m.ran, m.global = false, m.committed
	if !m.perInput {
		m.own = map[*mark]int64{}
	}
	for _, w := range m.marks() {
		m.heard[w] = now
	}
}

func (m *model) marks() []*mark {
	var out []*mark
	walk(m.root, func(n operation) {
		if w, ok := n.(*mark); ok && !slices.Contains(out, w) {
			out = append(out, w)
		}
	})
	return out
}

// look is what a look at the clock does to the watermark when the streams in news have something for the next batch.
func (m *model) look(now int64, news map[int]bool) {
	if m.patience == 0 {
		return
	}
	m.choose(func(w *mark) bool {
		busy := false
		walk(w, func(n operation) {
			if in, ok := n.(*input); ok {
				busy = busy || news[in.stream]
			}
		})
		return !busy && now-m.heard[w] >= m.patience
	})
}

// choose moves the watermark to that of the slowest input that is not idle; or the fastest one, when no other counts or by the policy.
func (m *model) choose(idle func(*mark) bool) {
	marks := m.marks()
	if len(marks) == 0 {
		return
	}
	var awake, all []int64
	for _, w := range marks {
		all = append(all, m.own[w])
		if !idle(w) {
			awake = append(awake, m.own[w])
		}
	}
	if m.latest || len(awake) == 0 {
		m.global = max(m.global, slices.Max(all))
	} else {
		m.global = max(m.global, slices.Min(awake))
	}
}

// endOfTime is the watermark of the batch that closes everything.
const endOfTime = 253402300799999

func walk(n operation, f func(operation)) {
	for _, in := range n.inputs() {
		walk(in, f)
	}
	f(n)
}

// keepers are the operations with state, as progress lists them: the topmost first, the left ones before the right ones.
func keepers(n operation) []keeper {
	var out []keeper
	if k, ok := n.(keeper); ok {
		out = append(out, k)
	}
	for _, in := range n.inputs() {
		out = append(out, keepers(in)...)
	}
	return out
}

// flow computes the watermark that leaves each operation, and tells keepers what arrives.
func flow(n operation, global int64, arrives func(keeper, int64)) int64 {
	in, low := []int64{}, int64(noMark)
	for _, c := range n.inputs() {
		w := flow(c, global, arrives)
		in = append(in, w)
		if w != noMark && (low == noMark || w < low) {
			low = w
		}
	}
	if _, ok := n.(*mark); ok {
		if global == endOfTime {
			return math.MaxInt64 / 1000 // later than any bound
		}
		return global
	}
	if k, ok := n.(keeper); ok {
		arrives(k, low)
	}
	return n.watermark(in)
}

// due tells whether a batch without data has to follow.
func (m *model) due() bool {
	if !m.ran {
		return false
	}
	due := false
	flow(m.root, m.global, func(k keeper, w int64) { due = due || k.cleans() && w > k.self().bound })
	return due
}

// open tells whether something waits for the watermark.
func (m *model) open() bool {
	open := false
	flow(m.root, endOfTime, func(k keeper, w int64) { open = open || k.cleans() && w != noMark })
	return open && m.global < endOfTime
}

// do runs a batch and returns its rows.
func (m *model) do(b *batch) []record {
	flow(m.root, m.before, func(k keeper, w int64) { k.self().late = w })
	flow(m.root, m.global, func(k keeper, w int64) { k.self().evict, k.self().bound = w, w })
	b.marks = map[*mark]int64{}
	out := eval(m.root, b)
	m.before, m.ran = m.global, true
	for w, at := range b.marks {
		if old, known := m.own[w]; !known || at-w.delay > old {
			m.own[w] = at - w.delay
		}
		m.heard[w] = max(m.heard[w], b.stamp)
	}
	m.choose(func(w *mark) bool { return m.patience > 0 && b.stamp-m.heard[w] >= m.patience })
	m.committed = m.global
	return out
}

func eval(n operation, b *batch) []record {
	var in [][]record
	for _, c := range n.inputs() {
		in = append(in, eval(c, b))
	}
	return n.run(b, in)
}

// least is the lowest watermark of those that there are.
func least(in []int64) int64 {
	low := int64(noMark)
	for _, w := range in {
		if w != noMark && (low == noMark || w < low) {
			low = w
		}
	}
	return low
}

// input reads a stream.
type input struct{ stream int }

func (*input) inputs() []operation     { return nil }
func (*input) watermark([]int64) int64 { return noMark }
func (i *input) run(b *batch, _ [][]record) []record {
	return slices.Concat(b.units[i.stream]...)
}

// mark is withWatermark on the last column.
type mark struct {
	in    operation
	delay int64 // milliseconds
}

func (m *mark) inputs() []operation   { return []operation{m.in} }
func (*mark) watermark([]int64) int64 { panic("the watermark of a mark is the global one") }
func (m *mark) run(b *batch, in [][]record) []record {
	for _, r := range in[0] {
		at, _ := r[len(r)-1].(types.Micros) // a row without a time counts as one of 1970
		ms := floorDiv(int64(at), 1000)
		if old, ok := b.marks[m]; !ok || ms > old {
			b.marks[m] = ms
		}
	}
	return in[0]
}

func floorDiv(x, y int64) int64 {
	q := x / y
	if x%y < 0 {
		q--
	}
	return q
}

// stateless changes rows one by one.
type rowwise struct {
	in operation
	do func(record) []record
}

func (s *rowwise) inputs() []operation      { return []operation{s.in} }
func (*rowwise) watermark(in []int64) int64 { return in[0] }
func (s *rowwise) run(_ *batch, in [][]record) []record {
	var out []record
	for _, r := range in[0] {
		out = append(out, s.do(r)...)
	}
	return out
}

// where keeps the rows for which f is true.
func where(in operation, f func(record) bool) operation {
	return &rowwise{in, func(r record) []record {
		if f(r) {
			return []record{r}
		}
		return nil
	}}
}

// both is UNION ALL.
type both struct{ left, right operation }

func (u *both) inputs() []operation      { return []operation{u.left, u.right} }
func (*both) watermark(in []int64) int64 { return least(in) }
func (*both) run(_ *batch, in [][]record) []record {
	return slices.Concat(in[0], in[1])
}

// keyOf makes a text of values that are equal as keys: zeros are, and so are NaNs and nulls.
func keyOf(values ...any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		if v == nil {
			parts[i] = "-"
			continue
		}
		parts[i] = fmt.Sprintf("%T %s", v, cell(v))
	}
	return strings.Join(parts, "|")
}

// cell is a value as text, the zeros alike.
func cell(v any) string {
	if f, ok := v.(float64); ok && f == 0 {
		v = 0.0
	}
	return milltest.FormatCell(v)
}

// texts are rows as texts, sorted.
func texts(rows []record) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		parts := make([]string, len(r))
		for c, v := range r {
			parts[c] = cell(v)
		}
		out[i] = "(" + strings.Join(parts, ", ") + ")"
	}
	slices.Sort(out)
	return out
}

// window is a kind of time window, in microseconds.
type windows struct{ size, slide, start int64 }

// of are the windows that a time is in.
func (w windows) of(at int64) []int64 {
	var out []int64
	first := w.start + floorDiv(at-w.start, w.slide)*w.slide
	for s := first; s > at-w.size; s -= w.slide {
		out = append(out, s)
	}
	return out
}

// aggregate is a column that is computed from the rows of a group.
type aggregate struct {
	sql string
	do  func([]record) any
}

// group is one group of an aggregation, with all its rows.
type groupRows struct {
	keys []any
	time int64 // by which it is final; noTime for none
	rows []record
}

const noTime = math.MaxInt64

// grouped is an aggregation without session windows.
type grouped struct {
	kept
	in   operation
	mode string
	// keys gives the groups of a row: the keys of each, and the time by which it is final.
	keys  func(record) []groupRows
	aggs  []aggregate
	bare  bool // no keys at all
	state map[string]*groupRows
}

func (g *grouped) inputs() []operation      { return []operation{g.in} }
func (*grouped) watermark(in []int64) int64 { return in[0] }
func (g *grouped) cleans() bool             { return g.mode != "complete" && g.evict != noMark }
func (g *grouped) size() int                { return len(g.state) }

func (g *grouped) run(_ *batch, in [][]record) []record {
	touched := map[string]bool{}
	if g.bare {
		g.state[""], touched[""] = cmpOr(g.state[""], &groupRows{time: noTime}), true
	}
	for _, r := range in[0] {
		for _, k := range g.keys(r) {
			if g.mode != "complete" && k.time != noTime && g.lateAt(k.time) {
				continue
			}
			id := keyOf(k.keys...)
			if g.state[id] == nil {
				g.state[id] = &groupRows{keys: k.keys, time: k.time}
			}
			g.state[id].rows = append(g.state[id].rows, r)
			touched[id] = true
		}
	}
	var out []record
	for _, id := range slices.Sorted(maps.Keys(g.state)) {
		s := g.state[id]
		final := g.mode != "complete" && s.time != noTime && g.finalAt(s.time)
		if g.mode == "complete" || g.mode == "append" && final || g.mode == "update" && touched[id] {
			out = append(out, result(s.keys, g.aggs, s.rows))
		}
		if final {
			delete(g.state, id)
		}
	}
	return out
}

func cmpOr[T any](x, y *T) *T {
	if x != nil {
		return x
	}
	return y
}

func result(keys []any, aggs []aggregate, rows []record) record {
	out := slices.Clone(keys)
	for _, a := range aggs {
		out = append(out, a.do(rows))
	}
	return out
}

// sessions is an aggregation by session windows.
type sessions struct {
	kept
	in    operation
	mode  string
	gap   func(record) int64
	keys  func(record) []any
	aggs  []aggregate
	state map[string][]*session
}

type session struct {
	keys       []any
	start, end int64
	rows       []record
}

func (s *sessions) inputs() []operation      { return []operation{s.in} }
func (*sessions) watermark(in []int64) int64 { return in[0] }
func (s *sessions) cleans() bool             { return s.mode != "complete" && s.evict != noMark }
func (s *sessions) size() int {
	n := 0
	for _, list := range s.state {
		n += len(list)
	}
	return n
}

func (s *sessions) run(_ *batch, in [][]record) []record {
	for _, r := range in[0] {
		at, ok := r[len(r)-1].(types.Micros)
		if !ok {
			continue
		}
		gap := s.gap(r)
		if gap <= 0 {
			continue
		}
		one := &session{keys: s.keys(r), start: int64(at), end: int64(at) + gap, rows: []record{r}}
		if s.lateAt(one.end) { // in complete mode, too, unlike other groups
			continue
		}
		id := keyOf(one.keys...)
		var apart []*session
		for _, o := range s.state[id] { // those that touch become one
			if o.start <= one.end && one.start <= o.end {
				one.start, one.end = min(one.start, o.start), max(one.end, o.end)
				one.rows = append(one.rows, o.rows...)
			} else {
				apart = append(apart, o)
			}
		}
		s.state[id] = append(apart, one)
	}
	var out []record
	for _, id := range slices.Sorted(maps.Keys(s.state)) {
		s.state[id] = slices.DeleteFunc(s.state[id], func(o *session) bool {
			final := s.mode != "complete" && s.finalAt(o.end)
			if s.mode == "complete" || final {
				keys := append([]any{types.Micros(o.start), types.Micros(o.end)}, o.keys...)
				out = append(out, result(keys, s.aggs, o.rows))
			}
			return final
		})
	}
	return out
}

// unique is dropDuplicates, or with within dropDuplicatesWithinWatermark. Only the keys go on: which of several rows does is not
// settled. A time that is not among them is not read by anybody, so that nothing is late by it, as in Spark.
type unique struct {
	kept
	in     operation
	keys   func(record) []any
	timed  bool // the event time is among the keys
	within bool
	delay  int64 // microseconds
	state  map[string]int64
}

func (u *unique) inputs() []operation      { return []operation{u.in} }
func (*unique) watermark(in []int64) int64 { return in[0] }
func (u *unique) cleans() bool             { return u.evict != noMark }
func (u *unique) size() int                { return len(u.state) }

func (u *unique) run(_ *batch, in [][]record) []record {
	var out []record
	for _, r := range in[0] {
		at, ok := r[len(r)-1].(types.Micros)
		if ok && (u.timed || u.within) && u.lateAt(int64(at)) {
			continue
		}
		keys := u.keys(r)
		id := keyOf(keys...)
		if _, known := u.state[id]; known {
			continue
		}
		u.state[id] = noTime
		switch {
		case u.within:
			u.state[id] = int64(at) + u.delay // a row without a time counts as one of 1970
		case u.timed && ok:
			u.state[id] = int64(at)
		}
		out = append(out, keys)
	}
	maps.DeleteFunc(u.state, func(_ string, at int64) bool { return at != noTime && u.finalAt(at) })
	return out
}

// first is LIMIT.
type first struct {
	kept
	in   operation
	n    int
	seen int
}

func (f *first) inputs() []operation      { return []operation{f.in} }
func (*first) watermark(in []int64) int64 { return in[0] }
func (*first) cleans() bool               { return false }
func (*first) size() int                  { return -1 }

func (f *first) run(_ *batch, in [][]record) []record {
	out := in[0][:min(len(in[0]), f.n-f.seen)]
	f.seen += len(out)
	return out
}
