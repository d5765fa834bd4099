package window

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/vec"
)

func run(t *testing.T, rt *engine.Runtime, op exec.Op) (lines []string, err error) {
	t.Helper()
	x := task(2)
	if rt != nil {
		x.Memory = spill.NewScope(rt)
		defer x.Memory.CloseInto(&err)
	}
	batches, err := exec.Collect(t.Context(), x, op)
	for _, b := range batches {
		for i := range b.N {
			lines = append(lines, fmt.Sprint(vec.RowAt(b, i)))
		}
	}
	slices.Sort(lines)
	return lines, err
}

// Windows over many partitions are computed with hardly any memory, from files, and nothing is left behind.
func TestLittleMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, parts := range []int{1, 50, 2000} {
		in := newTable(t, r, 6000, parts, 200, 300)
		op := &Op{In: in, Keep: 3, Partition: []int{partCol}, Order: []Key{{Col: keyCol}, {Col: nameCol}, {Col: valueCol}, {Col: amountCol}}, Funcs: []Func{
			{Kind: DenseRank, Type: columns[partCol]}, aggregateFunc(t, "max", someFrames["rows so far"], nameCol),
		}}
		want, err := run(t, nil, op)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int64{1 << 10, 1 << 14, 1 << 18, 1 << 30} {
			rt := engine.New(engine.Runtime{Memory: engine.NewMemory(limit), Scratch: t.TempDir()})
			got, err := run(t, rt, op)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%d partitions, limit %d: (-want +got)\n%s", parts, limit, d)
			}
			if used := rt.Memory.Used(); used != 0 {
				t.Errorf("%d partitions, limit %d: %d bytes were not released", parts, limit, used)
			}
			if left, err := os.ReadDir(rt.Scratch); err != nil || len(left) > 0 {
				t.Errorf("%d partitions, limit %d: left behind %v, %v", parts, limit, left, err)
			}
		}
	}
}

// A full disk is an error that names the file.
func TestScratchIsFull(t *testing.T) {
	disk := errfs.Wrap(errfs.NewMem(), errfs.FailAt(20, errfs.Ops(errfs.Write), errfs.ErrNoSpace))
	rt := engine.New(engine.Runtime{Memory: engine.NewMemory(1), FS: disk, Scratch: "/scratch"})
	in := newTable(t, rand.New(rand.NewPCG(7, 8)), 6000, 50, 200, 300)
	_, err := run(t, rt, &Op{In: in, Keep: 3, Partition: []int{partCol}, Funcs: []Func{aggregateFunc(t, "count", someFrames["whole"], nameCol)}})
	if e, ok := errors.AsType[*errclass.Error](err); !ok || e.Class != "SPILL_OUT_OF_MEMORY" || e.Params["file"] == "" {
		t.Errorf("%v", err)
	}
}
