package bind_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/bind"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/plan/plantest"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// projection resolves SELECT list FROM t (a INT, b INT, s STRING).
func projection(t *testing.T, list string) *plan.Project {
	t.Helper()
	db := &plantest.DB{}
	schema := types.Struct(types.NewField("a", types.Integer), types.NewField("b", types.Integer), types.NewField("s", types.String))
	if err := db.Add("t", schema, []types.Row{{int32(1), int32(2), "x"}}); err != nil {
		t.Fatal(err)
	}
	n, err := db.Resolve("SELECT " + list + " FROM t")
	if err != nil {
		t.Fatal(err)
	}
	return n.(*plan.Project)
}

func TestColumnsThatAreRead(t *testing.T) {
	for list, want := range map[string][]int{
		"a":                   {0},
		"b + a + b":           {0, 1},
		"if(s = 'x', b, 0)":   {1, 2},
		"1 + 2":               nil,
		"CAST(s AS INT) AS k": {2},
	} {
		p := projection(t, list)
		es, err := bind.New(p.Child.Output(), time.UTC).All(p.Cols)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, es[0].Uses); d != "" {
			t.Errorf("%s (-want +got):\n%s", list, d)
		}
		if passes := es[0].Column >= 0; passes != (list == "a") {
			t.Errorf("%s: passed on as it is: %t", list, passes)
		}
	}
}

// Of two columns with one identity the first is read: they hold the same values.
func TestSameColumnTwice(t *testing.T) {
	p := projection(t, "a")
	a := p.Child.Output()[0]
	e, err := bind.New([]*plan.Attr{p.Child.Output()[1], a, a}, time.UTC).Expr(a)
	if err != nil || e.Column != 1 {
		t.Errorf("column %d, %v", e.Column, err)
	}
}

func TestColumnThatIsNotThere(t *testing.T) {
	p := projection(t, "a + 1")
	_, err := bind.New(nil, time.UTC).All(p.Cols)
	if !errclass.Has(err, "INTERNAL_ERROR") {
		t.Errorf("got %v, want INTERNAL_ERROR", err)
	}
}

func TestConstants(t *testing.T) {
	params := &expr.BatchParams{Zone: time.UTC, Now: plantest.Now.UnixMicro()}
	v, err := bind.Value(projection(t, "CAST('2026-01-01 10:00:00' AS TIMESTAMP)").Cols[0], params)
	if err != nil {
		t.Fatal(err)
	}
	if got := vec.ValueAt(v, 0).(types.Micros).String(); got != "2026-01-01 10:00:00" {
		t.Error(got)
	}
	if _, err := bind.Value(projection(t, "1 div 0").Cols[0], params); !errclass.Has(err, "DIVIDE_BY_ZERO") {
		t.Errorf("got %v, want DIVIDE_BY_ZERO", err)
	}
}
