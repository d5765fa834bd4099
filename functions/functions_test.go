package functions_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
)

func plus(x, y millrace.Column) millrace.Column { return x.Add(y) }

func positive(x millrace.Column) millrace.Column { return x.Gt(1) }

func TestCalls(t *testing.T) {
	for want, c := range map[string]millrace.Column{
		"count(1)":                 f.Count("*"),
		"count(a)":                 f.Count(f.Col("a")),
		"count(DISTINCT a, b)":     f.CountDistinct("a", "b"),
		"sum(a)":                   f.Sum("a"),
		"sum(DISTINCT a)":          f.SumDistinct("a"),
		"coalesce(a, 0)":           f.Coalesce(f.Col("a"), f.Lit(0)),
		"window(ts, '10 minutes')": f.Window("ts", "10 minutes"),
		"window(ts, '600000 milliseconds', '5 minutes')": f.Window("ts", 10*time.Minute, f.Slide("5 minutes")),
		"window(ts, '1 hour', '1 hour', '5 minutes')":    f.Window("ts", "1 hour", f.StartTime("5 minutes")),
		"session_window(ts, '5 minutes')":                f.SessionWindow("ts", "5 minutes"),
		"session_window(ts, '1000 milliseconds')":        f.SessionWindow("ts", time.Second),
		"session_window(ts, gap)":                        f.SessionWindow("ts", f.Col("gap")),
		"to_timestamp(a)":                                f.ToTimestamp("a"),
		"to_timestamp(a, 'yyyy')":                        f.ToTimestamp("a", "yyyy"),
		"lag(a, 1)":                                      f.Lag("a", 1),
		"lag(a, 1, 'none')":                              f.Lag("a", 1, "none"),
		"concat_ws('-', a, b)":                           f.ConcatWS("-", "a", "b"),
		"lead(a, 1, 'none')":                             f.Lead("a", 1, "none"),
		"when((a = 1), 2)":                               f.When(f.Col("a").Eq(1), 2),
		"format_string('%s %s', a, b)":                   f.FormatString("%s %s", "a", "b"),
		"json_tuple(a, 'x', 'y')":                        f.JSONTuple("a", "x", "y"),
		"log(2, a)":                                      f.Log(2, "a"),
		"from_csv(a, 'x INT', map('sep', '|'))":          f.FromCSV("a", "x INT", map[string]string{"sep": "|"}),
		"from_xml(a, 'x INT')":                           f.FromXML("a", "x INT"),
		"from_avro(a, '\"int\"')":                        f.FromAvro("a", `"int"`),
		"to_avro(a)":                                     f.ToAvro("a"),
		"to_avro(a, '\"int\"')":                          f.ToAvro("a", `"int"`),
		"schema_of_json('{}')":                           f.SchemaOfJSON("{}"),
		"schema_of_csv('1|2', map('sep', '|'))":          f.SchemaOfCSV("1|2", map[string]string{"sep": "|"}),
		"schema_of_xml('<r/>')":                          f.SchemaOfXML("<r/>"),
		"a ASC NULLS FIRST":                              f.Asc("a"),
		"b ASC NULLS FIRST":                              f.AscNullsFirst("b"),
		"a DESC NULLS FIRST":                             f.DescNullsFirst("a"),
		"a DESC NULLS LAST":                              f.DescNullsLast("a"),
		"transform(a, (x_1, y_1) -> (x_1 + y_1))":        f.TransformIndexed("a", plus),
		"exists(a, (x_1) -> (x_1 > 1))":                  f.Exists("a", positive),
		"forall(a, (x_1) -> (x_1 > 1))":                  f.ForAll("a", positive),
		"zip_with(a, b, (x_1, y_1) -> (x_1 + y_1))":      f.ZipWith("a", "b", plus),
		"transform_keys(m, (x_1, y_1) -> (x_1 + y_1))":   f.TransformKeys("m", plus),
		"transform_values(m, (x_1, y_1) -> (x_1 + y_1))": f.TransformValues("m", plus),
		"aggregate(a, 0, (x_1, y_1) -> (x_1 + y_1))":     f.Reduce("a", 0, plus),
		"map_zip_with(m, n, (x_1, y_1, z_1) -> y_1)":     f.MapZipWith("m", "n", func(_, x, _ millrace.Column) millrace.Column { return x }),
		"map_filter(m, (x_1, y_1) -> (y_1 > x_1))":       f.MapFilter("m", func(k, v millrace.Column) millrace.Column { return v.Gt(k) }),
	} {
		if got := c.String(); got != "Column("+want+")" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestNamesExist asks Spark whether it knows the functions of the list.
func TestNamesExist(t *testing.T) {
	address := os.Getenv("MILLRACE_TEST_REMOTE")
	if address == "" {
		t.Skip("MILLRACE_TEST_REMOTE names no Spark Connect server")
	}
	spark, err := millrace.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer spark.Close()
	d, err := spark.SQL(t.Context(), "SHOW ALL FUNCTIONS")
	if err != nil {
		t.Fatal(err)
	}
	names, err := millrace.CollectAs[string](t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"product": true} // only DataFrames have it
	for _, n := range names {
		known[n] = true
	}
	list, err := os.ReadFile("functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(list), "\n") {
		head, _, ok := strings.Cut(line, "(")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(head)
		if name := fields[len(fields)-1]; !known[name] {
			t.Errorf("there is no function %s", name)
		}
	}
}
