package convert

import (
	"strings"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

const exprName = "spark.connect.Expression"

// Expr translates an expression.
func (c *Converter) Expr(m *connectpb.Expression) (plan.Expr, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	switch k := m.GetExprType().(type) {
	case *connectpb.Expression_Literal_:
		l, err := Literal(k.Literal)
		if err != nil {
			return nil, err
		}
		return l, nil
	case *connectpb.Expression_UnresolvedAttribute_:
		parts, err := AttributeName(k.UnresolvedAttribute.GetUnparsedIdentifier())
		if err != nil {
			return nil, err
		}
		return &plan.Column{
			Parts: parts, PlanID: optional(k.UnresolvedAttribute.PlanId), Metadata: k.UnresolvedAttribute.GetIsMetadataColumn(),
			Origin: origin(m),
		}, nil
	case *connectpb.Expression_UnresolvedFunction_:
		return c.function(k.UnresolvedFunction, origin(m))
	case *connectpb.Expression_ExpressionString_:
		return sql.ParseExpr(k.ExpressionString.GetExpression(), c.s.SQLOptions())
	case *connectpb.Expression_UnresolvedStar_:
		return star(k.UnresolvedStar)
	case *connectpb.Expression_Alias_:
		return c.alias(k.Alias)
	case *connectpb.Expression_Cast_:
		return c.cast(k.Cast, origin(m))
	case *connectpb.Expression_UnresolvedRegex_:
		return regex(k.UnresolvedRegex, origin(m))
	case *connectpb.Expression_SortOrder_:
		return c.sortOrder(k.SortOrder)
	case *connectpb.Expression_LambdaFunction_:
		return c.lambda(k.LambdaFunction)
	case *connectpb.Expression_UnresolvedNamedLambdaVariable_:
		return c.lambdaVar(k.UnresolvedNamedLambdaVariable)
	case *connectpb.Expression_Window_:
		return c.window(k.Window)
	case *connectpb.Expression_UnresolvedExtractValue_:
		return c.extract(k.UnresolvedExtractValue, origin(m))
	case *connectpb.Expression_UpdateFields_:
		return c.updateFields(k.UpdateFields, origin(m))
	case *connectpb.Expression_CallFunction:
		name, err := sql.ParseIdentifier(k.CallFunction.GetFunctionName())
		if err != nil {
			return nil, err
		}
		return c.call(name, k.CallFunction.GetArguments(), origin(m))
	case *connectpb.Expression_NamedArgumentExpression:
		return nil, malformed("a named argument stands outside the arguments of a function")
	case *connectpb.Expression_SubqueryExpression:
		return c.subquery(k.SubqueryExpression)
	case *connectpb.Expression_CommonInlineUserDefinedFunction:
		return c.userFunction(k.CommonInlineUserDefinedFunction, origin(m))
	case *connectpb.Expression_TypedAggregateExpression:
		return nil, errclass.New("UNSUPPORTED_FEATURE.SCALA_FUNCTION", "functionName", "of a typed aggregate")
	case *connectpb.Expression_DirectShufflePartitionId:
		return nil, unsupported("repartitionById")
	case *connectpb.Expression_MergeAction:
		return nil, malformed("a merge action stands outside a merge")
	case nil:
		return nil, notSet(exprName, "expr_type")
	}
	return nil, notSupported(exprName+".expr_type", m.GetExprType())
}

// exprs translates a list.
func (c *Converter) exprs(ms []*connectpb.Expression) ([]plan.Expr, error) {
	out := make([]plan.Expr, len(ms))
	for i, m := range ms {
		e, err := c.Expr(m)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

// optional is an optional id, -1 when absent.
func optional(id *int64) int64 {
	if id == nil {
		return -1
	}
	return *id
}

// origin is where the client says an expression was written. The block of text that shows it is made when it is needed.
func origin(m *connectpb.Expression) plan.Origin {
	o := m.GetCommon().GetOrigin()
	if p := o.GetPythonOrigin(); p != nil {
		return plan.Origin{Context: &errclass.QueryContext{
			Type: errclass.DataFrameContext, Fragment: p.GetFragment(), CallSite: p.GetCallSite(),
		}}
	}
	return plan.Origin{}
}

// userFunction translates a call of a program's function. One that brings no code names a Go function of the session by its id.
func (c *Converter) userFunction(m *connectpb.CommonInlineUserDefinedFunction, o plan.Origin) (plan.Expr, error) {
	name := errclass.Ident(m.GetFunctionName())
	switch m.GetFunction().(type) {
	case *connectpb.CommonInlineUserDefinedFunction_PythonUdf:
		return nil, errclass.New("UNSUPPORTED_FEATURE.PYTHON_FUNCTION", "functionName", name)
	case nil:
		if _, ok := c.s.Function(m.GetFunctionName()); !ok {
			return nil, notSet("spark.connect.CommonInlineUserDefinedFunction", "function")
		}
		f, err := c.call([]string{m.GetFunctionName()}, m.GetArguments(), o)
		if err != nil {
			return nil, err
		}
		f.Distinct, f.Internal = m.GetIsDistinct(), true
		return f, nil
	}
	return nil, errclass.New("UNSUPPORTED_FEATURE.SCALA_FUNCTION", "functionName", name)
}

func (c *Converter) function(m *connectpb.Expression_UnresolvedFunction, o plan.Origin) (plan.Expr, error) {
	name := []string{m.GetFunctionName()}
	if m.GetIsUserDefinedFunction() {
		var err error
		if name, err = sql.ParseIdentifier(m.GetFunctionName()); err != nil {
			return nil, err
		}
	}
	f, err := c.call(name, m.GetArguments(), o)
	if err != nil {
		return nil, err
	}
	f.Distinct, f.Internal = m.GetIsDistinct(), m.GetIsInternal() || strings.EqualFold(m.GetFunctionName(), "product")
	return f, nil
}

func (c *Converter) call(name []string, args []*connectpb.Expression, o plan.Origin) (*plan.Func, error) {
	f := &plan.Func{Name: name, Args: make([]plan.Expr, len(args)), Origin: o}
	for i, m := range args {
		if n := m.GetNamedArgumentExpression(); n != nil {
			if f.ArgNames == nil {
				f.ArgNames = make([]string, len(args))
			}
			f.ArgNames[i] = n.GetKey()
			m = n.GetValue()
		}
		e, err := c.Expr(m)
		if err != nil {
			return nil, err
		}
		f.Args[i] = e
	}
	return f, nil
}

func star(m *connectpb.Expression_UnresolvedStar) (plan.Expr, error) {
	s := &plan.Star{PlanID: optional(m.PlanId)}
	if m.UnparsedTarget == nil {
		return s, nil
	}
	target, ok := strings.CutSuffix(m.GetUnparsedTarget(), ".*")
	if !ok {
		return nil, malformed("the target of a star must end in .*")
	}
	var err error
	s.Target, err = AttributeName(target)
	return s, err
}

func (c *Converter) alias(m *connectpb.Expression_Alias) (plan.Expr, error) {
	child, err := c.Expr(m.GetExpr())
	if err != nil {
		return nil, err
	}
	switch len(m.GetName()) {
	case 0:
		return nil, fieldNotSet(exprName+".Alias", "name")
	case 1:
		return &plan.Alias{Child: child, Name: m.GetName()[0], Metadata: m.GetMetadata()}, nil
	}
	if m.Metadata != nil {
		return nil, malformed("an alias of several names cannot have metadata")
	}
	return &plan.Alias{Child: child, Names: m.GetName()}, nil
}

func (c *Converter) cast(m *connectpb.Expression_Cast, o plan.Origin) (plan.Expr, error) {
	child, err := c.Expr(m.GetExpr())
	if err != nil {
		return nil, err
	}
	cast := &plan.Cast{Child: child, Origin: o}
	switch t := m.GetCastToType().(type) {
	case *connectpb.Expression_Cast_Type:
		cast.To, err = typepb.Type(t.Type)
	case *connectpb.Expression_Cast_TypeStr:
		cast.To, err = types.ParseType(t.TypeStr)
	default:
		err = notSet(exprName+".Cast", "cast_to_type")
	}
	if err != nil {
		return nil, err
	}
	switch m.GetEvalMode() {
	case connectpb.Expression_Cast_EVAL_MODE_TRY:
		cast.Mode = plan.CastTry
	case connectpb.Expression_Cast_EVAL_MODE_LEGACY:
		cast.Mode = plan.CastLegacy
	}
	return cast, nil
}

// regex is df.colRegex: a pattern stands in backticks, with or without a table before it; anything else is a column's name.
func regex(m *connectpb.Expression_UnresolvedRegex, o plan.Origin) (plan.Expr, error) {
	name := m.GetColName()
	if n := len(name) - 1; n > 1 && name[n] == '`' {
		if name[0] == '`' {
			return &plan.ColumnRegex{Pattern: name[1:n], PlanID: optional(m.PlanId)}, nil
		}
		if dot := strings.LastIndex(name[:n-1], ".`"); dot > 0 {
			return &plan.ColumnRegex{Table: name[:dot], Pattern: name[dot+2 : n], PlanID: optional(m.PlanId)}, nil
		}
	}
	parts, err := AttributeName(name)
	if err != nil {
		return nil, err
	}
	return &plan.Column{Parts: parts, PlanID: optional(m.PlanId), Origin: o}, nil
}

func (c *Converter) sortOrder(m *connectpb.Expression_SortOrder) (*plan.SortOrder, error) {
	child, err := c.Expr(m.GetChild())
	if err != nil {
		return nil, err
	}
	s := &plan.SortOrder{Child: child, Desc: m.GetDirection() == connectpb.Expression_SortOrder_SORT_DIRECTION_DESCENDING}
	switch m.GetNullOrdering() {
	case connectpb.Expression_SortOrder_SORT_NULLS_FIRST:
		s.NullsFirst = true
	case connectpb.Expression_SortOrder_SORT_NULLS_LAST:
	default:
		s.NullsFirst = !s.Desc
	}
	return s, nil
}

func (c *Converter) sortOrders(ms []*connectpb.Expression_SortOrder) ([]*plan.SortOrder, error) {
	out := make([]*plan.SortOrder, len(ms))
	for i, m := range ms {
		o, err := c.sortOrder(m)
		if err != nil {
			return nil, err
		}
		out[i] = o
	}
	return out, nil
}

func (c *Converter) lambda(m *connectpb.Expression_LambdaFunction) (plan.Expr, error) {
	if n := len(m.GetArguments()); n == 0 || n > 3 {
		return nil, malformed("a lambda has one, two or three parameters")
	}
	l := &plan.Lambda{}
	outer := len(c.vars)
	for _, a := range m.GetArguments() {
		if len(a.GetNameParts()) != 1 {
			return nil, badLambdaVar(a)
		}
		v := &plan.LambdaVar{ID: plan.NewID(), Name: a.GetNameParts()[0]}
		l.Params = append(l.Params, v)
		c.vars = append(c.vars, v)
	}
	defer func() { c.vars = c.vars[:outer] }()
	var err error
	l.Body, err = c.Expr(m.GetFunction())
	if err != nil {
		return nil, err
	}
	return l, nil
}

func badLambdaVar(m *connectpb.Expression_UnresolvedNamedLambdaVariable) error {
	return errclass.New("CONNECT_INVALID_PLAN.UNRESOLVED_NAMED_LAMBDA_VARIABLE", "name", strings.Join(m.GetNameParts(), "."))
}

// lambdaVar finds the parameter that a name means, the innermost first. Names of several parts are fields of one.
func (c *Converter) lambdaVar(m *connectpb.Expression_UnresolvedNamedLambdaVariable) (plan.Expr, error) {
	parts := m.GetNameParts()
	if len(parts) == 0 {
		return nil, badLambdaVar(m)
	}
	for i := len(c.vars) - 1; i >= 0; i-- {
		if c.vars[i].Name != parts[0] {
			continue
		}
		var e plan.Expr = c.vars[i]
		for _, p := range parts[1:] {
			e = &plan.Extract{Child: e, Key: &plan.Literal{Value: p, T: types.String}}
		}
		return e, nil
	}
	return &plan.Column{Parts: parts, PlanID: -1}, nil
}

func (c *Converter) window(m *connectpb.Expression_Window) (plan.Expr, error) {
	if m.GetWindowFunction() == nil {
		return nil, fieldNotSet(exprName+".Window", "window_function")
	}
	o := &plan.Over{}
	var err error
	if o.Fn, err = c.Expr(m.GetWindowFunction()); err != nil {
		return nil, err
	}
	if o.Partition, err = c.exprs(m.GetPartitionSpec()); err != nil {
		return nil, err
	}
	if o.Order, err = c.sortOrders(m.GetOrderSpec()); err != nil {
		return nil, err
	}
	f := m.GetFrameSpec()
	if f == nil {
		return o, nil
	}
	o.Framed = true
	switch f.GetFrameType() {
	case connectpb.Expression_Window_WindowFrame_FRAME_TYPE_ROW:
		o.Rows = true
	case connectpb.Expression_Window_WindowFrame_FRAME_TYPE_RANGE:
	default:
		return nil, invalidEnum(f.GetFrameType())
	}
	if o.Lo, err = c.frameBound(f.GetLower()); err != nil {
		return nil, err
	}
	o.Hi, err = c.frameBound(f.GetUpper())
	return o, err
}

func (c *Converter) frameBound(m *connectpb.Expression_Window_WindowFrame_FrameBoundary) (plan.FrameBound, error) {
	switch k := m.GetBoundary().(type) {
	case *connectpb.Expression_Window_WindowFrame_FrameBoundary_CurrentRow:
		return plan.FrameBound{}, nil
	case *connectpb.Expression_Window_WindowFrame_FrameBoundary_Unbounded:
		return plan.FrameBound{Unbounded: true}, nil
	case *connectpb.Expression_Window_WindowFrame_FrameBoundary_Value:
		e, err := c.Expr(k.Value)
		return plan.FrameBound{Offset: e}, err
	}
	return plan.FrameBound{}, notSet(exprName+".Window.WindowFrame.FrameBoundary", "boundary")
}

func (c *Converter) extract(m *connectpb.Expression_UnresolvedExtractValue, o plan.Origin) (plan.Expr, error) {
	child, err := c.Expr(m.GetChild())
	if err != nil {
		return nil, err
	}
	key, err := c.Expr(m.GetExtraction())
	if err != nil {
		return nil, err
	}
	return &plan.Extract{Child: child, Key: key, Origin: o}, nil
}

// updateFields is Column.withField and dropFields: a call of a function that SQL text does not have.
func (c *Converter) updateFields(m *connectpb.Expression_UpdateFields, o plan.Origin) (plan.Expr, error) {
	child, err := c.Expr(m.GetStructExpression())
	if err != nil {
		return nil, err
	}
	name := &plan.Literal{Value: m.GetFieldName(), T: types.String}
	if m.GetValueExpression() == nil {
		return &plan.Func{Name: []string{"drop_field"}, Args: []plan.Expr{child, name}, Internal: true, Origin: o}, nil
	}
	v, err := c.Expr(m.GetValueExpression())
	if err != nil {
		return nil, err
	}
	return &plan.Func{Name: []string{"with_field"}, Args: []plan.Expr{child, name, v}, Internal: true, Origin: o}, nil
}

func (c *Converter) subquery(m *connectpb.SubqueryExpression) (plan.Expr, error) {
	s := &plan.Subquery{}
	switch m.GetSubqueryType() {
	case connectpb.SubqueryExpression_SUBQUERY_TYPE_SCALAR:
	case connectpb.SubqueryExpression_SUBQUERY_TYPE_EXISTS:
		s.Kind = plan.SubqueryExists
	case connectpb.SubqueryExpression_SUBQUERY_TYPE_IN:
		s.Kind = plan.SubqueryIn
	case connectpb.SubqueryExpression_SUBQUERY_TYPE_TABLE_ARG:
		return nil, unsupported("table argument")
	default:
		return nil, invalidEnum(m.GetSubqueryType())
	}
	ref, ok := c.refs[m.GetPlanId()]
	if !ok {
		return nil, malformed("a subquery refers to a relation that is not in the plan")
	}
	var err error
	if s.Plan, err = c.Relation(ref); err != nil {
		return nil, err
	}
	s.Values, err = c.exprs(m.GetInSubqueryValues())
	return s, err
}
