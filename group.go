package millrace

import (
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// GroupedData is a DataFrame whose rows are put into groups, to be aggregated.
type GroupedData struct {
	d     *DataFrame
	kind  connectpb.Aggregate_GroupType
	cols  []*connectpb.Expression
	pivot *connectpb.Aggregate_Pivot
	sets  []*connectpb.Aggregate_GroupingSets
	err   error
}

// GroupBy puts rows that are equal in some columns into a group; without columns all rows are one.
func (d *DataFrame) GroupBy(cols ...any) *GroupedData {
	return d.group(connectpb.Aggregate_GROUP_TYPE_GROUPBY, cols)
}

// Rollup groups by all of the columns, by all but the last, and so on down to all rows.
func (d *DataFrame) Rollup(cols ...any) *GroupedData {
	return d.group(connectpb.Aggregate_GROUP_TYPE_ROLLUP, cols)
}

// Cube groups by every choice of the columns.
func (d *DataFrame) Cube(cols ...any) *GroupedData {
	return d.group(connectpb.Aggregate_GROUP_TYPE_CUBE, cols)
}

// GroupingSets groups once by each of some sets of columns, all of which are among cols.
func (d *DataFrame) GroupingSets(sets [][]any, cols ...any) *GroupedData {
	g := d.group(connectpb.Aggregate_GROUP_TYPE_GROUPING_SETS, cols)
	for _, set := range sets {
		exprs, err := expressions(columns(set))
		g.err = firstError(g.err, err)
		g.sets = append(g.sets, &connectpb.Aggregate_GroupingSets{GroupingSet: exprs})
	}
	return g
}

func (d *DataFrame) group(kind connectpb.Aggregate_GroupType, cols []any) *GroupedData {
	exprs, err := expressions(columns(cols))
	return &GroupedData{d: d, kind: kind, cols: exprs, err: err}
}

// Agg aggregates all rows.
func (d *DataFrame) Agg(aggregates ...Column) *DataFrame { return d.GroupBy().Agg(aggregates...) }

// Agg computes aggregates for each group. The columns of the result are those of the grouping and the aggregates.
func (g *GroupedData) Agg(aggregates ...Column) *DataFrame {
	exprs, err := expressions(aggregates)
	if len(exprs) == 0 {
		err = mistake(errclass.New("CANNOT_BE_EMPTY", "item", "aggregate"))
	}
	return g.d.then(&connectpb.Relation{RelType: &connectpb.Relation_Aggregate{Aggregate: &connectpb.Aggregate{
		Input: g.d.rel, GroupType: g.kind, GroupingExpressions: g.cols, AggregateExpressions: exprs, Pivot: g.pivot, GroupingSets: g.sets,
	}}}, g.err, err)
}

// Count counts the rows of each group, as the column count.
func (g *GroupedData) Count() *DataFrame { return g.Agg(Call("count", Lit(1)).As("count")) }

// Sum adds up columns in each group.
func (g *GroupedData) Sum(cols ...string) *DataFrame { return g.each("sum", cols) }

// Avg computes the mean of columns in each group.
func (g *GroupedData) Avg(cols ...string) *DataFrame { return g.each("avg", cols) }

// Mean is Avg.
func (g *GroupedData) Mean(cols ...string) *DataFrame { return g.Avg(cols...) }

// Min finds the smallest value of columns in each group.
func (g *GroupedData) Min(cols ...string) *DataFrame { return g.each("min", cols) }

// Max finds the largest value of columns in each group.
func (g *GroupedData) Max(cols ...string) *DataFrame { return g.each("max", cols) }

func (g *GroupedData) each(function string, cols []string) *DataFrame {
	aggregates := make([]Column, len(cols))
	for i, c := range cols {
		aggregates[i] = Call(function, c)
	}
	return g.Agg(aggregates...)
}

// Pivot turns the values of a column into columns of the result. Without values the engine looks for them first.
func (g *GroupedData) Pivot(col any, values ...any) *GroupedData {
	exprs, err := expressions(columns([]any{col}))
	p := *g
	p.err = firstError(g.err, err)
	p.kind, p.pivot = connectpb.Aggregate_GROUP_TYPE_PIVOT, &connectpb.Aggregate_Pivot{}
	if len(exprs) == 1 {
		p.pivot.Col = exprs[0]
	}
	for _, v := range values {
		l := Lit(v)
		p.err = firstError(p.err, l.use())
		p.pivot.Values = append(p.pivot.Values, l.expr.GetLiteral())
	}
	return &p
}
