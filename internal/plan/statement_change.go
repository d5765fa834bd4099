package plan

// Assignment gives a column, or a field of one, a value.
type Assignment struct {
	Column []string
	// Value is nil for DEFAULT.
	Value  Expr
	Origin Origin
}

// Delete removes the rows of a table that meet a condition.
type Delete struct {
	Table Node // a Named, perhaps Aliased
	Cond  Expr // nil: all rows
}

// Update changes the rows of a table that meet a condition.
type Update struct {
	Table Node
	Set   []Assignment
	Cond  Expr
}

// Merge brings the rows of a source into a table.
type Merge struct {
	Target, Source Node
	On             Expr
	// Evolve adds the source's columns that the table lacks.
	Evolve bool
	// The clauses in the order in which they are tried: for rows that match, for rows of the source without a match, and for rows of
	// the table without one.
	Matched, NotMatched, NotBySource []MergeClause
}

// MergeAction is what a clause of MERGE does.
type MergeAction uint8

// The actions.
const (
	MergeUpdate MergeAction = iota
	MergeDelete
	MergeInsert
)

// MergeClause is a WHEN of MERGE.
type MergeClause struct {
	Cond   Expr // nil: always
	Action MergeAction
	// Star is UPDATE SET * or INSERT *; otherwise Set has the assignments.
	Star bool
	Set  []Assignment
	// Origin is the place of the clause.
	Origin Origin
}

// Vacuum deletes files that no version of a table needs any more.
type Vacuum struct {
	Table Node
	// Hours is how far back versions are kept; nil for the table's own rule.
	Hours  *float64
	DryRun bool
}

// DescribeHistory lists the versions of a table, the newest first.
type DescribeHistory struct {
	Table Node
	Limit int // 0: all
}

// DescribeDetail tells what a table's log knows of it.
type DescribeDetail struct{ Table Node }

// Optimize puts small files together. With Purge it only rewrites files that have deleted rows, without these.
type Optimize struct {
	Table  Node
	Where  Expr
	ZOrder [][]string
	Purge  bool
}

// Restore brings a table back to an earlier version.
type Restore struct {
	Table Node
	To    TimeTravel
}

// AddConstraint has a table check a condition on all rows.
type AddConstraint struct {
	Table Node
	Name  string
	Check Expr
	Text  string // the condition as written
}

// DropConstraint takes a check off a table.
type DropConstraint struct {
	Table    Node
	Name     string
	IfExists bool
}

func (*Delete) statement()          {}
func (*Update) statement()          {}
func (*Merge) statement()           {}
func (*Vacuum) statement()          {}
func (*DescribeHistory) statement() {}
func (*DescribeDetail) statement()  {}
func (*Optimize) statement()        {}
func (*Restore) statement()         {}
func (*AddConstraint) statement()   {}
func (*DropConstraint) statement()  {}
