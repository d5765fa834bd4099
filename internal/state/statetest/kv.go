package statetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/types"
)

// Open opens a store, whose thresholds should be low: a few batches must make snapshots, and a few keys fill its memory.
type Open func(fsys fs.FS, spec state.Spec) (state.KVStore, error)

// Spec describes the state that the laws keep.
func Spec(partitions int) state.Spec {
	return state.Spec{
		Operator: 1, Name: "transformWithStateExec", Partitions: partitions, Meaning: "m",
		Keys: []types.Field{{Name: "k", Type: types.String}},
	}
}

// Key is the key of a name: its hash, then the name.
func Key(name string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(name))), name...)
}

// kvs is a store with what it should hold.
type kvs struct {
	state.KVStore
	partitions int
	model      map[string]string
}

func (s *kvs) of(key []byte) state.KV { return s.KV(state.KeyShard(key, s.partitions)) }

func (s *kvs) put(key []byte, value string) error {
	s.model[string(key)] = value
	k, v := bytes.Clone(key), []byte(value)
	err := s.of(key).Put(k, v)
	clear(k) // they were copied
	clear(v)
	return err
}

func (s *kvs) delete(key []byte) error {
	delete(s.model, string(key))
	return s.of(key).Delete(key)
}

// expect lists a range of the model's keys of one shard.
func (s *kvs) expect(shard int, from, to []byte) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(s.model)) {
		if state.KeyShard([]byte(k), s.partitions) == shard && k >= string(from) && (to == nil || k < string(to)) {
			out = append(out, fmt.Sprintf("%q=%s", k, s.model[k]))
		}
	}
	return out
}

// read goes to the end of a cursor, calling between after each key.
func read(c state.KVCursor, between func()) ([]string, error) {
	var out []string
	for {
		k, v, ok, err := c.Next()
		if err != nil || !ok {
			return out, errors.Join(err, c.Close())
		}
		out = append(out, fmt.Sprintf("%q=%s", k, v))
		if between != nil {
			between()
		}
	}
}

// content is all that the store holds.
func (s *kvs) content() ([]string, error) {
	var out []string
	for shard := range state.Shards(s.partitions) {
		c, err := s.KV(shard).Scan(nil, nil)
		if err != nil {
			return nil, err
		}
		part, err := read(c, nil)
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}

func (s *kvs) expected() []string {
	var out []string
	for shard := range state.Shards(s.partitions) {
		out = append(out, s.expect(shard, nil, nil)...)
	}
	return out
}

// commit makes the next version durable.
func (s *kvs) commit(ctx context.Context) error {
	staged, err := s.Prepare(ctx)
	if err != nil {
		return err
	}
	var r fs.Round
	r.Publish(staged)
	return r.Commit(ctx)
}

// KVIsAMap compares a store with a map through random histories.
func KVIsAMap(t *testing.T, open Open) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		partitions := rapid.SampledFrom([]int{1, 2, 5, 40}).Draw(t, "partitions")
		disk := errfs.NewMem()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		s := &kvs{partitions: partitions, model: map[string]string{}}
		reopen := func(version int64) {
			t.Helper()
			if s.KVStore != nil {
				must(s.Close())
			}
			var err error
			s.KVStore, err = open(disk, Spec(partitions))
			must(err)
			must(s.Load(ctx, version))
		}
		reopen(0)
		defer func() { _ = s.Close() }()
		versions := []map[string]string{{}}
		kept := int64(0) // the oldest version that can be loaded
		last := func() int64 { return int64(len(versions)) - 1 }
		back := func() { s.model = maps.Clone(versions[last()]) }
		keys := rapid.IntRange(1, 60).Draw(t, "keys")
		draw := func(label string) []byte { return Key(fmt.Sprint(rapid.IntRange(0, keys).Draw(t, label))) }
		value := func() string { return fmt.Sprint(rapid.IntRange(0, 1<<20).Draw(t, "value")) }
		change := func() {
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				must(s.delete(draw("key")))
			} else {
				must(s.put(draw("key"), value()))
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"change", "change", "change", "get", "get", "scan", "scan", "commit", "commit", "abort", "reopen", "crash"}).Draw(t, "step") {
			case "change":
				for range rapid.IntRange(1, 20).Draw(t, "changes") {
					change()
				}
			case "get":
				k := draw("key")
				got, found, err := s.of(k).Get(k)
				must(err)
				if want, ok := s.model[string(k)]; ok != found || want != string(got) {
					t.Fatalf("get %q: %q %v, want %q %v", k, got, found, want, ok)
				}
			case "scan":
				from, to := draw("from"), draw("to")
				shard := state.KeyShard(from, partitions)
				if rapid.Bool().Draw(t, "unbounded") {
					to = nil
				}
				want := s.expect(shard, from, to)
				c, err := s.KV(shard).Scan(bytes.Clone(from), bytes.Clone(to))
				must(err)
				between := func() {}
				if rapid.Bool().Draw(t, "change meanwhile") {
					between = change
				}
				if len(want) > 2 && rapid.IntRange(0, 3).Draw(t, "stop") == 0 {
					_, _, ok, err := c.Next()
					must(err)
					if !ok {
						t.Fatal("scan ends too early")
					}
					must(c.Close())
					break
				}
				got, err := read(c, between)
				must(err)
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("scan %q to %q (-want +got)\n%s", from, to, d)
				}
			case "commit":
				must(s.commit(ctx))
				versions = append(versions, maps.Clone(s.model))
				if rapid.Bool().Draw(t, "maintain") {
					kept = max(kept, last()-2)
					must(s.Maintain(ctx, kept))
				}
				must(s.Load(ctx, last()))
			case "abort":
				s.Abort()
				back()
				must(s.Load(ctx, last()))
			case "reopen":
				v := last() - int64(rapid.IntRange(0, int(min(2, last()-kept))).Draw(t, "back"))
				versions = versions[:v+1]
				back()
				reopen(v)
			case "crash":
				back()
				disk = disk.Crash(nil)
				reopen(last())
			}
			if got := s.Stats().Rows; got != int64(len(s.model)) {
				t.Fatalf("%d rows, want %d", got, len(s.model))
			}
		}
		got, err := s.content()
		must(err)
		if d := cmp.Diff(s.expected(), got); d != "" {
			t.Fatalf("at the end (-want +got)\n%s", d)
		}
	})
}

// batches is how long the history is that faults and damage disturb.
const batches = 8

// step runs one batch: some keys are new, some changed, some go.
func (s *kvs) step(ctx context.Context, v int) error {
	for i := range 12 {
		if err := s.put(Key(fmt.Sprint("key ", v*3+i)), fmt.Sprint("value ", v)); err != nil {
			return err
		}
	}
	for shard := range state.Shards(s.partitions) {
		c, err := s.KV(shard).Scan(nil, nil)
		if err != nil {
			return err
		}
		var old [][]byte
		for {
			k, val, ok, err := c.Next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			if string(val) == fmt.Sprint("value ", v-3) {
				old = append(old, bytes.Clone(k))
			}
		}
		for _, k := range old {
			if err := s.delete(k); err != nil {
				return err
			}
		}
	}
	return s.commit(ctx)
}

// run goes on from a version, and returns the newest version that is durable.
func (s *kvs) run(ctx context.Context, from int) (durable int, err error) {
	for v := from; v < batches; v++ {
		if err := s.Load(ctx, int64(v)); err != nil {
			return v, err
		}
		if err := s.step(ctx, v); err != nil {
			return v, err
		}
		if err := s.Maintain(ctx, int64(v-3)); err != nil {
			return v + 1, err
		}
	}
	return batches, nil
}

// history is what each version of an undisturbed run holds, and its files.
func history(t *testing.T, open Open) (versions [][]string, files *errfs.Mem) {
	t.Helper()
	files = errfs.NewMem()
	s := &kvs{partitions: 3, model: map[string]string{}}
	whole, err := open(files, Spec(s.partitions))
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	s.KVStore = whole
	if err := s.Load(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	versions = append(versions, nil)
	for v := range batches {
		if err := s.step(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		if err := s.Maintain(t.Context(), int64(v-3)); err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t.Context(), int64(v+1)); err != nil {
			t.Fatal(err)
		}
		content, err := s.content()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s.expected(), content); d != "" {
			t.Fatal(d)
		}
		versions = append(versions, content)
	}
	return versions, files
}
