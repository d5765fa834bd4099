package sql

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// show reads SHOW.
func (p *parser) show() plan.Statement {
	p.expect("SHOW")
	switch {
	case p.accept("TABLES"):
		return &plan.ShowTables{Namespace: p.inName(), Pattern: p.likePattern()}
	case p.accept("TABLE", "EXTENDED"):
		ns := p.inName()
		p.expect("LIKE")
		s := &plan.ShowTables{Namespace: ns, Pattern: p.stringLit(), Extended: true}
		if p.is("PARTITION") {
			s.Partition = p.partitionValues()
		}
		return s
	case p.accept("VIEWS"):
		return &plan.ShowViews{Namespace: p.inName(), Pattern: p.likePattern()}
	case p.accept("DATABASES"), p.accept("SCHEMAS"), p.accept("NAMESPACES"):
		return &plan.ShowNamespaces{In: p.inName(), Pattern: p.likePattern()}
	case p.accept("CATALOGS"):
		return &plan.ShowCatalogs{Pattern: p.likePattern()}
	case p.accept("COLUMNS"):
		if p.acceptAny("IN", "FROM") == "" {
			p.unexpected()
		}
		t := p.tableName()
		return &plan.ShowColumns{Table: t.Parts, Origin: t.Origin, Namespace: p.inName()}
	case p.accept("TBLPROPERTIES"):
		t := p.tableName()
		s := &plan.ShowProperties{Table: t.Parts, Origin: t.Origin}
		if p.accept("(") {
			s.Key = p.propertyKey()
			p.expect(")")
		}
		return s
	case p.accept("CREATE", "TABLE"):
		t := p.tableName()
		return &plan.ShowCreateTable{Table: t.Parts, Origin: t.Origin, Serde: p.accept("AS", "SERDE")}
	case p.accept("PARTITIONS"):
		t := &plan.ShowPartitions{Table: p.multipart()}
		if p.is("PARTITION") {
			t.Partition = p.partitionValues()
		}
		return t
	case p.accept("COLLATIONS"):
		return &plan.ShowCollations{Pattern: p.likePattern()}
	case p.accept("CURRENT"):
		if p.acceptAny("NAMESPACE", "DATABASE", "SCHEMA") == "" {
			p.unexpected()
		}
		return &plan.ShowCurrentNamespace{}
	}
	scope := "ALL"
	if isName(p.peek()) && !p.is("FUNCTIONS") {
		from := p.pos
		if scope = strings.ToUpper(p.name()); scope != "ALL" && scope != "SYSTEM" && scope != "USER" {
			p.refuseStatement(errclass.New("INVALID_SQL_SYNTAX.SHOW_FUNCTIONS_INVALID_SCOPE", "scope", errclass.Ident(strings.ToLower(p.raw(p.toks[from])))))
		}
	}
	if p.accept("FUNCTIONS") {
		s := &plan.ShowFunctions{Scope: scope, Namespace: p.inName()}
		if p.accept("LIKE"); p.peek().kind == text {
			s.Pattern = p.stringLit()
		} else if isName(p.peek()) {
			s.Pattern = strings.Join(p.multipart(), ".")
		}
		return s
	}
	if p.peek().kind == eof && p.pos > 1 && p.toks[p.pos-1].up != "SHOW" {
		p.syntax(": missing 'FUNCTIONS'")
	}
	p.unexpected()
	return nil
}

// describe reads DESCRIBE.

func (p *parser) describe() plan.Statement {
	p.take()
	switch {
	case p.is("HISTORY") && isName(p.peekAt(1)):
		return p.history()
	case p.is("DETAIL") && isName(p.peekAt(1)):
		p.take()
		return &plan.DescribeDetail{Table: p.plainTable()}
	case p.accept("FUNCTION"):
		d := &plan.DescribeFunction{Extended: p.accept("EXTENDED")}
		if p.peek().kind == text {
			d.Name = []string{p.stringLit()}
		} else if t := p.peek(); t.kind == symbol { // an operator: DESCRIBE FUNCTION +
			p.take()
			d.Name = []string{t.up}
		} else {
			from := p.pos
			d.Name = p.multipart()
			d.Origin = p.origin(from)
		}
		return d
	case p.accept("DATABASE"), p.accept("SCHEMA"), p.accept("NAMESPACE"):
		return &plan.DescribeNamespace{Extended: p.accept("EXTENDED"), Name: p.multipart()}
	case p.is("QUERY") && p.queryAt(1):
		p.take()
		return &plan.DescribeQuery{Query: p.query()}
	case p.queryAt(0) && !(p.is("TABLE") && !p.is("TABLE", "(")):
		return &plan.DescribeQuery{Query: p.query()}
	}
	if p.is("TABLE") && isName(p.peekAt(1)) {
		p.take()
	}
	d := &plan.DescribeTable{}
	if (p.is("EXTENDED") || p.is("FORMATTED")) && isName(p.peekAt(1)) {
		p.take()
		d.Extended = true
	}
	t := p.tableName()
	d.Table, d.Origin = t.Parts, t.Origin
	if p.is("PARTITION", "(") {
		whole := p.pos
		d.Partition = p.partitionSpec()
		for _, v := range d.Partition {
			if v.Value == nil {
				p.refuse(min(whole, p.first), errclass.New("INVALID_SQL_SYNTAX.EMPTY_PARTITION_VALUE", "partKey", errclass.Ident(v.Name)))
			}
		}
	}
	if p.accept("AS", "JSON") {
		d.JSON = true
	} else if isName(p.peek()) {
		d.Column = p.multipart()
		if p.accept("AS", "JSON") {
			d.JSON = true
		}
	}
	return d
}

func (p *parser) explain() plan.Statement {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	p.expect("EXPLAIN")
	mode := p.acceptAny("EXTENDED", "CODEGEN", "COST", "FORMATTED")
	switch mode {
	case "":
		mode = "SIMPLE"
	}
	return &plan.Explain{Mode: mode, Statement: p.statement()}
}

func (p *parser) use() plan.Statement {
	p.expect("USE")
	if isName(p.peekAt(1)) && (p.is("DATABASE") || p.is("SCHEMA") || p.is("NAMESPACE")) {
		p.take()
	}
	return &plan.UseNamespace{Name: p.multipart()}
}

func (p *parser) cacheStatement() plan.Statement {
	switch p.take().up {
	case "CLEAR":
		p.expect("CACHE")
		return &plan.ClearCache{}
	case "UNCACHE":
		p.expect("TABLE")
		u := &plan.UncacheTable{IfExists: p.ifExists()}
		t := p.tableName()
		u.Name, u.Origin = t.Parts, t.Origin
		return u
	case "REFRESH":
		return p.refresh()
	}
	c := &plan.CacheTable{Lazy: p.accept("LAZY")}
	p.expect("TABLE")
	t := p.tableName()
	c.Name, c.Origin = t.Parts, t.Origin
	if p.accept("OPTIONS") {
		c.Options = p.properties()
	}
	if p.accept("AS") || p.queryAt(0) {
		c.Query = p.query()
		if len(c.Name) > 1 {
			p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0037", "quoted", errclass.Ident(c.Name[:len(c.Name)-1]...)))
		}
	}
	return c
}

func (p *parser) refresh() plan.Statement {
	switch {
	case p.is("FUNCTION") && isName(p.peekAt(1)):
		p.take()
		f := p.tableName()
		return &plan.RefreshFunction{Name: f.Parts, Origin: f.Origin}
	case p.is("TABLE") && isName(p.peekAt(1)):
		p.take()
		t := p.tableName()
		return &plan.RefreshTable{Name: t.Parts, Origin: t.Origin}
	case p.peek().kind == text:
		return &plan.RefreshPath{Path: p.stringLit()}
	}
	path := p.restOfStatement()
	if path == "" {
		p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0064", "msg", "REFRESH needs a path; / stands for everything"))
		return nil
	}
	return &plan.RefreshPath{Path: path}
}
