package plan

import "slices"

// Children implements Node.
func (n *Join) Children() []Node { return []Node{n.Left, n.Right} }

// WithChildren implements Node.
func (n *Join) WithChildren(c []Node) Node {
	j := *n
	j.Left, j.Right = c[0], c[1]
	return &j
}

// Exprs implements Node.
func (n *Join) Exprs() []Expr { return opt(n.Cond) }

// WithExprs implements Node.
func (n *Join) WithExprs(exprs []Expr) Node {
	if n.Cond == nil {
		return n
	}
	j := *n
	j.Cond = exprs[0]
	return &j
}

// Output implements Node.
func (n *Join) Output() []*Attr {
	left := n.Left.Output()
	switch n.Kind {
	case LeftSemi, LeftAnti:
		return left
	case Existence:
		return append(slices.Clone(left), n.Mark)
	case LeftOuter:
		return slices.Concat(left, nullable(n.Right.Output()))
	case RightOuter:
		return slices.Concat(nullable(left), n.Right.Output())
	case FullOuter:
		return slices.Concat(nullable(left), nullable(n.Right.Output()))
	}
	return slices.Concat(left, n.Right.Output())
}

// Streaming implements Node.
func (n *Join) Streaming() bool { return anyStreaming(n.Left, n.Right) }

// Children implements Node.
func (n *SetOp) Children() []Node { return []Node{n.Left, n.Right} }

// WithChildren implements Node.
func (n *SetOp) WithChildren(c []Node) Node {
	s := *n
	s.Left, s.Right = c[0], c[1]
	return &s
}

// Exprs implements Node.
func (n *SetOp) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *SetOp) WithExprs([]Expr) Node { return n }

// Output implements Node: the left side's columns. What INTERSECT keeps is null only where both sides may be.
func (n *SetOp) Output() []*Attr {
	left := n.Left.Output()
	if n.Kind == Except {
		return left
	}
	right := n.Right.Output()
	out := make([]*Attr, len(left))
	for i, a := range left {
		if a.Null && i < len(right) && !right[i].Null {
			c := *a
			c.Null, a = false, &c
		}
		out[i] = a
	}
	return out
}

// Streaming implements Node.
func (n *SetOp) Streaming() bool { return anyStreaming(n.Left, n.Right) }

// Children implements Node.
func (n *Union) Children() []Node { return n.Inputs }

// WithChildren implements Node.
func (n *Union) WithChildren(c []Node) Node {
	u := *n
	u.Inputs = c
	return &u
}

// Exprs implements Node.
func (n *Union) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Union) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Union) Output() []*Attr { return n.Out }

// Streaming implements Node.
func (n *Union) Streaming() bool { return anyStreaming(n.Inputs...) }
