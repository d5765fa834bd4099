package csvrow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var fuzzDialects = []map[string]string{
	{},
	{"escape": `"`},
	{"sep": "\t"},
	{"sep": "||"},
	{"nullValue": "1"},
	{"quote": "'", "comment": "#"},
	{"unescapedQuoteHandling": "STOP_AT_CLOSING_QUOTE"},
	{"mode": "DROPMALFORMED"},
	{"ignoreLeadingWhiteSpace": "true", "ignoreTrailingWhiteSpace": "true"},
	{"escape": ""},
	{"quote": ""},
	{"charToEscapeQuoteEscaping": "#"},
	{"nullValue": "NA", "emptyValue": "-"},
	{"sep": "1"},
	{"sep": "§"},
	{"mode": "FAILFAST"},
	{"unescapedQuoteHandling": "BACK_TO_DELIMITER"},
	{"unescapedQuoteHandling": "SKIP_VALUE", "sep": "||"},
	{"ignoreTrailingWhiteSpace": "true", "emptyValue": "-"},
	{"ignoreLeadingWhiteSpace": "true", "sep": "\t"},
	{"ignoreLeadingWhiteSpace": "true", "ignoreTrailingWhiteSpace": "true", "emptyValue": "-", "sep": " "},
}

// FuzzLines compares the scanner of lines with the machine, in rows and in where they stop.
func FuzzLines(f *testing.F) {
	for i, s := range []string{
		"1,a,2.5,2026-01-02 03:04:05\n", "x,\"a\",2,\n1,\"a\"\"b\",1e5,2026-01-02T03:04:05Z\r\n", "1,\"a\\\"b\",,\n\n  \n-5,\"\",NaN\r\"", "1\t'a'\t\t2026\n#x\n",
		"007,\"a\" b,.5,2026-01-02 03:04:05.123456,9\n", "1,2,3,4\r1,2,3\r\r\n\xff,\xc3\xa9,+1,\"2026-01-02 03:04:05\"", "1||a||2||\n", "\"1\",NA,-,20/6-01-02 03:04:05\n",
	} {
		f.Add(s, byte(i), byte(i))
	}
	const ddl = "a INT, b STRING, c DOUBLE, d TIMESTAMP, _corrupt_record STRING"
	f.Fuzz(func(t *testing.T, text string, dialect, columns byte) {
		if len(text) > 1<<12 {
			t.Skip()
		}
		o := optionsOf(t, fuzzDialects[int(dialect)%len(fuzzDialects)])
		want := []string{"", "a,b,c,d", "b,d", "c,_corrupt_record", "d"}[columns%5]
		fast, slow := newReader(t, ddl, want, o), newReader(t, ddl, want, o)
		slow.fast = false
		rows, err := readLines(t, fast, text, 3)
		wantRows, wantErr := readLines(t, slow, text, 1000)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%q: scanner %v, machine %v", text, err, wantErr)
		}
		if d := cmp.Diff(wantRows, rows); d != "" {
			t.Errorf("%q: -machine +scanner\n%s", text, d)
		}
	})
}

// FuzzDocument reads texts whose records may span lines, and infers their schemas.
func FuzzDocument(f *testing.F) {
	f.Add("a,\"b\nc\"\r\n\"d\"\"e\",\n", byte(0))
	f.Add("\"a\n,b\"c\n\"", byte(16))
	f.Add("0", byte(10))
	f.Fuzz(func(t *testing.T, text string, dialect byte) {
		if len(text) > 1<<12 {
			t.Skip()
		}
		o := optionsOf(t, fuzzDialects[int(dialect)%len(fuzzDialects)])
		o.MultiLine, o.Prune, o.InferTypes = true, false, true
		r := newReader(t, "a INT, b STRING, _corrupt_record STRING", "", o)
		if err := r.Document([]byte(text)); err != nil {
			return
		}
		for more := true; more; {
			var err error
			if more, err = r.Records(2); err != nil {
				break
			}
			if r.Take().N > strings.Count(text, "\n")+strings.Count(text, "\r")+1 {
				t.Fatal("more rows than lines")
			}
		}
		inf, err := NewInference(o)
		if err != nil {
			t.Fatal(err)
		}
		if inf.Document([]byte(text)) == nil {
			_ = inf.Schema().SimpleString()
		}
	})
}
