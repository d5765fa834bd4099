package sql

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// changedTable reads the table that a statement changes, with its alias.
func (p *parser) changedTable() plan.Node {
	from := p.pos
	t := &plan.Named{Parts: p.multipart(), Origin: p.origin(from)}
	return p.relationAlias(from, t, "")
}

// plainTable reads the name of a table.
func (p *parser) plainTable() plan.Node {
	from := p.pos
	return &plan.Named{Parts: p.multipart(), Origin: p.origin(from)}
}

// deleteFrom reads DELETE FROM table [alias] [WHERE condition].
func (p *parser) deleteFrom() plan.Statement {
	p.expect("DELETE", "FROM")
	d := &plan.Delete{Table: p.changedTable()}
	if p.accept("WHERE") {
		d.Cond = p.expr()
	}
	return d
}

// update reads UPDATE table [alias] SET column = value, ... [WHERE condition].
func (p *parser) update() plan.Statement {
	p.expect("UPDATE")
	u := &plan.Update{Table: p.changedTable()}
	p.expect("SET")
	u.Set = list(p, p.setting)
	if p.accept("WHERE") {
		u.Cond = p.expr()
	}
	return u
}

func (p *parser) setting() plan.Assignment {
	from := p.pos
	a := plan.Assignment{Column: p.multipart(), Origin: p.origin(from)}
	p.expect("=")
	a.Value = p.assigned()
	return a
}

// assigned reads a value; nil for DEFAULT.
func (p *parser) assigned() plan.Expr {
	if p.is("DEFAULT") {
		switch t := p.peekAt(1); {
		case t.kind == eof, t.up == ",", t.up == ")", t.up == ";", t.up == "WHERE", t.up == "WHEN":
			p.take()
			return nil
		}
	}
	return p.expr()
}

// merge reads MERGE [WITH SCHEMA EVOLUTION] INTO target USING source ON condition WHEN ...
func (p *parser) merge() plan.Statement {
	from := p.pos
	p.expect("MERGE")
	m := &plan.Merge{Evolve: p.accept("WITH", "SCHEMA", "EVOLUTION")}
	p.expect("INTO")
	m.Target = p.changedTable()
	p.expect("USING")
	m.Source = p.relationPrimary(false)
	p.expect("ON")
	m.On = p.expr()
	for p.err == nil && p.is("WHEN") {
		p.when(m)
	}
	if p.err != nil {
		return nil
	}
	if len(m.Matched)+len(m.NotMatched)+len(m.NotBySource) == 0 {
		p.failFrom(from, errclass.New("MERGE_WITHOUT_WHEN"))
		return nil
	}
	for _, g := range []struct {
		clauses []plan.MergeClause
		class   string
	}{
		{m.Matched, "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"},
		{m.NotMatched, "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION"},
		{m.NotBySource, "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"},
	} {
		for i, c := range g.clauses {
			if c.Cond == nil && i < len(g.clauses)-1 {
				p.failFrom(from, errclass.New(g.class))
				return nil
			}
		}
	}
	return m
}

// when reads one WHEN of MERGE.
func (p *parser) when(m *plan.Merge) {
	from := p.pos
	p.expect("WHEN")
	var c plan.MergeClause
	into := &m.Matched
	if p.accept("NOT") {
		into = &m.NotMatched
	}
	p.expect("MATCHED")
	if into == &m.NotMatched && p.accept("BY") {
		if p.accept("SOURCE") {
			into = &m.NotBySource
		} else {
			p.expect("TARGET")
		}
	}
	if p.accept("AND") {
		c.Cond = p.expr()
	}
	p.expect("THEN")
	switch {
	case into == &m.NotMatched:
		p.expect("INSERT")
		p.mergeInsert(&c)
	case p.accept("DELETE"):
		c.Action = plan.MergeDelete
	default:
		p.expect("UPDATE")
		p.expect("SET")
		if c.Star = into == &m.Matched && p.accept("*"); !c.Star {
			c.Set = list(p, p.setting)
		}
	}
	c.Origin = p.origin(from)
	*into = append(*into, c)
}

// mergeInsert reads what stands behind INSERT in MERGE: *, or columns and values.
func (p *parser) mergeInsert(c *plan.MergeClause) {
	c.Action = plan.MergeInsert
	if c.Star = p.accept("*"); c.Star {
		return
	}
	at := p.pos
	p.expect("(")
	for more := true; more && p.err == nil; more = p.accept(",") {
		from := p.pos
		c.Set = append(c.Set, plan.Assignment{Column: p.multipart(), Origin: p.origin(from)})
	}
	p.expect(")")
	p.expect("VALUES", "(")
	values := list(p, p.assigned)
	p.expect(")")
	if p.err == nil && len(values) != len(c.Set) {
		p.failFrom(at, errclass.New("PARSE_SYNTAX_ERROR", "error", "'VALUES'", "hint", ": there must be one value for each column"))
		return
	}
	for i := range c.Set {
		if i < len(values) {
			c.Set[i].Value = values[i]
		}
	}
}

// vacuum reads VACUUM table [RETAIN n HOURS] [DRY RUN].
func (p *parser) vacuum() plan.Statement {
	p.expect("VACUUM")
	v := &plan.Vacuum{Table: p.plainTable()}
	for p.err == nil {
		switch {
		case p.accept("RETAIN"):
			h := p.unsigned()
			v.Hours = &h
			p.expect("HOURS")
		case p.accept("DRY", "RUN"):
			v.DryRun = true
		case p.accept("FULL"):
		default:
			return v
		}
	}
	return v
}

// history reads what follows DESCRIBE HISTORY.
func (p *parser) history() plan.Statement {
	p.expect("HISTORY")
	h := &plan.DescribeHistory{Table: p.plainTable()}
	if p.accept("LIMIT") {
		h.Limit = int(p.unsigned())
	}
	return h
}

// optimize reads OPTIMIZE table [WHERE condition] [ZORDER BY (columns)].
func (p *parser) optimize() plan.Statement {
	p.expect("OPTIMIZE")
	o := &plan.Optimize{Table: p.plainTable()}
	if p.accept("WHERE") {
		o.Where = p.expr()
	}
	if p.accept("ZORDER", "BY") {
		bracket := p.accept("(")
		o.ZOrder = list(p, p.multipart)
		if bracket {
			p.expect(")")
		}
	}
	return o
}

// reorganize reads REORG TABLE table [WHERE condition] APPLY (PURGE).
func (p *parser) reorganize() plan.Statement {
	p.expect("REORG")
	p.expect("TABLE")
	o := &plan.Optimize{Table: p.plainTable(), Purge: true}
	if p.accept("WHERE") {
		o.Where = p.expr()
	}
	p.expect("APPLY")
	p.expect("(")
	p.expect("PURGE")
	p.expect(")")
	return o
}

// restore reads RESTORE [TABLE] table TO VERSION AS OF n, or TO TIMESTAMP AS OF t.
func (p *parser) restore() plan.Statement {
	p.expect("RESTORE")
	if p.is("TABLE") && isName(p.peekAt(1)) {
		p.take()
	}
	r := &plan.Restore{Table: p.plainTable()}
	p.accept("TO")
	if p.accept("TIMESTAMP", "AS", "OF") {
		r.To.Timestamp = p.value()
		return r
	}
	p.expect("VERSION", "AS", "OF")
	if p.peek().kind == integer {
		r.To.Version = p.raw(p.take())
	} else {
		r.To.Version = p.stringLit()
	}
	return r
}

// constraintStatement reads ALTER TABLE t ADD CONSTRAINT name CHECK (condition), or ALTER TABLE t DROP CONSTRAINT [IF EXISTS] name; nil
// when something else is ahead.
func (p *parser) constraintStatement() plan.Statement {
	if !p.is("ALTER", "TABLE") {
		return nil
	}
	from := p.pos
	p.take()
	p.take()
	table := p.plainTable()
	switch {
	case p.err != nil:
	case p.accept("DROP", "CONSTRAINT"):
		return &plan.DropConstraint{Table: table, IfExists: p.ifExists(), Name: p.name()}
	case p.is("ADD", "CONSTRAINT") && p.peekAt(3).up == "CHECK":
		p.pos += 2
		c := &plan.AddConstraint{Table: table, Name: p.name()}
		p.expect("CHECK", "(")
		at := p.pos
		c.Check = p.expr()
		c.Text = p.textFrom(at)
		p.expect(")")
		return c
	default:
		p.pos = from
	}
	return nil
}
