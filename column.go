package millrace

import (
	"fmt"
	"strings"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Column is an expression over the columns of a DataFrame. It is a value: methods return a new Column and never fail; a mistake shows
// when the Column is used.
//
// Where a method takes an operand of type any, a Column is that column and everything else is a literal, as for Lit. Package functions
// has the functions that make Columns.
type Column struct {
	expr *connectpb.Expression
	err  error
}

// ColumnOrName is what the functions of package functions take as an argument: a Column, or the name of one.
type ColumnOrName interface{ string | Column }

// Col is the column of that name. A dot reaches into a struct, back-quotes keep a dot from doing so, "*" is all columns and "t.*" all
// those of t.
func Col(name string) Column {
	if name == "*" {
		return Column{expr: star("")}
	}
	if strings.HasSuffix(name, ".*") {
		return Column{expr: star(name)}
	}
	return Column{expr: placedAt(attribute(name, nil))}
}

// Expr is the column of a SQL expression.
func Expr(sql string) Column {
	return Column{expr: placedAt(&connectpb.Expression{ExprType: &connectpb.Expression_ExpressionString_{
		ExpressionString: &connectpb.Expression_ExpressionString{Expression: sql},
	}})}
}

// Lit is a literal. Numbers, strings, booleans, []byte, time.Time (TIMESTAMP), time.Duration (INTERVAL DAY TO SECOND), the value types
// of package types, slices (ARRAY), maps (MAP) and nil are literals; a Column is returned as it is. An int is INT if it fits and BIGINT if not,
// an int64 is always BIGINT.
func Lit(v any) Column {
	if c, ok := v.(Column); ok {
		return c
	}
	e, err := literalExpr(v)
	return Column{expr: e, err: mistake(err)}
}

// Call calls a function of Spark by its name. Arguments are Columns or names of columns.
func Call(name string, args ...any) Column { return call(name, false, args) }

// CallDistinct is Call of an aggregate function that takes each value once: name(DISTINCT args).
func CallDistinct(name string, args ...any) Column { return call(name, true, args) }

func call(name string, distinct bool, args []any) Column {
	cols := columns(args)
	exprs, err := expressions(cols)
	return Column{expr: placedAt(function(name, distinct, exprs...)), err: err}
}

// use returns what is wrong with a Column that is put into a plan.
func (c Column) use() error {
	if c.err == nil && c.expr == nil {
		return mistake(errclass.New("UNUSABLE_COLUMN", "what", "A zero Column was used; make Columns with Col, Lit or a function."))
	}
	return c.err
}

// String prints the Column roughly as SQL.
func (c Column) String() string {
	if c.err != nil {
		return "Column(" + c.err.Error() + ")"
	}
	return "Column(" + text(c.expr) + ")"
}

// columns turns arguments that are Columns, names, or slices of those into Columns.
func columns(args []any) []Column {
	out := make([]Column, 0, len(args))
	for _, a := range args {
		switch a := a.(type) {
		case Column:
			out = append(out, a)
		case string:
			out = append(out, Col(a))
		case []Column:
			out = append(out, a...)
		case []string:
			for _, name := range a {
				out = append(out, Col(name))
			}
		default:
			out = append(out, Column{err: mistake(errclass.New("NOT_COLUMN_OR_STR", "argName", "The argument", "argType", fmt.Sprintf("%T", a)))})
		}
	}
	return out
}

// expressions collects the messages of Columns, and the first mistake.
func expressions(cols []Column) ([]*connectpb.Expression, error) {
	out := make([]*connectpb.Expression, len(cols))
	var err error
	for i, c := range cols {
		out[i] = c.expr
		err = firstError(err, c.use())
	}
	return out, err
}

func attribute(name string, planID *int64) *connectpb.Expression {
	return &connectpb.Expression{ExprType: &connectpb.Expression_UnresolvedAttribute_{
		UnresolvedAttribute: &connectpb.Expression_UnresolvedAttribute{UnparsedIdentifier: name, PlanId: planID},
	}}
}

func star(target string) *connectpb.Expression {
	s := &connectpb.Expression_UnresolvedStar{}
	if target != "" {
		s.UnparsedTarget = &target
	}
	return &connectpb.Expression{ExprType: &connectpb.Expression_UnresolvedStar_{UnresolvedStar: s}}
}

func function(name string, distinct bool, args ...*connectpb.Expression) *connectpb.Expression {
	return &connectpb.Expression{ExprType: &connectpb.Expression_UnresolvedFunction_{
		UnresolvedFunction: &connectpb.Expression_UnresolvedFunction{FunctionName: name, Arguments: args, IsDistinct: distinct},
	}}
}
