package millrace

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/millrace/millrace/internal/connectpb"
)

// Scalar is the only value of the DataFrame, for use in another one. It has one column and at most one row; without a row the value is null.
// Names that the DataFrame does not have are those of the other one.
func (d *DataFrame) Scalar() Column {
	return d.subquery(&connectpb.SubqueryExpression{SubqueryType: connectpb.SubqueryExpression_SUBQUERY_TYPE_SCALAR})
}

// Exists tells whether the DataFrame has a row, for use in another one. Names that the DataFrame does not have are those of the other one.
func (d *DataFrame) Exists() Column {
	return d.subquery(&connectpb.SubqueryExpression{SubqueryType: connectpb.SubqueryExpression_SUBQUERY_TYPE_EXISTS})
}

// InRows tells whether the values of columns are a row of a DataFrame.
func (d *DataFrame) InRows(cols ...any) Column {
	exprs, err := expressions(columns(cols))
	c := d.subquery(&connectpb.SubqueryExpression{SubqueryType: connectpb.SubqueryExpression_SUBQUERY_TYPE_IN, InSubqueryValues: exprs})
	c.err = firstError(c.err, err)
	return c
}

func (d *DataFrame) subquery(m *connectpb.SubqueryExpression) Column {
	m.PlanId = d.rel.GetCommon().GetPlanId() // of what is around it, when it has subqueries itself
	d.s.origin().subqueries.Store(m.PlanId, d.rel)
	return Column{expr: placedAt(&connectpb.Expression{ExprType: &connectpb.Expression_SubqueryExpression{SubqueryExpression: m}}), err: d.err}
}

// withSubqueries puts the relations that a relation's own expressions refer to around it.
func (s *Session) withSubqueries(rel *connectpb.Relation) *connectpb.Relation {
	some := false
	s.origin().subqueries.Range(func(any, any) bool { some = true; return false })
	if !some || rel.GetRelType() == nil {
		return rel
	}
	var refs []*connectpb.Relation
	seen := map[int64]bool{}
	eachSubquery(rel.ProtoReflect(), true, func(m *connectpb.SubqueryExpression) {
		if r, ok := s.origin().subqueries.Load(m.GetPlanId()); ok && !seen[m.GetPlanId()] {
			seen[m.GetPlanId()] = true
			refs = append(refs, r.(*connectpb.Relation))
		}
	})
	if refs == nil {
		return rel
	}
	return &connectpb.Relation{
		Common:  &connectpb.RelationCommon{PlanId: proto.Int64(s.nextPlanID())},
		RelType: &connectpb.Relation_WithRelations{WithRelations: &connectpb.WithRelations{Root: rel, References: refs}},
	}
}

// eachSubquery goes through the subqueries in a message. Relations within it have been looked after when they were made.
func eachSubquery(m protoreflect.Message, top bool, f func(*connectpb.SubqueryExpression)) {
	switch v := m.Interface().(type) {
	case *connectpb.Relation:
		if !top {
			return
		}
	case *connectpb.SubqueryExpression:
		f(v)
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil || fd.IsMap():
		case fd.IsList():
			for i := range v.List().Len() {
				eachSubquery(v.List().Get(i).Message(), false, f)
			}
		default:
			eachSubquery(v.Message(), false, f)
		}
		return true
	})
}
