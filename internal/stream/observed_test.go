package stream

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/stream/streamtest"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// feed puts the views of one family of observed queries into the world: by name, without watermark as name_bare.
func (w *world) feed(name string) {
	one := func(view, ddl, col, delay string, units ...[][]any) {
		s := streamtest.NewSource(ddl)
		s.PerBatch = 1
		for _, u := range units {
			s.Add(u...)
		}
		w.views[view], w.views[view+"_bare"] = marked(streamOf(s), col, delay), streamOf(s)
		w.sources = append(w.sources, s)
	}
	const ddl = "ts TIMESTAMP, k STRING, v INT"
	switch name {
	case "A":
		one("a", ddl, "ts", "5m",
			[][]any{{"10:01", "a", int32(1)}, {"10:04", "b", int32(2)}},
			[][]any{{"10:12", "a", int32(3)}},
			[][]any{{"10:05", "a", int32(4)}, {"10:02", "c", int32(40)}},
			[][]any{{"10:30", "a", int32(5)}},
			[][]any{{"10:05", "a", int32(6)}, {"10:05:30", "a", int32(60)}, {"10:21", "z", int32(7)}},
			[][]any{{nil, "n", int32(8)}, {"10:31", "q", int32(9)}})
	case "B":
		one("b", ddl, "ts", "5m",
			[][]any{{"10:01", "a", int32(1)}},
			[][]any{{"11:00", "a", int32(3)}},
			[][]any{{"11:01", "a", int32(3)}},
			[][]any{{"10:05", "a", int32(6)}, {"10:05:30", "a", int32(60)}, {"10:06:30", "b", int32(60)}})
	case "C":
		one("l", "lt TIMESTAMP, lk STRING, lv INT", "lt", "5m",
			[][]any{{"10:00", "a", int32(1)}, {"10:00", "b", int32(2)}, {"10:00", nil, int32(3)}},
			[][]any{{"10:40", "c", int32(4)}},
			[][]any{{"11:40", "d", int32(5)}},
			[][]any{{"10:00:30", "late", int32(6)}})
		one("r", "rt TIMESTAMP, rk STRING, rv INT", "rt", "10m",
			[][]any{{"10:02", "a", int32(10)}, {"10:02", nil, int32(11)}},
			[][]any{{"10:03", "a", int32(12)}, {"10:20", "z", int32(13)}},
			[][]any{{"11:45", "d", int32(14)}, {"10:01", "b", int32(15)}},
			[][]any{{"11:50", "y", int32(16)}})
		w.views["s"] = localRows("sk STRING, sv STRING", []any{"a", "A"}, []any{"b", "B"})
	default:
		w.t.Fatalf("no feed %s", name)
	}
}

func localRows(ddl string, rows ...[]any) plan.Node {
	st, err := types.ParseDDL(ddl)
	if err != nil {
		panic(err)
	}
	bs := vec.NewBuilders(st)
	for _, r := range rows {
		for i, v := range r {
			if err := bs[i].AppendValue(v); err != nil {
				panic(err)
			}
		}
	}
	b := vec.NewBatch(len(rows))
	for _, bld := range bs {
		b.Cols = append(b.Cols, bld.Finish())
	}
	return &plan.Local{Out: plan.Attrs(st), Rows: []*vec.Batch{b}}
}

// query makes the plan of a query's text: SQL, or "dedup [within] view key...", or "dedup-agg view key..." for a count by window of
// that.
func (w *world) query(text string) plan.Node {
	words := strings.Fields(text)
	switch words[0] {
	case "dedup", "dedup-agg":
		agg := words[0] == "dedup-agg"
		d := &plan.Dedup{}
		words = words[1:]
		if words[0] == "within" {
			d.WithinWatermark, words = true, words[1:]
		}
		d.Child = w.views[words[0]]
		for _, name := range words[1:] {
			for _, a := range d.Child.Output() {
				if a.Name == name {
					d.Keys = append(d.Keys, a)
				}
			}
		}
		if !agg {
			return w.analyse(d)
		}
		w.views["deduplicated"] = d
		return w.resolve("SELECT window(ts, '10 minutes'), count(*) FROM deduplicated GROUP BY window(ts, '10 minutes')")
	}
	return w.resolve(text)
}

// observation is one query of testdata/observed.txt.
type observation struct{ name, feed, mode, policy, query, want string }

func observations(t *testing.T) []observation {
	t.Helper()
	text, err := os.ReadFile("testdata/observed.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []observation
	for _, block := range strings.Split(string(text), "\n\n") {
		head, want, ok := strings.Cut(strings.TrimSpace(block), "\n----\n")
		if !ok {
			continue
		}
		lines := strings.Split(head, "\n")
		words := strings.Fields(lines[1])
		o := observation{name: strings.TrimPrefix(lines[0], "query "), feed: words[1], mode: words[3], query: lines[2], want: want}
		if len(words) > 5 {
			o.policy = words[5]
		}
		out = append(out, o)
	}
	return out
}

// TestObserved holds the engine against what Spark gave for the same input, however the work is cut and wherever the query is
// stopped and started again.
func TestObserved(t *testing.T) {
	for _, o := range observations(t) {
		t.Run(o.name, func(t *testing.T) {
			w := newWorld(t)
			w.feed(o.feed)
			if o.policy != "" {
				w.conf = w.conf.With(streamtest.Conf{keyPolicy: o.policy})
			}
			q := w.run(w.query(o.query), o.mode)
			if d := cmp.Diff(o.want, strings.Join(ran(q, w.sink.Rows), "\n")); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
