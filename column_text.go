package millrace

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// infix are the functions that are printed between their operands.
var infix = map[string]string{
	"+": "+", "-": "-", "*": "*", "/": "/", "%": "%", "&": "&", "|": "|", "^": "^",
	"==": "=", "<=>": "<=>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "and": "AND", "or": "OR", "like": "LIKE",
}

// text prints an expression for people. It is no SQL to be read back.
func text(e *connectpb.Expression) string {
	switch k := e.GetExprType().(type) {
	case *connectpb.Expression_Literal_:
		return literalText(k.Literal)
	case *connectpb.Expression_UnresolvedAttribute_:
		return k.UnresolvedAttribute.GetUnparsedIdentifier()
	case *connectpb.Expression_UnresolvedStar_:
		if t := k.UnresolvedStar.GetUnparsedTarget(); t != "" {
			return t
		}
		return "*"
	case *connectpb.Expression_ExpressionString_:
		return k.ExpressionString.GetExpression()
	case *connectpb.Expression_UnresolvedFunction_:
		return callText(k.UnresolvedFunction)
	case *connectpb.Expression_CommonInlineUserDefinedFunction:
		f := k.CommonInlineUserDefinedFunction
		name := "udf"
		if u := called.find(f.GetFunctionName()); u != nil {
			name = u.name
		}
		return callText(&connectpb.Expression_UnresolvedFunction{FunctionName: name, Arguments: f.GetArguments(), IsDistinct: f.GetIsDistinct()})
	case *connectpb.Expression_Alias_:
		return text(k.Alias.GetExpr()) + " AS " + strings.Join(k.Alias.GetName(), ", ")
	case *connectpb.Expression_Cast_:
		return "CAST(" + text(k.Cast.GetExpr()) + " AS " + k.Cast.GetTypeStr() + ")"
	case *connectpb.Expression_SortOrder_:
		direction, nulls := " ASC", " NULLS FIRST"
		if k.SortOrder.GetDirection() == connectpb.Expression_SortOrder_SORT_DIRECTION_DESCENDING {
			direction = " DESC"
		}
		if k.SortOrder.GetNullOrdering() == connectpb.Expression_SortOrder_SORT_NULLS_LAST {
			nulls = " NULLS LAST"
		}
		return text(k.SortOrder.GetChild()) + direction + nulls
	case *connectpb.Expression_UnresolvedExtractValue_:
		return text(k.UnresolvedExtractValue.GetChild()) + "[" + text(k.UnresolvedExtractValue.GetExtraction()) + "]"
	case *connectpb.Expression_UnresolvedNamedLambdaVariable_:
		return strings.Join(k.UnresolvedNamedLambdaVariable.GetNameParts(), ".")
	case *connectpb.Expression_LambdaFunction_:
		args := make([]string, len(k.LambdaFunction.GetArguments()))
		for i, a := range k.LambdaFunction.GetArguments() {
			args[i] = strings.Join(a.GetNameParts(), ".")
		}
		return "(" + strings.Join(args, ", ") + ") -> " + text(k.LambdaFunction.GetFunction())
	case *connectpb.Expression_Window_:
		return text(k.Window.GetWindowFunction()) + " OVER (...)"
	case *connectpb.Expression_UpdateFields_:
		return text(k.UpdateFields.GetStructExpression()) + " WITH " + k.UpdateFields.GetFieldName()
	}
	return "?"
}

func callText(f *connectpb.Expression_UnresolvedFunction) string {
	args := make([]string, len(f.GetArguments()))
	for i, a := range f.GetArguments() {
		args[i] = text(a)
	}
	if op, ok := infix[f.GetFunctionName()]; ok && len(args) == 2 {
		return "(" + args[0] + " " + op + " " + args[1] + ")"
	}
	distinct := ""
	if f.GetIsDistinct() {
		distinct = "DISTINCT "
	}
	return f.GetFunctionName() + "(" + distinct + strings.Join(args, ", ") + ")"
}

func literalText(l *connectpb.Expression_Literal) string {
	switch k := l.GetLiteralType().(type) {
	case *connectpb.Expression_Literal_Null:
		return "NULL"
	case *connectpb.Expression_Literal_Boolean:
		return fmt.Sprint(k.Boolean)
	case *connectpb.Expression_Literal_Byte:
		return fmt.Sprint(k.Byte)
	case *connectpb.Expression_Literal_Short:
		return fmt.Sprint(k.Short)
	case *connectpb.Expression_Literal_Integer:
		return fmt.Sprint(k.Integer)
	case *connectpb.Expression_Literal_Long:
		return fmt.Sprint(k.Long)
	case *connectpb.Expression_Literal_Float:
		return fmt.Sprint(k.Float)
	case *connectpb.Expression_Literal_Double:
		return fmt.Sprint(k.Double)
	case *connectpb.Expression_Literal_Decimal_:
		return k.Decimal.GetValue()
	case *connectpb.Expression_Literal_String_:
		return errclass.Text(k.String_)
	case *connectpb.Expression_Literal_Binary:
		return "X'" + hex.EncodeToString(k.Binary) + "'"
	case *connectpb.Expression_Literal_Date:
		return "DATE '" + types.Days(k.Date).String() + "'"
	case *connectpb.Expression_Literal_Timestamp:
		return "TIMESTAMP '" + types.Micros(k.Timestamp).String() + "Z'"
	case *connectpb.Expression_Literal_TimestampNtz:
		return "TIMESTAMP_NTZ '" + types.MicrosNTZ(k.TimestampNtz).String() + "'"
	case *connectpb.Expression_Literal_DayTimeInterval:
		return "INTERVAL '" + types.DayTime(k.DayTimeInterval).Duration().String() + "'"
	}
	return "?"
}
