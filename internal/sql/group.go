package sql

import (
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// groupBy reads the keys of GROUP BY and builds the aggregation.
func (p *parser) groupBy(cols []plan.Expr, child plan.Node) *plan.Aggregate {
	from := p.pos
	a := &plan.Aggregate{Aggs: cols, Child: child}
	var items []groupItem
	for more := true; more; more = p.accept(",") {
		items = append(items, p.groupItem())
	}
	if len(items) == 1 && items[0].kind != plan.GroupBy {
		p.oneGrouping(a, items[0])
		return a
	}
	plain := true
	for _, it := range items {
		plain = plain && it.kind == plan.GroupBy
	}
	if plain {
		for _, it := range items {
			a.Keys = append(a.Keys, it.sets[0][0])
		}
		switch {
		case p.accept("WITH", "ROLLUP"):
			a.Kind = plan.GroupRollup
		case p.accept("WITH", "CUBE"):
			a.Kind = plan.GroupCube
		case p.is("GROUPING", "SETS"):
			a.Kind = plan.GroupSets
			a.Sets = p.groupItem().expand(p, from)
		}
		return a
	}
	// Several items of which some are groupings: the sets of all combinations.
	sets := [][]plan.Expr{nil}
	for _, it := range items {
		var product [][]plan.Expr
		for _, left := range sets {
			for _, right := range it.expand(p, from) {
				product = append(product, append(left[:len(left):len(left)], right...))
			}
		}
		if len(product) > maxGroupingSets {
			p.tooManySets(from)
			return a
		}
		sets = product
	}
	a.Kind, a.Sets, a.Keys = plan.GroupSets, sets, p.distinctKeys(sets)
	return a
}

// maxGroupingSets bounds what CUBEs and combinations of groupings may grow to.
const maxGroupingSets = 1 << 12

func (p *parser) tooManySets(from int) {
	p.failFrom(from, errclass.New("FAILED_TO_PARSE_TOO_COMPLEX"))
}

// groupItem is one item of GROUP BY: a key, or a grouping over lists of keys.
type groupItem struct {
	kind plan.GroupKind
	// sets are the one key of a plain item, the operands of ROLLUP and CUBE, or the grouping sets.
	sets [][]plan.Expr
}

func (p *parser) groupItem() groupItem {
	switch {
	case p.is("ROLLUP", "("):
		p.take()
		return groupItem{plan.GroupRollup, p.groupingSets()}
	case p.is("CUBE", "("):
		p.take()
		return groupItem{plan.GroupCube, p.groupingSets()}
	case p.accept("GROUPING", "SETS"):
		it := groupItem{kind: plan.GroupSets}
		from := p.pos
		p.expect("(")
		for more := true; more; more = p.accept(",") {
			if p.is("ROLLUP", "(") || p.is("CUBE", "(") || p.is("GROUPING", "SETS") {
				if !p.enter() {
					return it
				}
				it.sets = append(it.sets, p.groupItem().expand(p, from)...)
				p.leave()
			} else {
				it.sets = append(it.sets, p.groupingSet())
			}
		}
		p.expect(")")
		return it
	}
	return groupItem{plan.GroupBy, [][]plan.Expr{{p.expr()}}}
}

// groupingSets reads the operands of ROLLUP or CUBE.
func (p *parser) groupingSets() [][]plan.Expr {
	p.expect("(")
	sets := list(p, p.groupingSet)
	p.expect(")")
	return sets
}

// groupingSet reads one key, or keys in brackets: none, one or several. A row in brackets of its own is one key.
func (p *parser) groupingSet() []plan.Expr {
	if p.accept("(", ")") {
		return nil
	}
	from := p.pos
	e := p.expr()
	if p.row != nil && e == plan.Expr(p.row) && p.rowFrom == from && !slices.ContainsFunc(p.row.Args, isAlias) {
		return p.row.Args
	}
	return []plan.Expr{e}
}

func isAlias(e plan.Expr) bool {
	_, ok := e.(*plan.Alias)
	return ok
}

// oneGrouping fills in an aggregation whose only item is a grouping.
func (p *parser) oneGrouping(a *plan.Aggregate, it groupItem) {
	simple := it.kind != plan.GroupSets
	for _, s := range it.sets {
		simple = simple && len(s) == 1
	}
	if simple {
		a.Kind = it.kind
		for _, s := range it.sets {
			a.Keys = append(a.Keys, s[0])
		}
		return
	}
	a.Kind = plan.GroupSets
	a.Sets = it.expand(p, p.pos)
	a.Keys = p.distinctKeys(it.sets)
}

// expand gives the grouping sets that an item stands for.
func (it groupItem) expand(p *parser, from int) [][]plan.Expr {
	switch it.kind {
	case plan.GroupRollup:
		out := make([][]plan.Expr, 0, len(it.sets)+1)
		for n := len(it.sets); n >= 0; n-- {
			out = append(out, flatten(it.sets[:n]))
		}
		return out
	case plan.GroupCube:
		n := len(it.sets)
		if n > 12 {
			p.tooManySets(from)
			return nil
		}
		out := make([][]plan.Expr, 0, 1<<n)
		for mask := 1<<n - 1; mask >= 0; mask-- {
			var set []plan.Expr
			for i, s := range it.sets {
				if mask&(1<<(n-1-i)) != 0 {
					set = append(set, s...)
				}
			}
			out = append(out, set)
		}
		return out
	}
	return it.sets
}

func flatten(sets [][]plan.Expr) []plan.Expr {
	var out []plan.Expr
	for _, s := range sets {
		out = append(out, s...)
	}
	return out
}

// distinctKeys are the keys of all sets, each once, in the order in which they were first written.
func (p *parser) distinctKeys(sets [][]plan.Expr) []plan.Expr {
	if p.err != nil {
		return nil // the trees may have holes
	}
	seen := map[string]bool{}
	var out []plan.Expr
	for _, s := range sets {
		for _, e := range s {
			if text := FormatExpr(e); !seen[text] {
				seen[text] = true
				out = append(out, e)
			}
		}
	}
	return out
}

// pivot reads PIVOT (aggregates FOR column IN (values)).
func (p *parser) pivot(child plan.Node) plan.Node {
	start := p.pos
	p.expect("PIVOT", "(")
	a := &plan.Aggregate{Kind: plan.GroupPivot, ImplicitKeys: true, Child: child}
	a.Aggs = list(p, func() plan.Expr { return p.namedExpr("FOR") })
	p.expect("FOR")
	from := p.pos
	if p.accept("(") {
		cols := list(p, p.plainColumn)
		p.expect(")")
		if a.PivotCol = cols[0]; len(cols) > 1 {
			a.PivotCol = p.call(from, "struct", cols...)
		}
	} else {
		a.PivotCol = p.plainColumn()
	}
	p.expect("IN", "(")
	a.PivotValues = list(p, func() plan.Expr { return p.namedExpr() })
	p.expect(")", ")")
	n := p.plainAlias(a)
	a.Origin = p.origin(start)
	return n
}

// plainAlias reads the alias of a relation whose columns cannot be named.
func (p *parser) plainAlias(n plan.Node) plan.Node {
	out := p.relationAlias(p.pos, n, "")
	if a, ok := out.(*plan.Aliased); ok && a.Columns != nil {
		p.failTok(p.peek(), errclass.New("PARSE_SYNTAX_ERROR", "error", "'('", "hint", ": the columns of a pivot have their names already"))
	}
	return out
}

// unpivot reads UNPIVOT (values FOR name IN (columns)).
func (p *parser) unpivot(child plan.Node) plan.Node {
	from := p.pos
	p.expect("UNPIVOT")
	u := &plan.Unpivot{Child: child, ImplicitIDs: true}
	switch {
	case p.accept("INCLUDE", "NULLS"):
		u.IncludeNulls = true
	default:
		p.accept("EXCLUDE", "NULLS")
	}
	p.expect("(")
	many := p.is("(")
	if many {
		u.ValueNames = p.nameList()
	} else {
		u.ValueNames = []string{p.name()}
	}
	p.expect("FOR")
	u.VariableName = p.name()
	p.expect("IN", "(")
	for more := true; more; more = p.accept(",") {
		if many {
			p.expect("(")
			u.Values = append(u.Values, list(p, p.plainColumn))
			p.expect(")")
		} else {
			u.Values = append(u.Values, []plan.Expr{p.plainColumn()})
		}
		alias := ""
		if p.accept("AS") || isName(p.peek()) {
			alias = p.name()
		}
		u.Aliases = append(u.Aliases, alias)
	}
	p.expect(")", ")")
	n := p.plainAlias(u)
	u.Origin = p.origin(from)
	return n
}
