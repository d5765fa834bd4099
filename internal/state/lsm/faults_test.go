package lsm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
)

// history is a store's life of some batches, each of which ends with an error when the file system has one.
type history struct {
	scans    []string // what each version holds, by version
	refusals int
}

const historyBatches = 8

func (h *history) open(fsys fs.FS) *side {
	p := Provider{FS: fsys, Memory: &Memory{}, Limit: minLimit}
	o := openSide(noFatal{}, p, spec(byKey, 2), false)
	small(p, o.Store.(*tableStore).store)
	o.Store.(*tableStore).store.snapshotChanges = 3
	return o
}

// noFatal turns a fatal mistake of a step into a panic that run takes for its error.
type noFatal struct{}

func (noFatal) Helper() {}
func (noFatal) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			panic(stepError{err})
		}
	}
	panic(fmt.Sprintf(format, args...))
}

type stepError struct{ error }

// run goes on from a version, and returns the newest version that is durable.
func (h *history) run(o *side, from int) (durable int, err error) {
	durable = from
	defer func() {
		if r := recover(); r != nil {
			step, ok := r.(stepError)
			if !ok {
				panic(r)
			}
			err = step.error
		}
	}()
	for v := from; v < historyBatches; v++ {
		if err := h.step(o, v); err != nil {
			return durable, err
		}
		durable = v + 1
		if err := o.Maintain(context.Background(), int64(v-3)); err != nil {
			return durable, err
		}
	}
	return durable, nil
}

// undisturbed notes what every version holds.
func undisturbed(t *testing.T) (*history, *errfs.Mem) {
	m, h := errfs.NewMem(), &history{}
	o := h.open(m)
	defer o.close(t)
	if _, err := h.run(o, 0); err != nil {
		t.Fatal(err)
	}
	whole := h.open(errfs.NewMem())
	defer whole.close(t)
	for v := range historyBatches + 1 {
		if v == 0 {
			whole.load(t, 0)
		} else if err := h.step(whole, v-1); err != nil {
			t.Fatal(err)
		}
		h.scans = append(h.scans, whole.scan(t))
	}
	return h, m
}

// step runs one batch.
func (h *history) step(o *side, v int) error {
	var keys []key
	for i := range 10 {
		keys = append(keys, key{fmt.Sprint("key ", v, " ", i), int64(v*10 + i + 1)})
	}
	if v > 2 {
		keys = append(keys, key{fmt.Sprint("key ", v-1, " ", 9), int64((v-1)*10 + 10)})
	}
	ctx := context.Background()
	if err := o.Load(ctx, int64(v)); err != nil {
		return err
	}
	o.put(noFatal{}, keys, int64(v+1), 0, true)
	o.expire(noFatal{}, int64((v-2)*10))
	s, err := o.Prepare(ctx)
	if err != nil {
		return err
	}
	var r fs.Round
	r.Publish(s)
	return r.Commit(ctx)
}

// Wherever power fails, every version that was durable is there afterwards, and the history goes on from it as if nothing had been.
func TestPowerFails(t *testing.T) {
	h, _ := undisturbed(t)
	step := 7
	if testing.Short() {
		step = 31
	}
	for at := 1; ; at += step {
		m, rule := errfs.NewMem(), errfs.CrashAt(at)
		o := h.open(errfs.Wrap(m, rule))
		durable, err := h.run(o, 0)
		if rule.Stopped() != (err != nil) && !rule.Stopped() {
			t.Fatalf("at %d: %v", at, err)
		}
		_ = o.Close() // must not hang
		if !rule.Stopped() {
			return
		}
		rng := rand.New(rand.NewPCG(uint64(at), 1))
		after := m.Crash(rng.IntN)
		o = h.open(after)
		if err := o.Load(t.Context(), int64(durable)); err != nil {
			t.Fatalf("power failed at %d: version %d: %v", at, durable, err)
		}
		if got := o.scan(t); got != h.scans[durable] {
			t.Fatalf("power failed at %d: version %d is\n%s\nwant\n%s", at, durable, got, h.scans[durable])
		}
		if _, err := h.run(o, durable); err != nil {
			t.Fatalf("power failed at %d: %v", at, err)
		}
		if got := o.scan(t); got != h.scans[historyBatches] {
			t.Fatalf("power failed at %d: the history ends with\n%s\nwant\n%s", at, got, h.scans[historyBatches])
		}
		o.close(t)
	}
}

// A snapshot that is not needed any more is gone before its files are: the version before the newest one can be loaded whatever of the
// removal a crash has left.
func TestPowerFailsWhileSnapshotsGo(t *testing.T) {
	h, _ := undisturbed(t)
	for seed := range uint64(60) {
		m := errfs.NewMem()
		o := h.open(m)
		o.Store.(*tableStore).store.snapshotChanges = 1
		const last = maxSnapshots + 2
		for v := range last {
			if err := h.step(o, v); err != nil {
				t.Fatal(err)
			}
			if err := o.Maintain(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
		}
		after := h.open(m.Crash(rand.New(rand.NewPCG(seed, 1)).IntN))
		for _, v := range []int{last - 1, last} {
			if err := after.Load(t.Context(), int64(v)); err != nil {
				t.Fatalf("seed %d: version %d: %v", seed, v, err)
			}
			if got := after.scan(t); got != h.scans[v] {
				t.Fatalf("seed %d: version %d is\n%s\nwant\n%s", seed, v, got, h.scans[v])
			}
		}
		after.close(t)
		o.close(t)
	}
}

// A disk that is full, once or from then on, gives an error and never a wrong row; when there is space again the store goes on.
func TestDiskIsFull(t *testing.T) {
	h, _ := undisturbed(t)
	anyChange := errfs.Ops(errfs.Create, errfs.Write, errfs.Link, errfs.Rename, errfs.RenameNew, errfs.Mkdir, errfs.SyncFile, errfs.SyncDir)
	for _, forever := range []bool{false, true} {
		for at := 1; ; at += 13 {
			m, rule := errfs.NewMem(), errfs.FailAt(at, anyChange, errfs.ErrNoSpace)
			if forever {
				rule.Forever()
			}
			o := h.open(errfs.Wrap(m, rule))
			durable, err := h.run(o, 0)
			if err != nil && !errors.Is(err, errfs.ErrNoSpace) {
				t.Fatalf("full at %d: %v", at, err)
			}
			_ = o.Close()
			if !rule.Hit() {
				break
			}
			o = h.open(m)
			if err := o.Load(t.Context(), int64(durable)); err != nil {
				t.Fatalf("full at %d: version %d: %v", at, durable, err)
			}
			if got := o.scan(t); got != h.scans[durable] {
				t.Fatalf("full at %d: version %d is\n%s\nwant\n%s", at, durable, got, h.scans[durable])
			}
			o.close(t)
		}
	}
}

// A file that was changed is refused, or, where the change is in what nobody reads, the rows are right.
func TestDamagedFiles(t *testing.T) {
	h, m := undisturbed(t)
	var names []string
	for name := range m.Tree() {
		if !strings.Contains(name, "_elsewhere") {
			names = append(names, "/"+name)
		}
	}
	slices.Sort(names)
	if !slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, ".sst") }) {
		t.Fatalf("no snapshot among %v", names)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range names {
		good, err := fs.ReadFile(m, name)
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			at := rng.IntN(len(good) + 1)
			bad := slices.Clone(good)
			switch {
			case at == len(good) || rng.IntN(3) == 0:
				bad = bad[:at]
			default:
				bad[at] ^= 1 << rng.IntN(8)
			}
			h.refused(t, m, name, bad, fmt.Sprint(filepath.Base(name), " damaged at ", at))
		}
		h.refused(t, m, name, nil, filepath.Base(name)+" missing")
	}
	if h.refusals < 100 {
		t.Errorf("%d refusals only", h.refusals)
	}
}

func (h *history) refused(t *testing.T, m *errfs.Mem, name string, content []byte, what string) {
	t.Helper()
	m = m.Crash(nil) // a copy
	if err := errors.Join(m.Remove(name), m.SyncDir(filepath.Dir(name))); err != nil {
		t.Fatal(err)
	}
	if content != nil {
		if err := fs.WriteOnce(t.Context(), m, name, content); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []int{historyBatches - 3, historyBatches} {
		o := h.open(m.Crash(nil))
		err := o.Load(t.Context(), int64(v))
		got := ""
		if err == nil {
			got, err = h.trying(func() string { return o.scan(noFatal{}) })
		}
		if err == nil && got != h.scans[v] {
			t.Fatalf("%s: version %d is\n%s\nwant\n%s", what, v, got, h.scans[v])
		}
		if err != nil {
			h.refusals++
			if !errclass.Has(err, "CANNOT_LOAD_STATE_STORE") {
				t.Fatalf("%s: version %d: %v", what, v, err)
			}
		}
		o.close(t)
	}
}

// trying returns the error of a step.
func (h *history) trying(do func() string) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			step, ok := r.(stepError)
			if !ok {
				panic(r)
			}
			err = step.error
		}
	}()
	return do(), nil
}
