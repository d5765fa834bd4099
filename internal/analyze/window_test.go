package analyze

import (
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/source"
)

// TestDurationsThatAreIntervals: Spark takes texts and numbers for a window's durations and texts for a session's gap, but none of the
// intervals that SQL's literals make.
func TestDurationsThatAreIntervals(t *testing.T) {
	cat := catalog()
	cat["nn"] = scan("ts TIMESTAMP NOT NULL", false)
	a := New(cat, Conf{ANSI: true}, source.Env{})
	for text, class := range map[string]string{
		"window(ts, '10 minutes')":                               "",
		"window(ts, 600000000)":                                  "",
		"window(ts, interval 10 minutes)":                        "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
		"window(ts, '10 minutes', interval '5' minute)":          "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
		"window(ts, make_interval(0, 0, 0, 0, 0, 1))":            "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
		"session_window(ts, '5 minutes')":                        "",
		"session_window(ts, make_interval(0, 0, 0, 0, 0, 5, 0))": "",
		"session_window(ts, interval 5 minutes)":                 "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
		"session_window(ts, interval '1' month)":                 "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
	} {
		n, err := sql.ParseQuery("select count(*) from nn group by "+text, sql.Options{})
		if err == nil {
			_, err = a.Resolve(t.Context(), n)
		}
		if class == "" && err != nil || class != "" && !errclass.Has(err, class) {
			t.Errorf("%s: got %v, want %q", text, err, class)
		}
	}
}
