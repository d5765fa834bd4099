package jsonrow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// pad copies a text and puts the padding behind it.
func pad(s string) []byte { return append([]byte(s), make([]byte, Pad)...) }

func newSchema(t testing.TB, ddl string) types.StructType {
	t.Helper()
	schema, err := types.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func newReader(t testing.TB, ddl string, opts Options) *Reader {
	t.Helper()
	r, err := NewReader(newSchema(t, ddl), opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rowsOf prints the rows of a batch.
func rowsOf(b *vec.Batch) []string {
	out := make([]string, b.N)
	for i := range out {
		row := make([]string, len(b.Cols))
		for k, c := range b.Cols {
			row[k] = show(vec.ValueAt(c, i))
		}
		out[i] = strings.Join(row, " | ")
	}
	return out
}

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case types.Micros:
		return time.UnixMicro(int64(v)).UTC().Format("2006-01-02 15:04:05.999999")
	case types.MicrosNTZ:
		return time.UnixMicro(int64(v)).UTC().Format("2006-01-02 15:04:05.999999")
	case types.Days:
		return time.Unix(int64(v)*86400, 0).UTC().Format("2006-01-02")
	case []byte:
		return fmt.Sprintf("%x", v)
	case types.Row:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = show(x)
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = show(x)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case types.MapValue:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = show(e.Key) + ":" + show(e.Value)
		}
		return "(" + strings.Join(parts, ",") + ")"
	}
	return fmt.Sprint(v)
}

func readLines(t testing.TB, r *Reader, text string) ([]string, error) {
	t.Helper()
	var out []string
	p := pad(text)
	for i := 0; i < len(text); {
		next, err := r.Lines(p, i, len(text), 3)
		out = append(out, rowsOf(r.Take())...)
		if err != nil {
			return out, err
		}
		i = next
	}
	return out, nil
}

// The rows are those that Apache Spark 4.2.0 gives, but where a comment says otherwise.
func TestLines(t *testing.T) {
	const corrupt = ", _corrupt_record STRING"
	tests := []struct {
		name, ddl, text string
		want            []string
	}{
		{"leading zero", "a INT, b INT" + corrupt, `{"a":007,"b":1}`, []string{`null | null | {"a":007,"b":1}`}},
		{"plus", "a INT, b INT" + corrupt, `{"a":+1,"b":1}`, []string{`null | null | {"a":+1,"b":1}`}},
		{
			"partial struct", "a INT, s STRUCT<x:INT,y:INT>, b INT" + corrupt, `{"a":1,"s":{"x":"bad","y":2},"b":3}`,
			[]string{`1 | {null,2} | 3 | {"a":1,"s":{"x":"bad","y":2},"b":3}`},
		},
		// Spark keeps a, because it happens to notice the fault inside s.
		{
			"syntax inside", "a INT, s STRUCT<x:INT,y:INT>, b INT" + corrupt, `{"a":1,"s":{"x":007,"y":2},"b":3}`,
			[]string{`null | null | null | {"a":1,"s":{"x":007,"y":2},"b":3}`},
		},
		{"bad element", "a ARRAY<INT>, b INT" + corrupt, `{"a":[1,"x",3],"b":2}`, []string{`null | 2 | {"a":[1,"x",3],"b":2}`}},
		{"bad map value", "m MAP<STRING,INT>, a INT" + corrupt, `{"m":{"k":"bad","a":1},"a":2}`, []string{`null | 2 | {"m":{"k":"bad","a":1},"a":2}`}},
		{"map keys twice", "m MAP<STRING,INT>", `{"m":{"k":1,"k":2,"a":3}}`, []string{`(k:1,k:2,a:3)`}},
		{
			"last key wins", "a INT" + corrupt, "{\"a\":1,\"a\":2}\n{\"a\":1,\"a\":\"x\"}\n{\"a\":1,\"a\":null}",
			[]string{`2 | null`, `1 | {"a":1,"a":"x"}`, `null | null`},
		},
		{"case of keys", "a INT" + corrupt, `{"A":1}`, []string{`null | null`}},
		{"text behind", "a INT" + corrupt, "{\"a\":1} trailing {\n{\"a\":1}{\"a\":2}", []string{`1 | null`, `1 | null`}},
		{
			"arrays of records", "a INT" + corrupt, "[{\"a\":1},{\"a\":2}]\n[]\n[1]\n[{\"a\":1},{\"a\":\"x\"}]\n[{\"a\":1},null]",
			[]string{`1 | null`, `2 | null`, `null | [1]`, `1 | [{"a":1},{"a":"x"}]`, `null | [{"a":1},{"a":"x"}]`, `null | [{"a":1},null]`},
		},
		{"no records", "a INT" + corrupt, "null\n5\n\"x\"\ntrue", []string{`null | null`, `null | 5`, `null | "x"`, `null | true`}},
		{
			"bytes wrap", "a TINYINT" + corrupt, "{\"a\":200}\n{\"a\":-128}\n{\"a\":255}\n{\"a\":256}\n{\"a\":-129}",
			[]string{`-56 | null`, `-128 | null`, `-1 | null`, `null | {"a":256}`, `null | {"a":-129}`},
		},
		{"short", "a SMALLINT" + corrupt, `{"a":40000}`, []string{`null | {"a":40000}`}},
		{
			"int", "a INT" + corrupt, "{\"a\":3000000000}\n{\"a\":1.0}\n{\"a\":1e2}\n{\"a\":-0}\n{\"a\":\"1\"}\n{\"a\":\"\"}\n{\"a\":true}",
			[]string{`null | {"a":3000000000}`, `null | {"a":1.0}`, `null | {"a":1e2}`, `0 | null`, `null | {"a":"1"}`, `null | {"a":""}`, `null | {"a":true}`},
		},
		{
			"long", "a BIGINT" + corrupt, "{\"a\":92233720368547758070}\n{\"a\":9223372036854775807}\n{\"a\":-9223372036854775808}",
			[]string{`null | {"a":92233720368547758070}`, `9223372036854775807 | null`, `-9223372036854775808 | null`},
		},
		{"double", "a DOUBLE" + corrupt, strings.Join([]string{
			`{"a":"NaN"}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":-Infinity}`, `{"a":"-INF"}`, `{"a":"+INF"}`, `{"a":"Infinity"}`,
			`{"a":+Infinity}`, `{"a":INF}`, `{"a":-INF}`, `{"a":"1.5"}`, `{"a":1e400}`, `{"a":""}`, `{"a":+INF}`, `{"a":0.1}`, `{"a":-12}`,
			`{"a":1.25e-3}`, `{"a":123456789012345678}`,
		}, "\n"), []string{
			`NaN | null`, `NaN | null`, `+Inf | null`, `-Inf | null`, `-Inf | null`, `+Inf | null`, `+Inf | null`, `+Inf | null`,
			`null | {"a":INF}`, `-Inf | null`, `null | {"a":"1.5"}`, `+Inf | null`, `null | {"a":""}`, `+Inf | null`, `0.1 | null`, `-12 | null`,
			`0.00125 | null`, `1.2345678901234568e+17 | null`,
		}},
		{"float", "a FLOAT", "{\"a\":1e39}\n{\"a\":16777217}\n{\"a\":0.1}", []string{`+Inf`, `1.6777216e+07`, `0.1`}},
		{"anything as string", "a STRING", strings.Join([]string{
			`{"a":12}`, `{"a":1.50}`, `{"a":true}`, `{"a":{"x":1, "y" : [1,  2]}}`, `{"a":[1, 2]}`, `{"a":null}`, `{"a":1E5}`, `{"a":{"u":"\u00e9"}}`,
		}, "\n"), []string{`12`, `1.50`, `true`, `{"x":1, "y" : [1,  2]}`, `[1, 2]`, `null`, `1E5`, `{"u":"\u00e9"}`}},
		{"escapes", "a STRING" + corrupt, strings.Join([]string{
			`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":"\ude00x"}`, `{"a":"\ud83dA"}`, `{"a":"\u0041"}`, `{"a":"\q"}`, `{"a":"\u00"}`, "{\"a\":\"x\ty\"}",
			`{"a":"\/\\\""}`, `{"a":"long enough for several words é and \u00e9 behind"}`,
		}, "\n"), []string{
			`😀 | null`, `? | null`, `?x | null`, `?A | null`, `A | null`, `null | {"a":"\q"}`, `null | {"a":"\u00"}`, "null | {\"a\":\"x\ty\"}",
			`/\" | null`, `long enough for several words é and é behind | null`,
		}},
		{"no UTF-8", "a STRING" + corrupt, "{\"a\":\"x\xff\"}\n{\"a\":\"\xc3\xa9\"}", []string{"null | {\"a\":\"x\uFFFD\"}", "é | null"}},
		{"decimal", "a DECIMAL(6,2)" + corrupt, strings.Join([]string{
			`{"a":1.005}`, `{"a":"2.5"}`, `{"a":12345678.9}`, `{"a":1e2}`, `{"a":"x"}`, `{"a":""}`, `{"a":"1,234.5"}`,
		}, "\n"), []string{`1.01 | null`, `2.50 | null`, `null | {"a":12345678.9}`, `100.00 | null`, `null | {"a":"x"}`, `null | {"a":""}`, `1234.50 | null`}},
		{
			"binary", "a BINARY" + corrupt, "{\"a\":\"AQID\"}\n{\"a\":\"AQ==\"}\n{\"a\":\"AQ\"}\n{\"a\":\"***\"}\n{\"a\":\"\"}\n{\"a\":5}",
			[]string{`010203 | null`, `01 | null`, `null | {"a":"AQ"}`, `null | {"a":"***"}`, ` | null`, `null | {"a":5}`},
		},
		{"date", "a DATE" + corrupt, strings.Join([]string{
			`{"a":"2026-01-02"}`, `{"a":"2026-1-2"}`, `{"a":"2026"}`, `{"a":"2026-01"}`, `{"a":"2026-01-02T03:04:05"}`, `{"a":" 2026-01-02 "}`, `{"a":5}`, `{"a":"5"}`,
			`{"a":"x"}`, `{"a":"12/31/2026"}`, `{"a":""}`, `{"a":"2026-02-30"}`,
		}, "\n"), []string{
			`2026-01-02 | null`, `2026-01-02 | null`, `2026-01-01 | null`, `2026-01-01 | null`, `2026-01-02 | null`, `2026-01-02 | null`, `null | {"a":5}`, `1970-01-06 | null`,
			`null | {"a":"x"}`, `null | {"a":"12/31/2026"}`, `null | {"a":""}`, `null | {"a":"2026-02-30"}`,
		}},
		{"timestamp", "a TIMESTAMP" + corrupt, strings.Join([]string{
			`{"a":"2026-01-02"}`, `{"a":"2026-1-2 3:4:5"}`, `{"a":"2026"}`, `{"a":"2026-01-02T03:04:05.123456789Z"}`, `{"a":"2026-01-02 03:04:05+02:00"}`, `{"a":5}`, `{"a":1.5}`,
			`{"a":"5"}`, `{"a":"x"}`, `{"a":"2026-01-02 03:04:05 Europe/Berlin"}`, `{"a":"03:04:05"}`, `{"a":"T03:04"}`, `{"a":""}`, `{"a":"2026-01-02 03:04:05GMT+1"}`,
			`{"a":"2026-01-02 03:04:05PST"}`, `{"a":"2026-01-02T03:04:05.25"}`,
		}, "\n"), []string{
			`2026-01-02 00:00:00 | null`, `2026-01-02 03:04:05 | null`, `2026-01-01 00:00:00 | null`, `2026-01-02 03:04:05.123456 | null`, `2026-01-02 01:04:05 | null`, `1970-01-01 00:00:05 | null`, `null | {"a":1.5}`,
			`null | {"a":"5"}`, `null | {"a":"x"}`, `2026-01-02 02:04:05 | null`, `2026-11-29 03:04:05 | null`, `2026-11-29 03:04:00 | null`, `null | {"a":""}`, `2026-01-02 02:04:05 | null`,
			`2026-01-02 11:04:05 | null`, `2026-01-02 03:04:05.25 | null`,
		}},
		{"timestamp_ntz", "a TIMESTAMP_NTZ" + corrupt, strings.Join([]string{
			`{"a":"2026-01-02"}`, `{"a":"2026-01-02T03:04:05.123456789Z"}`, `{"a":"2026-01-02 03:04:05+02:00"}`, `{"a":5}`, `{"a":"2026-01-02 03:04:05"}`,
		}, "\n"), []string{
			`2026-01-02 00:00:00 | null`, `null | {"a":"2026-01-02T03:04:05.123456789Z"}`, `null | {"a":"2026-01-02 03:04:05+02:00"}`, `null | {"a":5}`, `2026-01-02 03:04:05 | null`,
		}},
		{
			"nested", "a STRUCT<x:STRUCT<y:INT>>" + corrupt, "{\"a\":{\"x\":{\"y\":1}}}\n{\"a\":{\"x\":{\"y\":\"b\"}}}\n{\"a\":{\"x\":5}}\n{\"a\":5}",
			[]string{`{{1}} | null`, `{{null}} | {"a":{"x":{"y":"b"}}}`, `{null} | {"a":{"x":5}}`, `null | {"a":5}`},
		},
		{
			"array of structs", "a ARRAY<STRUCT<x:INT>>" + corrupt, "{\"a\":[{\"x\":1},{\"x\":\"b\"},{\"x\":3}]}\n{\"a\":[[1],[2,\"x\"]]}",
			[]string{`[{1},{null},{3}] | {"a":[{"x":1},{"x":"b"},{"x":3}]}`, `null | {"a":[[1],[2,"x"]]}`},
		},
		{"blank lines", "a INT" + corrupt, "\n  \n{\"a\":1}\n\t\n", []string{`1 | null`}},
		{"line breaks", "a INT" + corrupt, "{\"a\":1}\r{\"a\":2}\r\n{\"a\":3}\r\n\r\n{\"a\":4\r\nx\rno\n", []string{
			`1 | null`, `2 | null`, `3 | null`, `null | {"a":4`, `null | x`, `null | no`,
		}},
		{
			"strict syntax", "a INT" + corrupt, "{a:1}\n{'a':1}\n/*c*/{\"a\":1}\n{\"a\":1,}\n{\"a\":01}\n{\"a\" 1}\n{\"a\":1",
			[]string{`null | {a:1}`, `1 | null`, `null | /*c*/{"a":1}`, `null | {"a":1,}`, `null | {"a":01}`, `null | {"a" 1}`, `null | {"a":1`},
		},
		{
			"faults in what is skipped", "a INT" + corrupt, "{\"a\":1,\"b\":{\"x\":tru}}\n{\"a\":1,\"b\":\"unterminated}\n{\"a\":1,\"b\":[1,{\"c\":[]}],\"d\":1.5e3}",
			[]string{`null | {"a":1,"b":{"x":tru}}`, `null | {"a":1,"b":"unterminated}`, `1 | null`},
		},
		{
			"bad numbers", "a DOUBLE" + corrupt, "{\"a\":.5}\n{\"a\":5.}\n{\"a\":-}\n{\"a\":1e}\n{\"a\":--1}\n{\"a\":1x}\n{\"a\":1 x}",
			[]string{`null | {"a":.5}`, `null | {"a":5.}`, `null | {"a":-}`, `null | {"a":1e}`, `null | {"a":--1}`, `null | {"a":1x}`, `null | {"a":1 x}`},
		},
		{
			"keys change", "a INT, b INT", "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}\n{\"x\":{},\"b\":5}\n{ \"b\" : 6 , \"a\" : 7 }\n{\"\\u0061\":8}",
			[]string{`1 | 2`, `4 | 3`, `null | 5`, `7 | 6`, `8 | null`},
		},
		{"intervals", "a INTERVAL DAY TO SECOND, b INTERVAL YEAR TO MONTH", "{\"a\":\"1 00:00:00\",\"b\":\"1-2\"}\n{\"a\":\"1 day\"}", []string{`86400000000 | 14`, `null | null`}},
		{"nulls in maps", "a MAP<STRING,INT>", `{"a":{"k":null,"l":1}}`, []string{`(k:null,l:1)`}},
	}
	opts := DefaultOptions()
	opts.Now = func() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readLines(t, newReader(t, tt.ddl, opts), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			// A record that is the word null has that word in the corrupt record column, which prints like a null.
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
