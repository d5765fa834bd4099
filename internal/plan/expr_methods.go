package plan

import (
	"slices"

	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/types"
)

// orders returns sort keys as expressions.
func orders(keys []*SortOrder) []Expr {
	out := make([]Expr, len(keys))
	for i, k := range keys {
		out[i] = k
	}
	return out
}

// asOrders is the inverse of orders.
func asOrders(exprs []Expr) []*SortOrder {
	if exprs == nil {
		return nil
	}
	out := make([]*SortOrder, len(exprs))
	for i, e := range exprs {
		out[i] = e.(*SortOrder)
	}
	return out
}

// taker hands out the parts of a list of kids in order.
type taker struct{ rest []Expr }

func (t *taker) take(n int) []Expr {
	part := t.rest[:n:n]
	t.rest = t.rest[n:]
	return part
}

// opt takes one kid when the field that it replaces was set.
func (t *taker) opt(was Expr) Expr {
	if was == nil {
		return nil
	}
	return t.take(1)[0]
}

func join(lists ...[]Expr) []Expr { return slices.Concat(lists...) }

func opt(e Expr) []Expr {
	if e == nil {
		return nil
	}
	return []Expr{e}
}

// ---- leaves

// Kids implements Expr.
func (e *Column) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *Column) WithKids([]Expr) Expr { return e }

// Kids implements Expr.
func (e *Star) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *Star) WithKids([]Expr) Expr { return e }

// Kids implements Expr.
func (e *ColumnRegex) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *ColumnRegex) WithKids([]Expr) Expr { return e }

// Kids implements Expr.
func (e *Param) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *Param) WithKids([]Expr) Expr { return e }

// Kids implements Expr.
func (e *Literal) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *Literal) WithKids([]Expr) Expr { return e }

// Kids implements Expr.
func (e *Attr) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *Attr) WithKids([]Expr) Expr { return e }

// Kids implements Expr.
func (e *LambdaVar) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *LambdaVar) WithKids([]Expr) Expr { return e }

// Kids implements Expr.
func (e *Default) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *Default) WithKids([]Expr) Expr { return e }

// ---- with operands

// Kids implements Expr: the arguments, the filter, the sort keys.
func (e *Func) Kids() []Expr { return join(e.Args, opt(e.Filter), orders(e.Order)) }

// WithKids implements Expr.
func (e *Func) WithKids(kids []Expr) Expr {
	c, t := *e, taker{kids}
	c.Args, c.Filter = t.take(len(e.Args)), t.opt(e.Filter)
	c.Order = asOrders(t.take(len(e.Order)))
	return &c
}

// Kids implements Expr.
func (e *Extract) Kids() []Expr { return []Expr{e.Child, e.Key} }

// WithKids implements Expr.
func (e *Extract) WithKids(kids []Expr) Expr {
	c := *e
	c.Child, c.Key = kids[0], kids[1]
	return &c
}

// Kids implements Expr.
func (e *Alias) Kids() []Expr { return []Expr{e.Child} }

// WithKids implements Expr.
func (e *Alias) WithKids(kids []Expr) Expr {
	c := *e
	c.Child = kids[0]
	return &c
}

// Kids implements Expr.
func (e *Cast) Kids() []Expr { return []Expr{e.Child} }

// WithKids implements Expr.
func (e *Cast) WithKids(kids []Expr) Expr {
	c := *e
	c.Child = kids[0]
	return &c
}

// Kids implements Expr.
func (e *Call) Kids() []Expr { return e.Args }

// WithKids implements Expr.
func (e *Call) WithKids(kids []Expr) Expr {
	c := *e
	c.Args = kids
	return &c
}

// Kids implements Expr.
func (e *Cond) Kids() []Expr { return e.Args }

// WithKids implements Expr.
func (e *Cond) WithKids(kids []Expr) Expr {
	c := *e
	c.Args = kids
	return &c
}

// Kids implements Expr.
func (e *HigherOrder) Kids() []Expr { return e.Args }

// WithKids implements Expr.
func (e *HigherOrder) WithKids(kids []Expr) Expr {
	c := *e
	c.Args = kids
	return &c
}

// Kids implements Expr.
func (e *WindowFunc) Kids() []Expr { return e.Args }

// WithKids implements Expr.
func (e *WindowFunc) WithKids(kids []Expr) Expr {
	c := *e
	c.Args = kids
	return &c
}

// Kids implements Expr.
func (e *Field) Kids() []Expr { return []Expr{e.Child} }

// WithKids implements Expr.
func (e *Field) WithKids(kids []Expr) Expr {
	c := *e
	c.Child = kids[0]
	return &c
}

// Kids implements Expr: the arguments and the filter.
func (e *Agg) Kids() []Expr { return join(e.Args, opt(e.Filter)) }

// WithKids implements Expr.
func (e *Agg) WithKids(kids []Expr) Expr {
	c, t := *e, taker{kids}
	c.Args, c.Filter = t.take(len(e.Args)), t.opt(e.Filter)
	return &c
}

// Kids implements Expr.
func (e *SortOrder) Kids() []Expr { return []Expr{e.Child} }

// WithKids implements Expr.
func (e *SortOrder) WithKids(kids []Expr) Expr {
	c := *e
	c.Child = kids[0]
	return &c
}

// Kids implements Expr.
func (e *TimeWindow) Kids() []Expr { return []Expr{e.Time} }

// WithKids implements Expr.
func (e *TimeWindow) WithKids(kids []Expr) Expr {
	c := *e
	c.Time = kids[0]
	return &c
}

// Kids implements Expr.
func (e *SessionWindow) Kids() []Expr { return []Expr{e.Time, e.Gap} }

// WithKids implements Expr.
func (e *SessionWindow) WithKids(kids []Expr) Expr {
	c := *e
	c.Time, c.Gap = kids[0], kids[1]
	return &c
}

// Kids implements Expr: the body only; parameters are declarations.
func (e *Lambda) Kids() []Expr { return []Expr{e.Body} }

// WithKids implements Expr.
func (e *Lambda) WithKids(kids []Expr) Expr {
	c := *e
	c.Body = kids[0]
	return &c
}

// Kids implements Expr: the left-hand side of IN and what the query uses from around it. The query is not an expression.
func (e *Subquery) Kids() []Expr { return join(e.Values, e.Outer) }

// WithKids implements Expr.
func (e *Subquery) WithKids(kids []Expr) Expr {
	c, t := *e, taker{kids}
	c.Values, c.Outer = t.take(len(e.Values)), t.take(len(e.Outer))
	return &c
}

// Kids implements Expr.
func (e *OuterRef) Kids() []Expr { return nil }

// WithKids implements Expr.
func (e *OuterRef) WithKids([]Expr) Expr { return e }

// Kids implements Expr: the function, the partition and order keys, the frame's offsets and the keys at them.
func (e *Over) Kids() []Expr {
	return join([]Expr{e.Fn}, e.Partition, orders(e.Order), opt(e.Lo.Offset), opt(e.Hi.Offset), opt(e.Lo.Value), opt(e.Hi.Value))
}

// WithKids implements Expr.
func (e *Over) WithKids(kids []Expr) Expr {
	c, t := *e, taker{kids}
	c.Fn = t.take(1)[0]
	c.Partition, c.Order = t.take(len(e.Partition)), asOrders(t.take(len(e.Order)))
	c.Lo.Offset, c.Hi.Offset = t.opt(e.Lo.Offset), t.opt(e.Hi.Offset)
	c.Lo.Value, c.Hi.Value = t.opt(e.Lo.Value), t.opt(e.Hi.Value)
	return &c
}

// Kids implements Expr.
func (e *Generator) Kids() []Expr { return e.Args }

// WithKids implements Expr.
func (e *Generator) WithKids(kids []Expr) Expr {
	c := *e
	c.Args = kids
	return &c
}

// ---- types

// TypeOf is an expression's type, or nil when it is not resolved.
func TypeOf(e Expr) types.DataType {
	if t, ok := e.(Typed); ok {
		return t.Type()
	}
	return nil
}

// NullableOf tells whether an expression may be null; an unresolved one may.
func NullableOf(e Expr) bool {
	t, ok := e.(Typed)
	return !ok || t.Nullable()
}

// Type implements Typed.
func (e *Literal) Type() types.DataType { return e.T }

// Nullable implements Typed.
func (e *Literal) Nullable() bool { return e.Value == nil }

// Type implements Typed.
func (e *Attr) Type() types.DataType { return e.T }

// Nullable implements Typed.
func (e *Attr) Nullable() bool { return e.Null }

// Type implements Typed.
func (e *Alias) Type() types.DataType { return TypeOf(e.Child) }

// Nullable implements Typed.
func (e *Alias) Nullable() bool { return NullableOf(e.Child) }

// Type implements Typed.
func (e *Cast) Type() types.DataType { return e.To }

// Nullable implements Typed. As in Spark the types alone decide, whatever the mode.
func (e *Cast) Nullable() bool {
	from := TypeOf(e.Child)
	return NullableOf(e.Child) || from == nil || fn.ForcesNull(from, e.To) || e.Mode == CastTry && fn.TryCastNullable(from, e.To)
}

// Type implements Typed.
func (e *Call) Type() types.DataType { return e.Bound.Type }

// Nullable implements Typed.
func (e *Call) Nullable() bool { return e.Bound.Nullable }

// Type implements Typed.
func (e *Cond) Type() types.DataType { return e.T }

// Nullable implements Typed.
func (e *Cond) Nullable() bool { return e.Null }

// Type implements Typed.
func (e *HigherOrder) Type() types.DataType { return e.T }

// Nullable implements Typed.
func (e *HigherOrder) Nullable() bool { return e.Null }

// Type implements Typed.
func (e *WindowFunc) Type() types.DataType { return e.T }

// Nullable implements Typed.
func (e *WindowFunc) Nullable() bool { return e.Null }

// Type implements Typed.
func (e *Field) Type() types.DataType {
	if s, ok := TypeOf(e.Child).(types.StructType); ok && e.Ordinal < len(s.Fields) {
		return s.Fields[e.Ordinal].Type
	}
	return nil
}

// Nullable implements Typed.
func (e *Field) Nullable() bool {
	if s, ok := TypeOf(e.Child).(types.StructType); ok && e.Ordinal < len(s.Fields) {
		return NullableOf(e.Child) || s.Fields[e.Ordinal].Nullable
	}
	return true
}

// Type implements Typed.
func (e *Agg) Type() types.DataType { return e.Bound.Type }

// Nullable implements Typed.
func (e *Agg) Nullable() bool { return e.Bound.Nullable }

// Type implements Typed.
func (e *SortOrder) Type() types.DataType { return TypeOf(e.Child) }

// Nullable implements Typed.
func (e *SortOrder) Nullable() bool { return NullableOf(e.Child) }

// Type implements Typed.
func (e *TimeWindow) Type() types.DataType { return fn.WindowType(TypeOf(e.Time)) }

// Nullable implements Typed.
func (e *TimeWindow) Nullable() bool { return false }

// Type implements Typed.
func (e *SessionWindow) Type() types.DataType { return fn.WindowType(TypeOf(e.Time)) }

// Nullable implements Typed.
func (e *SessionWindow) Nullable() bool { return false }

// Type implements Typed: a lambda's type is its body's.
func (e *Lambda) Type() types.DataType { return TypeOf(e.Body) }

// Nullable implements Typed.
func (e *Lambda) Nullable() bool { return NullableOf(e.Body) }

// Type implements Typed.
func (e *LambdaVar) Type() types.DataType { return e.T }

// Nullable implements Typed.
func (e *LambdaVar) Nullable() bool { return e.Null }

// Type implements Typed.
func (e *Subquery) Type() types.DataType {
	if e.Kind != SubqueryScalar {
		return types.Boolean
	}
	if out := e.Plan.Output(); len(out) > 0 {
		return out[0].T
	}
	return nil
}

// Nullable implements Typed. A scalar subquery without rows is null.
func (e *Subquery) Nullable() bool {
	switch e.Kind {
	case SubqueryExists:
		return false
	case SubqueryIn:
		return slices.ContainsFunc(e.Values, NullableOf) ||
			slices.ContainsFunc(e.Plan.Output(), func(a *Attr) bool { return a.Null })
	}
	return true
}

// Type implements Typed.
func (e *OuterRef) Type() types.DataType { return e.T }

// Nullable implements Typed.
func (e *OuterRef) Nullable() bool { return e.Null }

// Type implements Typed.
func (e *Over) Type() types.DataType { return TypeOf(e.Fn) }

// Nullable implements Typed.
func (e *Over) Nullable() bool { return NullableOf(e.Fn) }

// Type implements Typed: that of the generated column, or the struct of several.
func (e *Generator) Type() types.DataType {
	if len(e.Out) == 1 {
		return e.Out[0].Type
	}
	return types.StructType{Fields: e.Out}
}

// Nullable implements Typed.
func (e *Generator) Nullable() bool { return false }

// NewAttr returns a column with a new identity.
func NewAttr(name string, t types.DataType, nullable bool) *Attr {
	return &Attr{ID: NewID(), Name: name, T: t, Null: nullable}
}

// NewAlias names an expression, with a new identity.
func NewAlias(child Expr, name string) *Alias { return &Alias{Child: child, Name: name, ID: NewID()} }

// Attr is the column that the alias makes. Metadata and the event-time mark come from the child when that is a column or a
// struct's field.
func (e *Alias) Attr() *Attr {
	a := &Attr{ID: e.ID, Name: e.Name, T: e.Type(), Null: e.Nullable(), Metadata: e.Metadata}
	if e.Metadata != "" {
		if e.Metadata == NoMetadata {
			a.Metadata = ""
		}
		a.EventTime, a.Delay = eventTime(a.Metadata)
		return a
	}
	child := e.Child
	for {
		inner, ok := child.(*Alias)
		if !ok {
			break
		}
		child = inner.Child
	}
	switch c := child.(type) {
	case *Attr:
		a.Metadata = dropMeta(c.Metadata, types.AutoAliasKey)
		a.EventTime, a.Delay = c.EventTime, c.Delay
	case *Field:
		if s, ok := TypeOf(c.Child).(types.StructType); ok && c.Ordinal < len(s.Fields) {
			a.Metadata = s.Fields[c.Ordinal].Metadata
			a.EventTime, a.Delay = eventTime(a.Metadata)
		}
	}
	return a
}

// AttrOf is the column that a resolved select-list entry makes, or nil for anything but an Attr or an Alias.
func AttrOf(e Expr) *Attr {
	switch e := e.(type) {
	case *Attr:
		return e
	case *Alias:
		return e.Attr()
	}
	return nil
}

// attrsOf is AttrOf for a list, leaving out what makes no column.
func attrsOf(exprs []Expr) []*Attr {
	out := make([]*Attr, 0, len(exprs))
	for _, e := range exprs {
		if a := AttrOf(e); a != nil {
			out = append(out, a)
		}
	}
	return out
}
