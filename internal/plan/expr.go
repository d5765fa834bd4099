package plan

import (
	"sync/atomic"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/types"
)

// Expr is a node of an expression tree. Typed expressions (see Typed) are resolved.
type Expr interface {
	// Kids are the operands, in order of evaluation.
	Kids() []Expr
	// WithKids returns the same expression over other operands.
	WithKids(kids []Expr) Expr
	// SQL is the text by which Spark names the expression: automatic column names and messages use it.
	SQL() string
}

// Typed is an expression that has been resolved.
type Typed interface {
	Expr
	Type() types.DataType
	Nullable() bool
}

// ID is a column's identity within a process.
type ID uint64

var lastID atomic.Uint64

// NewID returns an identity never used before.
func NewID() ID { return ID(lastID.Add(1)) }

// Origin is where an expression or relation was written; it becomes the query context of errors.
type Origin struct {
	Context *errclass.QueryContext
	// PlanID is the Connect plan id of the relation a column was taken from, or -1.
}

// ---- unresolved

// Column is a column name that has not been looked up. PlanID, when not negative, restricts it to the relation of that id.
type Column struct {
	Parts  []string
	PlanID int64
	// Metadata is set for df.metadataColumn(name).
	Metadata bool
	Origin   Origin
}

// Star is * or t.*; in a select list only.
type Star struct {
	Target []string
	PlanID int64
	Except [][]string
	Origin Origin
}

// ColumnRegex is df.colRegex.
type ColumnRegex struct {
	Table   string // of the columns meant, or ""
	Pattern string
	PlanID  int64
}

// Func is a call that has not been looked up: a scalar, aggregate, window or generator function.
type Func struct {
	Name        []string
	Args        []Expr
	ArgNames    []string // nil, or one for each argument; "" for positional
	Distinct    bool
	IgnoreNulls bool
	Filter      Expr // FILTER (WHERE ...), or nil
	// Order is WITHIN GROUP (ORDER BY ...).
	Order []*SortOrder
	// Internal is set for names that the Connect protocol may use and SQL text may not.
	Internal bool
	Origin   Origin
}

// RowName is how (a, b) of SQL is called: a struct that is named by the names of its fields and their values.
const RowName = "(,)"

// IsRow tells whether an expression is (a, b) or struct(a, b), which may stand for several values.
func IsRow(e Expr) (*Func, bool) {
	f, ok := e.(*Func)
	return f, ok && len(f.Name) == 1 && (f.Name[0] == "struct" || f.Name[0] == RowName)
}

// Extract is child[key] or child.key before the kind of access is known.
type Extract struct {
	Child, Key Expr
	Origin     Origin
}

// Param is a named or positional parameter marker of a SQL text that was not bound.
type Param struct {
	Name string // "" for positional
	Pos  int
}

// ---- resolved or neutral

// Literal is a constant. Value follows the conventions of package types; nil is NULL.
type Literal struct {
	Value any
	T     types.DataType
	// Text is how the literal was written where that differs from its value's own form.
	Text string
	// Origin is the place of a number in SQL: it may stand for a column of the select list.
	Origin Origin
}

// Attr is a resolved column of some relation's output.
type Attr struct {
	ID        ID
	Name      string
	T         types.DataType
	Null      bool
	Qualifier []string
	// Metadata is the field's metadata as JSON, or "".
	Metadata string
	// EventTime is set for a column marked by withWatermark or derived from one, such as its window; Delay is the watermark's
	// delay in milliseconds.
	EventTime bool
	Delay     int64
	// Hidden columns (_metadata) are not part of *.
	Hidden bool
}

// Alias names an expression. Several Names are for generators only.
type Alias struct {
	Child Expr
	Name  string
	Names []string
	ID    ID
	// Metadata is JSON; "" takes over the child's own and its event-time mark, NoMetadata neither.
	Metadata string
	// Auto is set when the name was made from the expression's text.
	Auto bool
}

// NoMetadata is the metadata of an alias that does not take over its child's.
const NoMetadata = "{}"

// CastMode is what a cast does with a value that does not fit.
type CastMode = fn.CastMode

// The cast modes.
const (
	CastANSI   = fn.CastANSI
	CastLegacy = fn.CastLegacy
	CastTry    = fn.CastTry
)

// Cast converts a value. Mode is settled by the analyser unless Explicit try was written.
type Cast struct {
	Child  Expr
	To     types.DataType
	Mode   CastMode
	Origin Origin
	// Implicit is set for casts that the analyser added; they do not show in names.
	Implicit bool
}

// Call is a resolved scalar function.
type Call struct {
	Fn     *fn.Function
	Bound  *fn.Bound
	Name   string // as it prints
	Args   []Expr
	Origin Origin
	// Text is how the call is shown where that is not Name with Args.
	Text string
}

// CondOp is a conditional operator: one that does not evaluate all its operands for every row.
type CondOp uint8

// The conditional operators.
const (
	OpAnd      CondOp = iota // two operands
	OpOr                     // two operands
	OpCase                   // cond, value, cond, value, ..., [else]
	OpIf                     // cond, then, else
	OpCoalesce               // one or more
)

// Cond is a resolved conditional expression.
type Cond struct {
	Op   CondOp
	Args []Expr
	T    types.DataType
	Null bool
	// Name is the function as written (nvl, ifnull, coalesce, ...), for printing.
	Name string
	// Text is how the expression is shown where that is not Name with Args.
	Text string
}

// HigherOrder is a resolved call of a function that takes functions: transform, filter, aggregate, ... Some of Args are Lambdas.
type HigherOrder struct {
	Name   string
	Args   []Expr
	T      types.DataType
	Null   bool
	Origin Origin
	// Text is how the call is shown where that is not Name with Args.
	Text string
}

// WindowFunc is a resolved call of a function that exists over windows only: row_number, rank, lag, ... It stands in Over.Fn.
type WindowFunc struct {
	Name        string
	Args        []Expr
	T           types.DataType
	Null        bool
	IgnoreNulls bool
	// N is the number of rows, or of buckets, that one of Args says.
	N      int64
	Origin Origin
}

// Field takes field Ordinal of a struct.
type Field struct {
	Child   Expr
	Ordinal int
	Name    string
}

// Agg is a resolved aggregate call. It stands only in an Aggregate's or a window's expressions.
type Agg struct {
	Fn       *agg.Function
	Bound    *agg.Bound
	Name     string
	Args     []Expr
	Distinct bool
	// IgnoreNulls is set for first(x) IGNORE NULLS and the like.
	IgnoreNulls bool
	Filter      Expr
	// Within is set for WITHIN GROUP (ORDER BY x), where x is the first argument; Desc is its direction.
	Within, Desc bool
	// Keys are the sort keys of an aggregate that lists its values in another order than their own; they are the last of Args.
	Keys   []agg.Key
	Origin Origin
}

// SortOrder is one key of an ordering.
type SortOrder struct {
	Child      Expr
	Desc       bool
	NullsFirst bool
	Origin     Origin
}

// TimeWindow is window(time, duration[, slide[, start]]) before the analyser turns it into a projection (tumbling) or an
// expansion (sliding). Durations are in microseconds.
type TimeWindow struct {
	Time                   Expr
	Duration, Slide, Start int64
}

// SessionWindow is session_window(time, gap). Gap is a calendar interval expression.
type SessionWindow struct {
	Time, Gap Expr
}

// Lambda is a function value x -> body; Params are bound as LambdaVars of the same ID in Body.
type Lambda struct {
	Params []*LambdaVar
	Body   Expr
}

// LambdaVar is a lambda's parameter where it is declared and where it is used.
type LambdaVar struct {
	ID   ID
	Name string
	T    types.DataType
	Null bool
}

// SubqueryKind is how a subquery is used as a value.
type SubqueryKind uint8

// The kinds of subquery.
const (
	SubqueryScalar SubqueryKind = iota
	SubqueryExists
	SubqueryIn // Values are the left-hand side
)

// Subquery is a query inside an expression.
type Subquery struct {
	Kind   SubqueryKind
	Plan   Node
	Values []Expr
	// Outer are the expressions of the query around that Plan uses; there it has an OuterRef in the place of each.
	Outer  []Expr
	Origin Origin
}

// OuterRef stands in a subquery's plan for entry Index of the Subquery's Outer. The analyser replaces subqueries by joins and leaves
// none behind.
type OuterRef struct {
	Index int
	Name  string
	T     types.DataType
	Null  bool
}

// FrameBound is one end of a window frame: an offset expression, or nil for CURRENT ROW; Unbounded goes over it.
type FrameBound struct {
	Unbounded bool
	// Outward is set for UNBOUNDED at the wrong end, such as BETWEEN UNBOUNDED FOLLOWING AND ...
	Outward bool
	Offset  Expr
	// Preceding is set for n PRECEDING of SQL text, whose Offset is minus n. It only matters for printing.
	Preceding bool
	// Text is how the bound is shown where its offset was cast.
	Text string
	// Value is what the order key is at a bound that is a distance from the current row's key. The analyser sets it.
	Value Expr
}

// Over is a window function call: Fn over a window.
type Over struct {
	Fn        Expr
	Partition []Expr
	Order     []*SortOrder
	Rows      bool // ROWS rather than RANGE
	Framed    bool // a frame was written
	Lo, Hi    FrameBound
	// Window is a name from the WINDOW clause that was not yet looked up.
	Window string
	// Origin is the place of the call with its window, Spec that of the window's brackets.
	Origin, Spec Origin
}

// Generator is a resolved generator function (explode, inline, ...) in a Generate node.
type Generator struct {
	Name  string
	Args  []Expr
	Outer bool
	Out   []types.Field
}

// Default is the keyword DEFAULT as a value.
type Default struct{}

// compile-time proof that evaluation parameters stay where plans expect them.
var _ = expr.Raise
