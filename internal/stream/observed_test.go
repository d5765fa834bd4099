package stream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/stream/streamtest"
)

// feedA is the input of the aggregation family.
func feedA(w *world, watermark bool) {
	s := streamtest.NewSource("ts TIMESTAMP, k STRING, v INT")
	s.PerBatch = 1
	s.Add([]any{"10:01", "a", int32(1)}, []any{"10:04", "b", int32(2)})
	s.Add([]any{"10:12", "a", int32(3)})
	s.Add([]any{"10:05", "a", int32(4)}, []any{"10:02", "c", int32(40)})
	s.Add([]any{"10:30", "a", int32(5)})
	s.Add([]any{"10:05", "a", int32(6)}, []any{"10:05:30", "a", int32(60)}, []any{"10:21", "z", int32(7)})
	s.Add([]any{nil, "n", int32(8)}, []any{"10:31", "q", int32(9)})
	if watermark {
		w.views["e"] = marked(streamOf(s), "ts", "5m")
	} else {
		w.views["e"] = streamOf(s)
	}
}

func TestTumblingAppend(t *testing.T) {
	w := newWorld(t)
	feedA(w, true)
	q := w.available("select window(ts, '10 minutes'), sum(v), count(*) from e group by window(ts, '10 minutes')", "append")
	want := strings.TrimSpace(`
batch 0 in 2 wm 0 rows 
  op stateStoreSave tot 1 upd 1 rem 0 late 0 inst 2
batch 1 in 1 wm 09:59 rows 
  op stateStoreSave tot 2 upd 1 rem 0 late 0 inst 2
batch 2 in 2 wm 10:07 rows 
  op stateStoreSave tot 2 upd 1 rem 0 late 0 inst 2
batch 3 in 1 wm 10:07 rows 
  op stateStoreSave tot 3 upd 1 rem 0 late 0 inst 2
batch 4 in 3 wm 10:25 rows [10:00,10:10] 113 6; [10:10,10:20] 3 1
  op stateStoreSave tot 2 upd 2 rem 2 late 0 inst 2
batch 5 in 2 wm 10:25 rows 
  op stateStoreSave tot 2 upd 1 rem 0 late 0 inst 2
batch 6 in 0 wm 10:26 rows 
  op stateStoreSave tot 2 upd 0 rem 0 late 0 inst 2`)
	if d := cmp.Diff(want, strings.Join(ran(q, w.sink.Rows), "\n")); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
