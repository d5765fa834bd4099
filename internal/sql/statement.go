package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// statement reads a query or a command.
func (p *parser) statement() plan.Statement {
	from := p.pos
	p.first = from
	next := p.peekAt(1)
	if s := p.constraintStatement(); s != nil {
		return s
	}
	if p.hiveStatement() {
		return nil
	}
	switch p.peek().up {
	case "SELECT", "WITH", "VALUES", "TABLE", "(":
		return p.queryStatement()
	case "FROM":
		return p.fromStatement()
	case "BEGIN":
		return p.script()
	case "OPEN", "FETCH", "CLOSE":
		if isName(next) {
			return p.cursor()
		}
	case "ALTER":
		return p.alter()
	case "COMMENT":
		return p.commentOn()
	case "LOAD":
		return p.loadData()
	case "ADD", "LIST":
		if p.isResources() {
			return p.resources()
		}
	case "CREATE":
		return p.create()
	case "REPLACE":
		if next.up == "TABLE" {
			p.take()
			return p.createTable(from, &plan.CreateTable{Replace: true, MustExist: true})
		}
	case "DROP":
		return p.drop()
	case "INSERT":
		return p.insert(nil)
	case "SET":
		return p.set()
	case "RESET":
		return p.reset()
	case "SHOW":
		return p.show()
	case "DESCRIBE", "DESC":
		return p.describe()
	case "EXPLAIN":
		return p.explain()
	case "USE":
		return p.use()
	case "CACHE", "UNCACHE", "CLEAR", "REFRESH":
		return p.cacheStatement()
	case "DECLARE":
		if p.isCursor() {
			return p.cursor()
		}
		if isName(next) {
			return p.declare()
		}
	case "EXECUTE":
		if next.up == "IMMEDIATE" {
			return p.executeImmediate()
		}
	case "DELETE":
		return p.deleteFrom()
	case "UPDATE":
		return p.update()
	case "MERGE":
		return p.merge()
	case "VACUUM":
		return p.vacuum()
	case "OPTIMIZE":
		return p.optimize()
	case "REORG":
		return p.reorganize()
	case "RESTORE":
		return p.restore()
	case "ANALYZE":
		if p.is("ANALYZE", "TABLE") || p.is("ANALYZE", "TABLES") {
			return p.analyzeTables()
		}
	case "MSCK", "REPAIR":
		if p.is("MSCK", "REPAIR", "TABLE") || p.is("REPAIR", "TABLE") {
			return p.repairTable()
		}
	case "TRUNCATE":
		p.take()
		p.expect("TABLE")
		t := p.tableName()
		return &plan.Truncate{Table: t.Parts, Origin: t.Origin, Partition: p.partitionSpec()}
	}
	if unsupportedStatements[p.peek().up] && isName(next) {
		p.take()
		words := p.raw(p.toks[from])
		if isName(p.peek()) {
			words += " " + p.raw(p.take())
		}
		p.unsupported(from, strings.ToUpper(words))
		return nil
	}
	p.unexpected()
	return nil
}

// unsupportedStatements are first words of Spark's statements that this engine has not got.
var unsupportedStatements = set("CALL")

func (p *parser) queryStatement() plan.Statement {
	if !p.is("WITH") || !isName(p.peekAt(1)) {
		return &plan.Query{Plan: p.query()}
	}
	from := p.pos
	w := p.ctes()
	if p.is("INSERT") {
		return p.insert(w)
	}
	return &plan.Query{Plan: p.withBody(from, w)}
}

// ---- pieces of statements

func (p *parser) ifExists() bool    { return p.accept("IF", "EXISTS") }
func (p *parser) ifNotExists() bool { return p.accept("IF", "NOT", "EXISTS") }

// properties reads (key = value, ...) or (key value, ...). Keys are names with dots or texts.
func (p *parser) properties() map[string]string {
	m, without := p.propertyList()
	if len(without) > 0 {
		p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0035", "message", "A value must be specified for the key: "+without[0]+"."))
	}
	return m
}

// propertyList reads properties, and lists the keys without a value.
func (p *parser) propertyList() (m map[string]string, without []string) {
	from := p.pos
	p.expect("(")
	m = map[string]string{}
	if p.accept(")") {
		return m, nil
	}
	twice := ""
	for more := true; more; more = p.accept(",") {
		key := p.propertyKey()
		value, has := "", false
		if p.accept("=") || !p.is(",") && !p.is(")") {
			value, has = p.propertyValue(), true
		}
		if !has {
			without = append(without, key)
		}
		if _, known := m[key]; known && twice == "" {
			twice = key
		}
		m[key] = value
	}
	p.expect(")")
	if twice != "" {
		p.refuse(from, errclass.New("DUPLICATE_KEY", "keyColumn", errclass.Ident(twice)))
	}
	return m, without
}

func (p *parser) propertyKey() string {
	if p.peek().kind == text { // one literal: the next is the value
		return stringValue(p.raw(p.take()))
	}
	parts := []string{p.name()}
	for p.accept(".") {
		parts = append(parts, p.name())
	}
	return strings.Join(parts, ".")
}

// propertyValue reads a constant; its text is the value.
func (p *parser) propertyValue() string {
	from := p.pos
	switch t := p.peek(); {
	case t.kind == text:
		return p.stringLit()
	case p.is("-"), isNumber(t), t.up == "TRUE", t.up == "FALSE":
		e := p.primary()
		if l, ok := e.(*plan.Literal); ok {
			if b, ok := l.Value.(bool); ok {
				if b {
					return "true"
				}
				return "false"
			}
		}
		return p.textFrom(from)
	}
	if s, ok := constantString(p.expr()); ok {
		return s
	}
	if p.err == nil {
		p.pos = from
		p.unexpected()
	}
	return ""
}

// partitionSpec reads PARTITION (a = 1, b), if it is there.
func (p *parser) partitionSpec() []plan.PartitionValue {
	from := p.pos
	if !p.accept("PARTITION", "(") {
		return nil
	}
	spec := list(p, func() plan.PartitionValue {
		v := plan.PartitionValue{Name: p.name()}
		if p.accept("=") {
			v.Value = p.expr()
		}
		return v
	})
	p.expect(")")
	for i, v := range spec {
		for _, other := range spec[:i] {
			if v.Name == other.Name {
				p.refuse(from, errclass.New("DUPLICATE_KEY", "keyColumn", errclass.Ident(v.Name)))
			}
		}
	}
	return spec
}

// inName reads IN name or FROM name.
func (p *parser) inName() []string {
	if p.accept("IN") || p.accept("FROM") {
		return p.multipart()
	}
	return nil
}

// likePattern reads [LIKE] 'pattern'.
func (p *parser) likePattern() string {
	if p.accept("LIKE") || p.peek().kind == text {
		return p.stringLit()
	}
	return ""
}

// ---- configuration

// set reads SET in its forms: SET; SET -v; SET key; SET key = value; SET TIME ZONE zone; SET CATALOG name.
func (p *parser) set() plan.Statement {
	p.expect("SET")
	switch {
	case p.peek().kind == eof || p.is(";"):
		return &plan.ShowConf{}
	case p.accept("-") && strings.EqualFold(p.raw(p.peek()), "v"):
		p.take()
		return &plan.ShowConf{Verbose: true}
	case p.accept("TIME", "ZONE"):
		return p.setTimeZone()
	case p.is("CATALOG") && p.peekAt(1).kind != eof:
		p.take()
		if p.peek().kind == text {
			return &plan.SetCatalog{Name: p.stringLit()}
		}
		return &plan.SetCatalog{Name: p.name()}
	case p.accept("VAR"), p.accept("VARIABLE"):
		return p.setVariable()
	}
	// The value is the rest of the text as it stands, tokens or not: SET a.b = c:/d 'e'.
	start := p.peek().start
	body := strings.TrimRight(p.src[start:], " \t\r\n;")
	p.pos = len(p.toks) - 1
	key, value, isSet := strings.Cut(body, "=")
	key, ok := confKey(key)
	if !ok {
		p.fail(p.toks[0].start, start+len(body), errclass.New("INVALID_SET_SYNTAX"))
		return nil
	}
	if !isSet {
		return &plan.ShowConf{Key: key}
	}
	value, _ = confKey(value)
	return &plan.SetConf{Key: key, Value: value}
}

// confKey takes blanks and backticks off a key or a value; ok tells that it can be a key.
func confKey(s string) (text string, ok bool) {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == '`' && s[len(s)-1] == '`' {
		return nameOf(s), true
	}
	bad := func(r rune) bool { return r >= utf8.RuneSelf || !isWordByte(byte(r)) && r != '.' && r != ':' }
	return s, s != "" && strings.IndexFunc(s, bad) < 0
}

// restOfStatement takes what is left of the statement as it stands: up to the end of the text, or in a script to the semicolon.
func (p *parser) restOfStatement() string {
	start, end := p.peek().start, len(p.src)
	if p.scripts == nil {
		p.pos = len(p.toks) - 1
	} else {
		for p.peek().kind != eof && !p.is(";") {
			p.take()
		}
		end = p.peek().start
	}
	return strings.TrimRight(p.src[start:end], " \t\r\n;")
}

// reset reads RESET with a key or without.
func (p *parser) reset() plan.Statement {
	from := p.pos
	p.expect("RESET")
	if p.peek().kind == eof || p.is(";") {
		return &plan.ResetConf{}
	}
	start := p.peek().start
	body := p.restOfStatement()
	key, ok := confKey(body)
	if !ok {
		p.fail(p.toks[from].start, start+len(body), errclass.New("INVALID_RESET_COMMAND_FORMAT"))
	}
	return &plan.ResetConf{Key: key}
}

func (p *parser) setTimeZone() plan.Statement {
	switch {
	case p.accept("LOCAL"):
		return &plan.SetTimeZone{Zone: "LOCAL"}
	case p.peek().kind == text:
		return &plan.SetTimeZone{Zone: p.stringLit()}
	case p.is("INTERVAL"):
		from := p.pos
		if l, ok := p.interval().(*plan.Literal); ok {
			if d, ok := l.Value.(types.DayTime); ok {
				if limit := types.DayTime(18 * 3600 * 1e6); d < -limit || d > limit {
					p.refuseStatement(errclass.New("INVALID_INTERVAL_FORMAT.TIMEZONE_INTERVAL_OUT_OF_RANGE", "input", p.textFrom(from)))
				}
				return &plan.SetTimeZone{Offset: &d}
			}
		}
	}
	p.pos = len(p.toks) - 1
	p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0045"))
	return nil
}

// ---- views, databases and tables

func (p *parser) create() plan.Statement {
	from := p.pos
	p.expect("CREATE")
	replace := p.accept("OR", "REPLACE")
	switch {
	case p.accept("GLOBAL", "TEMPORARY", "VIEW"), p.accept("GLOBAL", "TEMP", "VIEW"):
		return p.createView(&plan.CreateView{Temp: true, Global: true, Replace: replace})
	case p.accept("TEMPORARY", "VIEW"), p.accept("TEMP", "VIEW"):
		return p.createView(&plan.CreateView{Temp: true, Replace: replace})
	case p.accept("VIEW"):
		return p.createView(&plan.CreateView{Replace: replace})
	case p.accept("TEMPORARY", "FUNCTION"), p.accept("TEMP", "FUNCTION"):
		return p.createFunction(&plan.CreateFunction{Temp: true, Replace: replace})
	case p.accept("FUNCTION"):
		return p.createFunction(&plan.CreateFunction{Replace: replace})
	case p.is("TEMPORARY", "TABLE"), p.is("TEMP", "TABLE"):
		return p.createTemporaryTable()
	case p.is("TABLE"):
		return p.createTable(from, &plan.CreateTable{Replace: replace})
	case p.is("EXTERNAL", "TABLE"):
		p.take()
		return p.createTable(from, &plan.CreateTable{External: true})
	case p.accept("DATABASE"), p.accept("SCHEMA"), p.accept("NAMESPACE"):
		return p.createNamespace()
	}
	p.unexpected()
	return nil
}

func (p *parser) createView(v *plan.CreateView) plan.Statement {
	v.IfNotExists = p.ifNotExists()
	v.Name = p.multipart()
	if p.err == nil {
		p.checkView(v)
	}
	if v.Temp && !v.IfNotExists && (p.is("USING") || p.is("(")) {
		if s := p.createViewUsing(v); s != nil {
			return s
		}
	}
	if p.accept("(") {
		v.Columns = list(p, func() plan.ViewColumn {
			c := plan.ViewColumn{Name: p.name()}
			if p.accept("COMMENT") {
				c.Comment = p.stringLit()
			}
			return c
		})
		p.expect(")")
	}
	once := p.clausesOnce()
	for {
		switch {
		case p.accept("COMMENT"):
			once("COMMENT")
			v.Comment = p.stringLit()
			continue
		case p.accept("TBLPROPERTIES"):
			once("TBLPROPERTIES")
			v.Properties = p.setProperties()
			continue
		case p.is("WITH", "SCHEMA"):
			once("WITH SCHEMA")
			v.SchemaMode = p.schemaMode()
			continue
		case p.accept("DEFAULT", "COLLATION"):
			v.Collation = p.name()
			continue
		}
		break
	}
	p.expect("AS")
	start := p.pos
	v.Query = p.query()
	v.Text = p.textFrom(start)
	return v
}

// checkView refuses what cannot go together in CREATE VIEW.
func (p *parser) checkView(v *plan.CreateView) {
	switch {
	case v.IfNotExists && v.Temp:
		p.refuseStatement(errclass.New("_LEGACY_ERROR_TEMP_0053"))
	case v.IfNotExists && v.Replace:
		p.refuseStatement(errclass.New("CREATE_VIEW_WITH_IF_NOT_EXISTS_AND_REPLACE", "viewName", strings.Join(v.Name, ".")))
	case v.Temp && !v.Global && len(v.Name) > 1:
		p.refuseStatement(p.temporaryName("VIEW", v.Name))
	}
}

// temporaryName is the error for a temporary object with a qualified name; nil for one that is of the session.
func (p *parser) temporaryName(kind string, name []string) *errclass.Error {
	path := strings.ToLower(strings.Join(name[:len(name)-1], "."))
	if path == "" || path == "session" || path == "system.session" {
		return nil
	}
	return errclass.New("INVALID_TEMP_OBJ_QUALIFIER", "objectType", kind, "objectName", errclass.Ident(name[len(name)-1]),
		"qualifier", errclass.Ident(name[:len(name)-1]...))
}

// clausesOnce gives a function that refuses a clause that is there for the second time.
func (p *parser) clausesOnce() func(clause string) {
	seen := map[string]bool{}
	return func(clause string) {
		if seen[clause] {
			p.refuseStatement(errclass.New("DUPLICATE_CLAUSES", "clauseName", clause))
		}
		seen[clause] = true
	}
}

// createTemporaryTable reads CREATE TEMPORARY TABLE t USING format, which is a view.
func (p *parser) createTemporaryTable() plan.Statement {
	p.take()
	p.take()
	if p.ifNotExists() {
		p.refuseStatement(errclass.New("INVALID_SQL_SYNTAX.CREATE_TEMP_TABLE_WITH_IF_NOT_EXISTS"))
	}
	v := &plan.CreateView{Temp: true, Name: p.multipart()}
	if s := p.createViewUsing(v); s != nil {
		return s
	}
	p.unexpected()
	return nil
}

// createViewUsing reads the rest of CREATE TEMPORARY VIEW v [(columns)] USING format. It gives nil, and reads nothing, when the
// view is one of a query.
func (p *parser) createViewUsing(v *plan.CreateView) plan.Statement {
	start := p.pos
	u := &plan.CreateViewUsing{Name: v.Name, Global: v.Global, Replace: v.Replace}
	if p.is("(") {
		if next := p.peekAt(2); next.up == "," || next.up == ")" || next.up == "COMMENT" {
			return nil
		}
		u.Schema = &types.StructType{}
		for _, c := range p.columnDefs() {
			u.Schema.Fields = append(u.Schema.Fields, c.Field)
		}
	}
	if !p.accept("USING") {
		if u.Schema == nil {
			p.pos = start
		}
		p.unexpected()
		return u
	}
	u.Format = strings.Join(p.multipart(), ".")
	if p.accept("OPTIONS") {
		u.Options = p.properties()
	}
	return u
}

func (p *parser) createNamespace() plan.Statement {
	n := &plan.CreateNamespace{IfNotExists: p.ifNotExists(), Name: p.multipart()}
	once := p.clausesOnce()
	for {
		switch {
		case p.accept("COMMENT"):
			once("COMMENT")
			n.Comment = p.stringLit()
		case p.accept("LOCATION"):
			once("LOCATION")
			l := p.stringLit()
			n.Location = &l
		case p.accept("WITH", "DBPROPERTIES"), p.accept("WITH", "PROPERTIES"):
			once("WITH DBPROPERTIES")
			n.Properties = p.setProperties()
			p.checkNamespaceProperties(p.first, n.Properties)
		case p.accept("DEFAULT", "COLLATION"):
			n.Collation = p.name()
		default:
			return n
		}
	}
}

func (p *parser) drop() plan.Statement {
	from := p.pos
	p.expect("DROP")
	switch {
	case p.accept("TABLE"):
		return &plan.DropTable{IfExists: p.ifExists(), Name: p.multipart(), Purge: p.accept("PURGE")}
	case p.accept("VIEW"):
		return &plan.DropView{IfExists: p.ifExists(), Name: p.multipart()}
	case p.accept("FUNCTION"):
		return &plan.DropFunction{IfExists: p.ifExists(), Name: p.multipart()}
	case p.accept("TEMPORARY"), p.accept("TEMP"):
		return p.dropTemporary(from)
	case p.accept("DATABASE"), p.accept("SCHEMA"), p.accept("NAMESPACE"):
		d := &plan.DropNamespace{IfExists: p.ifExists(), Name: p.multipart()}
		if !p.accept("RESTRICT") {
			d.Cascade = p.accept("CASCADE")
		}
		return d
	}
	p.unexpected()
	return nil
}
