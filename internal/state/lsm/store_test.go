package lsm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/group"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/mem"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type fatal interface {
	Helper()
	Fatalf(string, ...any)
}

// numbers are two value columns by row: a number, and the time by which the row expires where it does so by a value.
type numbers struct {
	xs, ts []int64
}

func (v *numbers) Grow(n int) {
	for len(v.xs) < n {
		v.xs, v.ts = append(v.xs, 0), append(v.ts, state.NoTime)
	}
}

func (v *numbers) Load(rows []uint32, cols []*vec.Vector) error {
	for i, r := range rows {
		v.xs[r], v.ts[r] = vec.Fixed[int64](cols[0].Flatten())[i], vec.Fixed[int64](cols[1].Flatten())[i]
	}
	return nil
}

func (v *numbers) Save(rows []uint32) []*vec.Vector {
	xs, ts := vec.NewFixed(types.Long, len(rows)), vec.NewFixed(types.Long, len(rows))
	for i, r := range rows {
		vec.Fixed[int64](xs)[i], vec.Fixed[int64](ts)[i] = v.xs[r], v.ts[r]
	}
	return []*vec.Vector{xs, ts}
}

func (v *numbers) Clear(rows []uint32) {
	for _, r := range rows {
		v.xs[r], v.ts[r] = 0, state.NoTime
	}
}

func (v *numbers) Reset() { v.xs, v.ts = nil, nil }

// timed are numbers that expire by the second column.
type timed struct{ numbers }

func (v *timed) Times(rows []uint32) []int64 {
	out := make([]int64, len(rows))
	for i, r := range rows {
		out[i] = v.ts[r]
	}
	return out
}

// kind is a kind of state.
type kind int

const (
	plain    kind = iota
	byKey         // expires by a key
	byValue       // expires by a value
	grouped       // in groups, expires by a key
	sessions      // in groups, expires by a value
	kinds
)

func spec(k kind, partitions int) state.Spec {
	s := state.Spec{
		Operator: 3, Name: "stateStoreSave", Partitions: partitions, Meaning: "m",
		Keys:   []types.Field{{Name: "k", Type: types.String}, {Name: "t", Type: types.Timestamp}},
		Values: []types.Field{{Name: "v", Type: types.Long}, {Name: "e", Type: types.Long}},
	}
	if k == byKey || k == grouped {
		s.Time = func(keys []*vec.Vector, n int) []int64 {
			out := make([]int64, n)
			for i := range out {
				out[i] = state.NoTime
				if x, ok := vec.ValueAt(keys[1], i).(types.Micros); ok {
					out[i] = int64(x)
				}
			}
			return out
		}
	}
	if k == grouped || k == sessions {
		s.Group = func(keys, _ []*vec.Vector, _ int) []*vec.Vector { return keys[:1] }
	}
	return s
}

// side is a store under test.
type side struct {
	state.Store
	spec   state.Spec
	values []*numbers
}

func openSide(t fatal, p state.Provider, s state.Spec, byValue bool) *side {
	t.Helper()
	st, err := p.Open("/state", s)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	o := &side{Store: st, spec: s}
	for i := range state.Shards(s.Partitions) {
		v := &timed{}
		o.values = append(o.values, &v.numbers)
		if byValue {
			st.Attach(i, v)
		} else {
			st.Attach(i, &v.numbers)
		}
	}
	return o
}

// small makes a store's thresholds those of tests.
func small(p Provider, s *store) {
	s.snapshotBytes, s.snapshotChanges = 1<<10, 5
	s.spare, s.sortBytes, s.filterKeys = 8, 200, 2
	p.Memory.share = 2 << 10 // for working sets: they are dropped now and then
}

func (k kind) byValue() bool { return k == byValue || k == sessions }

func openLSM(t fatal, fsys fs.FS, k kind, partitions int) *side {
	t.Helper()
	p := Provider{FS: fsys, Memory: &Memory{}, Limit: minLimit}
	o := openSide(t, p, spec(k, partitions), k.byValue())
	small(p, o.Store.(*tableStore).store)
	return o
}

type key struct {
	k string
	t int64
}

func columns(t fatal, keys []key) []*vec.Vector {
	t.Helper()
	k, at := vec.NewBuilder(types.String), vec.NewBuilder(types.Timestamp)
	for _, x := range keys {
		var kv, tv any = x.k, types.Micros(x.t)
		if x.k == "-" {
			kv = nil
		}
		if x.t == 0 {
			tv = nil
		}
		if err := k.AppendValue(kv); err != nil {
			t.Fatalf("%v", err)
		}
		if err := at.AppendValue(tv); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return []*vec.Vector{k.Finish(), at.Finish()}
}

// parts deals keys out to shards.
func (o *side) parts(t fatal, keys []key) [][]key {
	t.Helper()
	cols := columns(t, keys)
	if o.spec.Group != nil {
		cols = cols[:1]
	}
	out := make([][]key, state.Shards(o.spec.Partitions))
	for i, h := range vec.PartitionHash(cols, len(keys), nil)[:len(keys)] {
		s := state.ShardOf(h, o.spec.Partitions)
		out[s] = append(out[s], keys[i])
	}
	return out
}

// gather brings in the groups of keys.
func (o *side) gather(t fatal, shard int, cols []*vec.Vector, n int) {
	t.Helper()
	if o.spec.Group != nil {
		if err := o.Table(shard).Gather(cols[:1], n); err != nil {
			t.Fatalf("gather: %v", err)
		}
	}
}

// put adds to the values of keys and says what was new.
func (o *side) put(t fatal, keys []key, by, expires int64, insert bool) string {
	t.Helper()
	var out strings.Builder
	for shard, mine := range o.parts(t, keys) {
		if len(mine) == 0 {
			continue
		}
		table, cols := o.Table(shard), columns(t, mine)
		o.gather(t, shard, cols, len(mine))
		rows := make([]uint32, len(mine))
		fresh, err := table.Resolve(cols, len(mine), insert, rows, nil)
		if err != nil {
			t.Fatalf("resolve: %v", err)
		}
		for i, r := range rows {
			if len(fresh) > 0 && r == fresh[0] {
				fmt.Fprintf(&out, " %d:%v", shard, mine[i])
				fresh = fresh[1:]
			}
		}
		if len(fresh) > 0 {
			t.Fatalf("%d new rows are not in the order of the keys", len(fresh))
		}
		var found []uint32
		for _, r := range rows {
			if r == group.None {
				out.WriteString(" none")
				continue
			}
			found = append(found, r)
			o.values[shard].xs[r] += by
			o.values[shard].ts[r] = expires
		}
		table.Touch(found)
		table.Sort(found)
		out.WriteString(" sorted" + o.show(shard, found))
	}
	return out.String()
}

// show is what rows hold.
func (o *side) show(shard int, rows []uint32) string {
	if len(rows) == 0 {
		return ""
	}
	var out strings.Builder
	cols := o.Table(shard).Keys(rows)
	for i, r := range rows {
		fmt.Fprintf(&out, " %d(%v %v %d)", shard, vec.ValueAt(cols[0], i), vec.ValueAt(cols[1], i), o.values[shard].xs[r])
	}
	return out.String()
}

func (o *side) remove(t fatal, bound int64) string {
	t.Helper()
	out := ""
	for shard := range o.values {
		n, err := o.Table(shard).Remove(bound)
		if err != nil {
			t.Fatalf("remove: %v", err)
		}
		out += fmt.Sprint(" ", n)
	}
	return out
}

func (o *side) through(t fatal, open func(state.Table) (state.Cursor, error)) string {
	t.Helper()
	out := ""
	for shard := range o.values {
		c, err := open(o.Table(shard))
		if err != nil {
			t.Fatalf("cursor: %v", err)
		}
		for {
			rows, err := c.Next()
			if err != nil {
				t.Fatalf("next: %v", err)
			}
			if len(rows) == 0 {
				break
			}
			out += o.show(shard, rows)
		}
		if err := c.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	return out
}

func (o *side) expire(t fatal, bound int64) string {
	t.Helper()
	return o.through(t, func(tb state.Table) (state.Cursor, error) { return tb.Expire(bound) })
}

func (o *side) scan(t fatal) string {
	t.Helper()
	return o.through(t, state.Table.Scan)
}

// delete removes rows by their keys.
func (o *side) delete(t fatal, keys []key) {
	t.Helper()
	for shard, mine := range o.parts(t, keys) {
		if len(mine) == 0 {
			continue
		}
		rows, cols := make([]uint32, len(mine)), columns(t, mine)
		o.gather(t, shard, cols, len(mine))
		if _, err := o.Table(shard).Resolve(cols, len(mine), false, rows, nil); err != nil {
			t.Fatalf("resolve: %v", err)
		}
		rows = slices.DeleteFunc(rows, func(r uint32) bool { return r == group.None })
		o.Table(shard).Delete(rows)
	}
}

func (o *side) save(t fatal) {
	t.Helper()
	ctx := context.Background()
	s, err := o.Prepare(ctx)
	if err != nil {
		t.Fatalf("prepare: %v", err)
	}
	var r fs.Round
	r.Publish(s)
	if err := r.Commit(ctx); err != nil {
		t.Fatalf("publish: %v", err)
	}
}

func (o *side) load(t fatal, version int64) {
	t.Helper()
	if err := o.Load(context.Background(), version); err != nil {
		t.Fatalf("load %d: %v", version, err)
	}
}

func (o *side) close(t fatal) {
	t.Helper()
	if err := o.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// TestAgainstMemory runs random histories of batches, aborts, restarts and power cuts on this provider and on that in memory. Both say
// the same at every step, in the same order.
func TestAgainstMemory(t *testing.T) {
	for k := range kinds {
		t.Run([]string{"plain", "by key", "by value", "grouped", "sessions"}[k], func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { againstMemory(t, k) })
		})
	}
}

func againstMemory(t *rapid.T, k kind) {
	partitions := rapid.SampledFrom([]int{1, 3}).Draw(t, "partitions")
	ours, theirs := errfs.NewMem(), errfs.NewMem()
	openMem := func() *side { return openSide(t, mem.Provider{FS: theirs}, spec(k, partitions), k.byValue()) }
	a, b := openLSM(t, ours, k, partitions), openMem()
	defer func() { a.close(t) }()
	a.load(t, 0)
	b.load(t, 0)
	last, keep := int64(0), int64(0)
	same := func(what, x, y string) {
		t.Helper()
		if x != y {
			t.Fatalf("%s: (-memory +lsm)\n%s", what, cmp.Diff(y, x))
		}
	}
	change := func() {
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			switch rapid.IntRange(0, 9).Draw(t, "change") {
			case 0:
				bound := int64(rapid.IntRange(0, 30).Draw(t, "bound"))
				same("remove", a.remove(t, bound), b.remove(t, bound))
			case 1, 2:
				bound := int64(rapid.IntRange(0, 30).Draw(t, "bound"))
				same("expire", a.expire(t, bound), b.expire(t, bound))
			case 3:
				same("scan", a.scan(t), b.scan(t))
			case 4:
				keys := drawKeys(t)
				a.delete(t, keys)
				b.delete(t, keys)
			default:
				keys := drawKeys(t)
				by, expires := int64(rapid.IntRange(1, 9).Draw(t, "by")), int64(rapid.IntRange(1, 30).Draw(t, "expires"))
				insert := rapid.IntRange(0, 4).Draw(t, "insert") > 0
				same("put", a.put(t, keys, by, expires, insert), b.put(t, keys, by, expires, insert))
			}
		}
	}
	for range rapid.IntRange(1, 25).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0: // another process, after a power cut
			old := a
			ours = ours.Crash(nil)
			a = openLSM(t, ours, k, partitions)
			old.close(t)
			a.load(t, last)
		case 1: // the batch fails half way
			change()
			a.Abort()
			b.Abort()
			a.load(t, last)
			b.load(t, last)
		case 2: // an older version is needed again, and what came after it is another attempt
			last = int64(rapid.IntRange(int(keep), int(last)).Draw(t, "back"))
			a.load(t, last)
			b.load(t, last)
		default:
			change()
			a.save(t)
			b.save(t)
			last++
			if rapid.Bool().Draw(t, "maintain") {
				keep = max(keep, last-int64(rapid.IntRange(0, 8).Draw(t, "kept")))
				for _, s := range []*side{a, b} {
					if err := s.Maintain(context.Background(), keep); err != nil {
						t.Fatalf("maintain: %v", err)
					}
				}
			}
			a.load(t, last)
			b.load(t, last)
		}
		if x, y := a.Stats().Rows, b.Stats().Rows; x != y {
			t.Fatalf("%d rows, in memory %d", x, y)
		}
	}
	same("in the end", a.scan(t), b.scan(t))
	for v := keep; v <= last; v++ {
		b.load(t, v)
		c := openLSM(t, ours.Crash(nil), k, partitions)
		c.load(t, v)
		same(fmt.Sprint("version ", v, " read again"), c.scan(t), b.scan(t))
		c.close(t)
	}
}

func drawKeys(t *rapid.T) []key {
	seen := map[key]bool{}
	var out []key
	for range rapid.IntRange(0, 12).Draw(t, "keys") {
		k := key{rapid.SampledFrom([]string{"-", "", "a", "b", "c", "longer than the others"}).Draw(t, "k"), int64(rapid.IntRange(0, 25).Draw(t, "t"))}
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}
