package millrace

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// JoinKind says which rows a join keeps.
type JoinKind int

// The kinds of joins. Their names are those of SQL.
const (
	InnerJoin      JoinKind = JoinKind(connectpb.Join_JOIN_TYPE_INNER)
	FullOuterJoin  JoinKind = JoinKind(connectpb.Join_JOIN_TYPE_FULL_OUTER)
	LeftOuterJoin  JoinKind = JoinKind(connectpb.Join_JOIN_TYPE_LEFT_OUTER)
	RightOuterJoin JoinKind = JoinKind(connectpb.Join_JOIN_TYPE_RIGHT_OUTER)
	LeftAntiJoin   JoinKind = JoinKind(connectpb.Join_JOIN_TYPE_LEFT_ANTI)
	LeftSemiJoin   JoinKind = JoinKind(connectpb.Join_JOIN_TYPE_LEFT_SEMI)
)

// Join joins two DataFrames on a condition (a Column, or several that must all be true), or on equal columns (a name or several, kept once).
func (d *DataFrame) Join(other *DataFrame, on any, kind JoinKind) *DataFrame {
	m := &connectpb.Join{Left: d.rel, Right: other.input(), JoinType: connectpb.Join_JoinType(kind)}
	var err error
	switch on := on.(type) {
	case string:
		m.UsingColumns = []string{on}
	case []string:
		m.UsingColumns = on
	case Column:
		m.JoinCondition, err = on.expr, on.use()
	case []Column:
		if len(on) == 0 {
			err = mistake(errclass.New("CANNOT_BE_EMPTY", "item", "condition"))
			break
		}
		m.JoinCondition, err = all(on)
	default:
		err = mistake(errclass.New("NOT_COLUMN_OR_STR", "argName", "What to join on", "argType", fmt.Sprintf("%T", on)))
	}
	return d.both(other, &connectpb.Relation{RelType: &connectpb.Relation_Join{Join: m}}, err)
}

// all is the condition that several are true; nil when there are none.
func all(conditions []Column) (*connectpb.Expression, error) {
	if len(conditions) == 0 {
		return nil, nil
	}
	c := conditions[0]
	for _, more := range conditions[1:] {
		c = c.And(more)
	}
	return c.expr, c.use()
}

// CrossJoin pairs each row with each row of another DataFrame.
func (d *DataFrame) CrossJoin(other *DataFrame) *DataFrame {
	return d.both(other, &connectpb.Relation{RelType: &connectpb.Relation_Join{Join: &connectpb.Join{
		Left: d.rel, Right: other.input(), JoinType: connectpb.Join_JOIN_TYPE_CROSS,
	}}})
}

// LateralJoin joins each row with the rows of a DataFrame that is made for it: names that it does not have are those of the row. The kind
// is InnerJoin or LeftOuterJoin; without conditions all pairs are kept.
func (d *DataFrame) LateralJoin(other *DataFrame, kind JoinKind, on ...Column) *DataFrame {
	m := &connectpb.LateralJoin{Left: d.rel, Right: other.input(), JoinType: connectpb.Join_JoinType(kind)}
	var err error
	m.JoinCondition, err = all(on)
	return d.both(other, &connectpb.Relation{RelType: &connectpb.Relation_LateralJoin{LateralJoin: m}}, err)
}

// Union has the rows of both, column by column in their order.
func (d *DataFrame) Union(other *DataFrame) *DataFrame {
	return d.setOp(other, connectpb.SetOperation_SET_OP_TYPE_UNION, true)
}

// UnionByName is Union with columns matched by their names. Columns that one side lacks are null there, if allowed.
func (d *DataFrame) UnionByName(other *DataFrame, allowMissing bool) *DataFrame {
	return d.both(other, &connectpb.Relation{RelType: &connectpb.Relation_SetOp{SetOp: &connectpb.SetOperation{
		LeftInput: d.rel, RightInput: other.input(), SetOpType: connectpb.SetOperation_SET_OP_TYPE_UNION,
		IsAll: proto.Bool(true), ByName: proto.Bool(true), AllowMissingColumns: &allowMissing,
	}}})
}

// Intersect has the distinct rows that are in both.
func (d *DataFrame) Intersect(other *DataFrame) *DataFrame {
	return d.setOp(other, connectpb.SetOperation_SET_OP_TYPE_INTERSECT, false)
}

// IntersectAll is Intersect that keeps duplicates.
func (d *DataFrame) IntersectAll(other *DataFrame) *DataFrame {
	return d.setOp(other, connectpb.SetOperation_SET_OP_TYPE_INTERSECT, true)
}

// Except has the distinct rows that are not in the other DataFrame.
func (d *DataFrame) Except(other *DataFrame) *DataFrame {
	return d.setOp(other, connectpb.SetOperation_SET_OP_TYPE_EXCEPT, false)
}

// ExceptAll is Except that keeps duplicates: each row of the other DataFrame takes one away.
func (d *DataFrame) ExceptAll(other *DataFrame) *DataFrame {
	return d.setOp(other, connectpb.SetOperation_SET_OP_TYPE_EXCEPT, true)
}

func (d *DataFrame) setOp(other *DataFrame, t connectpb.SetOperation_SetOpType, all bool) *DataFrame {
	return d.both(other, &connectpb.Relation{RelType: &connectpb.Relation_SetOp{SetOp: &connectpb.SetOperation{
		LeftInput: d.rel, RightInput: other.input(), SetOpType: t, IsAll: &all,
	}}})
}

// both is the DataFrame of a relation over this one and another.
func (d *DataFrame) both(other *DataFrame, rel *connectpb.Relation, errs ...error) *DataFrame {
	if other == nil {
		return d.then(rel, append(errs, mistake(errclass.New("NOT_EXPECTED_TYPE", "argName", "The other DataFrame", "expectedType", "a DataFrame", "argType", "nil")))...)
	}
	s, ok := d.s.common(other.s)
	if ok {
		errs = append([]error{other.err}, errs...)
	} else {
		errs = append(errs, other.err, mistake(errclass.New("SESSION_NOT_SAME")))
	}
	return newDataFrame(s, rel, append([]error{d.err}, errs...)...)
}

// input is the relation of a DataFrame, nil for none.
func (d *DataFrame) input() *connectpb.Relation {
	if d == nil {
		return nil
	}
	return d.rel
}
