package sql

import "github.com/millrace/millrace/internal/plan"

// pipe reads |> and one operator, which works on the query before it, which begins at token from. Spark lets the operator be left out.
func (p *parser) pipe(from int, n plan.Node) plan.Node {
	p.expect("|>")
	switch {
	case p.accept("SELECT"):
		distinct := p.is("DISTINCT") && p.peekAt(1).up != "," && p.peekAt(1).kind != eof
		if distinct {
			p.take()
		}
		n = &plan.Project{Cols: list(p, func() plan.Expr { return p.namedExpr() }), Child: n}
		p.windowClause()
		if distinct {
			n = &plan.Distinct{Child: n}
		}
		return n
	case p.accept("EXTEND"):
		cols := []plan.Expr{&plan.Star{PlanID: -1}}
		return &plan.Project{Cols: append(cols, list(p, func() plan.Expr { return p.namedExpr() })...), Child: n}
	case p.accept("SET"):
		set := &plan.WithColumns{Cols: list(p, p.assignment), Child: n, Replace: true}
		set.Origin = p.origin(from)
		return set
	case p.accept("DROP"):
		rest := &plan.Star{PlanID: -1, Except: list(p, p.multipart)}
		rest.Origin = p.origin(from)
		return &plan.Project{Cols: []plan.Expr{rest}, Child: n}
	case p.accept("AS"):
		return &plan.Aliased{Name: p.strictName(), Child: n}
	case p.accept("WHERE"):
		f := &plan.Filter{Cond: p.expr(), Child: n}
		p.place(f, from)
		return f
	case p.accept("AGGREGATE"):
		return p.pipeAggregate(n)
	case p.is("PIVOT"):
		return p.pivot(n)
	case p.is("UNPIVOT"):
		return p.unpivot(n)
	case p.is("TABLESAMPLE"):
		return p.sample(n)
	case p.setBind() > 0:
		return p.setOp(n, p.queryPrimary)
	}
	if sorted := p.sortClauses(n); sorted != n {
		p.windowClause()
		return sorted
	}
	if limited := p.limitClauses(n); limited != n {
		return limited
	}
	if j, ok := p.join(n); ok {
		return j
	}
	return n // an operator that does nothing
}

// assignment reads column = expression.
func (p *parser) assignment() *plan.Alias {
	name := p.name()
	p.expect("=")
	return &plan.Alias{Child: p.expr(), Name: name}
}

// plainColumn reads the name of a column.
func (p *parser) plainColumn() plan.Expr {
	from := p.pos
	parts := p.multipart()
	return &plan.Column{Parts: parts, PlanID: -1, Origin: p.origin(from)}
}

// pipeAggregate reads AGGREGATE ... GROUP BY ..., whose result starts with the keys.
func (p *parser) pipeAggregate(n plan.Node) plan.Node {
	a := &plan.Aggregate{KeysInOutput: true, Child: n}
	if !p.is("GROUP", "BY") {
		a.Aggs = list(p, func() plan.Expr { return p.namedExpr() })
	}
	if p.accept("GROUP", "BY") {
		a.Keys = list(p, func() plan.Expr { return p.namedExpr() })
	}
	return a
}
