package fn_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// windows gives the windows that hold a time: of the candidates, those that have not ended.
func windows(t *rapid.T, at, duration, slide, start int64) (ws [][2]int64) {
	v, err := vec.FromValues(types.Timestamp, types.Micros(at))
	if err != nil {
		t.Fatal(err)
	}
	for i := range fn.Windows(duration, slide) {
		n := fn.NewNode(fn.BindWindow(types.Timestamp, duration, slide, start, i), []expr.Node{expr.NewColumn(0, types.Timestamp)})
		w := n.Eval(&expr.Eval{}, vec.NewBatch(1, v))
		if s, e := vec.At[int64](w.Kids()[0], 0), vec.At[int64](w.Kids()[1], 0); at < e {
			ws = append(ws, [2]int64{s, e})
		}
	}
	return ws
}

// TestWindows compares with looking at every window near a time, before 1970 too.
func TestWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slide := rapid.Int64Range(1, 50).Draw(t, "slide")
		duration := rapid.Int64Range(slide, 200).Draw(t, "duration")
		start := rapid.Int64Range(-slide+1, slide-1).Draw(t, "start")
		at := rapid.Int64Range(-1000, 1000).Draw(t, "time")
		var want [][2]int64
		for k := int64(2000); k >= -2000; k-- {
			if s := k*slide + start; s <= at && at < s+duration {
				want = append(want, [2]int64{s, s + duration})
			}
		}
		got := windows(t, at, duration, slide, start)
		if len(got) != len(want) {
			t.Fatalf("windows of %d: %v, want %v", at, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("windows of %d: %v, want %v", at, got, want)
			}
		}
	})
}
