package session

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// columnDefault is the text of a column's default; ok is false when it has none.
func columnDefault(f types.Field) (text string, ok bool) {
	text = plan.DefaultOf(f)
	return text, text != ""
}

// withDefault is a column of a statement about a table of a format with its default, which is checked, in the metadata.
func (s *Session) withDefault(ctx context.Context, def plan.ColumnDef, statement, format string) (types.Field, error) {
	f := def.Field
	if def.Default == nil {
		return f, nil
	}
	format = strings.ToLower(orDefault(format, s.Conf.Value(setting.Source)))
	if !slices.Contains([]string{"csv", "json", "parquet"}, format) && source.Lookup(format) != nil {
		return f, errclass.New("DEFAULT_UNSUPPORTED", "statementType", statement, "dataSource", format)
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
	value := sql.FormatExpr(constantExpr(row[0], f.Type))
	return f.WithMetadata(plan.CurrentDefaultKey, def.DefaultText).WithMetadata(types.ExistsDefaultKey, value), nil
}

// defaultExpr is the default of a column, NULL when it has none.
func (s *Session) defaultExpr(f types.Field) (plan.Expr, error) {
	text, ok := columnDefault(f)
	if !ok {
		return &plan.Literal{T: types.Null}, nil
	}
	e, err := sql.ParseExpr(text, s.SQLOptions())
	if err != nil {
		return nil, err
	}
	return &plan.Cast{Child: e, To: f.Type}, nil
}

// constantExpr is an expression for a value. It need not have the value's very type.
func constantExpr(v any, t types.DataType) plan.Expr {
	text := func(s string) plan.Expr { return &plan.Literal{Value: s, T: types.String} }
	call := func(name string, args ...plan.Expr) plan.Expr { return &plan.Func{Name: []string{name}, Args: args} }
	var parts []plan.Expr
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			parts = append(parts, constantExpr(x, t.(types.ArrayType).Element))
		}
		return call("array", parts...)
	case types.MapValue:
		m := t.(types.MapType)
		for _, e := range v {
			parts = append(parts, constantExpr(e.Key, m.Key), constantExpr(e.Value, m.Value))
		}
		return call("map", parts...)
	case types.Row:
		for i, f := range t.(types.StructType).Fields {
			parts = append(parts, text(f.Name), constantExpr(v[i], f.Type))
		}
		return call("named_struct", parts...)
	case float32:
		return constantExpr(float64(v), types.Double)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return text(strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return &plan.Literal{Value: v, T: t}
}

// constantValue gives the value of a text that is a constant expression. Catalogs that were written before the texts were expressions
// have strings as they are; what else cannot be read is null, as it was with them.
func (s *Session) constantValue(ctx context.Context, text string, t types.DataType) (any, error) {
	e, err := sql.ParseExpr(text, s.SQLOptions())
	var row types.Row
	if err == nil {
		row, _, err = s.evaluate(ctx, &plan.Cast{Child: e, To: t})
	}
	switch {
	case err == nil:
		return row[0], nil
	case ctx.Err() != nil:
		return nil, err
	case types.IsString(t):
		return text, nil
	}
	return nil, nil
}
