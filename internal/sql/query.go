package sql

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// query reads a query: common table expressions, a query term and what orders and limits it.
func (p *parser) query() plan.Node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	if !p.is("WITH") || !isName(p.peekAt(1)) {
		p.openWindows()
		return p.queryEnd(p.setTerm(0))
	}
	from := p.pos
	return p.withBody(from, p.ctes())
}

// withBody reads the query behind common table expressions.
func (p *parser) withBody(from int, w *plan.With) plan.Node {
	p.openWindows()
	w.Child = p.queryEnd(p.setTerm(0))
	p.checkCTENames(from, w.Names)
	w.Origin = p.origin(from)
	return w
}

// queryFrom reads the rest of a query whose first term, in brackets, was read already.
func (p *parser) queryFrom(first plan.Node) plan.Node {
	p.openWindows()
	return p.queryEnd(p.setTail(p.pos, first, 0))
}

// queryGoesOn tells whether the next word continues a query behind a closing bracket.
func (p *parser) queryGoesOn() bool {
	switch p.peek().up {
	case "UNION", "EXCEPT", "INTERSECT", "MINUS", "SETMINUS":
		next := p.peekAt(1)
		return next.up == "ALL" || next.up == "DISTINCT" || p.queryAt(1)
	case "ORDER", "SORT", "CLUSTER", "DISTRIBUTE":
		return p.peekAt(1).up == "BY"
	case "LIMIT", "OFFSET":
		next := p.peekAt(1)
		return next.kind != eof && next.kind != symbol || next.up == "(" || next.up == ":" || next.up == "?"
	case "|>":
		return true
	}
	return false
}

// ctes reads WITH and the definitions behind it.
func (p *parser) ctes() *plan.With {
	p.expect("WITH")
	w := &plan.With{}
	if p.is("RECURSIVE") && isName(p.peekAt(1)) && p.peekAt(1).up != "AS" {
		p.take()
		w.Recursive = true
	}
	for {
		from := p.pos
		name := p.name()
		var columns []string
		if p.is("(") {
			columns = p.nameList()
		}
		var levels int64
		if p.accept("MAX", "RECURSION", "LEVEL") {
			levels = p.wholeNumber()
		}
		p.accept("AS")
		p.expect("(")
		q := p.query()
		p.expect(")")
		if columns != nil {
			q = &plan.Aliased{Name: name, Columns: columns, Child: q, Origin: p.origin(from)}
		}
		if levels != 0 && w.Levels == nil {
			w.Levels = make([]int64, len(w.Names))
		}
		if w.Levels != nil {
			w.Levels = append(w.Levels, levels)
		}
		w.Names = append(w.Names, name)
		w.Plans = append(w.Plans, q)
		if !p.accept(",") {
			return w
		}
	}
}

// wholeNumber reads an INTEGER literal without a sign.
func (p *parser) wholeNumber() int64 {
	from := p.pos
	if l, ok := p.number().(*plan.Literal); ok {
		if v, ok := l.Value.(int32); ok && p.toks[from].kind == integer {
			return int64(v)
		}
	}
	p.pos = from
	p.unexpected()
	return 0
}

func (p *parser) checkCTENames(from int, names []string) {
	seen := map[string]bool{}
	var twice []string
	for _, n := range names {
		key := strings.ToLower(n)
		if seen[key] {
			twice = append(twice, errclass.Ident(n))
		}
		seen[key] = true
	}
	if twice != nil {
		p.failFrom(from, errclass.New("DUPLICATED_CTE_NAMES", "duplicateNames", strings.Join(twice, ", ")))
	}
}

// queryEnd reads what may stand behind a query term, and closes the query's scope of windows.
func (p *parser) queryEnd(n plan.Node) plan.Node {
	n = p.organization(n)
	p.closeWindows()
	return n
}

// setBind is how tight a set operation binds, or 0 for a word that is none.
func (p *parser) setBind() int {
	next := p.peekAt(1)
	switch p.peek().up {
	case "UNION", "EXCEPT", "MINUS", "SETMINUS":
		if next.up == "ALL" || next.up == "DISTINCT" || p.queryAt(1) {
			return 1
		}
	case "INTERSECT":
		if next.up == "ALL" || next.up == "DISTINCT" || p.queryAt(1) {
			return 2
		}
	}
	return 0
}

// setTerm reads a query term whose set operations bind tighter than least.
func (p *parser) setTerm(least int) plan.Node {
	from := p.pos
	return p.setTail(from, p.queryPrimary(), least)
}

// setTail reads the set operations behind a term that begins at token from, and pipes, which work on all that stands before them.
func (p *parser) setTail(from int, left plan.Node, least int) plan.Node {
	for {
		if least == 0 && p.is("|>") {
			left = p.pipe(from, left)
			continue
		}
		bind := p.setBind()
		if bind <= least {
			return left
		}
		left = p.setOp(left, func() plan.Node { return p.setTerm(bind) })
		p.place(left, from)
	}
}

// place notes that a node was written from token from up to here.
func (p *parser) place(n plan.Node, from int) {
	o := p.origin(from)
	switch n := n.(type) {
	case *plan.Distinct:
		n.Origin = o
		if u, ok := n.Child.(*plan.Union); ok {
			u.Origin = o
		}
	case *plan.Union:
		n.Origin = o
	case *plan.SetOp:
		n.Origin = o
	case *plan.Project:
		n.Origin = o
	case *plan.Aggregate:
		n.Origin = o
	case *plan.Having:
		n.Origin = o
		p.place(n.Child, from)
	case *plan.Filter:
		n.Origin = o
	case *plan.Join:
		n.Origin = o
	case *plan.Generate:
		n.Origin = o
	}
}

// setOp reads a set operator and its quantifier, and builds the operation with the right side that right reads.
func (p *parser) setOp(left plan.Node, right func() plan.Node) plan.Node {
	op := p.take().up
	all := p.accept("ALL")
	if !all {
		p.accept("DISTINCT")
	}
	byName := op == "UNION" && p.accept("BY", "NAME")
	r := right()
	switch op {
	case "UNION":
		u := &plan.Union{Inputs: []plan.Node{left, r}, ByName: byName}
		if all {
			return u
		}
		return &plan.Distinct{Child: u}
	case "INTERSECT":
		return &plan.SetOp{Kind: plan.Intersect, All: all, Left: left, Right: r}
	}
	return &plan.SetOp{Kind: plan.Except, All: all, Left: left, Right: r}
}

// queryPrimary reads a term of set operations.
func (p *parser) queryPrimary() plan.Node {
	switch {
	case p.is("SELECT"):
		return p.selectCore()
	case p.is("FROM"):
		return p.fromFirst()
	case p.is("VALUES"):
		return p.relationAlias(p.pos, p.values(), "")
	case p.is("TABLE") && isName(p.peekAt(1)):
		p.take()
		from := p.pos
		parts := p.multipart()
		return &plan.Named{Parts: parts, Home: p.opts.Home, Origin: p.origin(from)}
	case p.is("("):
		if !p.enter() {
			return nil
		}
		defer p.leave()
		p.take()
		q := p.query()
		p.expect(")")
		return q
	}
	p.unexpected()
	return nil
}

// fromFirst reads FROM before SELECT, or FROM alone, which selects everything.
func (p *parser) fromFirst() plan.Node {
	n := p.fromClause()
	if p.is("SELECT") {
		return p.selectOver(n)
	}
	return n
}

// fromClause reads FROM with its relations, joins and lateral views.
func (p *parser) fromClause() plan.Node {
	p.expect("FROM")
	n := p.relation()
	for p.accept(",") {
		n = p.commaJoin(n)
	}
	for p.is("LATERAL", "VIEW") {
		n = p.lateralView(n)
	}
	return n
}

// selectCore reads SELECT with its clauses up to WINDOW.
func (p *parser) selectCore() plan.Node { return p.selectOver(nil) }

// hintText is one hint as read.
type hintText struct {
	name string
	args []plan.Expr
}

// selectOver reads SELECT over a relation that was read already, or over the one of its FROM clause.
func (p *parser) selectOver(n plan.Node) plan.Node {
	from := p.pos
	var where *plan.Filter
	p.expect("SELECT")
	hints := p.hints()
	distinct := false
	switch next := p.peekAt(1); {
	case next.kind == eof || next.up == "," || next.up == ".": // a column of that name
	case p.is("DISTINCT") && next.up != "FROM":
		p.take()
		distinct = true
	case p.is("ALL") && next.up != "FROM":
		p.take()
	}
	cols := list(p, func() plan.Expr { return p.namedExpr() })
	if n == nil {
		n = &plan.OneRow{}
		if p.is("FROM") {
			n = p.fromClause()
		}
	}
	for p.is("LATERAL", "VIEW") {
		n = p.lateralView(n)
	}
	if p.accept("WHERE") {
		where = &plan.Filter{Cond: p.expr(), Child: n}
		n = where
	}
	switch {
	case p.accept("GROUP", "BY"):
		clause := p.pos - 2
		a := p.groupBy(cols, n)
		a.Clause = p.origin(clause)
		n = a
	case p.is("HAVING"):
		n = &plan.Aggregate{Aggs: cols, Child: n}
	default:
		n = &plan.Project{Cols: cols, Child: n}
	}
	if p.accept("HAVING") {
		n = &plan.Having{Cond: p.expr(), Child: n}
	}
	p.windowClause()
	if p.accept("QUALIFY") {
		n = &plan.Qualify{Cond: p.expr(), Child: n}
	}
	if where != nil {
		p.place(where, from)
	}
	p.place(n, from)
	if distinct {
		n = &plan.Distinct{Child: n, Origin: p.origin(from)}
	}
	p.windowClause()
	for i := len(hints) - 1; i >= 0; i-- {
		n = &plan.Hint{Name: hints[i].name, Args: hints[i].args, Child: n}
	}
	return n
}

// hints reads hint comments.
func (p *parser) hints() []hintText {
	var out []hintText
	for p.peek().kind == hintStart {
		p.take()
		for first := true; first || p.peek().kind != hintEnd; first = false {
			h := hintText{name: p.name()}
			if p.accept("(") {
				if !p.is(")") {
					h.args = list(p, func() plan.Expr { return p.postfix(p.pos, p.primary()) })
				}
				p.expect(")")
			}
			if p.err != nil {
				return nil
			}
			out = append(out, h)
			p.accept(",")
		}
		p.take()
	}
	return out
}

// organization reads what sorts, distributes and limits a query.
func (p *parser) organization(n plan.Node) plan.Node {
	from, before := p.pos, n
	sorted := p.sortClauses(n)
	p.windowClause()
	n = p.limitClauses(sorted)
	if s, ok := sorted.(*plan.Sort); ok && sorted != before && s.Global {
		s.Origin = p.origin(from)
	}
	return n
}

// sortClauses reads ORDER BY or the clauses that sort within partitions.
func (p *parser) sortClauses(n plan.Node) plan.Node {
	from := p.pos
	switch {
	case p.accept("ORDER", "BY"):
		s := &plan.Sort{Orders: list(p, p.sortItem), Global: true, Child: n}
		s.Origin = p.origin(from)
		n = s
		if p.is("SORT", "BY") || p.is("DISTRIBUTE", "BY") || p.is("CLUSTER", "BY") {
			p.pos += 2
			list(p, p.sortItem)
			p.failFrom(from, errclass.New("UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES"))
		}
		return n
	case p.accept("CLUSTER", "BY"):
		keys := list(p, p.expr)
		orders := make([]*plan.SortOrder, len(keys))
		for i, k := range keys {
			orders[i] = &plan.SortOrder{Child: k, NullsFirst: true}
		}
		return &plan.Sort{Orders: orders, Child: &plan.Repartition{Shuffle: true, Keys: keys, Child: n}}
	}
	if p.accept("DISTRIBUTE", "BY") {
		n = &plan.Repartition{Shuffle: true, Keys: list(p, p.expr), Child: n}
	}
	if p.accept("SORT", "BY") {
		n = &plan.Sort{Orders: list(p, p.sortItem), Child: n}
	}
	return n
}

func (p *parser) limitClauses(n plan.Node) plan.Node {
	var limit plan.Expr
	var place plan.Origin
	if p.accept("LIMIT") && !p.accept("ALL") {
		from := p.pos
		limit = p.expr()
		place = p.origin(from)
	}
	if p.accept("OFFSET") {
		from := p.pos
		o := &plan.Offset{N: p.expr(), Child: n}
		o.Origin = p.origin(from)
		n = o
	}
	if limit != nil {
		n = &plan.Limit{N: limit, Child: n, Origin: place}
	}
	return n
}

// sortItem reads a key of an ordering. Nulls come first in ascending order and last in descending, unless it says otherwise.
func (p *parser) sortItem() *plan.SortOrder {
	from := p.pos
	o := &plan.SortOrder{Child: p.expr()}
	if !p.accept("ASC") {
		o.Desc = p.accept("DESC")
	}
	o.NullsFirst = !o.Desc
	switch {
	case p.accept("NULLS", "FIRST"):
		o.NullsFirst = true
	case p.accept("NULLS", "LAST"):
		o.NullsFirst = false
	}
	o.Origin = p.origin(from)
	return o
}

// ---- named windows

// windowScope are the windows that a query uses by name before their definition was read.
type windowScope struct{ pending []*plan.Over }

func (p *parser) openWindows() { p.windows = append(p.windows, &windowScope{}) }

// useWindow notes a window used by name.
func (p *parser) useWindow(o *plan.Over) {
	s := p.windows[len(p.windows)-1]
	s.pending = append(s.pending, o)
}

// closeWindows ends a query's scope; a name that is still open has no definition.
func (p *parser) closeWindows() {
	s := p.windows[len(p.windows)-1]
	p.windows = p.windows[:len(p.windows)-1]
	if len(s.pending) > 0 && p.err == nil {
		p.failTok(p.peek(), errclass.New("MISSING_WINDOW_SPECIFICATION", "windowName", s.pending[0].Window))
	}
}

// windowClause reads WINDOW w AS (...) and puts the definitions where they are used.
func (p *parser) windowClause() {
	if !p.is("WINDOW") || !isName(p.peekAt(1)) || p.peekAt(2).up != "AS" {
		return
	}
	from := p.pos
	p.take()
	defs, repeated := map[string]*plan.Over{}, "" // by names as they are written: W is not w
	for more := true; more; more = p.accept(",") {
		name := p.name()
		p.expect("AS")
		def := &plan.Over{}
		spec := p.pos
		if p.accept("(") {
			p.windowSpec(def)
			p.expect(")")
			def.Spec = p.origin(spec)
		} else {
			def.Window = p.name()
		}
		if defs[name] != nil {
			repeated = name
		}
		defs[name] = def
	}
	if repeated != "" {
		p.failFrom(from, errclass.New("INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION", "windowName", errclass.Ident(repeated)))
		return
	}
	for _, def := range defs {
		if def.Window == "" {
			continue
		}
		other := defs[def.Window]
		if other == nil || other.Window != "" {
			p.failTok(p.peek(), errclass.New("INVALID_SQL_SYNTAX.UNRESOLVED_WINDOW_REFERENCE", "windowName", errclass.Ident(def.Window)))
			return
		}
	}
	s := p.windows[len(p.windows)-1]
	open := s.pending[:0]
	for _, o := range s.pending {
		def := defs[o.Window]
		if def != nil && def.Window != "" {
			def = defs[def.Window]
		}
		if def == nil {
			open = append(open, o)
			continue
		}
		fn, place := o.Fn, o.Origin
		*o = *def
		o.Fn, o.Origin = fn, place
	}
	s.pending = open
}
