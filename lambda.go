package millrace

import (
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Lambda is a function of one to three columns, for the higher-order functions: transform, filter, aggregate and others.
func Lambda(params int, body func(args ...Column) Column) Column {
	names := [...]string{"x", "y", "z"}
	if params < 1 || params > len(names) {
		return Column{err: mistake(errclass.New("VALUE_NOT_BETWEEN",
			"argName", "params", "min", "1", "max", strconv.Itoa(len(names)), "value", strconv.Itoa(params)))}
	}
	f := &connectpb.Expression_LambdaFunction{}
	args := make([]Column, params)
	for i := range args {
		v := &connectpb.Expression_UnresolvedNamedLambdaVariable{}
		f.Arguments = append(f.Arguments, v)
		args[i] = Column{expr: &connectpb.Expression{
			ExprType: &connectpb.Expression_UnresolvedNamedLambdaVariable_{UnresolvedNamedLambdaVariable: v},
		}}
	}
	c := body(args...)
	if err := c.use(); err != nil {
		return Column{err: err}
	}
	f.Function = c.expr
	// The names must differ from those of the lambdas inside, which are complete by now.
	height := lambdaHeight(c.expr.ProtoReflect()) + 1
	for i, v := range f.Arguments {
		v.NameParts = []string{names[i] + "_" + strconv.Itoa(height)}
	}
	return Column{expr: &connectpb.Expression{ExprType: &connectpb.Expression_LambdaFunction_{LambdaFunction: f}}}
}

// lambdaHeight is how deep lambdas nest in an expression.
func lambdaHeight(m protoreflect.Message) int {
	height := 0
	look := func(m protoreflect.Message) { height = max(height, lambdaHeight(m)) }
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				look(v.List().Get(i).Message())
			}
		default:
			look(v.Message())
		}
		return true
	})
	if _, ok := m.Interface().(*connectpb.Expression_LambdaFunction); ok {
		height++
	}
	return height
}
