package plan

import (
	"time"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Node is a relation. Output is meaningful once the node is resolved.
type Node interface {
	Children() []Node
	WithChildren(children []Node) Node
	// Exprs are the expressions that the node itself holds.
	Exprs() []Expr
	// WithExprs returns the node with other expressions, in the same order and number as Exprs.
	WithExprs(exprs []Expr) Node
	// Output are the columns, in order.
	Output() []*Attr
	// Label is the node's one line in a tree.
	Label() string
	// Streaming tells whether any row comes from a stream.
	Streaming() bool
}

// ---- unresolved relations

// Named is a table, view or CTE reference.
type Named struct {
	Parts   []string
	Options map[string]string
	Stream  bool // readStream.table or STREAM(t)
	Time    *TimeTravel
	// Home is the database of a view's names: they mean tables in it, and no temporary views. Empty for the current one.
	Home   string
	Origin Origin
}

// TimeTravel is VERSION or TIMESTAMP AS OF.
type TimeTravel struct {
	Version   string
	Timestamp Expr
}

// TableFunc is a table-valued function call: range(10), explode(...).
type TableFunc struct {
	Name     []string
	Args     []Expr
	ArgNames []string // nil, or one for each argument; "" for positional
	Origin   Origin
}

// Read is spark.read or spark.readStream before the source was looked at.
type Read struct {
	Format  string
	Schema  string // DDL or JSON, or ""
	Options map[string]string
	Paths   []string
	Stream  bool
	// ID makes two uses of the same DataFrame one source.
	ID ID
	// User tells that a reader made it, not the name of a table.
	User bool
}

// Tagged marks the relation of a Connect plan id, so that columns taken from a DataFrame find it. The analyser drops it.
type Tagged struct {
	PlanID int64
	Child  Node
}

// ---- leaves

// Local are rows that travel with the plan.
type Local struct {
	Out  []*Attr
	Rows []*vec.Batch
}

// Range is spark.range.
type Range struct {
	Start, End, Step int64
	Parts            int
	Out              []*Attr
}

// OneRow is a FROM-less SELECT's input: one row without columns.
type OneRow struct{}

// Scan reads a batch or a streaming source. Source is a connector's opaque description (see package source); ID is its
// identity: in a stream, scans with the same ID are one source.
type Scan struct {
	ID     ID
	Source any
	Name   string // for trees: "json", "rate"
	Out    []*Attr
	Stream bool
	// Hidden are columns that the source has beside its schema and reads only when one is named, such as _metadata. The analyser
	// appends a used one to Out.
	Hidden []*Attr
	// Filters are conjuncts over Out that the source may use to skip data; a Filter above still applies them.
	Filters []Expr
}

// Kept is a relation whose rows are kept from one query to the next. Its Child, which computes those that are not there yet, is
// finished and no part of the plan around it.
type Kept struct {
	Name  string
	Out   []*Attr
	Cols  []int // places of Out in the store
	Child Node  // nil when all rows are there
	Store any
}

// View marks a temp view's plan, for trees and qualifiers.
type View struct {
	Name  []string
	Child Node
}

// CachedRemote is the id of a relation parked on the server.
type CachedRemote struct{ RelationID string }

// ---- one child

// Project computes Cols, each an *Attr or *Alias once resolved.
type Project struct {
	Cols  []Expr
	Child Node
	// Hidden are columns of Child that operators above may still name though they are not in Cols: the other side's keys of a
	// USING join. The analyser drops them.
	Hidden []*Attr
	// Grouped is set for what the select list of a grouping computes above its Aggregate, such as subqueries: operators above may use
	// the keys and aggregates of that.
	Grouped bool
	Origin  Origin
}

// WithColumns adds or replaces columns by name.
type WithColumns struct {
	Cols  []*Alias
	Child Node
	// Replace is set for SET of SQL, which adds no column.
	Replace bool
	Origin  Origin
}

// Rename renames columns: DataFrame.withColumnsRenamed.
type Rename struct {
	From, To []string
	Child    Node
}

// Drop removes columns, and all those of some names.
type Drop struct {
	Cols  []Expr
	Names []string
	Child Node
}

// ToNames renames all columns: DataFrame.toDF.
type ToNames struct {
	Names []string
	Child Node
}

// ToSchema reconciles columns with a schema: DataFrame.to.
type ToSchema struct {
	Schema types.StructType
	Child  Node
}

// Filter keeps the rows for which Cond is true.
type Filter struct {
	Cond   Expr
	Child  Node
	Origin Origin
}

// GroupKind is how an Aggregate groups.
type GroupKind uint8

// The kinds of grouping.
const (
	GroupBy GroupKind = iota
	GroupRollup
	GroupCube
	GroupSets
	GroupPivot
)

// Aggregate groups rows by Keys and computes Aggs: expressions over keys and Agg calls. Once resolved, each of Aggs is an *Attr
// or *Alias and is the output.
type Aggregate struct {
	Keys  []Expr
	Aggs  []Expr
	Child Node
	Kind  GroupKind
	Sets  [][]Expr // GroupSets
	// KeysInOutput is set for DataFrame.groupBy(...).agg(...), whose result begins with the keys.
	KeysInOutput bool
	PivotCol     Expr
	PivotValues  []Expr
	// ImplicitKeys is set for SQL's PIVOT, which groups by all columns that neither Aggs nor PivotCol mention.
	ImplicitKeys bool
	// Clause is the place of GROUP BY and its keys.
	Origin, Clause Origin
}

// Having is a HAVING condition that may use aggregates; the analyser turns it into a Filter.
type Having struct {
	Cond   Expr
	Child  Node
	Origin Origin
}

// Qualify is a QUALIFY condition, which may use window functions; the analyser turns it into a Filter.
type Qualify struct {
	Cond  Expr
	Child Node
}

// Sort orders rows, globally or within partitions.
type Sort struct {
	Orders []*SortOrder
	Global bool
	Child  Node
	Origin Origin
}

// Limit keeps the first N rows.
type Limit struct {
	N      Expr
	Child  Node
	Origin Origin
}

// Offset drops the first N rows.
type Offset struct {
	N      Expr
	Child  Node
	Origin Origin
}

// Tail keeps the last N rows.
type Tail struct {
	N     int64
	Child Node
}

// Distinct drops equal rows.
type Distinct struct {
	Child  Node
	Origin Origin
}

// Dedup drops rows that are equal in Keys; without keys, in all columns.
type Dedup struct {
	Keys            []Expr
	AllColumns      bool
	WithinWatermark bool
	Child           Node
}

// Aliased gives a relation a name and, where Columns is set, new column names.
type Aliased struct {
	Name    string
	Columns []string
	Child   Node
	Origin  Origin
	// Path is the qualified name of a table, which ends with Name; nil for any other relation.
	Path []string
	// Def is the common table expression that it is a reference to, or 0.
	Def ID
}

// With defines common table expressions for Child.
type With struct {
	Names     []string
	Plans     []Node
	Recursive bool
	// Levels are the MAX RECURSION LEVEL of each, 0 for none; nil when none has one.
	Levels []int64
	// Frames is set when the plans are DataFrames that a program has named: all references to one share its columns.
	Frames bool
	Child  Node
	Origin Origin
}

// Watermark marks column Col (resolved: an *Attr) as event time with a delay.
type Watermark struct {
	Col   Expr
	Delay types.Interval
	// DelayText is the delay as given, for messages.
	DelayText string
	Child     Node
	// ID tells watermark operators apart: two uses of one DataFrame have one watermark.
	ID ID
}

// Expand emits each row once for each of Lists.
type Expand struct {
	Lists [][]Expr
	Out   []*Attr
	Child Node
}

// Generate joins each row with the rows that a generator makes of it.
type Generate struct {
	Gen       Expr
	Outer     bool
	Qualifier string
	Out       []*Attr // generated columns
	Names     []string
	Child     Node
	Origin    Origin
}

// Sample keeps a random part of the rows.
type Sample struct {
	Lo, Hi          float64
	WithReplacement bool
	// Ordered sorts the rows of each partition first, by all columns that have an order, so that samples of the same rows fit together.
	Ordered bool
	Seed    int64
	Child   Node
}

// Repartition deals rows out to N partitions, or as many as there are after an exchange if N is 0: by the hash of Keys, by their order if they
// are SortOrders, by the number that the only key is if ByNumber is set, in turn if there are none. Without Shuffle partitions are only joined.
type Repartition struct {
	N        int
	Shuffle  bool
	Keys     []Expr
	ByNumber bool
	Joined   bool // partitions are joined while they are small, even if N says how many there are
	Child    Node
}

// Hint is a plan hint.
type Hint struct {
	Name  string
	Args  []Expr
	Child Node
}

// Aside marks a place where whole rows may have to leave the query beside its result: those that are late for the operator above. Its
// input is not pruned. It is put into the plans of streaming queries that ask for it.
type Aside struct {
	// Time is the event time by which rows are late.
	Time  Expr
	Child Node
	ID    ID
}

// Sieve marks a place where rows leave the query for which an expression of the node above fails. Its input is not pruned. It is put into the
// plans of streaming queries that ask for it.
type Sieve struct {
	// Tests are the expressions.
	Tests []Expr
	// File is the column that tells the file a row comes from, a field of _metadata, or nil.
	File  Expr
	Child Node
	ID    ID
}

// Observe collects named aggregates over the rows that pass.
type Observe struct {
	Name  string
	Aggs  []Expr
	Child Node
}

// WindowFuncs computes Cols (aliased Over calls) beside the child's columns.
type WindowFuncs struct {
	Cols  []Expr
	Child Node
}

// ---- more children

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds of join.
const (
	Inner JoinKind = iota
	Cross
	LeftOuter
	RightOuter
	FullOuter
	LeftSemi
	LeftAnti
	// Existence gives every row of the left side with a column, Mark, that tells whether it has a partner.
	Existence
)

// Join joins two relations.
type Join struct {
	Left, Right Node
	Kind        JoinKind
	Cond        Expr // nil: no condition
	Using       []string
	Natural     bool
	Lateral     bool
	Mark        *Attr // Existence
	Origin      Origin
}

// SetKind is a set operation.
type SetKind uint8

// The set operations other than union.
const (
	Intersect SetKind = iota
	Except
)

// SetOp is INTERSECT or EXCEPT.
type SetOp struct {
	Kind        SetKind
	All         bool
	Left, Right Node
	Origin      Origin
}

// Union concatenates relations. SQL's UNION is a Distinct over it.
type Union struct {
	Inputs       []Node
	ByName       bool
	AllowMissing bool
	// Out are the resolved columns: names of the first input, merged types and nullability.
	Out    []*Attr
	Origin Origin
}

// Clock are the values that a micro-batch's plan depends on besides its data.
type Clock struct {
	Now  time.Time
	Zone *time.Location
}
