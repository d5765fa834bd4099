package sql

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// createTable reads the rest of CREATE TABLE, from the word TABLE.
func (p *parser) createTable(from int, t *plan.CreateTable) plan.Statement {
	p.expect("TABLE")
	if !t.Replace {
		t.IfNotExists = p.ifNotExists()
	}
	t.Name = p.multipart()
	if p.accept("LIKE") && !t.Replace && !t.External {
		return p.createTableLike(t)
	}
	if p.is("(") && !p.queryAt(1) {
		t.Columns = p.tableColumns(t)
	}
	if p.accept("USING") {
		t.Format = strings.Join(p.multipart(), ".")
	}
	p.tableClauses(t)
	if p.accept("AS") || p.queryAt(0) {
		t.Query = p.query()
	}
	p.checkTable(t)
	return t
}

// checkTable refuses what cannot go together in CREATE TABLE.
func (p *parser) checkTable(t *plan.CreateTable) {
	switch {
	case t.Query != nil && len(t.Columns) > 0:
		p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0035", "message", "CREATE TABLE ... AS SELECT takes its columns from the query"))
	case t.Location != "" && hasPath(t.Options):
		p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0032", "pathOne", t.Location, "pathTwo", t.Options["path"]))
	}
}

func hasPath(options map[string]string) bool {
	for k := range options {
		if strings.EqualFold(k, "path") {
			return true
		}
	}
	return false
}

// createTableLike reads the rest of CREATE TABLE t LIKE source.
func (p *parser) createTableLike(t *plan.CreateTable) plan.Statement {
	l := &plan.CreateTableLike{Name: t.Name, IfNotExists: t.IfNotExists, Source: p.tableName()}
	once := p.clausesOnce()
	for {
		switch {
		case p.accept("USING"):
			once("PROVIDER")
			l.Format = strings.Join(p.multipart(), ".")
		case p.accept("LOCATION"):
			once("LOCATION")
			l.Location = p.stringLit()
		case p.accept("TBLPROPERTIES"):
			once("TBLPROPERTIES")
			l.Properties = p.setProperties()
			p.checkTableProperties(l.Properties)
		default:
			if !p.hiveClauses() {
				return l
			}
			p.refuseStatement(errclass.New("NOT_SUPPORTED_COMMAND_WITHOUT_HIVE_SUPPORT", "cmd", "CREATE TABLE LIKE with Hive's clauses"))
		}
	}
}

// tableClauses reads the clauses behind a table's columns, which may stand in any order, each once.
func (p *parser) tableClauses(t *plan.CreateTable) {
	once := p.clausesOnce()
	for {
		switch {
		case p.accept("OPTIONS"):
			once("OPTIONS")
			t.Options = p.properties()
		case p.accept("PARTITIONED", "BY"):
			once("PARTITIONED BY")
			p.expect("(")
			t.Partitions = append(list(p, func() plan.Partitioning { return p.partitioning(t) }), t.Partitions...)
			p.expect(")")
		case p.accept("CLUSTERED", "BY"):
			once("CLUSTERED BY")
			t.Partitions = append(t.Partitions, p.buckets())
		case p.accept("CLUSTER", "BY"):
			once("CLUSTER BY")
			p.expect("(")
			t.ClusterBy = list(p, p.multipart)
			p.expect(")")
		case p.accept("LOCATION"):
			once("LOCATION")
			t.Location = p.stringLit()
		case p.accept("COMMENT"):
			once("COMMENT")
			t.Comment = p.stringLit()
		case p.accept("DEFAULT", "COLLATION"):
			once("DEFAULT COLLATION")
			t.Collation = p.name()
		case p.accept("TBLPROPERTIES"):
			once("TBLPROPERTIES")
			t.Properties = p.setProperties()
			p.checkTableProperties(t.Properties)
		case p.accept("SKEWED", "BY"):
			p.hive("CREATE TABLE ... SKEWED BY")
			return
		default:
			if !p.hiveClauses() {
				return
			}
			t.Hive = true
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
		p.columnOptions(from, &def)
		t.Columns = append(t.Columns, def)
	}
	return plan.Partitioning{Name: "identity", Args: []plan.Expr{&plan.Column{Parts: parts, PlanID: -1, Origin: p.origin(from)}}}
}

// buckets reads the rest of CLUSTERED BY (columns) [SORTED BY (columns)] INTO n BUCKETS.
func (p *parser) buckets() plan.Partitioning {
	from := p.pos - 2
	tr := plan.Partitioning{Name: "bucket"}
	descending := false
	var cols []plan.Expr
	p.expect("(")
	for more := true; more; more = p.accept(",") {
		from := p.pos
		cols = append(cols, &plan.Column{Parts: []string{p.name()}, PlanID: -1, Origin: p.origin(from)})
	}
	p.expect(")")
	if p.accept("SORTED", "BY") {
		p.expect("(")
		tr.Sorted = list(p, p.sortItem)
		for _, o := range tr.Sorted {
			descending = descending || o.Desc
		}
		p.expect(")")
	}
	p.expect("INTO")
	tr.Args = append([]plan.Expr{p.value()}, cols...)
	p.expect("BUCKETS")
	if descending {
		p.refuse(from, errclass.New("_LEGACY_ERROR_TEMP_0035", "message", "The columns of SORTED BY are sorted ASC, not DESC"))
	}
	return tr
}

// tableColumns reads the columns of CREATE TABLE, and constraints among them.
func (p *parser) tableColumns(t *plan.CreateTable) []plan.ColumnDef {
	p.expect("(")
	var defs []plan.ColumnDef
	for more := true; more; more = p.accept(",") {
		if p.isConstraint() {
			p.constraint()
			t.Constrained = true
			continue
		}
		defs = append(defs, p.columnDef())
	}
	p.expect(")")
	return defs
}

// columnDefs reads columns in brackets.
func (p *parser) columnDefs() []plan.ColumnDef {
	p.expect("(")
	defs := list(p, p.columnDef)
	p.expect(")")
	return defs
}

func (p *parser) columnDef() plan.ColumnDef {
	from := p.pos
	def := plan.ColumnDef{Field: types.Field{Name: p.name(), Nullable: true}}
	p.accept(":")
	def.Field.Type = p.dataType()
	p.columnOptions(from, &def)
	return def
}

// columnOptions reads NOT NULL, COMMENT, DEFAULT and the like behind a column that begins at token from, in any order.
func (p *parser) columnOptions(from int, def *plan.ColumnDef) {
	options := map[string]bool{}
	for p.columnOption(from, def, options) {
	}
}

// columnOption reads one of a column's options and tells whether there was one. seen are those that were read.
func (p *parser) columnOption(from int, def *plan.ColumnDef, seen map[string]bool) bool {
	option := ""
	switch {
	case p.accept("NOT", "NULL"):
		option = "NOT NULL"
		def.Field.Nullable = false
	case p.accept("COMMENT"):
		option = "COMMENT"
		def.Field = def.Field.WithMetadata(types.CommentKey, p.stringLit())
	case p.accept("DEFAULT"):
		option = "DEFAULT"
		at := p.pos
		def.Default = p.expr()
		def.DefaultText = p.textFrom(at)
	case p.is("GENERATED", "ALWAYS", "AS", "("):
		option = "GENERATED ALWAYS AS"
		p.pos += 4
		at := p.pos
		def.Generated = p.expr()
		def.GeneratedText = p.textFrom(at)
		def.Refused = "generated columns"
		p.expect(")")
	case p.is("GENERATED"):
		option = "GENERATED ALWAYS AS"
		p.identity()
		def.Refused = "identity columns"
	case p.isConstraint():
		p.constraint()
		def.Refused = "CONSTRAINT"
		return true
	default:
		return false
	}
	if seen[option] {
		p.refuse(from, errclass.New("CREATE_TABLE_COLUMN_DESCRIPTOR_DUPLICATE", "columnName", def.Field.Name, "optionName", option))
	}
	seen[option] = true
	return true
}

// identity reads GENERATED {ALWAYS | BY DEFAULT} AS IDENTITY [(START WITH n INCREMENT BY n)].
func (p *parser) identity() {
	p.expect("GENERATED")
	if !p.accept("ALWAYS") {
		p.expect("BY", "DEFAULT")
	}
	p.expect("AS")
	if p.err == nil && !p.is("IDENTITY") {
		p.syntax(": missing 'IDENTITY'")
	}
	p.expect("IDENTITY")
	if p.accept("(") {
		for p.err == nil && !p.is(")") {
			switch {
			case p.accept("START", "WITH"), p.accept("INCREMENT", "BY"):
				p.value()
			default:
				p.unexpected()
			}
		}
		p.expect(")")
	}
}

// isConstraint tells whether a constraint begins here: one of a table, or one of a column.
func (p *parser) isConstraint() bool {
	return p.is("CONSTRAINT") && isName(p.peekAt(1)) || p.is("PRIMARY", "KEY") || p.is("FOREIGN", "KEY") || p.is("CHECK", "(") ||
		p.is("UNIQUE") && p.peekAt(1).kind == symbol || p.is("REFERENCES")
}

// constraint reads a constraint, which says nothing to this engine.
func (p *parser) constraint() {
	if p.accept("CONSTRAINT") {
		p.name()
	}
	switch {
	case p.accept("PRIMARY", "KEY"), p.accept("UNIQUE"):
		if p.is("(") {
			p.nameList()
		}
	case p.accept("FOREIGN", "KEY"):
		p.nameList()
		p.references()
	case p.is("REFERENCES"):
		p.references()
	case p.accept("CHECK"):
		p.expect("(")
		p.expr()
		p.expect(")")
	default:
		p.unexpected()
	}
	for p.accept("NOT", "ENFORCED") || p.accept("ENFORCED") || p.accept("RELY") || p.accept("NORELY") {
	}
}

func (p *parser) references() {
	p.expect("REFERENCES")
	p.multipart()
	if p.is("(") {
		p.nameList()
	}
	for p.accept("MATCH", "FULL") || p.accept("ON", "UPDATE", "NO", "ACTION") || p.accept("ON", "DELETE", "NO", "ACTION") {
	}
}
