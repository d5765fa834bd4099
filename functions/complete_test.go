package functions_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine"
)

// otherwise is what the engine's functions are written as when they are not in the package under a name of their own.
var otherwise = map[string]string{
	"operators of Column":              "! != % & * + - / < <= <=> <> = == > >= ^ | || and or not in between case when if",
	"Column.Cast":                      "cast bigint binary boolean date decimal double float int smallint string timestamp tinyint variant",
	"Session.TableFunction":            "range collations sql_keywords",
	"other names of what is there":     "<< >> >>> any create_map date_diff dateadd datepart getitem len mid mod time_window",
	"written with WITHIN GROUP in SQL": "percentile_cont percentile_disc",
	"always refused by the engine":     "java_method reflect try_reflect",
}

// Every function of the engine can be called from Go by a name of its own, or it is said how else.
func TestComplete(t *testing.T) {
	spark, err := millrace.Connect(t.Context(), "local[1]", millrace.WithConf("spark.sql.warehouse.dir", t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer spark.Close()
	d, err := spark.SQL(t.Context(), "SHOW SYSTEM FUNCTIONS")
	if err != nil {
		t.Fatal(err)
	}
	names, err := millrace.CollectAs[string](t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	for _, list := range otherwise {
		for _, n := range strings.Fields(list) {
			written[n] = true
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?:Call|CallDistinct|shifted|schemaOf)\("([^"]+)"`)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			written[m[1]] = true
		}
	}
	for _, n := range names {
		if !written[n] {
			t.Errorf("%s is not in the package", n)
		}
	}
}
