package plan

import (
	"time"

	"github.com/millrace/millrace/types"
)

// DeclareVariable makes session variables of one type and first value.
type DeclareVariable struct {
	Names   []TableName
	Replace bool
	Type    types.DataType // nil: that of Default
	Default Expr           // nil: NULL
	Text    string         // Default as written
	Origin  Origin
}

// SetVariable gives variables values: each its own of Values, or those of Query's one row.
type SetVariable struct {
	Names  []TableName
	Values []Expr // a *Default for the value of the declaration
	Query  Node
	Origin Origin
}

// DropVariable removes a session variable.
type DropVariable struct {
	Name     []string
	IfExists bool
}

// ExecuteImmediate runs the statement that an expression gives as text.
type ExecuteImmediate struct {
	Text  Expr
	Into  []TableName
	Using []Expr // an *Alias for a named parameter
}

// Parameter is a parameter of a function written in SQL.
type Parameter struct {
	Name    string
	Type    types.DataType
	Default Expr // nil: the argument must be given
	Comment string
}

// Routine is a function written in SQL: of values when Body is set, of tables when Query is.
type Routine struct {
	Name    []string
	Params  []Parameter
	Returns types.DataType    // nil: that of Body
	Columns *types.StructType // of a table function; nil: those of Query
	Body    Expr
	Query   Node
	Comment string
	Text    string // of the body
	Class   string // of a function that is a class of the JVM, which has a name and nothing else here

	Language string            // "" for SQL
	Varies   bool              // NOT DETERMINISTIC
	Reads    bool              // READS SQL DATA
	Conf     map[string]string // what was set when the function was made, for DESCRIBE
	Created  time.Time
}

// CreateFunction makes a function written in SQL.
type CreateFunction struct {
	Routine     Routine
	Temp        bool
	Replace     bool
	IfNotExists bool
}

// DropFunction removes a function.
type DropFunction struct {
	Name     []string
	Temp     bool
	IfExists bool
}

func (*DeclareVariable) statement()  {}
func (*SetVariable) statement()      {}
func (*DropVariable) statement()     {}
func (*ExecuteImmediate) statement() {}
func (*CreateFunction) statement()   {}
func (*DropFunction) statement()     {}
