package analyze

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// outerRefs puts references in the place of the outer query's columns in an expression of a subquery.
func (r *resolver) outerRefs(e plan.Expr) (plan.Expr, error) {
	return plan.TransformExprUp(e, func(e plan.Expr) (plan.Expr, error) {
		ref := &plan.OuterRef{}
		switch e := e.(type) {
		case *plan.Attr:
			ref.Name, ref.T, ref.Null = e.Name, e.T, e.Null
		case *plan.OuterRef: // one of the query around the outer one
			if r.sameLevel {
				return e, nil
			}
			*ref = *e
		default:
			return e, nil
		}
		ref.Index = indexOf(*r.used, e)
		if ref.Index < 0 {
			ref.Index = len(*r.used)
			*r.used = append(*r.used, e)
		}
		return ref, nil
	})
}

// subquery resolves a query inside an expression. It sees the columns around it.
func (sc *scope) subquery(s *plan.Subquery) (plan.Expr, error) {
	values, err := sc.operands(s.Values)
	if err != nil {
		return nil, err
	}
	inner := *sc.r
	inner.outer, inner.used, inner.sameLevel = sc, new([]plan.Expr), false
	child, err := inner.node(s.Plan)
	if err != nil {
		return nil, err
	}
	if child.Streaming() {
		return nil, errclass.New("INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY")
	}
	out := &plan.Subquery{Kind: s.Kind, Plan: child, Values: values, Outer: *inner.used, Origin: s.Origin}
	cols := visible(child.Output())
	switch s.Kind {
	case plan.SubqueryScalar:
		if len(cols) != 1 {
			return nil, at(errclass.New("INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN", "number", strconv.Itoa(len(cols))), s.Origin)
		}
	case plan.SubqueryIn:
		if err := sc.inSubquery(out, cols); err != nil {
			return nil, at(err, s.Origin)
		}
	}
	return out, nil
}

// inSubquery makes the types of both sides of IN the same.
func (sc *scope) inSubquery(s *plan.Subquery, cols []*plan.Attr) error {
	quoted := func(es []plan.Expr) string {
		parts := make([]string, len(es))
		for i, e := range es {
			parts[i] = errclass.Expr(e.SQL())
		}
		return strings.Join(parts, ", ")
	}
	if len(cols) != len(s.Values) {
		return errclass.New("DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH", "sqlExpr", errclass.Expr(s.SQL()), "leftLength", strconv.Itoa(len(s.Values)),
			"leftColumns", quoted(s.Values), "rightLength", strconv.Itoa(len(cols)), "rightColumns", quoted(exprsOf(cols)))
	}
	if err := collated("", append(exprsOf(cols), s.Values...), true); err != nil {
		return err
	}
	want := make([]types.DataType, len(cols))
	for i, a := range cols {
		t, ok := sc.r.common([]types.DataType{plan.TypeOf(s.Values[i]), a.T})
		if left := plan.TypeOf(s.Values[i]); !ok && types.SameShape(left, a.T) { // the fields of structs may have other names
			t, ok = left, true
		}
		if !ok {
			return errclass.New("DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH", "sqlExpr", errclass.Expr(s.SQL()),
				"mismatchedColumns", "("+sqlText(s.Values[i])+":"+plan.TypeOf(s.Values[i]).SimpleString()+", "+sqlText(a)+":"+a.T.SimpleString()+")", "leftType", errclass.Expr(plan.TypeOf(s.Values[i]).SQL()), "rightType", errclass.Expr(a.T.SQL()))
		}
		want[i] = t
	}
	s.Values = sc.r.toAll(s.Values, want)
	s.Plan = sc.r.castTo(s.Plan, cols, want, types.SameShape, s.Origin)
	return nil
}
