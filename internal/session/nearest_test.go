package session_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

const (
	leftRows  = "SELECT * FROM VALUES (1,'a'),(5,'b'),(10,'c'),(NULL,'d'),(4,'a') AS l(x, k)"
	rightRows = "SELECT * FROM VALUES (1,1,'a'),(2,2,'a'),(3,3,'b'),(6,6,'a'),(7,7,'c'),(NULL,9,'b'),(6,66,'b') AS r(y, v, k2)"
)

func col(name string) plan.Expr { return &plan.Column{Parts: []string{name}, PlanID: -1} }

// nearest gives the keys of both sides' rows, or the condition of the error.
func (s *shell) nearest(j *plan.NearestJoin) (pairs []string, condition string) {
	s.t.Helper()
	for text, to := range map[string]*plan.Node{leftRows: &j.Left, rightRows: &j.Right} {
		r, err := s.SQL(context.Background(), text, nil, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		*to = r.Plan
	}
	rows, _, err := s.Rows(context.Background(), j)
	if err != nil {
		return nil, errclass.Internal(err).Class
	}
	for _, r := range rows {
		pairs = append(pairs, fmt.Sprintf("%v %v - %v", r[0], r[1], r[3]))
	}
	return pairs, ""
}

// An as-of join takes the nearest right row in its direction, the last one of equally near ones. The pairs are those of Apache Spark 4.2.0.
func TestAsOfJoins(t *testing.T) {
	s := newShell(t)
	two := &plan.Literal{Value: int32(2), T: types.Integer}
	on := &plan.Func{Name: []string{"=="}, Args: []plan.Expr{col("k"), col("k2")}}
	for _, c := range []struct {
		outer bool
		a     plan.AsOf
		want  []string
	}{
		{false, plan.AsOf{}, []string{"1 a - 1", "5 b - 3", "10 c - 7", "4 a - 3"}},
		{true, plan.AsOf{}, []string{"1 a - 1", "5 b - 3", "10 c - 7", "<nil> d - <nil>", "4 a - 3"}},
		{false, plan.AsOf{Strict: true}, []string{"5 b - 3", "10 c - 7", "4 a - 3"}},
		{false, plan.AsOf{On: on}, []string{"1 a - 1", "5 b - 3", "10 c - 7", "4 a - 2"}},
		{false, plan.AsOf{Tolerance: two}, []string{"1 a - 1", "5 b - 3", "4 a - 3"}},
		{true, plan.AsOf{Tolerance: two, Strict: true}, []string{"1 a - <nil>", "5 b - <nil>", "10 c - <nil>", "<nil> d - <nil>", "4 a - 3"}},
		{false, plan.AsOf{Direction: plan.Forward}, []string{"1 a - 1", "5 b - 66", "4 a - 66"}},
		{false, plan.AsOf{Direction: plan.Forward, On: on}, []string{"1 a - 1", "5 b - 66", "4 a - 6"}},
		{false, plan.AsOf{Direction: plan.Forward, Strict: true, Tolerance: two}, []string{"1 a - 2", "5 b - 66"}},
		{false, plan.AsOf{Direction: plan.Nearest}, []string{"1 a - 1", "5 b - 66", "10 c - 7", "4 a - 3"}},
		{false, plan.AsOf{Direction: plan.Nearest, Strict: true, On: on}, []string{"1 a - 2", "5 b - 66", "10 c - 7", "4 a - 6"}},
	} {
		a := c.a
		a.Left, a.Right = col("x"), col("y")
		got, condition := s.nearest(&plan.NearestJoin{Outer: c.outer, N: 1, AsOf: &a})
		if d := cmp.Diff(c.want, got); d != "" || condition != "" {
			t.Errorf("outer %t, %+v: %s (-want +got)\n%s", c.outer, c.a, condition, d)
		}
	}
	for want, tolerance := range map[string]plan.Expr{
		"AS_OF_JOIN.TOLERANCE_IS_NON_NEGATIVE": &plan.Literal{Value: int32(-1), T: types.Integer},
		"AS_OF_JOIN.TOLERANCE_IS_UNFOLDABLE":   col("x"),
	} {
		if _, got := s.nearest(&plan.NearestJoin{N: 1, AsOf: &plan.AsOf{Left: col("x"), Right: col("y"), Tolerance: tolerance}}); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

// A nearest-by join gives up to N rows each, the best first; null ranks do not count.
func TestNearestByJoins(t *testing.T) {
	s := newShell(t)
	distance := &plan.Func{Name: []string{"abs"}, Args: []plan.Expr{&plan.Func{Name: []string{"-"}, Args: []plan.Expr{col("x"), col("y")}}}}
	for _, c := range []struct {
		n           int
		outer, desc bool
		rank        plan.Expr
		want        []string
	}{
		{1, false, false, distance, []string{"1 a - 1", "5 b - 6", "10 c - 7", "4 a - 3"}},
		{2, true, false, distance, []string{"1 a - 1", "1 a - 2", "5 b - 6", "5 b - 66", "10 c - 7", "10 c - 6", "<nil> d - <nil>", "4 a - 3", "4 a - 2"}},
		{1, false, true, distance, []string{"1 a - 7", "5 b - 1", "10 c - 1", "4 a - 1"}},
		{2, false, true, col("v"), []string{"1 a - 66", "1 a - 9", "5 b - 66", "5 b - 9", "10 c - 66", "10 c - 9", "<nil> d - 66", "<nil> d - 9", "4 a - 66", "4 a - 9"}},
	} {
		got, condition := s.nearest(&plan.NearestJoin{N: c.n, Outer: c.outer, Desc: c.desc, Rank: c.rank})
		if d := cmp.Diff(c.want, got); d != "" || condition != "" {
			t.Errorf("%d by %s: %s (-want +got)\n%s", c.n, c.rank.SQL(), condition, d)
		}
	}
	if _, got := s.nearest(&plan.NearestJoin{N: 1, Rank: &plan.Func{Name: []string{"map"}, Args: []plan.Expr{col("x"), col("y")}}}); got != "NEAREST_BY_JOIN.NON_ORDERABLE_RANKING_EXPRESSION" {
		t.Error(got)
	}
}
