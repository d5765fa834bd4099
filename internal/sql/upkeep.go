package sql

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// analyzeTables reads ANALYZE TABLE and ANALYZE TABLES.
func (p *parser) analyzeTables() plan.Statement {
	from := p.pos
	p.expect("ANALYZE")
	st := &plan.AnalyzeTable{}
	if p.accept("TABLES") {
		st.All = true
		if p.accept("FROM") || p.accept("IN") {
			st.Name = p.multipart()
		}
	} else {
		p.expect("TABLE")
		st.Name = p.multipart()
		st.Partition = p.partitionSpec()
	}
	p.expect("COMPUTE", "STATISTICS")
	switch {
	case p.is("FOR", "ALL", "COLUMNS") && !st.All:
		p.expect("FOR", "ALL", "COLUMNS")
		st.AllColumns = true
	case p.is("FOR", "COLUMNS") && !st.All:
		p.expect("FOR", "COLUMNS")
		st.Columns = list(p, p.name)
	case p.peek().kind != eof && isName(p.peek()):
		word := p.name()
		st.NoScan = strings.EqualFold(word, "NOSCAN")
		if !st.NoScan && p.err == nil {
			p.failFrom(from, errclass.New("INVALID_SQL_SYNTAX.ANALYZE_TABLE_UNEXPECTED_NOSCAN", "ctx", strings.ToUpper(word)))
		}
	}
	return st
}

// repairTable reads [MSCK] REPAIR TABLE.
func (p *parser) repairTable() plan.Statement {
	p.accept("MSCK")
	p.expect("REPAIR", "TABLE")
	st := &plan.RepairTable{Name: p.multipart(), Add: true}
	switch {
	case p.accept("ADD", "PARTITIONS"):
	case p.accept("DROP", "PARTITIONS"):
		st.Add, st.Drop = false, true
	case p.accept("SYNC", "PARTITIONS"):
		st.Drop = true
	}
	return st
}
