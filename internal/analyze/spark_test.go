package analyze

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// recorded is a query with the schema or the error that Spark gave for it.
type recorded struct {
	Query  string            `json:"query"`
	Schema string            `json:"schema"`
	Class  string            `json:"class"`
	Params map[string]string `json:"params"`
}

// kept are the queries that are answered otherwise than Spark does, with the class of the error given.
var kept = map[string]string{
	"select i.* from nn":                                          "CANNOT_RESOLVE_STAR_EXPAND", // a numbered condition in Spark
	"select * from a.b.c":                                         "TABLE_OR_VIEW_NOT_FOUND",    // the catalog's business
	"select * from values (1, 2) as x(a)":                         "ASSIGNMENT_ARITY_MISMATCH",
	"select * from (select k, x from u) pivot (x for k in ('a'))": "UNSUPPORTED_EXPR_FOR_OPERATOR", // a numbered condition in Spark
}

// loose are the parameters that are not compared: an order of suggestions that Spark does not keep to itself, and texts of ours.
var loose = map[string]string{
	"select * except (nope) from nn":                  "proposal",
	"select count() from nn":                          "legacyNum",
	"select * from nope":                              "searchPath",
	"select * from t where v > all (select x from u)": "error",
	"select * from t where k = any (select k from u)": "error",
	"select i in (array(1)) from nn":                  "dataType",
}

// TestSpark compares schemas and errors with what Spark 4.2 answered.
func TestSpark(t *testing.T) {
	f, err := os.Open("testdata/spark.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cat := catalog()
	cat["nn"] = scan("i INT NOT NULL, s STRING NOT NULL, ts TIMESTAMP NOT NULL, "+
		"st STRUCT<p: INT NOT NULL, q: STRUCT<r: STRING NOT NULL> NOT NULL> NOT NULL, ars ARRAY<STRUCT<e: INT NOT NULL>> NOT NULL, "+
		"dt DATE NOT NULL, dec DECIMAL(3,2) NOT NULL, b BOOLEAN NOT NULL, l BIGINT NOT NULL", false)
	ars := cat["nn"].(*plan.Scan).Out[4]
	ars.T = types.ArrayType{Element: ars.T.(types.ArrayType).Element}
	a := New(cat, Conf{ANSI: true}, source.Env{})
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		n, err := sql.ParseQuery(r.Query, sql.Options{})
		if err == nil {
			n, err = a.Resolve(t.Context(), n)
		}
		if err != nil {
			e, ok := err.(*errclass.Error)
			if !ok {
				t.Errorf("%s: %v", r.Query, err)
				continue
			}
			delete(e.Params, "docroot") // is not recorded
			if r.Class == "" {
				t.Errorf("%s:\n got %v\nwant %s", r.Query, e, r.Schema)
			} else if e.Class != r.Class && e.Class == kept[r.Query] {
				continue
			} else if e.Class != r.Class {
				t.Errorf("%s:\n got %v\nwant %s %v", r.Query, e, r.Class, r.Params)
			} else if d := cmp.Diff(anonymous(r.Params, loose[r.Query]), anonymous(e.Params, loose[r.Query])); d != "" {
				t.Errorf("%s: %s (-want +got):\n%s", r.Query, r.Class, d)
			}
			continue
		}
		if r.Class != "" {
			t.Errorf("%s: got %s, want %s %v", r.Query, schemaText(n), r.Class, r.Params)
			continue
		}
		if got := schemaText(n); got != r.Schema {
			t.Errorf("%s:\n got %s\nwant %s", r.Query, got, r.Schema)
		}
		checkIDs(t, r.Query, n)
	}
}

// anonymous gives parameters without one of them and without the numbers of columns.
func anonymous(params map[string]string, without string) map[string]string {
	out := map[string]string{}
	for k, v := range params {
		if k != without {
			out[k] = number.ReplaceAllString(v, "#")
		}
	}
	return out
}

func schemaText(n plan.Node) string {
	var parts []string
	for _, f := range plan.Schema(n).Fields {
		text := "`" + f.Name + "` " + f.Type.SimpleString()
		if !f.Nullable {
			text += " NOT NULL"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}
