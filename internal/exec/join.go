package exec

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// JoinKind says which rows of the probe and the build side come out.
type JoinKind uint8

// The kinds of HashJoin. The planner turns a right outer join around.
const (
	JoinInner JoinKind = iota
	JoinOuter          // every probe row, padded when it has no match
	JoinFull           // and every build row
	JoinSemi           // probe rows with a match, probe columns only
	JoinAnti           // probe rows without one
	JoinMark           // every probe row, with a column that tells whether it has a match
)

// HashJoin joins each row of Probe with the rows of Build that have equal keys and meet Cond. Without keys every pair is looked
// at. Output columns are Probe's and then Build's; in the order of the probe rows and, for one, of the build rows from the last to the first, as
// they come from Spark's table; without keys from the first. When the build side
// does not fit into the task's memory both are dealt out to heaps in files, which are joined one by one.
type HashJoin struct {
	Probe, Build         Op
	ProbeKeys, BuildKeys []Expr
	NullSafe             []bool // per key: <=> rather than =
	Kind                 JoinKind
	Cond                 *Expr // over probe and build columns, or nil
}

// Types implements Op.
func (j *HashJoin) Types() []types.DataType {
	ts := append([]types.DataType(nil), j.Probe.Types()...)
	switch j.Kind {
	case JoinSemi, JoinAnti:
		return ts
	case JoinMark:
		return append(ts, types.Boolean)
	}
	return append(ts, j.Build.Types()...)
}

// Inputs implements Op.
func (j *HashJoin) Inputs() []Op { return []Op{j.Probe, j.Build} }

// Label implements Op.
func (j *HashJoin) Label() string {
	kind := [...]string{"Inner", "LeftOuter", "FullOuter", "LeftSemi", "LeftAnti", "ExistenceJoin"}[j.Kind]
	if len(j.ProbeKeys) == 0 {
		return "BroadcastNestedLoopJoin " + kind
	}
	return fmt.Sprintf("BroadcastHashJoin [%d keys], %s", len(j.ProbeKeys), kind)
}

// built is the build side in memory.
type built struct {
	rows  *vec.Batch  // all rows, dense
	table group.Table // nil without keys
	head  []int32     // by group: its first row, or -1
	next  []int32     // by row: the next row of its group, or -1

	matched vec.Bitmap // JoinFull: build rows that had a match; parts set bits side by side
}

// Parts implements Op.
func (j *HashJoin) Parts(ctx context.Context, t *Task) (Parts, error) {
	b := &builder{j: j, t: t, ev: NewEvaluator(t, 0, j.BuildKeys)}
	ps, err := j.Build.Parts(ctx, t)
	if err == nil {
		err = Gather(ctx, t, ps, b.add)
	}
	if err != nil {
		return Parts{}, err
	}
	if b.pile != nil {
		return j.heaped(ctx, t, b.pile)
	}
	bt, err := j.table(t, b.rows)
	if err != nil {
		return Parts{}, err
	}
	ps, err = j.Probe.Parts(ctx, t)
	if err != nil {
		return Parts{}, err
	}
	open := func(ctx context.Context, i int) (Stream, error) {
		in, err := ps.Open(ctx, i)
		if err != nil {
			return nil, err
		}
		return j.probe(t, i, in, bt), nil
	}
	if j.Kind != JoinFull {
		return Parts{N: ps.N, Open: open}, nil
	}
	// Which build rows stay unmatched is known when all parts have run.
	lists := make([][]*vec.Batch, ps.N+1)
	err = Run(ctx, t, Parts{N: ps.N, Open: open}, func(ctx context.Context, i int, s Stream) error {
		return Drain(ctx, s, func(b *vec.Batch) error {
			lists[i] = append(lists[i], b.Own())
			return nil
		})
	})
	if err != nil {
		return Parts{}, err
	}
	lists[ps.N] = j.unmatched(bt)
	return j.sorted(t, lists)
}

// sorted brings the rows of a full join into the order of their keys, as Spark's join of sorted sides does, unless they are very many. The
// last list has the build rows without a match.
func (j *HashJoin) sorted(t *Task, lists [][]*vec.Batch) (Parts, error) {
	rows := 0
	for _, list := range lists {
		for _, b := range list {
			rows += b.N
		}
	}
	if len(j.ProbeKeys) == 0 || rows == 0 || rows > sortedGroups {
		return PartsOf(lists...), nil
	}
	np := len(j.Probe.Types())
	var all, keys []*vec.Batch
	for i, list := range lists {
		exprs, from, to := j.ProbeKeys, 0, np
		if i == len(lists)-1 {
			exprs, from, to = j.BuildKeys, np, len(j.Types())
		}
		ev := NewEvaluator(t, i, exprs)
		for _, b := range list {
			cols, err := ev.ComputeAll(&vec.Batch{Cols: b.Cols[from:to], N: b.N})
			if err != nil {
				return Parts{}, err
			}
			all, keys = append(all, b), append(keys, (&vec.Batch{Cols: cols, N: b.N}).Own())
		}
	}
	idx := vec.SortIndex(vec.ConcatBatches(keys).Cols, nil, rows)
	whole := vec.ConcatBatches(all).Take(idx, nil).Own()
	var out []*vec.Batch
	for from := 0; from < rows; from += vec.BatchRows {
		out = append(out, whole.Slice(from, min(vec.BatchRows, rows-from)))
	}
	return PartsOf(out), nil
}

// table makes the table of the build side.
func (j *HashJoin) table(t *Task, list []*vec.Batch) (*built, error) {
	bt := &built{rows: vec.EmptyBatch(j.Build.Types())}
	if len(list) > 0 {
		bt.rows = vec.ConcatBatches(list)
	}
	n := bt.rows.N
	if j.Kind == JoinFull {
		bt.matched = vec.NewBitmap(n)
	}
	if len(j.BuildKeys) == 0 {
		return bt, nil
	}
	bt.table = group.New(TypesOf(j.BuildKeys))
	bt.next = make([]int32, n)
	ev := NewEvaluator(t, 0, j.BuildKeys)
	ids := make([]uint32, vec.BatchRows)
	groups := make([]uint32, 0, n)
	var fresh []uint32
	for from := 0; from < n; from += vec.BatchRows {
		b := bt.rows.Slice(from, min(n-from, vec.BatchRows))
		keys, err := ev.ComputeAll(b)
		if err != nil {
			return nil, err
		}
		keys = flattened(keys)
		fresh = bt.table.Resolve(keys, b.N, true, ids[:b.N], fresh[:0])
		for i, g := range ids[:b.N] {
			if j.nullKey(keys, i) {
				g = group.None
			}
			groups = append(groups, g)
		}
	}
	bt.head = make([]int32, bt.table.Cap())
	for i := range bt.head {
		bt.head[i] = -1
	}
	link := func(r int, g uint32) {
		if g == group.None {
			bt.next[r] = -1
			return
		}
		bt.next[r] = bt.head[g]
		bt.head[g] = int32(r)
	}
	if j.Kind == JoinFull { // Spark sorts both sides
		for r := n - 1; r >= 0; r-- {
			link(r, groups[r])
		}
		return bt, nil
	}
	for r, g := range groups {
		link(r, g)
	}
	return bt, nil
}

func flattened(cols []*vec.Vector) []*vec.Vector {
	out := make([]*vec.Vector, len(cols))
	for i, c := range cols {
		out[i] = c
		if c.Encoding() == vec.Dict {
			out[i] = c.Flatten()
		}
	}
	return out
}

// nullKey tells whether a row can't match because a key compared with = is null.
func (j *HashJoin) nullKey(keys []*vec.Vector, i int) bool {
	for k, v := range keys {
		if !j.NullSafe[k] && v.HasNulls() && v.IsNull(i) {
			return true
		}
	}
	return false
}

func (j *HashJoin) probe(t *Task, part int, in Stream, bt *built) Stream {
	s := &joinStream{j: j, in: in, bt: bt, keys: NewEvaluator(t, part, j.ProbeKeys)}
	if bt.table != nil {
		s.table = bt.table.Probe()
	}
	if j.Cond != nil {
		s.cond = NewEvaluator(t, part, []Expr{*j.Cond})
	}
	return s
}

// joinStream joins one part. It works on a window of probe rows at a time whose candidate pairs fit a batch.
type joinStream struct {
	j     *HashJoin
	in    Stream
	bt    *built
	table group.Table
	keys  *Evaluator
	cond  *Evaluator

	cur     *vec.Batch // dense probe rows, or nil
	row     int        // next probe row
	at      int32      // next candidate of row, or -1 when the row has not been begun
	began   bool
	hit     bool // row had a match in an earlier window
	ids     []uint32
	end     error // what ended the probe side early, after its good rows
	probes  []uint32
	builds  []uint32
	passing []uint32
	marks   []uint8 // JoinMark: by output row
}

func (s *joinStream) Close() error { return s.in.Close() }

// Next implements Stream.
func (s *joinStream) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if s.cur == nil {
			if err := s.load(ctx); err != nil {
				return nil, err
			}
		}
		out, err := s.window()
		if err != nil {
			return nil, err
		}
		if out != nil && out.Rows() > 0 {
			return out, nil
		}
	}
}

func (s *joinStream) load(ctx context.Context) error {
	if s.end != nil {
		return s.end
	}
	b, err := s.in.Next(ctx)
	if err != nil {
		return err
	}
	keys, n, err := s.keys.Compute(b)
	if err != nil {
		return err
	}
	if len(s.j.ProbeKeys) == 0 {
		n = b.Rows()
	}
	s.end = s.keys.pending
	s.cur = b.Slice(0, n).Compact(nil)
	s.row, s.began = 0, false
	if s.table == nil {
		return nil
	}
	if cap(s.ids) < n {
		s.ids = make([]uint32, max(n, vec.BatchRows))
	}
	s.ids = s.ids[:n]
	keys = flattened(keys)
	s.table.Resolve(keys, n, false, s.ids, nil)
	for i := range s.ids {
		if s.ids[i] != group.None && s.j.nullKey(keys, i) {
			s.ids[i] = group.None
		}
	}
	return nil
}

// first is the first candidate of a probe row, or -1.
func (s *joinStream) first(row int) int32 {
	if s.table == nil {
		if s.bt.rows.N == 0 {
			return -1
		}
		return 0
	}
	if g := s.ids[row]; g != group.None {
		return s.bt.head[g]
	}
	return -1
}

func (s *joinStream) follow(at int32) int32 {
	if s.table == nil {
		if int(at)+1 == s.bt.rows.N {
			return -1
		}
		return at + 1
	}
	return s.bt.next[at]
}

// window makes the pairs of the next probe rows. A row without a candidate becomes a pair with vec.NoRow.
func (s *joinStream) window() (*vec.Batch, error) {
	s.probes, s.builds = s.probes[:0], s.builds[:0]
	startHit, startRow := s.hit && s.began, s.row
	for s.row < s.cur.N && len(s.probes) < vec.BatchRows {
		if !s.began {
			s.at, s.began, s.hit = s.first(s.row), true, false
		}
		none := s.at < 0
		for s.at >= 0 && len(s.probes) < vec.BatchRows {
			s.probes = append(s.probes, uint32(s.row))
			s.builds = append(s.builds, uint32(s.at))
			s.at = s.follow(s.at)
		}
		if none && s.pads() {
			s.probes = append(s.probes, uint32(s.row))
			s.builds = append(s.builds, vec.NoRow)
		}
		if s.at >= 0 {
			break // the window is full inside this row
		}
		s.row++
		s.began = false
	}
	cur := s.cur
	if s.row == cur.N {
		s.cur = nil
	}
	return s.finish(cur, startRow, startHit)
}

func (s *joinStream) pads() bool {
	return s.j.Kind == JoinOuter || s.j.Kind == JoinFull || s.j.Kind == JoinAnti || s.j.Kind == JoinMark
}

// finish applies the condition to the pairs and makes the output rows.
func (s *joinStream) finish(cur *vec.Batch, startRow int, startHit bool) (*vec.Batch, error) {
	pass, err := s.test(cur)
	if err != nil {
		return nil, err
	}
	probes, builds := s.probes[:0:0], s.builds[:0:0]
	marks := s.marks[:0]
	k := 0
	for i := 0; i < len(s.probes); {
		row := s.probes[i]
		hit := startHit && int(row) == startRow
		last := i
		for ; i < len(s.probes) && s.probes[i] == row; i++ {
			last = i
			if k < len(pass) && int(pass[k]) == i {
				k++
				switch s.j.Kind {
				case JoinAnti:
				case JoinSemi, JoinMark:
					if !hit {
						probes, marks = append(probes, row), append(marks, 1)
					}
				default:
					probes, builds = append(probes, row), append(builds, s.builds[i])
				}
				hit = true
				s.mark(s.builds[i])
			}
		}
		if last == len(s.probes)-1 && s.cur != nil && int(row) == s.row {
			s.hit = s.hit || hit // more candidates follow in the next window
			continue
		}
		if !hit && s.pads() {
			probes, builds, marks = append(probes, row), append(builds, vec.NoRow), append(marks, 0)
		}
	}
	s.marks = marks
	out := &vec.Batch{N: len(probes), Cols: vec.TakeAll(cur.Cols, probes)}
	switch s.j.Kind {
	case JoinSemi, JoinAnti:
	case JoinMark:
		out.Cols = append(out.Cols, markColumn(marks))
	default:
		out.Cols = append(out.Cols, vec.TakeAll(s.bt.rows.Cols, builds)...)
	}
	return out, nil
}

func (s *joinStream) mark(build uint32) {
	if s.bt.matched == nil {
		return
	}
	word, bit := &s.bt.matched[build>>6], uint64(1)<<(build&63)
	if atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// test returns the numbers of the pairs that are real and meet the condition.
func (s *joinStream) test(cur *vec.Batch) ([]uint32, error) {
	pass := s.passing[:0]
	real := make([]uint32, 0, len(s.probes))
	for i, b := range s.builds {
		if b != vec.NoRow {
			real = append(real, uint32(i))
		}
	}
	if s.cond == nil || len(real) == 0 {
		return real, nil
	}
	pi, bi := make([]uint32, len(real)), make([]uint32, len(real))
	for k, i := range real {
		pi[k], bi[k] = s.probes[i], s.builds[i]
	}
	pairs := &vec.Batch{N: len(real), Cols: make([]*vec.Vector, len(cur.Cols)+len(s.bt.rows.Cols))}
	for _, c := range s.j.Cond.Uses {
		if b := c - len(cur.Cols); b >= 0 {
			pairs.Cols[c] = vec.Take(s.bt.rows.Cols[b], bi, nil)
		} else {
			pairs.Cols[c] = vec.Take(cur.Cols[c], pi, nil)
		}
	}
	cols, err := s.cond.ComputeAll(pairs)
	if err != nil {
		return nil, err
	}
	pass = expr.SelectTrue(cols[0], pass)
	for k, i := range pass {
		pass[k] = real[i]
	}
	s.passing = pass
	return pass, nil
}

// unmatched returns the build rows without a match, padded on the probe side.
func (j *HashJoin) unmatched(bt *built) []*vec.Batch {
	var rows []uint32
	for i := range bt.rows.N {
		if !bt.matched.Get(i) {
			rows = append(rows, uint32(i))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	out := &vec.Batch{N: len(rows)}
	for _, t := range j.Probe.Types() {
		out.Cols = append(out.Cols, vec.NewNulls(t, len(rows)))
	}
	out.Cols = append(out.Cols, vec.TakeAll(bt.rows.Cols, rows)...)
	return []*vec.Batch{out}
}

func markColumn(marks []uint8) *vec.Vector {
	v := vec.NewFixed(types.Boolean, len(marks))
	copy(vec.Fixed[uint8](v), marks)
	return v
}
