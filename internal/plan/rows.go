package plan

import (
	"fmt"
	"strings"
)

// Values are the rows of VALUES before their types were made one. Each row has the same number of expressions; the columns are
// called col1, col2, ...
type Values struct {
	Rows   [][]Expr
	Origin Origin
}

// Unpivot turns columns into rows: for each row of Child and each of Values a row of the identifying columns, the name of what
// was unpivoted and its values.
type Unpivot struct {
	IDs []Expr
	// ImplicitIDs is set for SQL's UNPIVOT, whose identifying columns are all that Values do not mention.
	ImplicitIDs bool
	// Values are the columns of each output row; each has as many as ValueNames. Nil means all columns that are not IDs.
	Values       [][]Expr
	Aliases      []string // nil, or one for each of Values: the name to use instead of the columns'; "" for none
	VariableName string
	ValueNames   []string
	// IncludeNulls keeps rows whose values are all null.
	IncludeNulls bool
	Child        Node
	Origin       Origin
}

// Children implements Node.
func (n *Values) Children() []Node { return nil }

// WithChildren implements Node.
func (n *Values) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *Values) Exprs() []Expr { return join(n.Rows...) }

// WithExprs implements Node.
func (n *Values) WithExprs(exprs []Expr) Node {
	return &Values{Rows: split(exprs, n.Rows), Origin: n.Origin}
}

// split cuts a list into parts as long as those of like.
func split(list []Expr, like [][]Expr) [][]Expr {
	t := taker{list}
	out := make([][]Expr, len(like))
	for i, l := range like {
		out[i] = t.take(len(l))
	}
	return out
}

// Output implements Node; the columns are known only after analysis.
func (n *Values) Output() []*Attr { return nil }

// Label implements Node.
func (n *Values) Label() string { return fmt.Sprintf("UnresolvedInlineTable [%d rows]", len(n.Rows)) }

// Streaming implements Node.
func (n *Values) Streaming() bool { return false }

// Children implements Node.
func (n *Unpivot) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *Unpivot) WithChildren(c []Node) Node {
	u := *n
	u.Child = c[0]
	return &u
}

// Exprs implements Node.
func (n *Unpivot) Exprs() []Expr { return join(n.IDs, join(n.Values...)) }

// WithExprs implements Node.
func (n *Unpivot) WithExprs(exprs []Expr) Node {
	u := *n
	u.IDs = exprs[:len(n.IDs):len(n.IDs)]
	if n.Values != nil {
		u.Values = split(exprs[len(n.IDs):], n.Values)
	}
	return &u
}

// Output implements Node; the columns are known only after analysis.
func (n *Unpivot) Output() []*Attr { return nil }

// Label implements Node.
func (n *Unpivot) Label() string {
	return fmt.Sprintf("Unpivot %s, %s, [%s]", treeList(n.IDs), n.VariableName, strings.Join(n.ValueNames, ", "))
}

// Streaming implements Node.
func (n *Unpivot) Streaming() bool { return n.Child.Streaming() }
