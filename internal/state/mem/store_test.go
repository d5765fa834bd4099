package mem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// numbers is a value column of one long by row.
type numbers struct{ xs []int64 }

func (v *numbers) Grow(n int) {
	for len(v.xs) < n {
		v.xs = append(v.xs, 0)
	}
}

func (v *numbers) Load(rows []uint32, cols []*vec.Vector) error {
	for i, r := range rows {
		v.xs[r] = vec.Fixed[int64](cols[0].Flatten())[i]
	}
	return nil
}

func (v *numbers) Save(rows []uint32) []*vec.Vector {
	out := vec.NewFixed(types.Long, len(rows))
	for i, r := range rows {
		vec.Fixed[int64](out)[i] = v.xs[r]
	}
	return []*vec.Vector{out}
}

func (v *numbers) Clear(rows []uint32) {
	for _, r := range rows {
		v.xs[r] = 0
	}
}

func (v *numbers) Reset() { v.xs = nil }

// spec is a state by (text, time) that expires by the time.
func spec(partitions int) state.Spec {
	return state.Spec{
		Operator: 3, Name: "stateStoreSave", Partitions: partitions, Meaning: "m",
		Keys:   []types.Field{{Name: "k", Type: types.String}, {Name: "t", Type: types.Timestamp}},
		Values: []types.Field{{Name: "v", Type: types.Long}},
		Time: func(keys []*vec.Vector, n int) []int64 {
			out := make([]int64, n)
			for i := range out {
				out[i] = state.NoTime
				if x, ok := vec.ValueAt(keys[1], i).(types.Micros); ok {
					out[i] = int64(x)
				}
			}
			return out
		},
	}
}

// opened is a store with its values.
type opened struct {
	*tableStore
	values []*numbers
}

func open(t fatal, fsys fs.FS, partitions int) *opened {
	s, err := Provider{FS: fsys}.Open("/state", spec(partitions))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	o := &opened{tableStore: s.(*tableStore)}
	o.minSnapshot, o.minDeltas, o.maxDeltas, o.small = 1<<12, 2, 7, 0
	for i := range state.Shards(partitions) {
		v := &numbers{}
		o.values = append(o.values, v)
		s.Attach(i, v)
	}
	return o
}

type fatal interface{ Fatalf(string, ...any) }

// key is a key of the tests: a text, or null for "-", and a time, or null for 0.
type key struct {
	k string
	t int64
}

func columns(t fatal, keys []key) []*vec.Vector {
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

// put adds to the values of keys, shard by shard.
func (o *opened) put(t fatal, keys []key, by int64) {
	cols := columns(t, keys)
	hashes := vec.PartitionHash(cols, len(keys), nil)
	for shard := range o.tables {
		var mine []uint32
		for i, h := range hashes[:len(keys)] {
			if state.ShardOf(h, o.spec.Partitions) == shard {
				mine = append(mine, uint32(i))
			}
		}
		if len(mine) == 0 {
			continue
		}
		part := []*vec.Vector{vec.Take(cols[0], mine, nil), vec.Take(cols[1], mine, nil)}
		rows := make([]uint32, len(mine))
		if _, err := o.Table(shard).Resolve(part, len(mine), true, rows, nil); err != nil {
			t.Fatalf("resolve: %v", err)
		}
		for _, r := range rows {
			o.values[shard].xs[r] += by
		}
		o.Table(shard).Touch(rows)
	}
}

func (o *opened) expire(t fatal, bound int64) {
	for shard := range o.tables {
		if shard%2 == 0 {
			if _, err := o.Table(shard).Remove(bound); err != nil {
				t.Fatalf("remove: %v", err)
			}
			continue
		}
		c, err := o.Table(shard).Expire(bound)
		if err != nil {
			t.Fatalf("expire: %v", err)
		}
		through(t, c)
	}
}

// through goes to the end of a cursor and returns all rows.
func through(t fatal, c state.Cursor) []uint32 {
	var all []uint32
	for {
		rows, err := c.Next()
		if err != nil {
			t.Fatalf("next: %v", err)
		}
		if len(rows) == 0 {
			return all
		}
		all = append(all, rows...)
	}
}

func (o *opened) all(t fatal, shard int) []uint32 {
	c, err := o.Table(shard).Scan()
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return through(t, c)
}

func (o *opened) content(t fatal) map[key]int64 {
	out := map[key]int64{}
	for shard := range o.tables {
		rows := o.all(t, shard)
		cols := o.Table(shard).Keys(rows)
		for i, r := range rows {
			k := key{k: "-"}
			if s, ok := vec.ValueAt(cols[0], i).(string); ok {
				k.k = s
			}
			if m, ok := vec.ValueAt(cols[1], i).(types.Micros); ok {
				k.t = int64(m)
			}
			out[k] = o.values[shard].xs[r]
		}
	}
	return out
}

// order is every row as it would be put out.
func (o *opened) order(t fatal) []string {
	var out []string
	for shard := range o.tables {
		rows := o.all(t, shard)
		cols := o.Table(shard).Keys(rows)
		for i := range rows {
			out = append(out, fmt.Sprint(shard, vec.ValueAt(cols[0], i), vec.ValueAt(cols[1], i)))
		}
	}
	return out
}

func (o *opened) save(t fatal) {
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

func (o *opened) load(t fatal, version int64) {
	if err := o.Load(context.Background(), version); err != nil {
		t.Fatalf("load %d: %v", version, err)
	}
}

// TestAgainstAMap runs random histories of batches, aborts, restarts and power cuts beside a map for each version.
func TestAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := errfs.NewMem()
		partitions := rapid.SampledFrom([]int{1, 2, 5, 40}).Draw(t, "partitions")
		s := open(t, mem, partitions)
		s.small = rapid.SampledFrom([]int64{0, 0, 1 << 12, 1 << 40}).Draw(t, "small")
		versions := []map[key]int64{{}}
		keep := 0
		s.load(t, 0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			last := len(versions) - 1
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0: // another process, after a power cut
				mem = mem.Crash(nil)
				s = open(t, mem, partitions)
				s.load(t, int64(last))
			case 1: // the batch fails half way
				s.put(t, drawKeys(t), 100)
				s.expire(t, int64(rapid.IntRange(0, 30).Draw(t, "bound")))
				s.Abort()
				s.load(t, int64(last))
			case 2: // an older version is needed again, and what came after it is another attempt
				back := rapid.IntRange(keep, last).Draw(t, "back")
				s.load(t, int64(back))
				versions = versions[:back+1]
			default:
				now := maps.Clone(versions[last])
				for range rapid.IntRange(0, 3).Draw(t, "changes") {
					keys, by := drawKeys(t), int64(rapid.IntRange(1, 9).Draw(t, "by"))
					s.put(t, keys, by)
					for _, k := range keys {
						now[k] += by
					}
					if rapid.Bool().Draw(t, "evict") {
						bound := int64(rapid.IntRange(0, 30).Draw(t, "bound"))
						s.expire(t, bound)
						maps.DeleteFunc(now, func(k key, _ int64) bool { return k.t != 0 && k.t <= bound })
					}
				}
				s.save(t)
				versions = append(versions, now)
				if rapid.Bool().Draw(t, "maintain") {
					keep = max(keep, len(versions)-1-rapid.IntRange(0, 5).Draw(t, "kept"))
					if err := s.Maintain(context.Background(), int64(keep)); err != nil {
						t.Fatalf("maintain: %v", err)
					}
				}
			}
			if d := cmp.Diff(versions[len(versions)-1], s.content(t)); d != "" {
				t.Fatalf("version %d (-want +got)\n%s", len(versions)-1, d)
			}
			if rows := s.Stats().Rows; rows != int64(len(versions[len(versions)-1])) {
				t.Fatalf("%d rows, want %d", rows, len(versions[len(versions)-1]))
			}
		}
		for v := keep; v < len(versions); v++ {
			other := open(t, mem.Crash(nil), partitions)
			other.load(t, int64(v))
			if d := cmp.Diff(versions[v], other.content(t)); d != "" {
				t.Fatalf("version %d read again (-want +got)\n%s", v, d)
			}
		}
		other := open(t, mem, partitions)
		other.load(t, int64(len(versions)-1))
		if d := cmp.Diff(s.order(t), other.order(t)); d != "" {
			t.Fatalf("a restart changes the order\n%s", d)
		}
	})
}

func drawKeys(t *rapid.T) []key {
	n := rapid.IntRange(0, 12).Draw(t, "keys")
	seen := map[key]bool{}
	var out []key
	for range n {
		k := key{rapid.SampledFrom([]string{"-", "", "a", "b", "c", "longer than the others"}).Draw(t, "k"), int64(rapid.IntRange(0, 25).Draw(t, "t"))}
		if !seen[k] {
			seen[k] = true
			out = append(out, k)
		}
	}
	return out
}

func many(n, from int) []key {
	var out []key
	for i := range n {
		out = append(out, key{fmt.Sprintf("key %d", from+i), int64(from + i + 1)})
	}
	return out
}

// TestKeysThatComeAndGo: memory follows what is alive, and rows keep their order when the table is made anew.
func TestKeysThatComeAndGo(t *testing.T) {
	s := open(t, errfs.NewMem(), 1)
	s.load(t, 0)
	s.put(t, []key{{"first", 1 << 40}, {"second", 1 << 40}}, 1)
	for i := range 50 {
		s.put(t, many(1000, i*1000), 1)
		s.expire(t, int64((i+1)*1000))
		s.save(t)
	}
	if got := len(s.values[0].xs); got > 4*minRows {
		t.Errorf("room for %d rows, %d are alive", got, s.Stats().Rows)
	}
	if d := cmp.Diff([]string{"0first1970-01-13 17:25:11.627776", "0second1970-01-13 17:25:11.627776"}, s.order(t)); d != "" {
		t.Error(d)
	}
}

func TestExpiredLooksOnlyWhenItMust(t *testing.T) {
	s := open(t, errfs.NewMem(), 1)
	s.load(t, 0)
	s.put(t, []key{{"a", 10}, {"b", 20}, {"c", 0}}, 1)
	for _, c := range []struct {
		bound int64
		want  int
	}{{9, 0}, {10, 1}, {10, 0}, {19, 0}, {1 << 40, 1}} {
		cur, err := s.Table(0).Expire(c.bound)
		if err != nil {
			t.Fatal(err)
		}
		if rows := through(t, cur); len(rows) != c.want {
			t.Errorf("bound %d: %d rows, want %d", c.bound, len(rows), c.want)
		}
		if rows, _ := s.tables[0].expired(c.bound); len(rows) != 0 {
			t.Errorf("bound %d: %d rows again", c.bound, len(rows))
		}
	}
	if s.tables[0].min != state.NoTime || s.Stats().Rows != 1 {
		t.Error("a row without a time never expires")
	}
}

func TestDamagedFiles(t *testing.T) {
	mem := errfs.NewMem()
	s := open(t, mem, 2)
	s.load(t, 0)
	s.put(t, many(50, 0), 1)
	s.save(t)
	name := "/state/3/0/1.delta"
	good, err := fs.ReadFile(mem, name)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i <= len(good); i += 7 {
		for _, bad := range [][]byte{good[:i], flipped(good, i)} {
			if slices.Equal(bad, good) {
				continue
			}
			if err := fs.Replace(t.Context(), mem, name, bad); err != nil {
				t.Fatal(err)
			}
			if err := open(t, mem, 2).Load(t.Context(), 1); !errclass.Has(err, "CANNOT_LOAD_STATE_STORE") {
				t.Fatalf("damaged at %d: %v", i, err)
			}
		}
	}
	if err := mem.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := open(t, mem, 2).Load(t.Context(), 1); !errclass.Has(err, "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS") {
		t.Fatalf("missing: %v", err)
	}
}

func flipped(b []byte, i int) []byte {
	out := slices.Clone(b)
	if i < len(out) {
		out[i] ^= 0x40
	}
	return out
}

func TestFoldersOfPartitions(t *testing.T) {
	mem := errfs.NewMem()
	s := open(t, mem, 3)
	s.load(t, 0)
	s.save(t)
	var got []string
	for name := range mem.Tree() {
		if strings.Contains(name, "state/3/") {
			got = append(got, name[strings.Index(name, "state/"):])
		}
	}
	slices.Sort(got)
	if d := cmp.Diff([]string{"state/3/0/1.delta", "state/3/1/_elsewhere", "state/3/2/_elsewhere"}, got); d != "" {
		t.Error(d)
	}
}

func BenchmarkSmallBatch(b *testing.B) {
	s := open(b, fs.Local(), 2)
	s.folder = state.NewFolder(fs.WithoutSync(fs.Local()), b.TempDir(), s.spec, delta, snapshot)
	s.minSnapshot, s.maxDeltas, s.small = 1<<20, 200, smallState
	s.load(b, 0)
	keys := many(100, 0)
	b.ReportAllocs()
	for b.Loop() {
		s.put(b, keys, 1)
		s.save(b)
		if err := s.Maintain(b.Context(), s.Version()-100); err != nil {
			b.Fatal(err)
		}
	}
}
