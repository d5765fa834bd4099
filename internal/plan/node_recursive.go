package plan

import "slices"

// Recursive is a common table expression that refers to itself: the rows of Anchor, then those that Step makes of them, then those that
// Step makes of those, until it makes none.
type Recursive struct {
	ID           ID
	Name         string
	Anchor, Step Node
	Out          []*Attr
	// Levels bounds how often Step runs, Rows how many rows there may be; negative numbers are no bound.
	Levels, Rows int64
}

// RecursiveRef stands in a Step for the rows of the level before. ID is that of its Recursive.
type RecursiveRef struct {
	ID   ID
	Name string
	Out  []*Attr
}

// Children implements Node.
func (n *Recursive) Children() []Node { return []Node{n.Anchor, n.Step} }

// WithChildren implements Node.
func (n *Recursive) WithChildren(c []Node) Node {
	r := *n
	r.Anchor, r.Step = c[0], c[1]
	return &r
}

// Exprs implements Node.
func (n *Recursive) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Recursive) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Recursive) Output() []*Attr { return n.Out }

// Label implements Node.
func (n *Recursive) Label() string { return "UnionLoop " + n.Name }

// Streaming implements Node.
func (n *Recursive) Streaming() bool { return anyStreaming(n.Anchor, n.Step) }

// Children implements Node.
func (n *RecursiveRef) Children() []Node { return nil }

// WithChildren implements Node.
func (n *RecursiveRef) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *RecursiveRef) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *RecursiveRef) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *RecursiveRef) Output() []*Attr { return n.Out }

// Label implements Node.
func (n *RecursiveRef) Label() string { return "UnionLoopRef " + n.Name }

// Streaming implements Node.
func (n *RecursiveRef) Streaming() bool { return false }

// Refers tells whether a plan uses the rows of a Recursive's level, outside of the expressions in it.
func Refers(n Node, id ID) bool {
	if r, ok := n.(*RecursiveRef); ok && r.ID == id {
		return true
	}
	return slices.ContainsFunc(n.Children(), func(c Node) bool { return Refers(c, id) })
}
