package bind_test

import (
	"testing"

	"github.com/millrace/millrace/internal/plan/plantest"
)

// TestCSVFunctions compares, over four rows, the text of each result, or its error, with what Spark gave.
func TestCSVFunctions(t *testing.T) {
	db := &plantest.DB{}
	if err := db.Define("t", "select * from values ('1,x', 'p'), (null, null), (' ', ''), ('z,\"a,b\"', 'c,d') t(v, s)"); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"from_csv(v, 'a INT, b STRING')", "{1, x} | None | {null, null} | {null, a,b}"},
		{"from_csv(v, 'a INT, b STRING').a", "1 | None | None | None"},
		{"from_csv('1;2', 'a INT, b INT', map('sep', ';'))", "{1, 2} | {1, 2} | {1, 2} | {1, 2}"},
		{"from_csv('1', 'a INT, b INT')", "{1, null} | {1, null} | {1, null} | {1, null}"},
		{"from_csv(v, 'int')", "INVALID_SCHEMA.NON_STRUCT_TYPE"},
		{"from_csv(v, 'a INT', map('mode', 'FAILFAST'))", "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION"},
		{"to_csv(named_struct('a', 1, 's', s))", `1,p | 1, | 1,"" | 1,"c,d"`},
		{"to_csv(s)", "DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE"},
		{"schema_of_csv('1,x,2026-01-01')", "STRUCT<_c0: INT, _c1: STRING, _c2: DATE> | STRUCT<_c0: INT, _c1: STRING, _c2: DATE> | " +
			"STRUCT<_c0: INT, _c1: STRING, _c2: DATE> | STRUCT<_c0: INT, _c1: STRING, _c2: DATE>"},
		{"schema_of_csv(v)", "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT"},
	} {
		if got := column(db, c[0]); got != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[1])
		}
	}
}
