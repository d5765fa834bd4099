package millrace_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/engine"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

// here runs a test on the engine in this process, and there again in the form of the wire.
func here(t *testing.T, test func(t *testing.T, spark *millrace.Session)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) { test(t, connect(t, "local[2]", warehouse(t))) })
	t.Run("exact", func(t *testing.T) { test(t, connect(t, "local[2]", warehouse(t), millrace.WithExact())) })
}

var (
	double  = millrace.UDF1(func(n int) (int, error) { return 2 * n, nil }).WithName("double")
	shout   = millrace.UDF1(func(s string) (string, error) { return strings.ToUpper(s) + "!", nil })
	orElse  = millrace.UDF2(func(s *string, other string) (string, error) { return or(s, other), nil })
	nothing = millrace.UDF1(func(n int) (*int, error) {
		if n > 1 {
			return nil, nil
		}
		return &n, nil
	})
)

func or(s *string, other string) string {
	if s == nil {
		return other
	}
	return *s
}

type point struct{ X, Y float64 }

func TestUDF(t *testing.T) {
	here(t, func(t *testing.T, spark *millrace.Session) {
		df := sql(t, spark, "SELECT * FROM VALUES (1, 'a'), (2, NULL), (NULL, 'c') AS t(n, s)")
		expect(t, df.Select(double.Call("n"), shout.Call("s").As("shout"), orElse.Call("s", f.Lit("none")).As("o"), nothing.Call("n").As("x")),
			row(int64(2), "A!", "a", int64(1)), row(int64(4), nil, "none", nil), row(nil, "C!", "c", nil))
		s, err := df.Select(double.Call("n"), shout.Call("s")).Schema(ctx(t))
		if err != nil || s.SimpleString() != "struct<double(n):bigint,udf(s):string>" {
			t.Errorf("schema %s, %v", s.SimpleString(), err)
		}

		// Implicit casts, nested values, times, decimals, structs.
		expect(t, sql(t, spark, "SELECT 1").Select(
			shout.Call(f.Lit(12)).As("a"),
			double.Call(f.Lit("21")).As("b"),
			millrace.UDF1(func(xs []int32) (map[string]int32, error) { return map[string]int32{"n": int32(len(xs))}, nil }).Call(f.Expr("array(1, 2)")).As("c"),
			millrace.UDF1(func(ts time.Time) (time.Time, error) { return ts.Add(time.Hour), nil }).Call(f.Expr("TIMESTAMP '2026-01-01 10:00:00'")).As("d"),
			millrace.UDF1(func(d types.Decimal) (types.Decimal, error) { return d, nil }).Returns(types.DecimalType{Precision: 5, Scale: 2}).Call(f.Expr("1.50")).As("e"),
			millrace.UDF1(func(p point) (point, error) { return point{p.Y, p.X}, nil }).Call(f.Expr("named_struct('x', 1.0D, 'y', 2.0D)")).As("g"),
			millrace.UDF1(func(r millrace.Row) (int, error) { return len(r.Values()), nil }).Call(f.Expr("struct(1, 2, 3)")).As("h"),
			millrace.UDF1(func(v any) (string, error) { return fmt.Sprintf("%T", v), nil }).Call(f.Lit(1)).As("i"),
			millrace.UDF0(func() (int, error) { return 7, nil }).Call().As("j"),
			millrace.UDF3(func(a, b *int, c int) (int, error) { return c, nil }).Call(f.Expr("null"), f.Expr("null"), f.Lit(3)).As("k"),
			millrace.UDF4(func(a, b int, c, d string) (string, error) { return fmt.Sprint(a, b, c, d), nil }).Call(f.Lit(1), f.Lit(2), f.Lit("x"), f.Lit("y")).As("l"),
			millrace.UDF5(func(a, b, c, d, e int) (int, error) { return a + 10*b + 100*c + 1000*d + 10000*e, nil }).Call(f.Lit(1), f.Lit(2), f.Lit(3), f.Lit(4), f.Lit(5)).As("m"),
		), row("12!", int64(42), types.MapValue{{Key: "n", Value: int32(2)}}, "2026-01-01 11:00:00 UTC", types.DecimalFromInt64(150, 2), []any{2.0, 1.0},
			int64(3), "int32", int64(7), int64(3), "1 2xy", int64(54321)))

		// In filters, groupings, sorts, beside itself.
		expect(t, spark.Range(0, 10000, 1).Where(double.Call("id").Gt(19990)).GroupBy(double.Call("id").As("d")).Count().OrderBy(double.Call("d").Desc()).Limit(1),
			row(int64(19998), int64(1)))
		half := millrace.UDF1(func(n int) (int, error) { return n / 2, nil })
		expect(t, spark.Range(0, 4, 1).GroupBy(half.Call("id").As("h")).Agg(f.Sum(double.Call("id")).As("s")).OrderBy("h"), row(int64(0), int64(2)), row(int64(1), int64(10)))
		third := millrace.UDF1(func(n int) (int, error) { return n / 3, nil })
		expect(t, spark.Range(6, 7, 1).Select(half.Call("id").As("a"), third.Call("id").As("b")), row(int64(3), int64(2)))
	})
}

func TestUDFInSQL(t *testing.T) {
	here(t, func(t *testing.T, spark *millrace.Session) {
		if err := spark.UDF().Register("Twice", double); err != nil {
			t.Fatal(err)
		}
		df := sql(t, spark, "SELECT twice(id), TWICE(id + 1) AS x FROM range(2)")
		expect(t, df, row(int64(0), int64(2)), row(int64(2), int64(4)))
		if s, err := df.Schema(ctx(t)); err != nil || s.Fields[0].Name != "twice(id)" && s.Fields[0].Name != "Twice(id)" {
			t.Errorf("schema %s, %v", s.SimpleString(), err)
		}
		expect(t, spark.Range(1, 2, 1).Select(millrace.Call("twice", "id").As("t")), row(int64(2)))
		if err := spark.UDF().Register("upper", shout); err != nil {
			t.Fatal(err)
		}
		expect(t, sql(t, spark, "SELECT upper('a')"), row("A!"))
		if _, err := spark.SQL(ctx(t), "DROP TEMPORARY FUNCTION upper"); err != nil {
			t.Error(err)
		}
		expect(t, sql(t, spark, "SELECT upper('a')"), row("A"))
		other, err := spark.NewSession(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		_, err = other.SQL(ctx(t), "SELECT twice(1)")
		expectClass(t, err, "UNRESOLVED_ROUTINE")
		copied, err := spark.Clone(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close()
		expect(t, sql(t, copied, "SELECT twice(1)"), row(int64(2)))
		_, err = spark.SQL(ctx(t), "SELECT twice(1, 2)")
		expectClass(t, err, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
		_, err = spark.SQL(ctx(t), "SELECT twice(array(1))")
		expectClass(t, err, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
	})
}

// A row that a function fails for is an error only when somebody wants it.
func TestUDFFails(t *testing.T) {
	picky := millrace.UDF1(func(n int) (int, error) {
		switch n {
		case 3:
			return 0, errors.New("three")
		case 4:
			panic("four")
		}
		return n, nil
	}).WithName("picky")
	here(t, func(t *testing.T, spark *millrace.Session) {
		for n, reason := range map[int]string{3: "three", 4: "panic: four"} {
			_, err := spark.Range(int64(n), 5, 1).Select(picky.Call("id")).Collect(ctx(t))
			e := expectClass(t, err, "FAILED_EXECUTE_UDF")
			if e.SQLState != "39000" || !strings.Contains(e.Message, reason) || !strings.Contains(e.Message, "`picky`") {
				t.Errorf("%v", e)
			}
		}
		expect(t, spark.Range(0, 5, 1).Select(picky.Call("id").As("p")).Limit(3), row(int64(0)), row(int64(1)), row(int64(2)))
		expect(t, spark.Range(2, 5, 1).Select(f.When(f.Col("id").Lt(3), picky.Call("id")).Otherwise(f.Lit(-1)).As("p")), row(int64(2)), row(int64(-1)), row(int64(-1)))
		_, err := spark.Range(0, 1, 1).Select(millrace.UDF1(func(n int8) (int, error) { return 0, nil }).Call(f.Lit(1000))).Collect(ctx(t))
		expectClass(t, err, "CAST_OVERFLOW")
		_, err = spark.Range(0, 1, 1).Select(millrace.UDF1(func(n int) (uint64, error) { return 1 << 63, nil }).Returns(types.Integer).Call("id")).Collect(ctx(t))
		expectClass(t, err, "FAILED_EXECUTE_UDF")
	})
	spark := connect(t, "local[2]", warehouse(t))
	for _, u := range []*millrace.UDF{
		millrace.UDF1[int, int](nil), millrace.UDF1(func(chan int) (int, error) { return 0, nil }), millrace.UDF0(func() (millrace.Row, error) { return millrace.Row{}, nil }),
	} {
		if _, err := spark.Range(0, 1, 1).Select(u.Call()).Collect(ctx(t)); err == nil {
			t.Error("a function that cannot be is taken")
		}
		if err := spark.UDF().Register("f", u); err == nil {
			t.Error("a function that cannot be is registered")
		}
	}
}

// A function that is not deterministic is called for every row, another one once for constants.
func TestUDFDeterminism(t *testing.T) {
	n := 0
	next := millrace.UDF0(func() (int, error) { n++; return n, nil })
	spark := connect(t, "local[1]", warehouse(t))
	expect(t, spark.Range(0, 3, 1).Select(next.AsNondeterministic().Call().As("n")), row(int64(1)), row(int64(2)), row(int64(3)))
	got := collect(t, spark.Range(0, 2, 1).Select(next.Call().As("n")))
	if len(got) != 2 || !cmp.Equal(got[0], got[1]) {
		t.Errorf("a constant: %v", got)
	}
	_, err := spark.Range(0, 1, 1).Agg(f.Sum(next.AsNondeterministic().Call())).Collect(ctx(t))
	expectClass(t, err, "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION")
}

func TestVectorUDF(t *testing.T) {
	add := millrace.VectorUDF(func(args []arrow.Array) (arrow.Array, error) {
		a, b := args[0].(*array.Int64), args[1].(*array.Int64)
		out := array.NewInt64Builder(memory.DefaultAllocator)
		for i, x := range a.Int64Values() {
			if a.IsNull(i) || b.IsNull(i) {
				out.AppendNull()
				continue
			}
			out.Append(x + b.Value(i))
		}
		return out.NewArray(), nil
	}, types.Long, types.Long, types.Long).WithName("plus")
	here(t, func(t *testing.T, spark *millrace.Session) {
		expect(t, sql(t, spark, "SELECT * FROM VALUES (1, 2), (NULL, 3), (4, NULL) AS t(a, b)").Select(add.Call("a", "b")), row(int64(3)), row(nil), row(nil))
		short := millrace.VectorUDF(func([]arrow.Array) (arrow.Array, error) {
			return array.NewInt64Builder(memory.DefaultAllocator).NewArray(), nil
		}, types.Long, nil)
		_, err := spark.Range(0, 3, 1).Select(short.Call("id")).Collect(ctx(t))
		if e := expectClass(t, err, "FAILED_EXECUTE_UDF"); !strings.Contains(e.Message, "it gave 0 values for ") {
			t.Error(e)
		}
		wrong := millrace.VectorUDF(func(a []arrow.Array) (arrow.Array, error) { return a[0], nil }, types.String, nil)
		_, err = spark.Range(0, 3, 1).Select(wrong.Call("id")).Collect(ctx(t))
		expectClass(t, err, "FAILED_EXECUTE_UDF")
		_, err = spark.Range(0, 3, 1).Select(millrace.VectorUDF(func([]arrow.Array) (arrow.Array, error) { panic("no") }, types.Long, nil).Call("id")).Collect(ctx(t))
		expectClass(t, err, "FAILED_EXECUTE_UDF")
	})
}

// Functions are found wherever a plan is sent from: with a query that is attended, below a stateful processor, in what is done with a batch.
func TestUDFInAStream(t *testing.T) {
	here(t, func(t *testing.T, spark *millrace.Session) {
		var got []int
		w := counts(t, spark).Select(double.Call("n").As("n")).WriteStream().Trigger(millrace.AvailableNow())
		finish(t, w.ForeachBatch(func(ctx context.Context, d *millrace.DataFrame, _ int64) error {
			once := millrace.UDF1(func(n int) (int, error) { return n + 1, nil })
			ns, err := millrace.CollectAs[int](ctx, d.Select(once.Call(double.Call("n"))))
			got = append(got, ns...)
			return err
		}))
		if d := cmp.Diff([]int{1, 5, 9, 13, 17, 21, 25, 29}, got); d != "" {
			t.Errorf("rows (-want +got):\n%s", d)
		}
		n := name()
		groups := counts(t, spark).Select(shout.Call("k").As("k"), double.Call("n").As("n")).GroupBy("k")
		sums := millrace.MapGroupsWithState(groups, func(_ context.Context, k string, rows iter.Seq[count], s *millrace.GroupState[int]) (count, error) {
			sum, _, err := s.Get()
			for r := range rows {
				sum += r.N
			}
			return count{sum}, firstErr(err, s.Update(sum))
		}, millrace.GroupStateOptions{OutputMode: millrace.Update})
		finish(t, sums.WriteStream().OutputMode(millrace.Update).Format("memory").QueryName(n).Trigger(millrace.AvailableNow()))
		expect(t, spark.Table(n).Agg(f.Max("n")), row(int64(32)))
	})
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A function cannot travel; a server has those that it was started with.
func TestUDFOfAServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	spark := connect(t, serveOn(t, l, engine.Options{Workers: 2, Functions: map[string]engine.Function{"Shout": shout}}))
	_, err = spark.Range(0, 1, 1).Select(double.Call("id")).Collect(ctx(t))
	if e := expectClass(t, err, "UNSUPPORTED_FEATURE.GO_FUNCTION"); !strings.Contains(e.Message, "engine.Options.Functions") {
		t.Error(e)
	}
	_, err = spark.Range(0, 1, 1).Select(double.Call("id")).Schema(ctx(t))
	expectClass(t, err, "UNSUPPORTED_FEATURE.GO_FUNCTION")
	expectClass(t, spark.UDF().Register("double", double), "UNSUPPORTED_FEATURE.GO_FUNCTION")
	expect(t, sql(t, spark, "SELECT shout('a'), shout(upper('b'))"), row("A!", "B!"))
	expect(t, sql(t, spark, "SELECT 'a' AS s").Select(millrace.Call("shout", "s")), row("A!"))
}

// mean is the mean of numbers as an Aggregator: of what was measured, weighted.
type mean struct{}

type measured struct {
	Value  float64
	Weight *float64
}

type meanBuffer struct {
	Sum, Weight float64
	Seen        map[string]int
}

func (mean) Zero() meanBuffer { return meanBuffer{Seen: map[string]int{}} }

func (mean) Reduce(b meanBuffer, m measured) (meanBuffer, error) {
	w := 1.0
	if m.Weight != nil {
		w = *m.Weight
	}
	if w < 0 {
		return b, errors.New("a weight is negative")
	}
	b.Sum, b.Weight = b.Sum+w*m.Value, b.Weight+w
	b.Seen["rows"]++
	return b, nil
}

func (mean) Merge(b, o meanBuffer) (meanBuffer, error) {
	b.Sum, b.Weight = b.Sum+o.Sum, b.Weight+o.Weight
	for k, n := range o.Seen {
		b.Seen[k] += n
	}
	return b, nil
}

func (mean) Finish(b meanBuffer) (*float64, error) {
	if b.Weight == 0 {
		return nil, nil
	}
	m := b.Sum / b.Weight
	return &m, nil
}

// longest is an aggregate of single values.
type longest struct{}

func (longest) Zero() string { return "" }
func (longest) Reduce(b, s string) (string, error) {
	if s == "panic" {
		panic("at the disco")
	}
	return longer(b, s), nil
}
func (longest) Merge(b, o string) (string, error) { return longer(b, o), nil }
func (longest) Finish(b string) (string, error)   { return b, nil }

func longer(a, b string) string {
	if len(b) > len(a) || len(b) == len(a) && b < a {
		return b
	}
	return a
}

var (
	weighted = millrace.UDAF(mean{}).WithName("weighted_mean")
	widest   = millrace.UDAF(longest{}).WithName("longest")
)

func TestUDAF(t *testing.T) {
	here(t, func(t *testing.T, spark *millrace.Session) {
		df := sql(t, spark, "SELECT * FROM VALUES ('a', 1, 1.0D), ('a', 4, 2.0D), ('b', 5, NULL), ('c', NULL, 1.0D) AS t(k, v, w)")
		expect(t, df.GroupBy("k").Agg(weighted.Call("v", "w").As("m"), f.Sum("v").As("s")).OrderBy("k"),
			row("a", 3.0, int64(5)), row("b", 5.0, int64(5)), row("c", nil, nil))
		expect(t, df.Where("false").Agg(weighted.Call("v", "w"), widest.Call("k")), row(nil, ""))
		expect(t, df.Agg(widest.Call(f.Expr("repeat(k, v)"))), row("bbbbb"))
		if err := spark.UDF().Register("wm", weighted); err != nil {
			t.Fatal(err)
		}
		if err := df.CreateOrReplaceTempView(ctx(t), "t"); err != nil {
			t.Fatal(err)
		}
		expect(t, sql(t, spark, "SELECT k, wm(v, w) FILTER (WHERE v > 1) AS m, sum(v) OVER (PARTITION BY k) FROM t GROUP BY k, v HAVING wm(v, w) > 3 ORDER BY m"),
			row("a", 4.0, int64(4)), row("b", 5.0, int64(5)))
		expect(t, sql(t, spark, "SELECT k, v, wm(v, w) OVER (PARTITION BY k ORDER BY v) FROM t ORDER BY k, v"),
			row("a", int32(1), 1.0), row("a", int32(4), 3.0), row("b", int32(5), 5.0), row("c", nil, nil))
		expect(t, df.Union(df).Agg(widest.CallDistinct("k").As("l")), row("a"))
		// Many groups and many rows, with partial results.
		expect(t, spark.Range(0, 100000, 1).GroupBy(f.Expr("id % 1000").As("k")).Agg(weighted.Call("id", f.Lit(1.0)).As("m")).
			Agg(f.Count("*"), f.Avg("m")), row(int64(1000), 49999.5))
		_, err := df.Agg(weighted.Call("v", f.Lit(-1.0))).Collect(ctx(t))
		expectClass(t, err, "FAILED_EXECUTE_UDF")
		_, err = df.Agg(widest.Call(f.Lit("panic"))).Collect(ctx(t))
		if e := expectClass(t, err, "FAILED_EXECUTE_UDF"); !strings.Contains(e.Message, "at the disco") {
			t.Error(e)
		}
	})
}

// Buffers are state: they outlive a restart, a crash and another number of partitions, and are not taken for something else.
func TestUDAFInAStream(t *testing.T) {
	for _, provider := range []string{"millrace.mem", "millrace.lsm"} {
		t.Run(provider, func(t *testing.T) {
			eng := milltest.New(t, milltest.StateProvider(provider))
			in := eng.Stream("ts TIMESTAMP, k STRING, v INT")
			totals := func(u *millrace.UDF) *millrace.DataFrame {
				return in.DataFrame().WithWatermark("ts", "5 minutes").GroupBy(f.Window("ts", "10 minutes", f.Slide("5 minutes")), f.Col("k")).
					Agg(u.Call("v", f.Lit(1.0)).As("m")).SelectExpr("date_format(window.start, 'HH:mm')", "k", "m")
			}
			q := eng.Start(totals(weighted), milltest.Mode(millrace.Update))
			in.AddText("10:06  ann  1", "10:07  bob  8")
			q.Expect("(10:00, ann, 1.0)", "(10:00, bob, 8.0)", "(10:05, ann, 1.0)", "(10:05, bob, 8.0)")
			q.Restart()
			in.AddText("10:08  ann  3")
			q.Expect("(10:00, ann, 2.0)", "(10:05, ann, 2.0)")
			q.Stop()
			q.Change(totals(millrace.UDAF(other{}).WithName("weighted_mean")))
			q.Restart()
			in.AddText("10:08  ann  3")
			_, err := q.TryProcess()
			expectClass(t, expectClass(t, err, "STREAM_FAILED").Cause, "STATE_STORE_MEANING_NOT_COMPATIBLE")
		})
	}
}

// other is an aggregate with a buffer of another type than mean.
type other struct{}

func (other) Zero() int                             { return 0 }
func (other) Reduce(b int, _ measured) (int, error) { return b + 1, nil }
func (other) Merge(b, o int) (int, error)           { return b + o, nil }
func (other) Finish(b int) (*float64, error)        { x := float64(b); return &x, nil }
