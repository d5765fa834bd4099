package sql

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func (p *parser) duplicateKey(from int, key string) {
	p.failFrom(from, errclass.New("DUPLICATE_KEY", "keyColumn", errclass.Ident(key)))
}

// createTable reads the rest of CREATE TABLE, from the word TABLE.
func (p *parser) createTable(from int, t *plan.CreateTable) plan.Statement {
	p.expect("TABLE")
	t.IfNotExists = p.ifNotExists()
	t.Name = p.multipart()
	if p.is("LIKE") {
		p.unsupported(from, "CREATE TABLE LIKE")
		return nil
	}
	if p.is("(") && !p.queryAt(1) {
		t.Columns = p.columnDefs()
	}
	if p.accept("USING") {
		parts := p.multipart()
		for i, part := range parts {
			if i > 0 {
				t.Format += "."
			}
			t.Format += part
		}
	}
	p.tableClauses(t)
	if p.accept("AS") || p.queryAt(0) {
		t.Query = p.query()
	}
	return t
}

// tableClauses reads the clauses behind a table's columns, which may stand in any order, each once.
func (p *parser) tableClauses(t *plan.CreateTable) {
	seen := map[string]bool{}
	once := func(from int, clause string) {
		if seen[clause] {
			p.failFrom(from, errclass.New("DUPLICATE_CLAUSES", "clauseName", clause))
		}
		seen[clause] = true
	}
	for {
		from := p.pos
		switch {
		case p.accept("OPTIONS"):
			once(from, "OPTIONS")
			t.Options = p.properties()
		case p.accept("PARTITIONED", "BY"):
			once(from, "PARTITIONED BY")
			p.expect("(")
			t.Partitions = list(p, func() plan.Partitioning { return p.partitioning(t) })
			p.expect(")")
		case p.accept("CLUSTERED", "BY"):
			once(from, "CLUSTERED BY")
			t.Partitions = append(t.Partitions, p.buckets())
		case p.accept("CLUSTER", "BY"):
			once(from, "CLUSTER BY")
			p.expect("(")
			t.ClusterBy = list(p, p.multipart)
			p.expect(")")
		case p.accept("LOCATION"):
			once(from, "LOCATION")
			t.Location = p.stringLit()
		case p.accept("COMMENT"):
			once(from, "COMMENT")
			t.Comment = p.stringLit()
		case p.accept("TBLPROPERTIES"):
			once(from, "TBLPROPERTIES")
			t.Properties = p.properties()
		case p.is("ROW", "FORMAT"), p.is("STORED"), p.is("SKEWED"), p.is("DEFAULT", "COLLATION"):
			what := "CREATE TABLE ... " + p.take().up
			p.unsupported(from, what)
			return
		default:
			return
		}
	}
}

// partitioning reads an item of PARTITIONED BY: a column, a column with its type, or a transform such as days(ts).
func (p *parser) partitioning(t *plan.CreateTable) plan.Partitioning {
	from := p.pos
	parts := p.multipart()
	switch {
	case p.accept("("):
		tr := plan.Partitioning{}
		if len(parts) > 0 {
			tr.Name = parts[0]
		}
		tr.Args = list(p, p.value)
		p.expect(")")
		return tr
	case len(parts) == 1 && isName(p.peek()):
		f := types.Field{Name: parts[0], Type: p.dataType(), Nullable: true}
		def := plan.ColumnDef{Field: f}
		p.columnOptions(&def)
		t.Columns = append(t.Columns, def)
	}
	return plan.Partitioning{Name: "identity", Args: []plan.Expr{&plan.Column{Parts: parts, PlanID: -1, Origin: p.origin(from)}}}
}

// buckets reads the rest of CLUSTERED BY (columns) [SORTED BY (columns)] INTO n BUCKETS.
func (p *parser) buckets() plan.Partitioning {
	tr := plan.Partitioning{Name: "bucket"}
	var cols []plan.Expr
	p.expect("(")
	for more := true; more; more = p.accept(",") {
		from := p.pos
		cols = append(cols, &plan.Column{Parts: []string{p.name()}, PlanID: -1, Origin: p.origin(from)})
	}
	p.expect(")")
	if p.accept("SORTED", "BY") {
		p.expect("(")
		list(p, p.sortItem)
		p.expect(")")
	}
	p.expect("INTO")
	tr.Args = append([]plan.Expr{p.value()}, cols...)
	p.expect("BUCKETS")
	return tr
}

// columnDefs reads the columns of a table in brackets.
func (p *parser) columnDefs() []plan.ColumnDef {
	p.expect("(")
	var defs []plan.ColumnDef
	for more := true; more; more = p.accept(",") {
		from := p.pos
		if t := p.peek().up; t == "CONSTRAINT" || p.is("PRIMARY", "KEY") || p.is("FOREIGN", "KEY") || p.is("CHECK", "(") || p.is("UNIQUE", "(") {
			p.unsupported(from, "CREATE TABLE ... CONSTRAINT")
			return nil
		}
		def := plan.ColumnDef{Field: types.Field{Name: p.name(), Nullable: true}}
		p.accept(":")
		def.Field.Type = p.dataType()
		p.columnOptions(&def)
		defs = append(defs, def)
	}
	p.expect(")")
	return defs
}

// columnOptions reads NOT NULL, COMMENT, DEFAULT and GENERATED ALWAYS AS, in any order.
func (p *parser) columnOptions(def *plan.ColumnDef) {
	for {
		from := p.pos
		switch {
		case p.accept("NOT", "NULL"):
			def.Field.Nullable = false
		case p.accept("COMMENT"):
			def.Field = def.Field.WithMetadata(types.CommentKey, p.stringLit())
		case p.accept("DEFAULT"):
			at := p.pos
			def.Default = p.expr()
			def.DefaultText = p.textFrom(at)
		case p.accept("GENERATED", "ALWAYS", "AS", "("):
			at := p.pos
			def.Generated = p.expr()
			def.GeneratedText = p.textFrom(at)
			p.expect(")")
		case p.is("GENERATED"):
			p.take()
			p.unsupported(from, "GENERATED ... AS IDENTITY")
			return
		default:
			return
		}
	}
}
