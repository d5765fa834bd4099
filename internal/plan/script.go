package plan

// Script is BEGIN ... END: statements that run one after the other. Its rows are those of the last query that ran.
type Script struct{ Body *Block }

// Block is a compound statement. Its variables are gone when it ends.
type Block struct {
	Label    string
	Handlers []*Handler
	Body     []Statement
}

// Handler is what to do about errors of a block's statements.
type Handler struct {
	Continue   bool     // go on behind the statement; otherwise leave the block
	Conditions []string // in upper case
	States     []string
	Exceptions bool // SQLEXCEPTION
	NotFound   bool
	Body       Statement
}

// Branch is a condition with the statements that run when it holds. Text is the condition as written.
type Branch struct {
	Cond Expr
	Text string
	Body []Statement
}

// If is IF and CASE WHEN.
type If struct {
	Branches []Branch
	Else     []Statement
}

// Case is CASE value WHEN; the conditions of its branches are values to compare with.
type Case struct {
	Value    Expr
	Branches []Branch
	Else     []Statement
}

// Loop repeats statements: while a condition holds, until one does (Until), or for ever when there is none.
type Loop struct {
	Label string
	Until bool
	Branch
}

// For runs statements for each row of a query. The row's columns are variables, Variable their label.
type For struct {
	Label    string
	Variable string // "" for none
	Query    Node
	Body     []Statement
}

// Leave ends the block or loop of a label, Iterate begins the next round of a loop.
type (
	Leave   struct{ Label string }
	Iterate struct{ Label string }
)

// Deferred is a statement that can be read only when it runs, as it has names in variables. At is where it begins in the text.
type Deferred struct {
	Text string
	At   int
}

func (*Script) statement()   {}
func (*Block) statement()    {}
func (*If) statement()       {}
func (*Case) statement()     {}
func (*Loop) statement()     {}
func (*For) statement()      {}
func (*Leave) statement()    {}
func (*Iterate) statement()  {}
func (*Deferred) statement() {}
