package millrace

import (
	"fmt"
	"reflect"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// op calls a function with the Column and operands that are Columns or literals.
func (c Column) op(name string, operands ...any) Column {
	exprs, err := []*connectpb.Expression{c.expr}, c.use()
	for _, o := range operands {
		l := Lit(o)
		exprs = append(exprs, l.expr)
		err = firstError(err, l.use())
	}
	return Column{expr: placedAt(function(name, false, exprs...)), err: err}
}

// Add is c + v.
func (c Column) Add(v any) Column { return c.op("+", v) }

// Sub is c - v.
func (c Column) Sub(v any) Column { return c.op("-", v) }

// Mul is c * v.
func (c Column) Mul(v any) Column { return c.op("*", v) }

// Div is c / v, which is no integer.
func (c Column) Div(v any) Column { return c.op("/", v) }

// Mod is the remainder of c / v.
func (c Column) Mod(v any) Column { return c.op("%", v) }

// Neg is -c.
func (c Column) Neg() Column { return c.op("negative") }

// Eq is c = v: null if one of them is.
func (c Column) Eq(v any) Column { return c.op("==", v) }

// NotEq is c <> v.
func (c Column) NotEq(v any) Column { return c.Eq(v).Not() }

// EqNullSafe is c <=> v: like Eq, but null equals null and nothing else.
func (c Column) EqNullSafe(v any) Column { return c.op("<=>", v) }

// Lt is c < v.
func (c Column) Lt(v any) Column { return c.op("<", v) }

// Le is c <= v.
func (c Column) Le(v any) Column { return c.op("<=", v) }

// Gt is c > v.
func (c Column) Gt(v any) Column { return c.op(">", v) }

// Ge is c >= v.
func (c Column) Ge(v any) Column { return c.op(">=", v) }

// Between is low <= c AND c <= high.
func (c Column) Between(low, high any) Column { return c.Ge(low).And(c.Le(high)) }

// And is c AND v.
func (c Column) And(v any) Column { return c.op("and", v) }

// Or is c OR v.
func (c Column) Or(v any) Column { return c.op("or", v) }

// Not is NOT c.
func (c Column) Not() Column { return c.op("not") }

// BitAnd is c & v.
func (c Column) BitAnd(v any) Column { return c.op("&", v) }

// BitOr is c | v.
func (c Column) BitOr(v any) Column { return c.op("|", v) }

// BitXor is c ^ v.
func (c Column) BitXor(v any) Column { return c.op("^", v) }

// IsNull is c IS NULL.
func (c Column) IsNull() Column { return c.op("isNull") }

// IsNotNull is c IS NOT NULL.
func (c Column) IsNotNull() Column { return c.op("isNotNull") }

// IsNaN tells whether c is not a number.
func (c Column) IsNaN() Column { return c.op("isNaN") }

// In is c IN (values). A single slice stands for its elements.
func (c Column) In(values ...any) Column {
	if len(values) == 1 {
		if list, ok := spread(values[0]); ok {
			values = list
		}
	}
	return c.op("in", values...)
}

// spread takes a slice apart; a []byte is one value.
func spread(v any) ([]any, bool) {
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice || list.Type().Elem().Kind() == reflect.Uint8 {
		return nil, false
	}
	out := make([]any, list.Len())
	for i := range out {
		out[i] = list.Index(i).Interface()
	}
	return out, true
}

// Like is c LIKE pattern, with % and _.
func (c Column) Like(pattern any) Column { return c.op("like", pattern) }

// ILike is Like without regard to case.
func (c Column) ILike(pattern any) Column { return c.op("ilike", pattern) }

// RLike tells whether a regular expression matches somewhere in c.
func (c Column) RLike(pattern any) Column { return c.op("rlike", pattern) }

// StartsWith tells whether c begins with v.
func (c Column) StartsWith(v any) Column { return c.op("startswith", v) }

// EndsWith tells whether c ends with v.
func (c Column) EndsWith(v any) Column { return c.op("endswith", v) }

// Contains tells whether v is in c.
func (c Column) Contains(v any) Column { return c.op("contains", v) }

// Substr is the part of c from position start, counted from 1, with length characters.
func (c Column) Substr(start, length any) Column { return c.op("substr", start, length) }

// Cast converts c to a type, given as text ("decimal(10, 2)") or as a type of package types. What cannot be converted is an error in ANSI
// mode and null otherwise.
func (c Column) Cast(to any) Column {
	return c.castTo(to, connectpb.Expression_Cast_EVAL_MODE_UNSPECIFIED)
}

// TryCast is Cast with null for what cannot be converted.
func (c Column) TryCast(to any) Column { return c.castTo(to, connectpb.Expression_Cast_EVAL_MODE_TRY) }

func (c Column) castTo(to any, mode connectpb.Expression_Cast_EvalMode) Column {
	t, err := dataType(to)
	if err := firstError(c.use(), mistake(err)); err != nil {
		return Column{err: err}
	}
	return Column{expr: placedAt(cast(c.expr, t, mode))}
}

func cast(e *connectpb.Expression, t types.DataType, mode connectpb.Expression_Cast_EvalMode) *connectpb.Expression {
	return &connectpb.Expression{ExprType: &connectpb.Expression_Cast_{Cast: &connectpb.Expression_Cast{
		Expr: e, CastToType: &connectpb.Expression_Cast_TypeStr{TypeStr: t.SQL()}, EvalMode: mode,
	}}}
}

// dataType takes a type or its text.
func dataType(v any) (types.DataType, error) {
	switch v := v.(type) {
	case types.DataType:
		return v, nil
	case string:
		return types.ParseType(v)
	}
	return nil, errclass.New("NOT_EXPECTED_TYPE", "argName", "The type", "expectedType", "a string or a types.DataType", "argType", fmt.Sprintf("%T", v))
}

// As gives c a name, or one name for each column that a generator such as explode makes.
func (c Column) As(names ...string) Column {
	if len(names) == 0 {
		return Column{err: firstError(c.use(), mistake(errclass.New("CANNOT_BE_EMPTY", "item", "name")))}
	}
	return c.alias(names, nil)
}

// AsWithMetadata is As with metadata for the column: a JSON object.
func (c Column) AsWithMetadata(name, metadata string) Column {
	return c.alias([]string{name}, &metadata)
}

func (c Column) alias(names []string, metadata *string) Column {
	if err := c.use(); err != nil {
		return Column{err: err}
	}
	return Column{expr: &connectpb.Expression{ExprType: &connectpb.Expression_Alias_{Alias: &connectpb.Expression_Alias{
		Expr: c.expr, Name: names, Metadata: metadata,
	}}}}
}

// GetField is the field of a struct, c.name.
func (c Column) GetField(name string) Column { return c.GetItem(name) }

// GetItem is c[key]: an element of an array by its position from 0, the value of a key in a map, a field of a struct.
func (c Column) GetItem(key any) Column {
	k := Lit(key)
	if err := firstError(c.use(), k.use()); err != nil {
		return Column{err: err}
	}
	return Column{expr: placedAt(&connectpb.Expression{ExprType: &connectpb.Expression_UnresolvedExtractValue_{
		UnresolvedExtractValue: &connectpb.Expression_UnresolvedExtractValue{Child: c.expr, Extraction: k.expr},
	}})}
}

// WithField is the struct c with a field added or replaced.
func (c Column) WithField(name string, value Column) Column {
	if err := firstError(c.use(), value.use()); err != nil {
		return Column{err: err}
	}
	return updateFields(c.expr, name, value.expr)
}

// DropFields is the struct c without some fields.
func (c Column) DropFields(names ...string) Column {
	if err := c.use(); err != nil {
		return Column{err: err}
	}
	for _, name := range names {
		c = updateFields(c.expr, name, nil)
	}
	return c
}

func updateFields(e *connectpb.Expression, name string, value *connectpb.Expression) Column {
	return Column{expr: &connectpb.Expression{ExprType: &connectpb.Expression_UpdateFields_{UpdateFields: &connectpb.Expression_UpdateFields{
		StructExpression: e, FieldName: name, ValueExpression: value,
	}}}}
}

// When adds a branch to a Column that began with the function when: the value where condition is true and no earlier branch applies.
func (c Column) When(condition Column, value any) Column {
	args, open := c.branches()
	if !open {
		return c.notWhen()
	}
	v := Lit(value)
	return Column{expr: function("when", false, append(args, condition.expr, v.expr)...), err: firstError(c.err, condition.use(), v.use())}
}

// Otherwise ends a Column that began with the function when: the value where no branch applies. Without it that is null.
func (c Column) Otherwise(value any) Column {
	args, open := c.branches()
	if !open {
		return c.notWhen()
	}
	v := Lit(value)
	return Column{expr: function("when", false, append(args, v.expr)...), err: firstError(c.err, v.use())}
}

// branches are the conditions and values of a Column made by the function when, open as long as it has no Otherwise.
func (c Column) branches() (args []*connectpb.Expression, open bool) {
	f := c.expr.GetUnresolvedFunction()
	args = f.GetArguments()
	return args[:len(args):len(args)], f.GetFunctionName() == "when" && len(args)%2 == 0
}

func (c Column) notWhen() Column {
	return Column{err: firstError(c.use(), mistake(errclass.New("UNUSABLE_COLUMN", "what",
		"When and Otherwise go on with a Column that the function when has begun and Otherwise has not ended.")))}
}

// Asc sorts by c from the smallest, nulls first.
func (c Column) Asc() Column { return c.AscNullsFirst() }

// Desc sorts by c from the largest, nulls last.
func (c Column) Desc() Column { return c.DescNullsLast() }

// AscNullsFirst sorts by c from the smallest, nulls first.
func (c Column) AscNullsFirst() Column {
	return c.sorted(connectpb.Expression_SortOrder_SORT_DIRECTION_ASCENDING, connectpb.Expression_SortOrder_SORT_NULLS_FIRST)
}

// AscNullsLast sorts by c from the smallest, nulls last.
func (c Column) AscNullsLast() Column {
	return c.sorted(connectpb.Expression_SortOrder_SORT_DIRECTION_ASCENDING, connectpb.Expression_SortOrder_SORT_NULLS_LAST)
}

// DescNullsFirst sorts by c from the largest, nulls first.
func (c Column) DescNullsFirst() Column {
	return c.sorted(connectpb.Expression_SortOrder_SORT_DIRECTION_DESCENDING, connectpb.Expression_SortOrder_SORT_NULLS_FIRST)
}

// DescNullsLast sorts by c from the largest, nulls last.
func (c Column) DescNullsLast() Column {
	return c.sorted(connectpb.Expression_SortOrder_SORT_DIRECTION_DESCENDING, connectpb.Expression_SortOrder_SORT_NULLS_LAST)
}

func (c Column) sorted(d connectpb.Expression_SortOrder_SortDirection, n connectpb.Expression_SortOrder_NullOrdering) Column {
	if err := c.use(); err != nil {
		return Column{err: err}
	}
	return Column{expr: &connectpb.Expression{ExprType: &connectpb.Expression_SortOrder_{SortOrder: &connectpb.Expression_SortOrder{
		Child: c.expr, Direction: d, NullOrdering: n,
	}}}}
}

// order makes sort orders of Columns; one without a direction goes up.
func order(cols []Column) ([]*connectpb.Expression_SortOrder, error) {
	out := make([]*connectpb.Expression_SortOrder, len(cols))
	var err error
	for i, c := range cols {
		if c.expr.GetSortOrder() == nil {
			c = c.Asc()
		}
		out[i] = c.expr.GetSortOrder()
		err = firstError(err, c.use())
	}
	return out, err
}

// Over computes an aggregate or window function over the rows of a window.
func (c Column) Over(w WindowSpec) Column {
	if err := firstError(c.use(), w.err); err != nil {
		return Column{err: err}
	}
	m := &connectpb.Expression_Window{WindowFunction: c.expr, PartitionSpec: w.partition, OrderSpec: w.order, FrameSpec: w.frame}
	return Column{expr: &connectpb.Expression{ExprType: &connectpb.Expression_Window_{Window: m}}}
}
