package optimize

import (
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
)

// notNull drops, before a join, rows that cannot meet its condition because a column that is compared is null. In a stream this shows:
// such rows are not stored and do not move the watermark, as in Spark.
func notNull(n plan.Node) (plan.Node, error) {
	j, ok := n.(*plan.Join)
	if !ok || j.Cond == nil {
		return n, nil
	}
	_, drops := sides(j.Kind) // where the ON clause may drop rows
	used := map[plan.ID]bool{}
	left, right := plan.OutputSet(j.Left), plan.OutputSet(j.Right)
	for _, c := range plan.Conjuncts(j.Cond) {
		if !left.Within(c) && !right.Within(c) { // conditions on one side move there as they are
			comparedColumns(c, used)
		}
	}
	out := *j
	for side, child := range []*plan.Node{&out.Left, &out.Right} {
		if !drops[side] {
			continue
		}
		var conds []plan.Expr
		for _, a := range (*child).Output() {
			if used[a.ID] && a.Null {
				c, err := isNotNull(a)
				if err != nil {
					return nil, err
				}
				conds = append(conds, c)
			}
		}
		*child = filtered(*child, conds)
	}
	if out.Left == j.Left && out.Right == j.Right {
		return n, nil
	}
	return &out, nil
}

var comparisons = map[string]bool{"==": true, "<": true, "<=": true, ">": true, ">=": true}

// nullIn are functions that are null for a null argument, through which a comparison is followed to its columns.
var nullIn = map[string]bool{"+": true, "-": true, "*": true}

// comparedColumns notes the columns that must not be null for a comparison to be true.
func comparedColumns(e plan.Expr, used map[plan.ID]bool) {
	c, ok := e.(*plan.Call)
	switch {
	case !ok || c.Fn == nil:
	case c.Fn.Name == "not": // a <> b
		comparedColumns(c.Args[0], used)
	case comparisons[c.Fn.Name]:
		for _, a := range c.Args {
			strictColumns(a, used)
		}
	}
}

func strictColumns(e plan.Expr, used map[plan.ID]bool) {
	switch e := e.(type) {
	case *plan.Attr:
		used[e.ID] = true
	case *plan.Alias:
		strictColumns(e.Child, used)
	case *plan.Cast:
		if e.Mode != plan.CastTry {
			strictColumns(e.Child, used)
		}
	case *plan.Call:
		if e.Fn != nil && nullIn[e.Fn.Name] {
			for _, a := range e.Args {
				strictColumns(a, used)
			}
		}
	}
}

func isNotNull(a *plan.Attr) (plan.Expr, error) {
	f := fn.Lookup("isnotnull")
	bound, err := f.Bind(&fn.Binding{Name: "isnotnull", Args: []fn.Arg{{Type: a.T, Nullable: a.Null, SQL: a.SQL()}}, ANSI: true})
	if err != nil {
		return nil, err
	}
	return &plan.Call{Fn: f, Bound: bound, Name: "isnotnull", Args: []plan.Expr{a}}, nil
}
