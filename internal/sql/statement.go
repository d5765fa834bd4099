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
	next := p.peekAt(1)
	switch p.peek().up {
	case "SELECT", "WITH", "VALUES", "TABLE", "(":
		return p.queryStatement()
	case "FROM":
		return p.queryStatement()
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
	case "TRUNCATE":
		p.take()
		p.expect("TABLE")
		return &plan.Truncate{Table: p.multipart(), Partition: p.partitionSpec()}
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
var unsupportedStatements = set("ALTER", "ANALYZE", "BEGIN", "CALL", "COMMENT", "DECLARE", "DELETE", "EXECUTE", "EXPORT", "GRANT",
	"IMPORT", "LOAD", "LOCK", "MERGE", "MSCK", "REPAIR", "REVOKE", "ROLLBACK", "UNLOCK", "UPDATE")

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
	p.expect("(")
	m := map[string]string{}
	if p.accept(")") {
		return m
	}
	for more := true; more; more = p.accept(",") {
		from := p.pos
		key := p.propertyKey()
		var value string
		if p.accept("=") || !p.is(",") && !p.is(")") {
			value = p.propertyValue()
		}
		if _, twice := m[key]; twice {
			p.duplicateKey(from, key)
		}
		m[key] = value
	}
	p.expect(")")
	return m
}

func (p *parser) propertyKey() string {
	if p.peek().kind == text {
		return p.stringLit()
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
	case p.accept("CATALOG"):
		if p.peek().kind == text {
			return &plan.SetCatalog{Name: p.stringLit()}
		}
		return &plan.SetCatalog{Name: p.name()}
	case p.is("ROLE"), p.is("VAR"), p.is("VARIABLE"):
		p.unsupported(p.pos, "SET "+p.peek().up)
		return nil
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

// reset reads RESET with a key or without.
func (p *parser) reset() plan.Statement {
	from := p.pos
	p.expect("RESET")
	if p.peek().kind == eof || p.is(";") {
		return &plan.ResetConf{}
	}
	start := p.peek().start
	body := strings.TrimRight(p.src[start:], " \t\r\n;")
	p.pos = len(p.toks) - 1
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
				return &plan.SetTimeZone{Offset: &d}
			}
		}
		p.pos = from
	}
	p.unexpected()
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
	case p.is("TABLE"):
		return p.createTable(from, &plan.CreateTable{Replace: replace})
	case p.is("EXTERNAL", "TABLE"):
		p.take()
		return p.createTable(from, &plan.CreateTable{External: true})
	case p.accept("DATABASE"), p.accept("SCHEMA"), p.accept("NAMESPACE"):
		return p.createNamespace()
	case isName(p.peek()):
		words := "CREATE " + p.take().up
		p.unsupported(from, words)
		return nil
	}
	p.unexpected()
	return nil
}

func (p *parser) createView(v *plan.CreateView) plan.Statement {
	v.IfNotExists = p.ifNotExists()
	v.Name = p.multipart()
	if v.Temp && (p.is("USING") || p.is("(")) {
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
	for {
		switch {
		case p.accept("COMMENT"):
			v.Comment = p.stringLit()
			continue
		case p.accept("TBLPROPERTIES"):
			v.Properties = p.properties()
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
	for {
		switch {
		case p.accept("COMMENT"):
			n.Comment = p.stringLit()
		case p.accept("LOCATION"):
			n.Location = p.stringLit()
		case p.accept("WITH", "DBPROPERTIES"), p.accept("WITH", "PROPERTIES"):
			n.Properties = p.properties()
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
	case p.accept("DATABASE"), p.accept("SCHEMA"), p.accept("NAMESPACE"):
		d := &plan.DropNamespace{IfExists: p.ifExists(), Name: p.multipart()}
		if !p.accept("RESTRICT") {
			d.Cascade = p.accept("CASCADE")
		}
		return d
	case isName(p.peek()):
		p.unsupported(from, "DROP "+p.take().up)
		return nil
	}
	p.unexpected()
	return nil
}

// insert reads INSERT. With are common table expressions that were written before it, or nil.
func (p *parser) insert(with *plan.With) plan.Statement {
	from := p.pos
	p.expect("INSERT")
	s := &plan.Insert{}
	switch {
	case p.accept("OVERWRITE"):
		s.Overwrite = true
		if p.is("DIRECTORY") || p.is("LOCAL", "DIRECTORY") {
			p.unsupported(from, "INSERT OVERWRITE DIRECTORY")
			return nil
		}
		p.accept("TABLE")
	default:
		p.expect("INTO")
		if p.is("TABLE") && isName(p.peekAt(1)) {
			p.take()
		}
	}
	at := p.pos
	parts := p.multipart()
	s.Table = p.named(at, parts)
	if p.accept("REPLACE", "WHERE") {
		s.ReplaceWhere = p.expr()
	}
	s.Partition = p.partitionSpec()
	s.IfNotExists = p.ifNotExists()
	switch {
	case p.accept("BY", "NAME"):
		s.ByName = true
	case p.is("(") && !p.queryAt(1):
		s.Columns = p.nameList()
	}
	s.Query = p.query()
	if with != nil {
		with.Child = s.Query
		s.Query = with
	}
	return s
}

// ---- looking at things

func (p *parser) show() plan.Statement {
	p.expect("SHOW")
	switch {
	case p.accept("TABLES"):
		return &plan.ShowTables{Namespace: p.inName(), Pattern: p.likePattern()}
	case p.accept("TABLE", "EXTENDED"):
		ns := p.inName()
		p.expect("LIKE")
		s := &plan.ShowTables{Namespace: ns, Pattern: p.stringLit(), Extended: true}
		p.partitionSpec()
		return s
	case p.accept("VIEWS"):
		return &plan.ShowViews{Namespace: p.inName(), Pattern: p.likePattern()}
	case p.accept("DATABASES"), p.accept("SCHEMAS"), p.accept("NAMESPACES"):
		return &plan.ShowNamespaces{In: p.inName(), Pattern: p.likePattern()}
	case p.accept("CATALOGS"):
		return &plan.ShowCatalogs{Pattern: p.likePattern()}
	case p.accept("COLUMNS"):
		s := &plan.ShowColumns{Table: p.inName()}
		if s.Table == nil {
			p.unexpected()
		}
		s.Namespace = p.inName()
		return s
	case p.accept("TBLPROPERTIES"):
		s := &plan.ShowProperties{Table: p.multipart()}
		if p.accept("(") {
			s.Key = p.propertyKey()
			p.expect(")")
		}
		return s
	case p.accept("CREATE", "TABLE"):
		s := &plan.ShowCreateTable{Table: p.multipart()}
		p.accept("AS", "SERDE")
		return s
	case p.accept("PARTITIONS"):
		return &plan.ShowPartitions{Table: p.multipart(), Partition: p.partitionSpec()}
	}
	scope := p.acceptAny("ALL", "SYSTEM", "USER")
	if p.accept("FUNCTIONS") {
		if scope == "" {
			scope = "ALL"
		}
		s := &plan.ShowFunctions{Scope: scope, Namespace: p.inName()}
		if p.accept("LIKE"); p.peek().kind == text {
			s.Pattern = p.stringLit()
		} else if isName(p.peek()) {
			s.Pattern = strings.Join(p.multipart(), ".")
		}
		return s
	}
	if scope == "" && p.accept("CURRENT") {
		if p.acceptAny("NAMESPACE", "DATABASE", "SCHEMA") == "" {
			p.unexpected()
		}
		return &plan.ShowCurrentNamespace{}
	}
	p.unexpected()
	return nil
}

func (p *parser) describe() plan.Statement {
	p.take()
	switch {
	case p.accept("FUNCTION"):
		d := &plan.DescribeFunction{Extended: p.accept("EXTENDED")}
		if p.peek().kind == text {
			d.Name = []string{p.stringLit()}
		} else if t := p.peek(); t.kind == symbol { // an operator: DESCRIBE FUNCTION +
			p.take()
			d.Name = []string{t.up}
		} else {
			d.Name = p.multipart()
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
	d.Table = p.multipart()
	d.Partition = p.partitionSpec()
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
	mode := p.acceptAny("EXTENDED", "CODEGEN", "COST", "FORMATTED", "LOGICAL")
	switch mode {
	case "":
		mode = "SIMPLE"
	case "LOGICAL":
		p.unsupported(p.pos-1, "EXPLAIN LOGICAL")
		return nil
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
		return &plan.UncacheTable{IfExists: p.ifExists(), Name: p.multipart()}
	case "REFRESH":
		return p.refresh()
	}
	c := &plan.CacheTable{Lazy: p.accept("LAZY")}
	p.expect("TABLE")
	c.Name = p.multipart()
	if p.accept("OPTIONS") {
		c.Options = p.properties()
	}
	if p.accept("AS") || p.queryAt(0) {
		c.Query = p.query()
	}
	return c
}

func (p *parser) refresh() plan.Statement {
	switch {
	case p.is("FUNCTION") && isName(p.peekAt(1)):
		p.unsupported(p.pos-1, "REFRESH FUNCTION")
		return nil
	case p.is("TABLE") && isName(p.peekAt(1)):
		p.take()
		return &plan.RefreshTable{Name: p.multipart()}
	case p.peek().kind == text:
		return &plan.RefreshPath{Path: p.stringLit()}
	}
	start := p.peek().start
	path := strings.TrimRight(p.src[start:], " \t\r\n;")
	if path == "" {
		p.unexpected()
		return nil
	}
	p.pos = len(p.toks) - 1
	return &plan.RefreshPath{Path: path}
}
