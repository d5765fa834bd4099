package session

import (
	"context"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/types"
)

// existsDefault is the metadata key of the value of rows that were written before a column with a default was there.
const existsDefault = "EXISTS_DEFAULT"

// columnDefault is the text of a column's default; ok is false when it has none.
func columnDefault(f types.Field) (text string, ok bool) {
	text = plan.DefaultOf(f)
	return text, text != ""
}

// withDefault is a column of a statement with its default, which is checked, in the metadata.
func (s *Session) withDefault(ctx context.Context, def plan.ColumnDef, statement string) (types.Field, error) {
	f := def.Field
	if def.Default == nil {
		return f, nil
	}
	about := []string{"statement", statement, "colName", errclass.Ident(f.Name), "defaultValue", def.DefaultText}
	if plan.Exists(def.Default, func(e plan.Expr) bool { _, ok := e.(*plan.Subquery); return ok }) {
		return f, errclass.New("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION", about...)
	}
	over := &plan.Project{Cols: []plan.Expr{&plan.Alias{Child: def.Default, Name: "value"}}, Child: &plan.OneRow{}}
	n, err := s.Analyze(ctx, over)
	if errclass.Has(err, "UNRESOLVED_COLUMN") {
		return f, errclass.New("INVALID_DEFAULT_VALUE.NOT_CONSTANT", about...)
	}
	if err != nil {
		return f, errclass.New("INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION", about...).WithCause(err)
	}
	have := plan.Schema(n).Fields[0].Type
	wrongType := errclass.New("INVALID_DEFAULT_VALUE.DATA_TYPE", append(about, "expectedType", errclass.Expr(f.Type.SQL()), "actualType", errclass.Expr(have.SQL()))...)
	p, _ := n.(*plan.Project)
	random := p != nil && plan.Exists(p.Cols[0], analyze.IsRandom)
	wide := types.SameShape(have, f.Type) || have == types.Null || widens(have, f.Type) || types.IsString(have) && types.IsDatetime(f.Type)
	switch {
	case !wide && (random || !storable(have, f.Type)):
		return f, wrongType
	case random:
		return f, errclass.New("INVALID_DEFAULT_VALUE.NON_DETERMINISTIC", about...)
	}
	row, _, err := s.evaluate(ctx, &plan.Cast{Child: def.Default, To: f.Type})
	if err != nil {
		return f, wrongType.WithCause(err)
	}
	value := &plan.Literal{Value: row[0], T: f.Type}
	return f.WithMetadata(plan.CurrentDefaultKey, def.DefaultText).WithMetadata(existsDefault, value.SQL()), nil
}

// defaultExpr is the default of a column, NULL when it has none.
func (s *Session) defaultExpr(f types.Field) (plan.Expr, error) {
	text, ok := columnDefault(f)
	if !ok {
		return &plan.Literal{T: types.Null}, nil
	}
	return sql.ParseExpr(text, s.SQLOptions())
}
