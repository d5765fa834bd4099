package convert

import (
	"strconv"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func (c *Converter) aggregate(m *connectpb.Aggregate) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Aggregate")
	if err != nil {
		return nil, err
	}
	a := &plan.Aggregate{Child: in, KeysInOutput: true}
	if a.Keys, err = c.exprs(m.GetGroupingExpressions()); err != nil {
		return nil, err
	}
	if a.Aggs, err = c.exprs(m.GetAggregateExpressions()); err != nil {
		return nil, err
	}
	switch m.GetGroupType() {
	case connectpb.Aggregate_GROUP_TYPE_GROUPBY:
	case connectpb.Aggregate_GROUP_TYPE_ROLLUP:
		a.Kind = plan.GroupRollup
	case connectpb.Aggregate_GROUP_TYPE_CUBE:
		a.Kind = plan.GroupCube
	case connectpb.Aggregate_GROUP_TYPE_GROUPING_SETS:
		a.Kind = plan.GroupSets
		for _, s := range m.GetGroupingSets() {
			set, err := c.exprs(s.GetGroupingSet())
			if err != nil {
				return nil, err
			}
			a.Sets = append(a.Sets, set)
		}
	case connectpb.Aggregate_GROUP_TYPE_PIVOT:
		if err := c.pivot(a, m.GetPivot()); err != nil {
			return nil, err
		}
	default:
		return nil, invalidEnum(m.GetGroupType())
	}
	return a, nil
}

// maxPivotValues is how many columns a pivot whose values were not given may have, as in Spark.
const maxPivotValues = 10000

func (c *Converter) pivot(a *plan.Aggregate, m *connectpb.Aggregate_Pivot) error {
	if m == nil {
		return fieldNotSet("spark.connect.Aggregate", "pivot")
	}
	a.Kind = plan.GroupPivot
	var err error
	if a.PivotCol, err = c.Expr(m.GetCol()); err != nil {
		return err
	}
	for _, v := range m.GetValues() {
		l, err := Literal(v)
		if err != nil {
			return err
		}
		a.PivotValues = append(a.PivotValues, l)
	}
	if len(m.GetValues()) > 0 {
		return nil
	}
	in, err := c.s.Analyze(c.ctx, a.Child)
	if err != nil {
		return err
	}
	if in.Streaming() {
		return errclass.New("UNSUPPORTED_STREAMING_OPERATION.PIVOT")
	}
	// The values are looked for in the data, in order.
	values := plan.Node(&plan.Distinct{Child: &plan.Project{Cols: []plan.Expr{&plan.Alias{Child: a.PivotCol, Name: "value"}}, Child: a.Child}})
	values = &plan.Sort{
		Orders: []*plan.SortOrder{{Child: column("value"), NullsFirst: true}}, Global: true,
		Child: &plan.Limit{N: intLiteral(maxPivotValues + 1), Child: values},
	}
	rows, st, err := c.s.Rows(c.ctx, values)
	if err != nil {
		return err
	}
	if len(rows) > maxPivotValues {
		return errclass.New("PIVOT_TOO_MANY_VALUES", "limit", strconv.Itoa(maxPivotValues))
	}
	for _, r := range rows {
		a.PivotValues = append(a.PivotValues, &plan.Literal{Value: r[0], T: st.Fields[0].Type})
	}
	return nil
}

// unpivot turns columns into rows: an expansion over one projection for each column of values.
func (c *Converter) unpivot(m *connectpb.Unpivot) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Unpivot")
	if err != nil {
		return nil, err
	}
	ids, err := c.exprs(m.GetIds())
	if err != nil {
		return nil, err
	}
	st, err := c.s.Schema(c.ctx, in)
	if err != nil {
		return nil, err
	}
	var values []plan.Expr
	if m.GetValues() != nil {
		if values, err = c.exprs(m.GetValues().GetValues()); err != nil {
			return nil, err
		}
	} else {
		taken := map[string]bool{}
		for _, id := range ids {
			if col, ok := id.(*plan.Column); ok {
				taken[col.Parts[len(col.Parts)-1]] = true
			}
		}
		for _, f := range st.Fields {
			if !taken[f.Name] {
				values = append(values, column(f.Name))
			}
		}
	}
	if len(values) == 0 {
		return nil, errclass.New("UNPIVOT_REQUIRES_VALUE_COLUMNS")
	}
	u := &plan.Union{}
	for _, v := range values {
		name := plan.Trim(v).SQL()
		if col, ok := v.(*plan.Column); ok {
			name = col.Parts[len(col.Parts)-1]
		}
		if al, ok := v.(*plan.Alias); ok {
			name, v = al.Name, al.Child
		}
		cols := append([]plan.Expr{}, ids...)
		cols = append(cols,
			&plan.Alias{Child: &plan.Literal{Value: name, T: types.String}, Name: m.GetVariableColumnName()},
			&plan.Alias{Child: v, Name: m.GetValueColumnName()})
		u.Inputs = append(u.Inputs, &plan.Project{Cols: cols, Child: in})
	}
	return u, nil
}
