package plan

import "github.com/millrace/millrace/types"

// same tells whether two lists hold the same elements, so that rebuilding can be left out.
func same[T comparable](a, b []T) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// MapChildren returns the node over children changed by f; the node itself when f changed none.
func MapChildren(n Node, f func(Node) (Node, error)) (Node, error) {
	old := n.Children()
	if len(old) == 0 {
		return n, nil
	}
	children := make([]Node, len(old))
	for i, c := range old {
		var err error
		if children[i], err = f(c); err != nil {
			return nil, err
		}
	}
	if same(old, children) {
		return n, nil
	}
	return n.WithChildren(children), nil
}

// MapExprs returns the node with each of its expressions replaced by f; the node itself when f changed none.
func MapExprs(n Node, f func(Expr) (Expr, error)) (Node, error) {
	old := n.Exprs()
	exprs, err := mapList(old, f)
	if err != nil {
		return nil, err
	}
	if same(old, exprs) {
		return n, nil
	}
	return n.WithExprs(exprs), nil
}

func mapList(old []Expr, f func(Expr) (Expr, error)) ([]Expr, error) {
	if len(old) == 0 {
		return nil, nil
	}
	exprs := make([]Expr, len(old))
	for i, e := range old {
		var err error
		if exprs[i], err = f(e); err != nil {
			return nil, err
		}
	}
	return exprs, nil
}

// MapKids returns the expression over operands changed by f; the expression itself when f changed none.
func MapKids(e Expr, f func(Expr) (Expr, error)) (Expr, error) {
	old := e.Kids()
	if len(old) == 0 {
		return e, nil
	}
	kids, err := mapList(old, f)
	if err != nil {
		return nil, err
	}
	if same(old, kids) {
		return e, nil
	}
	return e.WithKids(kids), nil
}

// Transform rewrites a tree from the root down: f sees a node before its children, and the children of what it returned.
func Transform(n Node, f func(Node) (Node, error)) (Node, error) {
	n, err := f(n)
	if err != nil {
		return nil, err
	}
	return MapChildren(n, func(c Node) (Node, error) { return Transform(c, f) })
}

// TransformUp rewrites a tree from the leaves up: f sees a node over its rewritten children.
func TransformUp(n Node, f func(Node) (Node, error)) (Node, error) {
	n, err := MapChildren(n, func(c Node) (Node, error) { return TransformUp(c, f) })
	if err != nil {
		return nil, err
	}
	return f(n)
}

// TransformExpr rewrites an expression from the root down.
func TransformExpr(e Expr, f func(Expr) (Expr, error)) (Expr, error) {
	e, err := f(e)
	if err != nil {
		return nil, err
	}
	return MapKids(e, func(k Expr) (Expr, error) { return TransformExpr(k, f) })
}

// TransformExprUp rewrites an expression from the leaves up.
func TransformExprUp(e Expr, f func(Expr) (Expr, error)) (Expr, error) {
	e, err := MapKids(e, func(k Expr) (Expr, error) { return TransformExprUp(k, f) })
	if err != nil {
		return nil, err
	}
	return f(e)
}

// Walk calls f for a node and, where f returns true, for its children, in order.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	for _, c := range n.Children() {
		Walk(c, f)
	}
}

// WalkExpr calls f for an expression and, where f returns true, for its operands, in order.
func WalkExpr(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	for _, k := range e.Kids() {
		WalkExpr(k, f)
	}
}

// Exists tells whether p holds for the expression or anything in it.
func Exists(e Expr, p func(Expr) bool) bool {
	found := false
	WalkExpr(e, func(e Expr) bool {
		found = found || p(e)
		return !found
	})
	return found
}

// IDSet is a set of columns.
type IDSet map[ID]struct{}

// Has tells whether the set holds a column.
func (s IDSet) Has(id ID) bool {
	_, ok := s[id]
	return ok
}

// AddAll adds the columns that an expression uses.
func (s IDSet) AddAll(e Expr) {
	WalkExpr(e, func(e Expr) bool {
		if a, ok := e.(*Attr); ok {
			s[a.ID] = struct{}{}
		}
		return true
	})
}

// References are the columns that expressions use. Those of a subquery's plan are not among them.
func References(exprs ...Expr) IDSet {
	s := IDSet{}
	for _, e := range exprs {
		s.AddAll(e)
	}
	return s
}

// OutputSet are the columns of a relation.
func OutputSet(n Node) IDSet {
	out := n.Output()
	s := make(IDSet, len(out))
	for _, a := range out {
		s[a.ID] = struct{}{}
	}
	return s
}

// Within tells whether the expression uses columns of the set only.
func (s IDSet) Within(e Expr) bool {
	return !Exists(e, func(e Expr) bool {
		a, ok := e.(*Attr)
		return ok && !s.Has(a.ID)
	})
}

// Conjuncts splits a condition at its ANDs.
func Conjuncts(e Expr) []Expr {
	if c, ok := e.(*Cond); ok && c.Op == OpAnd {
		return append(Conjuncts(c.Args[0]), Conjuncts(c.Args[1])...)
	}
	if e == nil {
		return nil
	}
	return []Expr{e}
}

// Trim removes aliases from the top of an expression.
func Trim(e Expr) Expr {
	for {
		a, ok := e.(*Alias)
		if !ok {
			return e
		}
		e = a.Child
	}
}

// And is the conjunction of resolved conditions, the reverse of Conjuncts. A nil condition says nothing, and is the result if
// there is no other.
func And(conds ...Expr) Expr {
	var all Expr
	for _, c := range conds {
		switch {
		case all == nil:
			all = c
		case c != nil:
			nullable := all.(Typed).Nullable() || c.(Typed).Nullable()
			all = &Cond{Op: OpAnd, Args: []Expr{all, c}, T: types.Boolean, Null: nullable, Name: "and"}
		}
	}
	return all
}

// GroupDistinct replaces each DISTINCT over a stream by the grouping that it is: output modes and the watermark treat the two alike.
func GroupDistinct(n Node) (Node, error) {
	return TransformUp(n, func(n Node) (Node, error) {
		d, ok := n.(*Distinct)
		if !ok || !d.Streaming() {
			return n, nil
		}
		a := &Aggregate{Child: d.Child}
		for _, attr := range d.Child.Output() {
			a.Keys, a.Aggs = append(a.Keys, attr), append(a.Aggs, attr)
		}
		return a, nil
	})
}
