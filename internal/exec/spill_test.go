package exec

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec/spill"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/fs/errfs"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// tight runs an operator with little memory. What it held is released and its files are gone when it has ended.
func tight(t *testing.T, limit int64, op Op) []types.Row {
	t.Helper()
	rt := engine.New(engine.Runtime{Memory: engine.NewMemory(limit), Scratch: t.TempDir()})
	rows, err := runTight(rt, op)
	if err != nil {
		t.Fatal(err)
	}
	if used := rt.Memory.Used(); used != 0 {
		t.Errorf("%d bytes were not released", used)
	}
	if left, err := os.ReadDir(rt.Scratch); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	return rows
}

func runTight(rt *engine.Runtime, op Op) (rows []types.Row, err error) {
	x := &Task{Workers: 2, Partitions: 3, Batch: &expr.BatchParams{Zone: time.UTC}, Memory: spill.NewScope(rt)}
	defer x.Memory.CloseInto(&err)
	bs, err := Collect(context.Background(), x, op)
	for _, b := range bs {
		for i := range b.N {
			rows = append(rows, vec.RowAt(b, i))
		}
	}
	return rows, err
}

func texts(rows []types.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprint(r))
	}
	slices.Sort(out)
	return out
}

// spilling are operators over rows of a number below 3000, or null, and a text.
func spilling(t *testing.T) map[string]func(in, other Op) Op {
	k, s := ColumnExpr(0, types.Long), ColumnExpr(1, types.String)
	sum, least, each := aggOf(t, "sum", k), aggOf(t, "min", s), aggOf(t, "count", k)
	each.Distinct = true
	return map[string]func(in, other Op) Op{
		"sort": func(in, _ Op) Op {
			return &Sort{In: in, Limit: -1, Keys: []SortKey{{Expr: k, Desc: true, NullsFirst: true}}}
		},
		"sort by 2": func(in, _ Op) Op { return &Sort{In: in, Limit: -1, Keys: []SortKey{{Expr: s}, {Expr: k, Desc: true}}} },
		"top":       func(in, _ Op) Op { return &Sort{In: in, Limit: 2500, Keys: []SortKey{{Expr: s}}} },
		"group":     func(in, _ Op) Op { return &HashAgg{In: in, Keys: []Expr{k}, Aggs: []AggExpr{sum, least}} },
		"all":       func(in, _ Op) Op { return &HashAgg{In: in, Aggs: []AggExpr{sum, least, each}} },
		"inner":     func(in, other Op) Op { return joinOf(in, other, JoinInner) },
		"outer":     func(in, other Op) Op { return joinOf(in, other, JoinOuter) },
		"full":      func(in, other Op) Op { return joinOf(in, other, JoinFull) },
		"semi":      func(in, other Op) Op { return joinOf(in, other, JoinSemi) },
		"anti":      func(in, other Op) Op { return joinOf(in, other, JoinAnti) },
		"distinct":  func(in, _ Op) Op { return &HashAgg{In: in, Keys: []Expr{s}, Aggs: []AggExpr{each, sum}} },
	}
}

func spillRows(n int) []types.Row {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([]types.Row, n)
	for i := range rows {
		rows[i] = types.Row{int64(rng.IntN(3000)), fmt.Sprintf("text %d", rng.IntN(500))}
		if rng.IntN(50) == 0 {
			rows[i][0] = nil
		}
	}
	return rows
}

// With hardly any memory operators give the same rows, from files; sorted rows in the same order.
func TestLittleMemory(t *testing.T) {
	ts := []types.DataType{types.Long, types.String}
	rows, other := spillRows(4000), spillRows(300)
	for name, op := range spilling(t) {
		t.Run(name, func(t *testing.T) {
			build := func() Op { return op(cut(t, ts, rows, 3, 300), cut(t, ts, other, 2, 100)) }
			want := rowsOf(t, 2, build())
			for _, limit := range []int64{1 << 11, 1 << 13, 1 << 16, 1 << 30} {
				got := tight(t, limit, build())
				if _, sorted := build().(*Sort); sorted {
					if d := cmp.Diff(want, got); d != "" {
						t.Fatalf("limit %d, in order: (-want +got)\n%s", limit, d)
					}
				}
				if d := cmp.Diff(texts(want), texts(got)); d != "" {
					t.Fatalf("limit %d: (-want +got)\n%s", limit, d)
				}
			}
		})
	}
}

// A full disk is an error that names the file, and leaves nothing behind.
func TestScratchIsFull(t *testing.T) {
	ts := []types.DataType{types.Long, types.String}
	for name, op := range spilling(t) {
		disk := errfs.Wrap(errfs.NewMem(), errfs.FailAt(20, errfs.Ops(errfs.Write), errfs.ErrNoSpace))
		rt := engine.New(engine.Runtime{Memory: engine.NewMemory(1), FS: disk, Scratch: "/scratch"})
		_, err := runTight(rt, op(cut(t, ts, spillRows(4000), 3, 300), cut(t, ts, spillRows(300), 2, 100)))
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok || e.Class != "SPILL_OUT_OF_MEMORY" || e.Params["file"] == "" {
			t.Errorf("%s: %v", name, err)
		}
		if left, err := disk.ReadDir("/scratch"); err != nil && !errors.Is(err, fs.ErrNotExist) || len(left) > 0 {
			t.Errorf("%s left behind: %v, %v", name, left, err)
		}
	}
}
