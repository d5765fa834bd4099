package optimize_test

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/plan/plantest"
)

// A hundred cases are few for plans with joins, and cheap.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "1000"); err != nil {
		panic(err)
	}
	flag.Parse()
	m.Run()
}

// Each file of testdata is a script. "table name" makes a table of a query's rows; "optimize" shows a query's plan after all
// rules, "analyzed" before them; with the argument rows it also shows what comes out, which both plans must agree about.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		db := &plantest.DB{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "table":
				if err := db.Define(d.CmdArgs[0].Key, d.Input); err != nil {
					t.Fatal(err)
				}
				return ""
			case "optimize", "analyzed":
				return planText(t, db, d)
			}
			t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
			return ""
		})
	})
}

func planText(t *testing.T, db *plantest.DB, d *datadriven.TestData) string {
	db.Legacy = d.HasArg("legacy")
	n, err := db.Resolve(d.Input)
	if err != nil {
		return err.Error() + "\n"
	}
	if d.Cmd == "analyzed" {
		return plantest.Text(n)
	}
	o, err := optimize.Plan(n, optimize.Options{Zone: time.UTC})
	if err != nil {
		return err.Error() + "\n"
	}
	text := plantest.Text(o)
	if !d.HasArg("rows") {
		return text
	}
	want, err := rows(n)
	if err != nil {
		t.Fatalf("%s: without the optimiser: %v", d.Pos, err)
	}
	got, err := rows(o)
	if err != nil {
		t.Fatalf("%s: optimised: %v", d.Pos, err)
	}
	if want != got {
		t.Fatalf("%s: optimised plan gives\n%swithout the optimiser\n%s", d.Pos, got, want)
	}
	return text + got
}

func rows(n plan.Node) (string, error) {
	rs, err := plantest.Run(n, 1)
	if err != nil {
		return "", err
	}
	if len(rs) == 0 {
		return "no rows\n", nil
	}
	lines := strings.Split(strings.TrimSpace(plantest.Format(rs)), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n", nil
}
