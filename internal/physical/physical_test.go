package physical_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan/plantest"
)

// Each file of testdata/plans is a script. "table name" makes a table of a query's rows; "plan" shows the operators of a query, "rows"
// what it gives, in order.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		db := &plantest.DB{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "table" {
				if err := db.Define(d.CmdArgs[0].Key, d.Input); err != nil {
					t.Fatal(err)
				}
				return ""
			}
			db.Legacy = d.HasArg("legacy")
			out, err := run(db, d)
			if err != nil {
				return err.Error() + "\n"
			}
			return out
		})
	})
}

func run(db *plantest.DB, d *datadriven.TestData) (string, error) {
	n, err := db.Resolve(d.Input)
	if err != nil {
		return "", err
	}
	if n, err = optimize.Plan(n, optimize.Options{Zone: time.UTC}); err != nil {
		return "", err
	}
	if d.Cmd == "plan" {
		op, err := (&physical.Planner{Zone: time.UTC, Now: plantest.Now.UnixMicro()}).Plan(n)
		if err != nil {
			return "", err
		}
		return tree(op, ""), nil
	}
	rows, err := plantest.Run(n, 2)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "no rows\n", nil
	}
	return plantest.Format(rows), nil
}

func tree(op exec.Op, indent string) string {
	var b strings.Builder
	b.WriteString(indent + op.Label() + "\n")
	for _, in := range op.Inputs() {
		b.WriteString(tree(in, indent+"  "))
	}
	return b.String()
}
