package spill_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func numbers(t *testing.T, xs ...any) *vec.Batch {
	t.Helper()
	v, err := vec.FromValues(types.Long, xs...)
	if err != nil {
		t.Fatal(err)
	}
	return vec.NewBatch(len(xs), v)
}

func TestFilesOfASet(t *testing.T) {
	disk := errfs.NewMem()
	rt := engine.New(engine.Runtime{FS: disk, Scratch: "/scratch", Memory: engine.NewMemory(200)})
	s := spill.NewScope(rt)
	if !s.Grow(100) || s.Grow(1) {
		t.Error("100 bytes fit, not 101")
	}
	s.Release(1)
	if !s.Grow(0) {
		t.Error("100 bytes are held again")
	}

	set := s.NewSet([]types.DataType{types.Long})
	if !set.Empty() {
		t.Error("nothing was written")
	}
	a, err := set.Take()
	if err != nil {
		t.Fatal(err)
	}
	b, err := set.Take()
	if err != nil || a == b {
		t.Fatalf("the first is in use: %v", err)
	}
	for i, x := range []*vec.Batch{numbers(t, int64(1), nil), numbers(t, int64(3))} {
		if at, err := a.Append(x); err != nil || at != i {
			t.Fatalf("batch %d is %d: %v", i, at, err)
		}
	}
	set.Put(a)
	set.Put(b)
	if c, err := set.Take(); err != nil || c != b {
		t.Errorf("a file that is back is taken again: %v", err)
	}
	if _, err := a.Read(0); err == nil {
		t.Error("read before it is sealed")
	}
	if err := set.Seal(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, want := range []any{nil, int64(3)} {
		wg.Go(func() {
			got, err := a.Read(i)
			if err != nil || vec.ValueAt(got.Cols[0], got.N-1) != want {
				t.Errorf("batch %d: %v, %v", i, got, err)
			}
		})
	}
	wg.Wait()

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if used := rt.Memory.Used(); used != 0 {
		t.Errorf("%d bytes are still held", used)
	}
	if left, _ := disk.ReadDir("/scratch"); len(left) > 0 || len(disk.OpenFiles()) > 0 {
		t.Errorf("left behind: %v, open: %v", left, disk.OpenFiles())
	}
}

// Whatever the disk refuses is an error that names a file.
func TestTroubleWithFiles(t *testing.T) {
	for _, kind := range []errfs.Kind{errfs.Mkdir, errfs.Create, errfs.Write, errfs.Close, errfs.Open, errfs.Read} {
		disk := errfs.Wrap(errfs.NewMem(), errfs.FailAt(1, errfs.Ops(kind), errfs.ErrIO))
		s := spill.NewScope(engine.New(engine.Runtime{FS: disk, Scratch: "/scratch"}))
		err := func() error {
			set := s.NewSet([]types.DataType{types.Long})
			f, err := set.Take()
			if err != nil {
				return err
			}
			if _, err := f.Append(numbers(t, int64(1))); err != nil {
				return err
			}
			set.Put(f)
			if err := set.Seal(); err != nil {
				return err
			}
			_, err = f.Read(0)
			return err
		}()
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok || e.Class != "SPILL_OUT_OF_MEMORY" || e.Params["file"] == "" {
			t.Errorf("%s: %v", kind, err)
		}
		_ = s.Close()
		if left, err := disk.ReadDir("/scratch"); err != nil && !errors.Is(err, fs.ErrNotExist) || len(left) > 0 {
			t.Errorf("%s left behind: %v, %v", kind, left, err)
		}
	}
}
