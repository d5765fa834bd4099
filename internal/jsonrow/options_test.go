package jsonrow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
)

func options(t testing.TB, kv ...string) Options {
	t.Helper()
	m := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		m[strings.ToLower(kv[i])] = kv[i+1]
	}
	o, err := ParseOptions(func(k string) (string, bool) { v, ok := m[strings.ToLower(k)]; return v, ok }, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The rows are those that Apache Spark 4.2.0 gives.
func TestReadOptions(t *testing.T) {
	tests := []struct {
		name, ddl, text string
		opts            []string
		want            []string
	}{
		{
			"all allowed", "a STRING, b STRING, _corrupt_record STRING", "{\"a\":01}\n{b:1}\n{'a':2}\n/*c*/{\"a\":3}\n// x\n{\"a\":\"x\ty\"}\n{\"a\":\"\\q\"}\n# y\n{\"a\"/**/:4}",
			[]string{"allowNumericLeadingZeros", "true", "allowUnquotedFieldNames", "true", "allowComments", "true", "allowUnquotedControlChars", "true", "allowBackslashEscapingAnyCharacter", "true"},
			[]string{"01 | null | null", "null | 1 | null", "2 | null | null", "3 | null | null", "x\ty | null | null", "q | null | null", "4 | null | null"},
		},
		{"no single quotes", "a STRING, _corrupt_record STRING", "{'a':2}\n{\"a\":\"2\"}", []string{"allowSingleQuotes", "false"}, []string{"null | {'a':2}", "2 | null"}},
		{"no NaN", "a DOUBLE, _corrupt_record STRING", "{\"a\":NaN}\n{\"a\":\"NaN\"}", []string{"allowNonNumericNumbers", "false"}, []string{`null | {"a":NaN}`, `null | {"a":"NaN"}`}},
		{"zone", "a TIMESTAMP", `{"a":"2026-01-02 03:04:05"}`, []string{"timeZone", "Asia/Tokyo"}, []string{"2026-01-01 18:04:05"}},
		{
			"date pattern", "a DATE, _corrupt_record STRING", "{\"a\":\"01/02/2026\"}\n{\"a\":\"2026-01-02\"}\n{\"a\":5}",
			[]string{"dateFormat", "dd/MM/yyyy"},
			[]string{"2026-02-01 | null", `null | {"a":"2026-01-02"}`, `null | {"a":5}`},
		},
		{
			"timestamp pattern", "a TIMESTAMP, _corrupt_record STRING", "{\"a\":\"01/02/2026 03:04\"}\n{\"a\":\"2026-01-02 03:04:05\"}\n{\"a\":5}",
			[]string{"timestampFormat", "dd/MM/yyyy HH:mm"},
			[]string{"2026-02-01 03:04:00 | null", `null | {"a":"2026-01-02 03:04:05"}`, "1970-01-01 00:00:05 | null"},
		},
		{"name of the corrupt column", "a INT, bad STRING", "{\"a\":1}\n{\"a\":\"x\"}", []string{"columnNameOfCorruptRecord", "bad"}, []string{"1 | null", `null | {"a":"x"}`}},
		{"drop", "a INT", "{\"a\":1}\nnot json\n{\"a\":\"str\"}\n{\"a\":4}\n[{\"a\":5},{\"a\":\"x\"}]\n[{\"a\":6}]", []string{"mode", "dropMalformed"}, []string{"1", "4", "6"}},
		{"unknown mode", "a INT", "{\"a\":1}\nx", []string{"mode", "nope"}, []string{"1", "null"}},
		{"depth", "a ARRAY<ARRAY<INT>>, _corrupt_record STRING", "{\"a\":[[1]]}\n{\"b\":[[[1]]]}", []string{"maxNestingDepth", "3"}, []string{"[[1]] | null", `null | {"b":[[[1]]]}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readLines(t, newReader(t, tt.ddl, options(t, tt.opts...)), tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestFailFast(t *testing.T) {
	for _, text := range []string{"{\"a\":1}\n{\"a\":\"x\"}\n", "{\"a\":1}\nnot json\n", "{\"a\":1}\n[{\"a\":1},{\"a\":true}]\n"} {
		got, err := readLines(t, newReader(t, "a INT", options(t, "mode", "FAILFAST")), text)
		if d := cmp.Diff([]string{"1"}, got); d != "" || !errclass.Has(err, "MALFORMED_RECORD_IN_PARSING") {
			t.Errorf("%q: rows %v, error %v", text, got, err)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for k, v := range map[string]string{"allowComments": "maybe", "samplingRatio": "x", "maxNestingDepth": "x", "maxNumLen": "x"} {
		_, err := ParseOptions(func(key string) (string, bool) { return v, key == k }, nil, nil)
		if !errclass.Has(err, "INVALID_OPTION_VALUE") || !strings.Contains(err.Error(), k) {
			t.Errorf("%s=%s: %v", k, v, err)
		}
	}
}

// The share of records that are looked at matters only where they are.
func TestBadRatio(t *testing.T) {
	for _, ratio := range []string{"0", "-1", "NaN"} {
		o := options(t, "samplingRatio", ratio)
		if _, err := NewInference(o); !errclass.Has(err, "INVALID_OPTION_VALUE") {
			t.Errorf("%s: %v", ratio, err)
		}
		if _, err := NewReader(newSchema(t, "a INT"), o); err != nil {
			t.Errorf("%s: %v", ratio, err)
		}
	}
}

func TestDocument(t *testing.T) {
	for text, want := range map[string][]string{
		"[{\"a\":1},\n{\"a\":2}] {\"a\":3}": {"1 | null", "2 | null"},
		"{\"a\":1}\n{\"a\":2}":              {"1 | null"},
		"\n{\n\"a\":\r\n1\n}\n":             {"1 | null"},
		"":                                  nil,
		" \n":                               nil,
		"{\"a\":\n":                         {"null | {\"a\":\n"},
		"[\n]":                              nil,
	} {
		r := newReader(t, "a INT, _corrupt_record STRING", DefaultOptions())
		if err := r.Document(pad(text), len(text)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, rowsOf(r.Take()), cmp.Transformer("", func(s []string) []string { return append([]string{}, s...) })); d != "" {
			t.Errorf("%q: -want +got:\n%s", text, d)
		}
	}
}

func TestKeysAndTypes(t *testing.T) {
	for _, ddl := range []string{"a MAP<INT,INT>"} {
		s := newSchema(t, ddl)
		if _, err := NewReader(s, DefaultOptions()); !errclass.Has(err, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE") {
			t.Errorf("%s: %v", ddl, err)
		}
	}
}
