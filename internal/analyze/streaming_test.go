package analyze

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

const ok = "ok"

// class is the class of an error without what all refusals begin with.
func class(err error) string {
	if err == nil {
		return ok
	}
	e, is := err.(*errclass.Error)
	if !is {
		return err.Error()
	}
	return strings.TrimPrefix(strings.TrimPrefix(e.Class, "UNSUPPORTED_STREAMING_OPERATION."), "STREAMING_OUTPUT_MODE.")
}

func TestCheckStreaming(t *testing.T) {
	const mode = "UNSUPPORTED_OPERATION"
	// w2 is another stream with a watermark, s2 another without.
	more := func(v views) {
		for _, name := range []string{"w2", "s2"} {
			sc := scan("ts2 TIMESTAMP, k2 STRING, v2 INT", true)
			v[name] = sc
			if name == "w2" {
				v[name] = &plan.Watermark{Col: sc.Out[0], Delay: types.Interval{Micros: 600e6}, DelayText: "10 minutes", Child: sc, ID: plan.NewID()}
			}
		}
	}
	for _, c := range []struct{ query, append, update, complete string }{
		{"select v + 1 from s", ok, ok, mode},
		{"select k, count(*) from s group by k", mode, ok, ok},
		{"select count(*) from s", mode, ok, ok},
		{"select window(ts, '10 minutes'), count(*) from s group by 1", mode, ok, ok},
		{"select k, count(*) from w group by k", mode, ok, ok},
		{"select window(ts, '10 minutes'), count(*) from w group by 1", ok, ok, ok},
		{"select window(ts, '10 minutes', '5 minutes') ww, k, count(*) from w group by 1, k", ok, ok, ok},
		{"select ts, count(*) from w group by ts", ok, ok, ok},
		{
			"select window, count(*) from (select window(ts, '10 minutes') window, count(*) c from w group by 1) group by window", ok,
			"MULTIPLE_STATEFUL", "MULTIPLE_STATEFUL",
		},
		{
			"select window(window, '30 minutes'), sum(c) from (select window(ts, '10 minutes') window, count(*) c from w group by 1) group by 1", ok,
			"MULTIPLE_STATEFUL", "MULTIPLE_STATEFUL",
		},
		{"select distinct k from s", mode, ok, ok},
		{"select distinct k from (select k, count(*) from s group by k)", mode, "MULTIPLE_STATEFUL", "MULTIPLE_STATEFUL"},
		{"select session_window(ts, '5 minutes'), k, count(*) from w group by 1, k", ok, mode, ok},
		{"select session_window(ts, '5 minutes'), k, count(*) from s group by 1, k", mode, mode, ok},
		{"select session_window(ts, '5 minutes'), count(*) from w group by 1", "GLOBAL_SESSION_WINDOW", mode, "GLOBAL_SESSION_WINDOW"},
		{"select k from s order by k", "SORT", "SORT", mode},
		{"select k, count(*) from s group by k order by k", mode, "SORT", ok},
		{"select k from s limit 3", ok, "LIMIT", mode},
		{"select k, count(*) from s group by k limit 3", mode, "LIMIT", ok},
		{"select k from s offset 3", "OFFSET", "OFFSET", mode},
		{"select count(distinct k) from s", mode, "DISTINCT_AGGREGATION", "DISTINCT_AGGREGATION"},
		{"select k from s tablesample (10 percent)", "SAMPLE", "SAMPLE", mode},
		{"select k from s union all select k from s", ok, ok, mode},
		{"select k from s union all select k from t", "UNION_WITH_BATCH", "UNION_WITH_BATCH", mode},
		{"select k from s intersect select k from t", "INTERSECT", "INTERSECT", mode},
		{"select k from t except select k from s", "EXCEPT", "EXCEPT", mode},
		{"select k from s except select k from t", "EXCEPT", "EXCEPT", mode},
		{"select row_number() over (order by v) from s", "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING", "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING", mode},
		{"select k, v, count(*) from s group by cube(k, v)", mode, ok, ok},
		{"select explode(arr) from s", ok, ok, mode},
		{"select * from (select k, v from s) pivot (sum(v) for k in ('a', 'b'))", mode, "MULTIPLE_STATEFUL", "MULTIPLE_STATEFUL"},
		// stream and batch
		{"select 1 from s join u on s.k = u.k", ok, ok, mode},
		{"select 1 from s left join u on s.k = u.k", ok, ok, mode},
		{"select 1 from s right join u on s.k = u.k", "JOIN", "JOIN", mode},
		{"select 1 from s full join u on s.k = u.k", "JOIN", "JOIN", mode},
		{"select 1 from s left semi join u on s.k = u.k", ok, ok, mode},
		{"select 1 from s left anti join u on s.k = u.k", ok, ok, mode},
		{"select 1 from u join s on s.k = u.k", ok, ok, mode},
		{"select 1 from u cross join s", ok, ok, mode},
		{"select 1 from u right join s on s.k = u.k", ok, ok, mode},
		{"select 1 from u left join s on s.k = u.k", "JOIN", "JOIN", mode},
		{"select 1 from u left semi join s on s.k = u.k", "JOIN", "JOIN", mode},
		{"select 1 from u left anti join s on s.k = u.k", "JOIN", "JOIN", mode},
		{"select 1 from u full join s on s.k = u.k", "JOIN", "JOIN", mode},
		// two streams
		{"select 1 from s join s2 on k = k2", ok, ok, mode},
		{"select count(*) from s join s2 on k = k2", mode, ok, "JOIN_OUTPUT_MODE"},
		{"select 1 from s join s2 on v < v2", ok, ok, mode}, // refused when it is planned
		{"select 1 from s cross join s2", ok, ok, mode},     // as well
		{"select 1 from s left join s2 on k = k2", "JOIN_WITHOUT_WATERMARK", "JOIN_OUTPUT_MODE", mode},
		{"select 1 from s left semi join s2 on k = k2", "JOIN_WITHOUT_WATERMARK", "JOIN_WITHOUT_WATERMARK", mode},
		{"select 1 from s left anti join s2 on k = k2", "JOIN", "JOIN", mode},
		{"select 1 from w left join w2 on k = k2", "JOIN_WITHOUT_WATERMARK", "JOIN_OUTPUT_MODE", mode},
		{"select 1 from w left join s2 on k = k2 and ts = ts2", ok, "JOIN_OUTPUT_MODE", mode},
		// which watermark an outer join needs: left only, right only, both with one bound
		{"select 1 from w left join s2 on k = k2 and ts2 between ts and ts + interval 1 hour", "JOIN_WITHOUT_WATERMARK", "JOIN_OUTPUT_MODE", mode},
		{"select 1 from w right join s2 on k = k2 and ts2 between ts and ts + interval 1 hour", ok, "JOIN_OUTPUT_MODE", mode},
		{"select 1 from w full join s2 on k = k2 and ts2 between ts and ts + interval 1 hour", ok, "JOIN_OUTPUT_MODE", mode},
		{"select 1 from w left semi join s2 on k = k2 and ts2 between ts and ts + interval 1 hour", "JOIN_WITHOUT_WATERMARK", "JOIN_WITHOUT_WATERMARK", mode},
		{"select 1 from s left join w2 on k = k2 and ts2 between ts and ts + interval 1 hour", ok, "JOIN_OUTPUT_MODE", mode},
		{"select 1 from s right join w2 on k = k2 and ts2 between ts and ts + interval 1 hour", "JOIN_WITHOUT_WATERMARK", "JOIN_OUTPUT_MODE", mode},
		{"select 1 from s left semi join w2 on k = k2 and ts2 between ts and ts + interval 1 hour", ok, ok, mode},
		{"select 1 from w left join w2 on k = k2 and ts2 >= ts", "JOIN_WITHOUT_WATERMARK", "JOIN_OUTPUT_MODE", mode},
		{"select 1 from w right join w2 on k = k2 and ts2 >= ts", ok, "JOIN_OUTPUT_MODE", mode},
		{"select 1 from w left join w2 on k = k2 and ts2 <= ts + interval 1 hour", ok, "JOIN_OUTPUT_MODE", mode},
		{"select 1 from w right join w2 on k = k2 and ts2 <= ts + interval 1 hour", "JOIN_WITHOUT_WATERMARK", "JOIN_OUTPUT_MODE", mode},
		{"select 1 from w left join w2 on k = k2 and v > 1", "JOIN_WITHOUT_WATERMARK", "JOIN_OUTPUT_MODE", mode},
	} {
		cat := catalog()
		more(cat)
		n, err := resolveWith(t, cat, c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		for m, want := range map[string]string{Append: c.append, Update: c.update, Complete: c.complete} {
			err := CheckStreaming(n, m, Conf{})
			if got := class(err); got != want {
				t.Errorf("%s in %s mode: got %s, want %s", c.query, m, got, want)
			}
			if err != nil && strings.ContainsAny(err.(*errclass.Error).Message, "<>") && !strings.Contains(c.query, "<") {
				t.Errorf("%s: a parameter is missing: %v", c.query, err)
			}
		}
		if got := class(CheckBatch(n, "collect")); got != "BATCH_ACTION" {
			t.Errorf("%s as a batch: %s", c.query, got)
		}
	}
}

func TestCheckStreamingSettings(t *testing.T) {
	n, err := resolve(t, "select k, count(*) from s group by k")
	if err != nil {
		t.Fatal(err)
	}
	err = CheckStreaming(n, Append, Conf{})
	e, is := err.(*errclass.Error)
	if want := map[string]string{"outputMode": "append", "operation": "streaming aggregations without watermark"}; !is || !maps.Equal(e.Params, want) {
		t.Errorf("got %v", err)
	}
	off := func(key string) Conf {
		return Conf{Get: func(k string) string {
			if k == key {
				return "false"
			}
			return ""
		}}
	}
	if err := CheckStreaming(n, Append, off("spark.sql.streaming.unsupportedOperationCheck")); err != nil {
		t.Errorf("check switched off: %v", err)
	}
	chain, err := resolve(t, "select c, count(*) from (select k, count(*) c from s group by k) group by c")
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckStreaming(chain, Update, off("spark.sql.streaming.statefulOperator.checkCorrectness.enabled")); err != nil {
		t.Errorf("correctness check switched off: %v", err)
	}
	batch, err := resolve(t, "select k from t")
	if err != nil {
		t.Fatal(err)
	}
	if got := class(CheckStreaming(batch, Append, Conf{})); got != "WRITE_STREAM_NOT_ALLOWED" {
		t.Errorf("got %s", got)
	}
	if err := CheckBatch(batch, "collect"); err != nil {
		t.Errorf("got %v", err)
	}
}

// Marks of event time go where Spark has them in a schema's metadata.
func TestEventTime(t *testing.T) {
	for _, c := range []struct {
		query string
		want  []string // the marked columns
	}{
		{"select * from w", []string{"ts"}},
		{"select ts as q, cast(ts as timestamp) z, ts + interval 1 day y from w", []string{"q"}},
		{"select window(ts, '10 minutes'), count(*) from w group by 1", []string{"window"}},
		{"select window(ts, '10 minutes', '5 minutes') x, count(*) from w group by 1", []string{"x"}},
		{"select session_window(ts, '10 minutes'), k, count(*) from w group by 1, 2", []string{"session_window"}},
		{"select window.end, window_time(window) from (select window(ts, '10 minutes') window from w)", []string{"window_time(window)"}},
		{"select k, max(ts) from w group by k", nil},
		{"select ts, count(*) from w group by ts", []string{"ts"}},
		{"select * from (select ts from w) union all select ts from s", []string{"ts"}},
		{"select ts from s union all select ts from w", nil},
		{"select a.ts, b.k from w a join s b on a.k = b.k", []string{"ts"}},
	} {
		n, err := resolve(t, c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		var got []string
		for _, a := range n.Output() {
			if _, meta := a.Field().MetadataValue(types.EventTimeKey); meta != a.EventTime {
				t.Errorf("%s: mark and metadata of %s differ", c.query, a.Name)
			}
			if a.EventTime {
				got = append(got, a.Name)
				if a.Delay != 300000 {
					t.Errorf("%s: delay %d", c.query, a.Delay)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: marked %q, want %q", c.query, got, c.want)
		}
		checkIDs(t, c.query, n)
	}
}

func TestWatermark(t *testing.T) {
	in := func(name string) plan.Node { return &plan.Named{Parts: []string{name}} }
	col := func(parts ...string) plan.Expr { return &plan.Column{Parts: parts, PlanID: -1} }
	for _, c := range []struct {
		name, delay string
		of          string
		parts       []string
		want        string
	}{
		{"plain", "5 minutes", "s", []string{"ts"}, ok},
		{"zero", "0 seconds", "s", []string{"ts"}, ok},
		{"month", "1 month", "s", []string{"ts"}, ok},
		{"nested", "5 minutes", "s", []string{"st", "a"}, "EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN"},
		{"string", "5 minutes", "s", []string{"k"}, "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE"},
		{"ntz", "5 minutes", "s", []string{"n"}, "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE"},
		{"missing", "5 minutes", "s", []string{"nope"}, "UNRESOLVED_COLUMN.WITH_SUGGESTION"},
		{"bad delay", "1 fortnight", "s", []string{"ts"}, "CANNOT_PARSE_INTERVAL"},
		{"number", "5", "s", []string{"ts"}, "CANNOT_PARSE_INTERVAL"},
		{"longest", "9223372036854775807 microseconds", "s", []string{"ts"}, ok},
		{"too long", "300000 years", "s", []string{"ts"}, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"},
		{"too long and negative", "-200000000 days", "s", []string{"ts"}, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"},
		{"negative", "-1 minute", "s", []string{"ts"}, "NEGATIVE_WATERMARK_DELAY"},
		{"batch, any column", "5 minutes", "t", []string{"nope"}, ok},
		{"batch, nested", "5 minutes", "t", []string{"st", "a"}, "EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN"},
	} {
		n, err := analyzer().Resolve(t.Context(), &plan.Watermark{Col: col(c.parts...), DelayText: c.delay, Child: in(c.of)})
		if got := class(err); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
			continue
		}
		if w, is := n.(*plan.Watermark); err == nil && is == (c.of == "t") {
			t.Errorf("%s: got %T", c.name, n)
		} else if is && c.name == "month" && w.Millis() != 31*24*3600*1000 {
			t.Errorf("month: %d ms", w.Millis())
		}
	}
	twice := &plan.Watermark{Col: col("ts"), DelayText: "1 minute", Child: in("w")}
	n, err := analyzer().Resolve(t.Context(), twice)
	if err != nil {
		t.Fatal(err)
	}
	if got := class(CheckStreaming(n, Append, Conf{})); got != "WATERMARK_REDEFINED" {
		t.Errorf("two watermarks: %s", got)
	}
}
