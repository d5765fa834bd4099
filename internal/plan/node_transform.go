package plan

import "github.com/millrace/millrace/internal/processor"

// TransformGroups runs a stateful processor over groups of rows.
type TransformGroups struct {
	Keys  []Expr
	Child Node
	// Processor is the program's; Program is what it becomes once it is known to fit the columns.
	Processor processor.Processor
	Program   processor.Program
	// Name is the processor's, for trees.
	Name       string
	Out        []*Attr
	TimeMode   processor.TimeMode
	OutputMode string
	// EventTime names the column of Out that is event time for the operators above, or is "".
	EventTime string
	// Initial are rows that fill the state when the query first starts, grouped by InitialKeys; nil for none.
	Initial     Node
	InitialKeys []Expr
}

// Children implements Node.
func (n *TransformGroups) Children() []Node {
	if n.Initial != nil {
		return []Node{n.Child, n.Initial}
	}
	return []Node{n.Child}
}

// WithChildren implements Node.
func (n *TransformGroups) WithChildren(c []Node) Node {
	t := *n
	t.Child = c[0]
	if n.Initial != nil {
		t.Initial = c[1]
	}
	return &t
}

// Exprs implements Node: the keys of the rows, then those of the initial state.
func (n *TransformGroups) Exprs() []Expr {
	if len(n.InitialKeys) == 0 {
		return n.Keys
	}
	return append(append(make([]Expr, 0, len(n.Keys)+len(n.InitialKeys)), n.Keys...), n.InitialKeys...)
}

// WithExprs implements Node.
func (n *TransformGroups) WithExprs(exprs []Expr) Node {
	t := *n
	t.Keys, t.InitialKeys = exprs[:len(n.Keys):len(n.Keys)], exprs[len(n.Keys):]
	return &t
}

// Output implements Node.
func (n *TransformGroups) Output() []*Attr { return n.Out }

// Label implements Node.
func (n *TransformGroups) Label() string {
	return "TransformWithState " + treeList(n.Keys) + ", " + n.Name + ", " + n.TimeMode.String()
}

// Streaming implements Node.
func (n *TransformGroups) Streaming() bool { return n.Child.Streaming() }
