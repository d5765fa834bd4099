package lsm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/state/mem"
	"github.com/millrace/millrace/internal/vec"
)

// Chunks of cursors end at the same rows in both providers, whether rows are in memory, in the tree or both, and however many of them
// are sorted outside of memory.
func TestManyRows(t *testing.T) {
	for k := range kinds {
		ours := openLSM(t, errfs.NewMem(), k, 2)
		theirs := openSide(t, mem.Provider{FS: errfs.NewMem()}, spec(k, 2), k.byValue())
		ours.Store.(*tableStore).store.sortBytes = 50_000
		r := rand.New(rand.NewPCG(1, uint64(k)))
		var keys []key
		for i := range 20_000 {
			keys = append(keys, key{fmt.Sprint("key ", i), int64(r.IntN(50) + 1)})
		}
		for _, o := range []*side{ours, theirs} {
			o.load(t, 0)
			o.put(t, keys[:12_000], 1, 20, true)
			o.save(t)
			o.load(t, 1)
			o.put(t, keys[6_000:], 2, 40, true)
		}
		chunks := func(o *side, open func(state.Table) (state.Cursor, error)) string {
			var out []string
			for shard := range o.values {
				c, err := open(o.Table(shard))
				if err != nil {
					t.Fatal(err)
				}
				for rows := []uint32{0}; len(rows) > 0; {
					if rows, err = c.Next(); err != nil {
						t.Fatal(err)
					}
					out = append(out, fmt.Sprint(len(rows), " rows: ", o.show(shard, rows)))
				}
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
			return strings.Join(out, "\n")
		}
		if d := cmp.Diff(chunks(theirs, state.Table.Scan), chunks(ours, state.Table.Scan)); d != "" {
			t.Errorf("kind %d: scan (-memory +lsm)\n%s", k, d)
		}
		expire := func(tb state.Table) (state.Cursor, error) { return tb.Expire(30) }
		if d := cmp.Diff(chunks(theirs, expire), chunks(ours, expire)); d != "" {
			t.Errorf("kind %d: expire (-memory +lsm)\n%s", k, d)
		}
		for _, o := range []*side{ours, theirs} {
			o.save(t)
			o.load(t, 2)
		}
		if d := cmp.Diff(chunks(theirs, state.Table.Scan), chunks(ours, state.Table.Scan)); d != "" {
			t.Errorf("kind %d: the rest (-memory +lsm)\n%s", k, d)
		}
		ours.close(t)
	}
}

// A reader sees what a store has saved, also while that goes on.
func TestReader(t *testing.T) {
	for k := range kinds {
		m := errfs.NewMem()
		o := openLSM(t, m, k, 3)
		want := ""
		for v := range 8 {
			o.load(t, int64(v))
			o.put(t, []key{{"a", int64(10*v + 1)}, {"-", int64(10*v + 2)}, {fmt.Sprint("k", v), int64(10*v + 3)}}, 1, 99, true)
			want = o.scan(t)
			o.save(t)
			if err := o.Maintain(t.Context(), int64(v-2)); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Reader{FS: m}.Content(t.Context(), "/state/3/0", -1)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for shard, b := range c.Rows {
			for i := range b.N {
				got += fmt.Sprintf(" %d(%v %v %v)", shard, vec.ValueAt(b.Cols[0], i), vec.ValueAt(b.Cols[1], i), vec.ValueAt(b.Cols[2], i))
			}
		}
		if got != want {
			t.Errorf("kind %d: %s\nwant %s", k, got, want)
		}
		for name := range m.Tree() {
			if strings.Contains(name, "look-") {
				t.Errorf("kind %d leaves %s", k, name)
			}
		}
		o.close(t)
	}
}

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]int64{"": DefaultLimit, "1g": 1 << 30, "512M": 512 << 20, "64mb": 64 << 20, "100000000": 100000000, " 2G ": 2 << 30} {
		if got, err := ParseLimit(text); err != nil || got != want {
			t.Errorf("%q is %d, want %d, %v", text, got, want, err)
		}
	}
	for _, text := range []string{"1k", "0", "-1g", "plenty", "99999999999t", "g"} {
		if got, err := ParseLimit(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
