package csvrow

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/textrecord"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// write prints rows as a file holds them.
func write(t testing.TB, schema types.StructType, rows [][]any, opts Options, header bool) string {
	t.Helper()
	w, err := NewWriter(schema, opts)
	if err != nil {
		t.Fatal(err)
	}
	builders := vec.NewBuilders(schema)
	for _, row := range rows {
		for i, v := range row {
			if err := builders[i].AppendValue(v); err != nil {
				t.Fatal(err)
			}
		}
	}
	var cols []*vec.Vector
	for _, b := range builders {
		cols = append(cols, b.Finish())
	}
	w.Bind(cols)
	sep := "\n"
	if opts.LineSep != "" {
		sep = opts.LineSep
	}
	var b []byte
	if header {
		b = append(w.AppendHeader(b), sep...)
	}
	for i := range rows {
		n := len(b)
		if b = w.AppendRow(b, i); len(b) > n {
			b = append(b, sep...)
		}
	}
	return string(b)
}

func si(pairs ...any) (rows [][]any) {
	for i := 0; i < len(pairs); i += 2 {
		rows = append(rows, pairs[i:i+2])
	}
	return rows
}

// The texts are those that Apache Spark 4.2.0 writes, but where a comment says otherwise.
func TestWrite(t *testing.T) {
	i := func(n int32) any { return n }
	const two = "s STRING, i INT"
	for _, tt := range []struct {
		name, ddl string
		opts      map[string]string
		rows      [][]any
		want      string
	}{
		{
			"defaults", two, nil, si("a,b", i(1), nil, nil, `q"x`, i(3), "", i(4), " ", i(5), "  x  ", i(6), `a\b`, i(7), `a\,b`, i(8), "#c", i(9), "x#", i(10),
				"l\nm", i(11), "l\rm", i(12), `"q"`, i(13), "tab\tx", i(14), `"`, i(15), `\`, i(16), `a"\,`, i(17)),
			"\"a,b\",1\n,\n\"q\\\"x\",3\n\"\",4\n\"\",5\nx,6\na\\b,7\n\"a\\\\,b\",8\n\"#c\",9\nx#,10\n\"l\nm\",11\n\"l\rm\",12\n\"\\\"q\\\"\",13\ntab\tx,14\n\"\\\"\",15\n\\,16\n\"a\\\"\\\\,\",17\n",
		},
		{
			"quoteAll", two,
			map[string]string{"quoteAll": "true"},
			si("a,b", i(1), nil, nil, `q"x`, i(3), "", i(4), " ", i(5), "  x  ", i(6), `a\b`, i(7), `a\,b`, i(8), "#c", i(9),
				"l\nm", i(11), `"q"`, i(13), `""`, i(14), `a"\,`, i(17)),
			"\"a,b\",\"1\"\n\"\",\"\"\n\"q\\\"x\",\"3\"\n\"\",\"4\"\n\"\",\"5\"\n\"x\",\"6\"\n\"a\\\\b\",\"7\"\n\"a\\\\,b\",\"8\"\n\"#c\",\"9\"\n\"l\nm\",\"11\"\n\"\\\"q\\\"\",\"13\"\n\"\\\"\\\"\",\"14\"\n\"a\\\"\\\\,\",\"17\"\n",
		},
		{
			"escapeQuotes", two,
			map[string]string{"escapeQuotes": "false"},
			si("a,b", i(1), nil, nil, `q"x`, i(3), "", i(4), `a\b`, i(7), `"q"`, i(13), `q",x`, i(14)),
			"\"a,b\",1\n,\nq\"x,3\n\"\",4\na\\b,7\n\"\\\"q\\\"\",13\n\"q\\\",x\",14\n",
		},
		{
			"escape", two,
			map[string]string{"escape": `"`},
			si("a,b", i(1), nil, nil, `q"x`, i(3), "", i(4), `a\b`, i(7), `"q"`, i(13), `q",x`, i(14)),
			"\"a,b\",1\n,\n\"q\"\"x\",3\n\"\",4\na\\b,7\n\"\"\"q\"\"\",13\n\"q\"\",x\",14\n",
		},
		{
			"nullValue and emptyValue", two,
			map[string]string{"nullValue": "N", "emptyValue": "E"},
			si("a,b", i(1), nil, nil, "", i(4), " ", i(5), "N", i(6), "E", i(7), "E,", i(8)),
			"\"a,b\",1\nN,N\nE,4\nE,5\nN,6\nE,7\n\"E,\",8\n",
		},
		{"empty emptyValue", two, map[string]string{"emptyValue": ""}, si("a,b", i(1), nil, nil, "", i(4), " ", i(5)), "\"a,b\",1\n,\n,4\n,5\n"},
		{
			"no trimming", two,
			map[string]string{"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"},
			si("  x  ", i(6), " ", i(5), " , ", i(7), "x\t", i(8)),
			"  x  ,6\n ,5\n\" , \",7\nx\t,8\n",
		},
		// Spark writes ` "\` for the value of blanks.
		{"trimming on the right", two, map[string]string{"ignoreLeadingWhiteSpace": "false"}, si("  x  ", i(6), " ", i(5), " , ", i(7)), "  x,6\n\"\",5\n\" ,\",7\n"},
		{"trimming on the left", two, map[string]string{"ignoreTrailingWhiteSpace": "false"}, si("  x  ", i(6), " ", i(5), " , ", i(7)), "x  ,6\n\"\",5\n\", \",7\n"},
		{"one column", "s STRING", nil, [][]any{{nil}, {""}, {"x"}, {" "}}, "\"\"\nx\n\"\"\n"},
		{"one column, emptyValue", "s STRING", map[string]string{"emptyValue": ""}, [][]any{{nil}, {""}, {"x"}}, "x\n"},
		{"one column, quoteAll", "s STRING", map[string]string{"quoteAll": "true"}, [][]any{{nil}, {""}, {"x"}}, "\"\"\n\"\"\n\"x\"\n"},
		{"one column, nullValue", "s STRING", map[string]string{"nullValue": "-"}, [][]any{{nil}, {""}, {"x"}}, "-\n\"\"\nx\n"},
		{"header", "s STRING, `i,j` INT", map[string]string{"header": "true"}, si("a", i(1)), "s,\"i,j\"\na,1\n"},
		{"header like a comment", "`#s` STRING, ` i ` INT", map[string]string{"header": "true"}, si("a", i(1)), "\"#s\",i\na,1\n"},
		{"two-character separator", "s STRING, i STRING", map[string]string{"sep": "||"}, si("a|b", "x", "a||b", "y"), "a|b||x\n\"a||b\"||y\n"},
		{"tab", "s STRING, i STRING", map[string]string{"sep": "\t"}, si("a|b", "x", "a,b", "y", "a\tb", "z"), "a|b\tx\na,b\ty\n\"a\tb\"\tz\n"},
		{"lineSep", "s STRING, i STRING", map[string]string{"lineSep": "|"}, si("a|b", "x", "a,b\nc", "y"), "\"a|b\",x|\"a,b\nc\",y|"},
		{"CRLF", "s STRING, i STRING", map[string]string{"lineSep": "\r\n"}, si("a|b", "x", "a,b\nc", "y", "a\rb", "z"), "a|b,x\r\n\"a,b\r\nc\",y\r\n\"a\rb\",z\r\n"},
		{"comment", "s STRING, i STRING", map[string]string{"comment": "-"}, si("a#b", "x", "#a", "y", "-x", "z"), "a#b,x\n#a,y\n\"-x\",z\n"},
		{"quote", "s STRING, i STRING", map[string]string{"quote": "'"}, si("a,b", "x", `a"b`, "y", `"a`, "z", "a'b,", "z"), "'a,b',x\na\"b,y\n\"a,z\n'a\\'b,',z\n"},
		{"no quote", "s STRING, i STRING", map[string]string{"quote": ""}, si("a,b", "x", `a"b`, "y"), "\x00a,b\x00,x\na\"b,y\n"},
		{"no escape", "s STRING, i STRING", map[string]string{"escape": ""}, si("a,b", "x", `a"b`, "y"), "\"a,b\",x\n\"a\x00\"b\",y\n"},
		{"escape of escapes", "s STRING, i STRING", map[string]string{"charToEscapeQuoteEscaping": "#"}, si(`a\,b"`, "x"), "\"a#\\,b\\\"\",x\n"},
		{
			"types", "b BOOLEAN, y TINYINT, s SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, c DECIMAL(3,2), e DECIMAL(20,15), x BINARY, dt DATE, ts TIMESTAMP, n TIMESTAMP_NTZ, ym INTERVAL YEAR TO MONTH, ds INTERVAL DAY TO SECOND, nan DOUBLE, inf DOUBLE, nul INT", nil,
			[][]any{{true, int8(1), int16(-2), int32(3), int64(4), float32(1.5), 1e10, mustDecimal("1.20"), mustDecimal("0.000000000100000"), []byte("ab\xff"), types.Days(20455), types.Micros(1767323045123456), types.MicrosNTZ(1767323045000000), types.YearMonth(14), types.DayTime(93784000000), math.NaN(), math.Inf(-1), nil}},
			"true,1,-2,3,4,1.5,1.0E10,1.20,1.00000E-10,[61 62 FF],2026-01-02,2026-01-02T03:04:05.123Z,2026-01-02T03:04:05.000,INTERVAL '1-2' YEAR TO MONTH,INTERVAL '1 02:03:04' DAY TO SECOND,NaN,-Infinity,\n",
		},
		{
			"formats", "dt DATE, ts TIMESTAMP, n TIMESTAMP_NTZ",
			map[string]string{"dateFormat": "dd.MM.yyyy", "timestampFormat": "dd/MM/yyyy HH:mm:ss, SSS", "timestampNTZFormat": "HH:mm", "timeZone": "America/New_York"},
			[][]any{{types.Days(20455), types.Micros(1767323045123456), types.MicrosNTZ(1767323045000000)}},
			"02.01.2026,\"01/01/2026 22:04:05, 123\",03:04\n",
		},
		{"digits as separator", "i INT, j INT", map[string]string{"sep": "1"}, si(i(212), i(3)), "\"212\"13\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := optionsOf(t, tt.opts)
			if d := cmp.Diff(tt.want, write(t, newSchema(t, tt.ddl), tt.rows, o, o.Header)); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
		})
	}
	for _, ddl := range []string{"a ARRAY<INT>", "a MAP<STRING,INT>", "a STRUCT<x:INT>", "a INTERVAL"} {
		if _, err := NewWriter(newSchema(t, ddl), DefaultOptions()); err == nil {
			t.Errorf("%s is taken", ddl)
		}
	}
}

func mustDecimal(s string) types.Decimal {
	d, ok := types.ParseDecimal(s)
	if !ok {
		panic(s)
	}
	return d
}

// TestRoundTrip reads what is written.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.MultiLine, o.Prune, o.Mode = true, false, textrecord.FailFast
		o.Sep = rapid.SampledFrom([]string{",", "\t", "||", "§", ";"}).Draw(t, "sep")
		o.Escape = rapid.SampledFrom([]rune{'\\', '"'}).Draw(t, "escape")
		o.QuoteAll = rapid.Bool().Draw(t, "quoteAll")
		o.TrimLeftWrite, o.TrimRightWrite = false, false
		o.NullValue = rapid.SampledFrom([]string{"", "N"}).Draw(t, "null")
		o.LineSep = "\n"
		schema := types.StructType{Fields: []types.Field{types.NewField("a", types.String), types.NewField("b", types.Long), types.NewField("c", types.String)}}
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab,\t|§\"\\ \n#é;")))
		rows := rapid.SliceOf(rapid.Custom(func(t *rapid.T) []any {
			return []any{text.Draw(t, "a"), rapid.Int64().Draw(t, "b"), text.Draw(t, "c")}
		})).Draw(t, "rows")
		var want []string
		for _, row := range rows {
			line := make([]string, len(row))
			for i, v := range row {
				if s, ok := v.(string); ok && (s == o.NullValue || s == "" && !strings.Contains(o.NullValue, "N")) {
					v = nil
				}
				line[i] = showValue(v)
			}
			want = append(want, strings.Join(line, " | "))
		}
		w, err := NewWriter(schema, o)
		if err != nil {
			t.Fatal(err)
		}
		builders := vec.NewBuilders(schema)
		for _, row := range rows {
			for i, v := range row {
				if err := builders[i].AppendValue(v); err != nil {
					t.Fatal(err)
				}
			}
		}
		var cols []*vec.Vector
		for _, b := range builders {
			cols = append(cols, b.Finish())
		}
		w.Bind(cols)
		var b []byte
		for i := range rows {
			b = append(w.AppendRow(b, i), '\n')
		}
		r, err := NewReader(schema, schema, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Document(b); err != nil {
			t.Fatal(err)
		}
		more, err := r.Records(1 << 20)
		if err != nil || more {
			t.Fatalf("%v of %q", err, b)
		}
		got := rowsOf(r.Take())
		if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
			t.Errorf("%q: -want +got\n%s", b, d)
		}
	})
}
