package millrace

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// NamedArgs are the arguments for the named parameters of a SQL text: SELECT * FROM t WHERE id = :id.
type NamedArgs map[string]any

// SQL reads a statement and returns the DataFrame of its result. A query runs when the DataFrame does; any other statement (SHOW, CREATE,
// INSERT) is run at once. Arguments are values or Columns for the markers ? of the text, or one NamedArgs.
func (s *Session) SQL(ctx context.Context, query string, args ...any) (*DataFrame, error) {
	m := &connectpb.SQL{Query: query}
	var err error
	for i, a := range args {
		named, ok := a.(NamedArgs)
		switch {
		case ok && len(args) > 1:
			err = firstError(err, mistake(errclass.New("NOT_EXPECTED_TYPE",
				"argName", fmt.Sprintf("Argument %d", i), "expectedType", "a value beside other values, or the only argument", "argType", "NamedArgs")))
		case ok:
			m.NamedArguments = map[string]*connectpb.Expression{}
			for _, name := range sortedKeys(named) {
				l := Lit(named[name])
				m.NamedArguments[name], err = l.expr, firstError(err, l.use())
			}
		default:
			l := Lit(a)
			m.PosArguments, err = append(m.PosArguments, l.expr), firstError(err, l.use())
		}
	}
	if err != nil {
		return nil, err
	}
	d := newDataFrame(s, &connectpb.Relation{RelType: &connectpb.Relation_Sql{Sql: m}})
	err = s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_SqlCommand{SqlCommand: &connectpb.SqlCommand{Input: d.rel}}},
		func(r *connectpb.ExecutePlanResponse) {
			if rel := r.GetSqlCommandResult().GetRelation(); rel != nil {
				d = &DataFrame{s: s, id: rel.GetCommon().GetPlanId(), rel: rel}
			}
		})
	if err != nil {
		return nil, err
	}
	if c := d.rel.GetCommon(); c == nil || c.PlanId == nil { // rows of a statement that has run come without a number
		d = newDataFrame(s, &connectpb.Relation{RelType: d.rel.RelType})
	}
	return d, nil
}

// Table is a table or view.
func (s *Session) Table(name string) *DataFrame { return s.Read().Table(name) }

// Range has one column id with the numbers from start, below end, in steps.
func (s *Session) Range(start, end, step int64) *DataFrame {
	return newDataFrame(s, &connectpb.Relation{RelType: &connectpb.Relation_Range{Range: &connectpb.Range{Start: &start, End: end, Step: step}}})
}
