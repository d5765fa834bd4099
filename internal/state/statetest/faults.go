package statetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/state"
)

func openKVs(t *testing.T, open Open, fsys fs.FS) *kvs {
	t.Helper()
	s, err := open(fsys, Spec(3))
	if err != nil {
		t.Fatal(err)
	}
	return &kvs{KVStore: s, partitions: 3, model: map[string]string{}}
}

// KVKeepsWhatIsDurable lets power fail and disks be full at one change of the file system after the other, step changes apart: every
// version that was durable is there afterwards, and the history goes on from it as if nothing had been.
func KVKeepsWhatIsDurable(t *testing.T, open Open, step int) {
	want, _ := history(t, open)
	for at := 1; ; at += step {
		disk, rule := errfs.NewMem(), errfs.CrashAt(at)
		s := openKVs(t, open, errfs.Wrap(disk, rule))
		durable, err := s.run(t.Context(), 0)
		if err != nil && !rule.Stopped() {
			t.Fatalf("at %d: %v", at, err)
		}
		_ = s.Close()
		if !rule.Stopped() {
			break
		}
		goesOn(t, open, disk.Crash(rand.New(rand.NewPCG(uint64(at), 1)).IntN), durable, want, fmt.Sprint("power failed at ", at))
	}
	changes := errfs.Ops(errfs.Create, errfs.Write, errfs.Link, errfs.Rename, errfs.RenameNew, errfs.Mkdir, errfs.SyncFile, errfs.SyncDir)
	for _, forever := range []bool{false, true} {
		for at := 1; ; at += 2 * step {
			disk, rule := errfs.NewMem(), errfs.FailAt(at, changes, errfs.ErrNoSpace)
			if forever {
				rule.Forever()
			}
			s := openKVs(t, open, errfs.Wrap(disk, rule))
			durable, err := s.run(t.Context(), 0)
			if err != nil && !errors.Is(err, errfs.ErrNoSpace) {
				t.Fatalf("full at %d: %v", at, err)
			}
			_ = s.Close()
			if !rule.Hit() {
				break
			}
			goesOn(t, open, disk, durable, want, fmt.Sprint("full at ", at))
		}
	}
}

func goesOn(t *testing.T, open Open, disk fs.FS, durable int, want [][]string, what string) {
	t.Helper()
	s := openKVs(t, open, disk)
	defer s.Close()
	for _, v := range []int{durable, batches} {
		if v == batches {
			if _, err := s.run(t.Context(), durable); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if err := s.Load(t.Context(), int64(v)); err != nil {
			t.Fatalf("%s: version %d: %v", what, v, err)
		}
		got, err := s.content()
		if err != nil {
			t.Fatalf("%s: version %d: %v", what, v, err)
		}
		if d := cmp.Diff(want[v], got); d != "" {
			t.Fatalf("%s: version %d (-want +got)\n%s", what, v, d)
		}
	}
}

// KVRefusesDamage changes bytes in files, cuts them off and removes them: the store says so or, where nobody reads what was changed,
// is right.
func KVRefusesDamage(t *testing.T, open Open) {
	want, disk := history(t, open)
	var names []string
	for name := range disk.Tree() {
		if !strings.Contains(name, "_elsewhere") {
			names = append(names, "/"+name)
		}
	}
	slices.Sort(names)
	rng := rand.New(rand.NewPCG(1, 1))
	refusals := 0
	try := func(name string, content []byte, what string) {
		m := disk.Crash(nil) // a copy
		if err := errors.Join(m.Remove(name), m.SyncDir(filepath.Dir(name))); err != nil {
			t.Fatal(err)
		}
		if content != nil {
			if err := fs.WriteOnce(t.Context(), m, name, content); err != nil {
				t.Fatal(err)
			}
		}
		s := openKVs(t, open, m)
		defer s.Close()
		var got []string
		err := s.Load(t.Context(), batches)
		if err == nil {
			got, err = s.content()
		}
		if err == nil && !slices.Equal(got, want[batches]) {
			t.Fatalf("%s: %v, want %v", what, got, want[batches])
		}
		if err != nil {
			refusals++
			if !errclass.Has(err, "CANNOT_LOAD_STATE_STORE") {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	for _, name := range names {
		good, err := fs.ReadFile(disk, name)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			at := rng.IntN(len(good) + 1)
			bad := slices.Clone(good)
			if at == len(good) || rng.IntN(3) == 0 {
				bad = bad[:at]
			} else {
				bad[at] ^= 1 << rng.IntN(8)
			}
			try(name, bad, fmt.Sprint(filepath.Base(name), " damaged at ", at))
		}
		try(name, nil, filepath.Base(name)+" missing")
	}
	if refusals < 8 {
		t.Errorf("%d refusals only", refusals)
	}
}

// KVRefusesOthers opens a state as what it is not.
func KVRefusesOthers(t *testing.T, open Open) {
	_, disk := history(t, open)
	for _, c := range []struct {
		change func(*state.Spec)
		want   string
	}{
		{func(s *state.Spec) { s.Meaning = "other" }, "STATE_STORE_MEANING_NOT_COMPATIBLE"},
		{func(s *state.Spec) { s.Keys = nil }, "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"},
		{func(s *state.Spec) { s.Partitions++ }, "CANNOT_LOAD_STATE_STORE"},
	} {
		spec := Spec(3)
		c.change(&spec)
		s, err := open(disk, spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t.Context(), batches); !errclass.Has(err, c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
