package sql

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// tableName reads the name of a table or view, with its place.
func (p *parser) tableName() plan.TableName {
	from := p.pos
	parts := p.multipart()
	return plan.TableName{Parts: parts, Origin: p.origin(from)}
}

// alter reads ALTER TABLE, VIEW and DATABASE.
func (p *parser) alter() plan.Statement {
	from := p.pos
	p.expect("ALTER")
	switch {
	case p.accept("DATABASE"), p.accept("SCHEMA"), p.accept("NAMESPACE"):
		return p.alterNamespace()
	case p.accept("TABLE"):
		st := &plan.AlterTable{Table: p.tableName()}
		st.Change = p.tableChange(from)
		st.Origin = p.origin(from)
		return st
	case p.accept("VIEW"):
		st := &plan.AlterTable{Table: p.tableName(), View: true}
		st.Change = p.viewChange()
		st.Origin = p.origin(from)
		return st
	case p.is("INDEX"):
		return p.hive("ALTER INDEX")
	}
	p.unexpected()
	return nil
}

func (p *parser) alterNamespace() plan.Statement {
	from := p.pos - 2
	st := &plan.AlterNamespace{Name: p.multipart()}
	switch {
	case p.accept("SET", "DBPROPERTIES"), p.accept("SET", "PROPERTIES"):
		st.Set = p.setProperties()
		p.checkNamespaceProperties(from, st.Set)
	case p.accept("UNSET", "DBPROPERTIES"), p.accept("UNSET", "PROPERTIES"):
		st.Unset = p.propertyKeys()
	case p.accept("SET", "LOCATION"):
		l := p.stringLit()
		st.Location = &l
	case p.accept("DEFAULT", "COLLATION"):
		st.Collation = p.name()
	default:
		p.unexpected()
	}
	return st
}

// setProperties reads properties that must all have a value.
func (p *parser) setProperties() map[string]string {
	m, without := p.propertyList()
	if len(without) > 0 {
		p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0035", "message", "Values must be specified for key(s): ["+strings.Join(without, ",")+"]"))
	}
	return m
}

// propertyKeys reads the keys of UNSET.
func (p *parser) propertyKeys() []string {
	p.expect("(")
	keys := list(p, p.propertyKey)
	p.expect(")")
	return keys
}

// reservedTableProperties are the properties that clauses of their own set, with how to.
var reservedTableProperties = map[string]string{
	"provider": "use the clause USING", "location": "use the clause LOCATION", "owner": "it is the current user", "external": "use CREATE EXTERNAL TABLE",
	"is_managed_location": "it is set by the engine",
}

func (p *parser) checkTableProperties(m map[string]string) {
	for key := range m {
		if how, ok := reservedTableProperties[key]; ok {
			p.refuseStatement(errclass.New("UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY", "property", key, "msg", how))
		}
	}
}

func (p *parser) checkNamespaceProperties(_ int, m map[string]string) {
	for key, how := range map[string]string{"location": "use the clause LOCATION", "owner": "it is the current user"} {
		if _, ok := m[key]; ok {
			p.refuseStatement(errclass.New("UNSUPPORTED_FEATURE.SET_NAMESPACE_PROPERTY", "property", key, "msg", how))
		}
	}
}

// tableChange reads what ALTER TABLE t does.
func (p *parser) tableChange(from int) plan.Change {
	if c := p.propertyChange(); c != nil {
		return c
	}
	switch {
	case p.accept("ADD", "COLUMN"), p.accept("ADD", "COLUMNS"):
		return &plan.AddColumns{Columns: p.newColumns()}
	case p.accept("REPLACE", "COLUMNS"):
		return &plan.AddColumns{Replace: true, Columns: p.newColumns()}
	case p.accept("RENAME", "COLUMN"):
		c := &plan.RenameColumn{Column: p.multipart()}
		p.expect("TO")
		c.Name = p.name()
		return c
	case p.accept("DROP", "COLUMN"), p.accept("DROP", "COLUMNS"):
		return p.dropColumns()
	case p.accept("ALTER"), p.accept("CHANGE"):
		return p.alterColumns(from)
	case p.is("ADD", "CONSTRAINT"), p.is("ADD", "PRIMARY"), p.is("ADD", "UNIQUE"), p.is("ADD", "FOREIGN"), p.is("ADD", "CHECK"):
		p.take()
		p.constraint()
		return &plan.RefusedChange{Operation: "ADD CONSTRAINT"}
	case p.accept("DROP", "CONSTRAINT"):
		p.ifExists()
		p.name()
		if !p.accept("RESTRICT") {
			p.accept("CASCADE")
		}
		return &plan.RefusedChange{Operation: "DROP CONSTRAINT"}
	case p.accept("CLUSTER", "BY", "NONE"):
		return &plan.SetClustering{}
	case p.accept("CLUSTER", "BY"):
		p.expect("(")
		c := &plan.SetClustering{Columns: list(p, p.multipart)}
		p.expect(")")
		return c
	case p.accept("DEFAULT", "COLLATION"):
		return &plan.SetCollation{Collation: p.name()}
	case p.accept("SET", "SERDE"):
		c := &plan.SetSerde{Class: p.stringLit()}
		if p.accept("WITH", "SERDEPROPERTIES") {
			p.properties()
		}
		return c
	}
	if c := p.partitionChange(); c != nil {
		return c
	}
	for _, words := range hiveChanges {
		if p.is(strings.Fields(words)...) {
			p.hive("ALTER TABLE " + words)
			return nil
		}
	}
	p.unexpected()
	return nil
}

// hiveChanges are changes that only Hive's tables know.
var hiveChanges = []string{
	"NOT CLUSTERED", "CLUSTERED BY", "NOT SORTED", "SKEWED BY", "NOT SKEWED", "NOT STORED AS DIRECTORIES",
	"SET SKEWED LOCATION", "EXCHANGE PARTITION", "ARCHIVE PARTITION", "UNARCHIVE PARTITION", "TOUCH", "COMPACT", "CONCATENATE", "SET FILEFORMAT",
}

// propertyChange reads what tables and views have in common; nil for anything else.
func (p *parser) propertyChange() plan.Change {
	switch {
	case p.accept("RENAME", "TO"):
		return &plan.RenameTo{Name: p.multipart()}
	case p.accept("SET", "TBLPROPERTIES"):
		c := &plan.SetProperties{Properties: p.setProperties()}
		p.checkTableProperties(c.Properties)
		return c
	case p.accept("UNSET", "TBLPROPERTIES"):
		c := &plan.UnsetProperties{IfExists: p.ifExists()}
		c.Keys = p.propertyKeys()
		return c
	}
	return nil
}

func (p *parser) viewChange() plan.Change {
	if c := p.propertyChange(); c != nil {
		return c
	}
	if mode := p.schemaMode(); mode != "" {
		return &plan.SetViewBinding{Mode: mode}
	}
	p.accept("AS")
	start := p.pos
	c := &plan.SetViewQuery{Query: p.query()}
	c.Text = p.textFrom(start)
	return c
}

// schemaMode reads WITH SCHEMA mode, if it is there.
func (p *parser) schemaMode() string {
	if !p.accept("WITH", "SCHEMA") {
		return ""
	}
	switch {
	case p.accept("TYPE", "EVOLUTION"):
		return "TYPE EVOLUTION"
	case p.isAny("BINDING", "COMPENSATION", "EVOLUTION"):
		return p.take().up
	}
	p.unexpected()
	return ""
}

// partitionChange reads the changes of partitions; nil for anything else.
func (p *parser) partitionChange() plan.Change {
	switch {
	case p.is("ADD", "PARTITION"), p.is("ADD", "IF", "NOT", "EXISTS"):
		p.take()
		c := &plan.AddPartitions{IfNotExists: p.ifNotExists()}
		for p.is("PARTITION") && p.err == nil {
			n := plan.NewPartition{Spec: p.partitionValues()}
			if p.accept("LOCATION") {
				n.Location = p.stringLit()
			}
			c.Partitions = append(c.Partitions, n)
		}
		if c.Partitions == nil {
			p.unexpected()
		}
		return c
	case p.is("DROP", "PARTITION"), p.is("DROP", "IF", "EXISTS"):
		p.take()
		c := &plan.DropPartitions{IfExists: p.ifExists()}
		for more := true; more; more = p.accept(",") {
			c.Specs = append(c.Specs, p.partitionValues())
		}
		c.Purge = p.accept("PURGE")
		return c
	case p.accept("RECOVER", "PARTITIONS"):
		return &plan.RecoverPartitions{}
	case p.accept("SET", "LOCATION"):
		return &plan.SetLocation{Location: p.stringLit()}
	case p.accept("SET", "SERDEPROPERTIES"):
		return &plan.SetProperties{Serde: true, Properties: p.properties()}
	case p.is("PARTITION", "("):
		spec := p.partitionValues()
		switch {
		case p.accept("RENAME", "TO"):
			return &plan.RenamePartition{From: spec, To: p.partitionValues()}
		case p.accept("SET", "LOCATION"):
			return &plan.SetLocation{Location: p.stringLit(), Partition: spec}
		case p.accept("SET", "SERDEPROPERTIES"):
			return &plan.SetProperties{Serde: true, Properties: p.properties(), Partition: spec}
		}
		for _, words := range hiveChanges {
			if p.is(strings.Fields(words)...) {
				p.hive("ALTER TABLE " + words)
				return nil
			}
		}
		p.unexpected()
		return &plan.RecoverPartitions{}
	}
	return nil
}

// partitionValues reads PARTITION (a = 1, b = 2), in which every column has a value.
func (p *parser) partitionValues() []plan.PartitionValue {
	from := p.pos
	if !p.is("PARTITION", "(") {
		p.unexpected()
		return nil
	}
	spec := p.partitionSpec()
	for _, v := range spec {
		if v.Value == nil {
			p.refuse(from, errclass.New("INVALID_SQL_SYNTAX.EMPTY_PARTITION_VALUE", "partKey", errclass.Ident(v.Name)))
		}
	}
	return spec
}

// newColumns reads the columns of ADD COLUMNS, in brackets or not.
func (p *parser) newColumns() []plan.NewColumn {
	brackets := p.accept("(")
	cols := list(p, func() plan.NewColumn {
		from := p.pos
		c := plan.NewColumn{Path: p.multipart()}
		if len(c.Path) == 0 {
			return c
		}
		c.Field.Name, c.Field.Nullable = c.Path[len(c.Path)-1], true
		c.Field.Type = p.dataType()
		options := map[string]bool{}
		for p.columnOption(from, &c.ColumnDef, options) || p.columnPlace(&c.First, &c.After) {
		}
		c.Origin = p.origin(from)
		return c
	})
	if brackets {
		p.expect(")")
	}
	return cols
}

func (p *parser) columnPlace(first *bool, after *string) bool {
	switch {
	case p.accept("FIRST"):
		*first = true
	case p.accept("AFTER"):
		*after = p.name()
	default:
		return false
	}
	return true
}

func (p *parser) dropColumns() plan.Change {
	c := &plan.DropColumns{IfExists: p.ifExists()}
	brackets := p.accept("(")
	c.Columns = list(p, p.multipart)
	if brackets {
		p.expect(")")
	}
	return c
}

// alterColumns reads what follows ALTER TABLE t ALTER, or CHANGE in Hive's form: CHANGE [COLUMN] a a INT COMMENT 'c'.
func (p *parser) alterColumns(from int) plan.Change {
	hive := p.toks[p.pos-1].up == "CHANGE"
	if !p.accept("COLUMN") && !hive {
		p.accept("COLUMNS")
	}
	c := &plan.AlterColumns{}
	for more := true; more; more = p.accept(",") {
		x := plan.ColumnChange{Column: p.multipart()}
		if hive && isName(p.peek()) && !p.isAny("TYPE", "COMMENT", "FIRST", "AFTER", "SET", "DROP") {
			p.hiveColumn(from, &x)
		} else if !p.columnChange(&x) && p.err == nil {
			p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0035", "message",
				"ALTER COLUMN wants one of TYPE, SET, DROP, COMMENT, FIRST and AFTER behind the column"))
		}
		c.Columns = append(c.Columns, x)
	}
	return c
}

func (p *parser) columnChange(x *plan.ColumnChange) bool {
	yes, no := true, false
	switch {
	case p.accept("TYPE"):
		x.Type = p.dataType()
	case p.accept("COMMENT"):
		s := p.stringLit()
		x.Comment = &s
	case p.accept("SET", "NOT", "NULL"):
		x.Null = &no
	case p.accept("DROP", "NOT", "NULL"):
		x.Null = &yes
	case p.accept("SET", "DEFAULT"):
		at := p.pos
		x.Default = p.expr()
		x.DefaultText = p.textFrom(at)
	case p.accept("DROP", "DEFAULT"):
		x.DropDefault = true
	default:
		return p.columnPlace(&x.First, &x.After)
	}
	return true
}

// hiveColumn reads the whole column that stands behind its name in CHANGE COLUMN.
func (p *parser) hiveColumn(from int, x *plan.ColumnChange) {
	name := p.name()
	x.Type = p.dataType()
	if p.accept("NOT", "NULL") {
		p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0034", "operation", "NOT NULL", "command", "ALTER COLUMN", "msg", ", use SET NOT NULL"))
	}
	if p.accept("COMMENT") {
		s := p.stringLit()
		x.Comment = &s
	}
	p.columnPlace(&x.First, &x.After)
	if len(x.Column) > 0 && name != x.Column[len(x.Column)-1] {
		p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0034", "operation", "Renaming column", "command", "ALTER COLUMN", "msg", ", use RENAME COLUMN"))
	}
	_ = from
}

// comment reads COMMENT ON.
func (p *parser) commentOn() plan.Statement {
	p.expect("COMMENT", "ON")
	st := &plan.CommentOn{}
	switch {
	case p.accept("DATABASE"), p.accept("SCHEMA"), p.accept("NAMESPACE"):
		st.Namespace = true
	case p.accept("TABLE"):
	default:
		p.unexpected()
	}
	st.Name = p.tableName()
	p.expect("IS")
	if !p.accept("NULL") {
		s := p.stringLit()
		st.Comment = &s
	}
	return st
}

// hive refuses a statement that Spark reads, but leaves to Hive, whatever its rest.
func (p *parser) hive(words string) plan.Statement {
	p.pos = len(p.toks) - 1
	p.refuseStatement(errclass.New("INVALID_STATEMENT_OR_CLAUSE", "operation", words))
	return nil
}

// hiveStatements are the first words of Hive's statements, longer ones before their beginnings.
var hiveStatements = []string{
	"CREATE ROLE", "DROP ROLE", "GRANT ROLE", "GRANT", "REVOKE ROLE", "REVOKE", "SHOW GRANT", "SHOW ROLE GRANT",
	"SHOW PRINCIPALS", "SHOW ROLES", "SHOW CURRENT ROLES", "EXPORT TABLE", "IMPORT TABLE", "SHOW COMPACTIONS", "SHOW TRANSACTIONS",
	"SHOW INDEXES", "SHOW LOCKS", "LOCK TABLE", "LOCK DATABASE", "UNLOCK TABLE", "UNLOCK DATABASE", "CREATE TEMPORARY MACRO",
	"DROP TEMPORARY MACRO", "START TRANSACTION", "COMMIT", "ROLLBACK", "DFS", "SET ROLE", "EXPLAIN LOGICAL",
}

// hiveStatement refuses one of them; ok is false for any other statement.
func (p *parser) hiveStatement() (ok bool) {
	for _, words := range hiveStatements {
		if p.is(strings.Fields(words)...) {
			p.hive(words)
			return true
		}
	}
	return false
}

// loadData reads LOAD DATA [LOCAL] INPATH path [OVERWRITE] INTO TABLE t [PARTITION (...)].
func (p *parser) loadData() plan.Statement {
	p.expect("LOAD", "DATA")
	p.accept("LOCAL")
	p.expect("INPATH")
	p.stringLit()
	p.accept("OVERWRITE")
	p.expect("INTO", "TABLE")
	st := &plan.LoadData{Table: p.tableName()}
	p.partitionSpec()
	return st
}

// resources reads ADD JAR path, LIST FILES and their kin. Paths stand as they are, or in quotes.
func (p *parser) resources() plan.Statement {
	verb := p.take().up
	kind := strings.TrimSuffix(p.take().up, "S")
	rest := strings.TrimSpace(strings.TrimRight(p.src[p.peek().start:], "; \t\r\n"))
	var paths []string
	for p.peek().kind != eof && p.err == nil {
		if p.peek().kind == text {
			paths = append(paths, p.stringLit())
			continue
		}
		start := p.peek().start
		end := start + strings.IndexAny(p.src[start:]+" ", " \t\r\n;")
		for p.peek().kind != eof && p.peek().start < end {
			p.take()
		}
		if end > start {
			paths = append(paths, p.src[start:end])
		}
		for p.is(";") {
			p.take()
		}
	}
	if verb == "LIST" {
		return &plan.ListResources{Kind: kind, Paths: paths}
	}
	if rest == "" {
		p.unexpected()
	}
	return &plan.AddResource{Kind: kind, Paths: paths}
}

// isResources tells whether ADD or LIST of resources begins here.
func (p *parser) isResources() bool {
	switch p.peekAt(1).up {
	case "JAR", "JARS", "FILE", "FILES", "ARCHIVE", "ARCHIVES":
		return p.is("LIST") || !strings.HasSuffix(p.peekAt(1).up, "S")
	}
	return false
}
