package plan

import "fmt"

// NearestJoin gives each row of the left side the N rows of the right one that come first by Rank, as the text of a query says it; rows with
// null ranks do not count. The analyser makes a Join and TopRows of it.
type NearestJoin struct {
	Left, Right Node
	Outer       bool // left rows without any come out as well
	N           int
	Rank        Expr
	Desc        bool
	// AsOf, when not nil, stands for Rank.
	AsOf   *AsOf
	Origin Origin
}

// AsOf is the nearest row in time, or by any other number.
type AsOf struct {
	Left, Right, Tolerance Expr
	On                     Expr
	Using                  []string
	Direction              Direction
	Strict                 bool // equal times do not match
}

// Direction says where an as-of join looks.
type Direction uint8

// The directions.
const (
	Backward Direction = iota
	Forward
	Nearest
)

// Children implements Node.
func (n *NearestJoin) Children() []Node { return []Node{n.Left, n.Right} }

// WithChildren implements Node.
func (n *NearestJoin) WithChildren(c []Node) Node {
	j := *n
	j.Left, j.Right = c[0], c[1]
	return &j
}

// Exprs implements Node.
func (n *NearestJoin) Exprs() []Expr {
	if n.AsOf == nil {
		return opt(n.Rank)
	}
	return join(opt(n.AsOf.Left), opt(n.AsOf.Right), opt(n.AsOf.Tolerance), opt(n.AsOf.On))
}

// WithExprs implements Node.
func (n *NearestJoin) WithExprs(exprs []Expr) Node {
	j, t := *n, taker{exprs}
	if n.AsOf == nil {
		j.Rank = t.opt(n.Rank)
		return &j
	}
	a := *n.AsOf
	a.Left, a.Right, a.Tolerance, a.On = t.opt(a.Left), t.opt(a.Right), t.opt(a.Tolerance), t.opt(a.On)
	j.AsOf = &a
	return &j
}

// Output implements Node.
func (n *NearestJoin) Output() []*Attr { return append(n.Left.Output(), n.Right.Output()...) }

// Streaming implements Node.
func (n *NearestJoin) Streaming() bool { return n.Left.Streaming() || n.Right.Streaming() }

// Label implements Node.
func (n *NearestJoin) Label() string {
	if n.AsOf != nil {
		return "AsOfJoin"
	}
	return fmt.Sprintf("NearestByJoin %d", n.N)
}

// TopRows keeps, of rows that follow each other and have the same Key, the first N by Order; of equal ones the first, or the last with Last.
type TopRows struct {
	Key   *Attr
	Order *SortOrder
	N     int
	Last  bool
	// Ranked drops rows with a null in Order.
	Ranked bool
	Child  Node
}

// Children implements Node.
func (n *TopRows) Children() []Node { return []Node{n.Child} }

// WithChildren implements Node.
func (n *TopRows) WithChildren(c []Node) Node {
	t := *n
	t.Child = c[0]
	return &t
}

// Exprs implements Node.
func (n *TopRows) Exprs() []Expr { return []Expr{n.Key, n.Order} }

// WithExprs implements Node.
func (n *TopRows) WithExprs(exprs []Expr) Node {
	t := *n
	t.Key, t.Order = exprs[0].(*Attr), exprs[1].(*SortOrder)
	return &t
}

// Output implements Node.
func (n *TopRows) Output() []*Attr { return n.Child.Output() }

// Streaming implements Node.
func (n *TopRows) Streaming() bool { return n.Child.Streaming() }

// Label implements Node.
func (n *TopRows) Label() string {
	return fmt.Sprintf("TopRows %d of each %s by %s", n.N, n.Key.SQL(), n.Order.SQL())
}
