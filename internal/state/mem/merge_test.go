package mem

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/state"
)

// gate is a file system that lets nobody read segments before it is opened.
type gate struct {
	fs.FS
	arrived chan struct{} // receives once for each reader
	opened  chan struct{}

	mu      sync.Mutex
	reading int
	most    int // readers at a time
}

func newGate(fsys fs.FS) *gate {
	return &gate{FS: fsys, arrived: make(chan struct{}, 100), opened: make(chan struct{})}
}

func (g *gate) Open(name string) (fs.File, error) {
	if !strings.HasSuffix(name, delta) {
		return g.FS.Open(name)
	}
	g.mu.Lock()
	g.reading++
	g.most = max(g.most, g.reading)
	g.mu.Unlock()
	g.arrived <- struct{}{}
	<-g.opened
	f, err := g.FS.Open(name)
	g.mu.Lock()
	g.reading--
	g.mu.Unlock()
	return f, err
}

// batch changes the state in a way that depends on the version, and saves it.
func (o *opened) batch(t fatal) {
	v := o.Version()
	o.put(t, many(5, int(v)%7*3), v+1)
	if v%3 == 2 {
		o.expire(t, v)
	}
	o.save(t)
}

func (o *opened) maintain(t fatal, keep int64) {
	if err := o.Maintain(context.Background(), keep); err != nil {
		t.Fatalf("maintain: %v", err)
	}
}

// untilDue runs batches until a snapshot is due, without making it.
func (o *opened) untilDue(t fatal) {
	for !o.due() {
		o.batch(t)
	}
}

// A disk that fails or a machine that stops while segments are merged, at whichever call, costs nothing: batches go on, what a restart
// finds is what was saved, and the merge is done another time.
func TestFaultsInMerges(t *testing.T) {
	anything := func(errfs.Op) bool { return true }
	for _, c := range []struct {
		name  string
		rule  func(k int) *errfs.Rule
		crash bool
		small int64
	}{
		{"EIO", func(k int) *errfs.Rule { return errfs.FailAt(k, anything, errfs.ErrIO) }, false, 0},
		{"full", func(k int) *errfs.Rule {
			return errfs.FailAt(k, errfs.Ops(errfs.Create, errfs.Write, errfs.SyncFile, errfs.Rename), errfs.ErrNoSpace)
		}, false, 0},
		{"EIO, then a crash", func(k int) *errfs.Rule { return errfs.FailAt(k, anything, errfs.ErrIO) }, true, 0},
		{"crash", errfs.CrashAt, true, 0},
		{"EIO, made with the batch", func(k int) *errfs.Rule { return errfs.FailAt(k, anything, errfs.ErrIO) }, false, 1 << 40},
		{"crash, made with the batch", errfs.CrashAt, true, 1 << 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			for k := 1; ; k++ {
				disk := errfs.NewMem()
				s := open(t, disk, 3)
				s.small = c.small
				s.load(t, 0)
				s.untilDue(t) // a first snapshot, so that there is something to be deleted beside the second
				s.maintain(t, 0)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				first := s.Version()
				s.untilDue(t)
				keep := s.Version() - 1
				want, order := s.content(t), s.order(t)

				var log bytes.Buffer
				s.log = slog.New(slog.NewTextHandler(&log, nil))
				rule := c.rule(k)
				s.folder.FS = errfs.Wrap(disk, rule)
				s.maintain(t, keep)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				hit := rule.Hit()
				s.folder.FS = disk
				if hit && log.Len() == 0 && rule.First().Kind != errfs.Close && rule.First().Kind != errfs.Stat {
					t.Errorf("call %d: nobody was told that %s of %s failed", k, rule.First().Kind, rule.First().Name)
				}
				if c.crash {
					disk = disk.Crash(rand.New(rand.NewPCG(uint64(k), 1)).IntN)
					s = open(t, disk, 3)
					s.load(t, keep+1)
				}
				if d := cmp.Diff(want, s.content(t)); d != "" {
					t.Fatalf("call %d (-want +got)\n%s", k, d)
				}
				if d := cmp.Diff(order, s.order(t)); d != "" {
					t.Fatalf("call %d, in order (-want +got)\n%s", k, d)
				}
				// It goes on, and what could not be done is done.
				for range 20 {
					s.batch(t)
					s.maintain(t, s.Version()-1)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				other := open(t, disk, 3)
				other.load(t, s.Version())
				if d := cmp.Diff(s.order(t), other.order(t)); d != "" {
					t.Fatalf("call %d, read again (-want +got)\n%s", k, d)
				}
				if newest := other.folder.Newest(snapshot); newest <= first+1 {
					t.Errorf("call %d: the newest snapshot is of version %d", k, newest)
				}
				if old := other.folder.Versions(delta); old[0] <= first || len(other.folder.Versions(snapshot)) > 3 {
					t.Errorf("call %d: left are deltas %v and snapshots %v", k, old, other.folder.Versions(snapshot))
				}
				if !hit {
					break
				}
			}
		})
	}
}

// Close waits for a merge, which is not lost: runs of a few batches each get their snapshots, too.
func TestCloseWaitsForTheMerge(t *testing.T) {
	disk := errfs.NewMem()
	s := open(t, disk, 2)
	s.load(t, 0)
	s.untilDue(t)
	g := newGate(disk)
	s.folder.FS = g
	s.maintain(t, 0)
	<-g.arrived
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	select {
	case <-closed:
		t.Fatal("closed while a merge reads")
	default:
	}
	close(g.opened)
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Stat(s.folder.File(s.Version(), snapshot)); err != nil {
		t.Error(err)
	}
}

// A batch that fails, and is run again otherwise, gives up a merge that is going on: no snapshot of what was comes after that.
func TestAbortWhileMerging(t *testing.T) {
	disk := errfs.NewMem()
	s := open(t, disk, 2)
	s.load(t, 0)
	s.untilDue(t)
	back := s.Version() - 1
	g := newGate(disk)
	s.folder.FS = g
	s.maintain(t, 0)
	<-g.arrived
	aborted := make(chan struct{})
	go func() {
		defer close(aborted)
		s.Abort()
	}()
	close(g.opened)
	<-aborted
	s.folder.FS = disk
	s.load(t, back)
	s.put(t, []key{{"another", 1}}, 1)
	s.save(t)
	other := open(t, disk, 2)
	other.load(t, back+1)
	if d := cmp.Diff(s.content(t), other.content(t)); d != "" {
		t.Error(d)
	}
}

// Batches go on while a merge takes its time, and what it reads is not deleted. They wait for it when the next one is due, so that what a
// restart reads is bounded.
func TestBatchesGoOnWhileMerging(t *testing.T) {
	disk := errfs.NewMem()
	s := open(t, disk, 2)
	s.load(t, 0)
	s.untilDue(t)
	merged := s.Version()
	g := newGate(disk)
	s.folder.FS = g
	s.maintain(t, s.Version())
	<-g.arrived
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for {
		s.batch(t)
		due := s.due()
		err := s.Maintain(ended, s.Version()) // no older version is needed
		if due != errors.Is(err, context.Canceled) || err != nil && !due {
			t.Fatalf("version %d, another snapshot due: %t: %v", s.Version(), due, err)
		}
		if due {
			break
		}
	}
	if went := s.Version() - merged; went < s.minDeltas || went > s.maxDeltas {
		t.Errorf("%d batches went on", went)
	}
	close(g.opened)
	s.maintain(t, s.Version())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.folder.Base(merged, snapshot) != merged || s.folder.Newest(snapshot) != s.Version() {
		t.Errorf("snapshots %v, want of %d and %d", s.folder.Versions(snapshot), merged, s.Version())
	}
}

// Stores that share turns merge one after the other: only one state is in memory twice.
func TestMergesTakeTurns(t *testing.T) {
	var turns Merges
	disk := errfs.NewMem()
	g := newGate(disk)
	var stores []*opened
	for i := range 3 {
		s := open(t, disk, 2)
		s.folder = state.NewFolder(disk, fmt.Sprintf("/state%d", i), s.spec, delta, snapshot)
		s.merges = &turns
		s.load(t, 0)
		s.untilDue(t)
		s.folder.FS = g
		stores = append(stores, s)
	}
	for _, s := range stores {
		s.maintain(t, 0)
	}
	close(g.opened)
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s.folder.Newest(snapshot) != s.Version() {
			t.Error("no snapshot")
		}
	}
	if g.most != 1 {
		t.Errorf("%d at a time", g.most)
	}
}

// BenchmarkMaintain is what a batch of 100 keys waits for beside 200 000 keys that are held: a snapshot is due every fourth batch.
func BenchmarkMaintain(b *testing.B) {
	s := open(b, fs.Local(), 2)
	s.folder = state.NewFolder(fs.WithoutSync(fs.Local()), b.TempDir(), s.spec, delta, snapshot)
	s.minSnapshot, s.minDeltas, s.maxDeltas = 1<<40, 1<<40, 4
	s.load(b, 0)
	s.put(b, many(200_000, 0), 1)
	s.save(b)
	keys := many(100, 0)
	b.ReportAllocs()
	var merges time.Duration
	for b.Loop() {
		b.StopTimer()
		s.put(b, keys, 1)
		s.save(b)
		b.StartTimer()
		s.maintain(b, s.Version()-100)
		b.StopTimer()
		began := time.Now() // as the next batch would take its time
		if err := s.settle(b.Context()); err != nil {
			b.Fatal(err)
		}
		merges += time.Since(began)
		b.StartTimer()
	}
	b.ReportMetric(float64(merges.Microseconds())/1000/float64(b.N), "beside-ms/op")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
