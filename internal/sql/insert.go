package sql

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// insert reads INSERT. With are common table expressions that were written before it, or nil.
func (p *parser) insert(with *plan.With) plan.Statement {
	under := func(q plan.Node) plan.Node {
		if with == nil {
			return q
		}
		with.Child = q
		return with
	}
	if p.is("INSERT", "OVERWRITE", "DIRECTORY") || p.is("INSERT", "OVERWRITE", "LOCAL", "DIRECTORY") {
		d := p.insertDirectory()
		d.Query = under(p.query())
		return d
	}
	s := p.insertInto()
	s.Query = under(p.query())
	return s
}

// insertInto reads INSERT up to its query.
func (p *parser) insertInto() *plan.Insert {
	from := p.pos
	p.expect("INSERT")
	s := &plan.Insert{}
	if p.accept("OVERWRITE") {
		s.Overwrite = true
	} else {
		p.expect("INTO")
	}
	if p.is("TABLE") && isName(p.peekAt(1)) {
		p.take()
	}
	at := p.pos
	parts := p.multipart()
	if p.is("VERSION", "AS", "OF") || p.is("TIMESTAMP", "AS", "OF") {
		p.unexpected()
	}
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
	s.Origin = p.origin(from)
	switch dynamic := dynamicColumns(s.Partition); {
	case s.IfNotExists && !s.Overwrite:
		p.refuse(from, errclass.New("INVALID_STATEMENT_OR_CLAUSE", "operation", "INSERT INTO ... IF NOT EXISTS"))
	case s.IfNotExists && len(dynamic) > 0:
		p.refuse(from, errclass.New("_LEGACY_ERROR_TEMP_0035", "message", "IF NOT EXISTS with dynamic partitions: "+strings.Join(dynamic, ", ")))
	}
	return s
}

// dynamicColumns are the partition columns without a value.
func dynamicColumns(spec []plan.PartitionValue) (names []string) {
	for _, v := range spec {
		if v.Value == nil {
			names = append(names, v.Name)
		}
	}
	return names
}

// insertDirectory reads INSERT OVERWRITE [LOCAL] DIRECTORY up to its query.
func (p *parser) insertDirectory() *plan.InsertDirectory {
	p.expect("INSERT", "OVERWRITE")
	d := &plan.InsertDirectory{Local: p.accept("LOCAL")}
	p.expect("DIRECTORY")
	if p.peek().kind == text {
		d.Path = p.stringLit()
	}
	if p.accept("USING") {
		d.Format = strings.Join(p.multipart(), ".")
		if p.accept("OPTIONS") {
			d.Options = p.properties()
		}
		return d
	}
	p.hiveClauses()
	return d
}

// hiveClauses reads ROW FORMAT and STORED AS, which only Hive's tables and directories take, and tells whether there were any.
func (p *parser) hiveClauses() (any bool) {
	for {
		switch {
		case p.accept("ROW", "FORMAT", "SERDE"):
			p.stringLit()
			if p.accept("WITH", "SERDEPROPERTIES") {
				p.properties()
			}
		case p.accept("ROW", "FORMAT", "DELIMITED"):
			p.delimited()
		case p.accept("STORED", "AS", "INPUTFORMAT"):
			p.stringLit()
			p.expect("OUTPUTFORMAT")
			p.stringLit()
		case p.accept("STORED", "AS"):
			p.name()
		case p.accept("STORED", "BY"):
			p.stringLit()
			if p.accept("WITH", "SERDEPROPERTIES") {
				p.properties()
			}
		default:
			return any
		}
		any = true
	}
}

// delimited reads the clauses of ROW FORMAT DELIMITED.
func (p *parser) delimited() {
	for {
		switch {
		case p.accept("FIELDS", "TERMINATED", "BY"), p.accept("COLLECTION", "ITEMS", "TERMINATED", "BY"), p.accept("MAP", "KEYS", "TERMINATED", "BY"),
			p.accept("LINES", "TERMINATED", "BY"), p.accept("ESCAPED", "BY"), p.accept("NULL", "DEFINED", "AS"):
			p.stringLit()
		default:
			return
		}
	}
}

// fromStatement reads a query that begins with FROM, or FROM relation INSERT INTO ... SELECT ..., which may go on with more of the
// kind.
func (p *parser) fromStatement() plan.Statement {
	if !p.multiInsert() {
		return p.queryStatement()
	}
	all := &plan.Inserts{}
	p.inserts = true
	defer func() { p.inserts = false }()
	source := p.fromClause()
	for more := true; more && p.err == nil; more = p.is("INSERT") {
		s := p.insertInto()
		if !p.is("SELECT") {
			p.unexpected()
			return nil
		}
		p.openWindows()
		s.Query = p.queryEnd(p.selectOver(source))
		all.Each = append(all.Each, s)
	}
	return all
}

// multiInsert tells whether an INSERT follows the relations of the FROM clause here: at the same depth of brackets, before any
// other statement.
func (p *parser) multiInsert() bool {
	depth := 0
	for _, t := range p.toks[p.pos:] {
		switch t.up {
		case "(":
			depth++
		case ")":
			depth--
		case "INSERT":
			if depth == 0 {
				return true
			}
		case "SELECT", "|>", ";":
			if depth == 0 {
				return false
			}
		}
	}
	return false
}
