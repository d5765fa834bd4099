package plan

// Children implements Node.
func (n *Named) Children() []Node { return nil }

// WithChildren implements Node.
func (n *Named) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *Named) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Named) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Named) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *Named) Streaming() bool { return n.Stream }

// Children implements Node.
func (n *TableFunc) Children() []Node { return nil }

// WithChildren implements Node.
func (n *TableFunc) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *TableFunc) Exprs() []Expr { return n.Args }

// WithExprs implements Node.
func (n *TableFunc) WithExprs(exprs []Expr) Node {
	c := *n
	c.Args = exprs
	return &c
}

// Output implements Node.
func (n *TableFunc) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *TableFunc) Streaming() bool { return false }

// Children implements Node.
func (n *Read) Children() []Node { return nil }

// WithChildren implements Node.
func (n *Read) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *Read) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Read) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Read) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *Read) Streaming() bool { return n.Stream }

// Children implements Node.
func (n *Local) Children() []Node { return nil }

// WithChildren implements Node.
func (n *Local) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *Local) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Local) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Local) Output() []*Attr { return n.Out }

// Streaming implements Node.
func (n *Local) Streaming() bool { return false }

// Children implements Node.
func (n *Range) Children() []Node { return nil }

// WithChildren implements Node.
func (n *Range) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *Range) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Range) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Range) Output() []*Attr { return n.Out }

// Streaming implements Node.
func (n *Range) Streaming() bool { return false }

// Children implements Node.
func (n *OneRow) Children() []Node { return nil }

// WithChildren implements Node.
func (n *OneRow) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *OneRow) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *OneRow) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *OneRow) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *OneRow) Streaming() bool { return false }

// Children implements Node.
func (n *Scan) Children() []Node { return nil }

// WithChildren implements Node.
func (n *Scan) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *Scan) Exprs() []Expr { return n.Filters }

// WithExprs implements Node.
func (n *Scan) WithExprs(exprs []Expr) Node {
	c := *n
	c.Filters = exprs
	return &c
}

// Output implements Node.
func (n *Scan) Output() []*Attr { return n.Out }

// Streaming implements Node.
func (n *Scan) Streaming() bool { return n.Stream }

// Children implements Node.
func (n *Kept) Children() []Node { return nil }

// WithChildren implements Node.
func (n *Kept) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *Kept) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *Kept) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *Kept) Output() []*Attr { return n.Out }

// Streaming implements Node.
func (n *Kept) Streaming() bool { return false }

// Children implements Node.
func (n *CachedRemote) Children() []Node { return nil }

// WithChildren implements Node.
func (n *CachedRemote) WithChildren(c []Node) Node { return noChildren(n, c) }

// Exprs implements Node.
func (n *CachedRemote) Exprs() []Expr { return nil }

// WithExprs implements Node.
func (n *CachedRemote) WithExprs([]Expr) Node { return n }

// Output implements Node.
func (n *CachedRemote) Output() []*Attr { return nil }

// Streaming implements Node.
func (n *CachedRemote) Streaming() bool { return false }
