package sql

import (
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// ---- session variables

// declare reads DECLARE [OR REPLACE] [VARIABLE] name, ... [type] [{DEFAULT | =} value].
func (p *parser) declare() plan.Statement {
	p.expect("DECLARE")
	d := &plan.DeclareVariable{Replace: p.accept("OR", "REPLACE")}
	if (p.is("VARIABLE") || p.is("VAR")) && isName(p.peekAt(1)) && p.peekAt(1).up != "DEFAULT" {
		p.take()
	}
	d.Names = list(p, p.tableName)
	if !p.is("DEFAULT") && !p.is("=") && !p.is(";") && p.peek().kind != eof {
		d.Type = p.dataType()
	}
	if p.accept("DEFAULT") || p.accept("=") {
		from := p.pos
		d.Default = p.expr()
		d.Text = p.textFrom(from)
	}
	if d.Type == nil && d.Default == nil {
		p.refuseStatement(errclass.New("INVALID_SQL_SYNTAX.VARIABLE_TYPE_OR_DEFAULT_REQUIRED"))
	}
	d.Origin = p.origin(p.first)
	return d
}

// setVariable reads what follows SET VAR.
func (p *parser) setVariable() plan.Statement {
	s := &plan.SetVariable{}
	defer func() { s.Origin = p.origin(p.first) }()
	if p.accept("(") {
		s.Names = list(p, p.tableName)
		p.expect(")", "=")
		p.expect("(")
		s.Query = p.query()
		p.expect(")")
	} else {
		for more := true; more; more = p.accept(",") {
			s.Names = append(s.Names, p.tableName())
			p.expect("=")
			if p.is("DEFAULT") && p.peekAt(1).up != "(" {
				p.take()
				s.Values = append(s.Values, &plan.Default{})
			} else {
				s.Values = append(s.Values, p.expr())
			}
		}
	}
	return s
}

// executeImmediate reads EXECUTE IMMEDIATE text [INTO variables] [USING values].
func (p *parser) executeImmediate() plan.Statement {
	p.expect("EXECUTE", "IMMEDIATE")
	x := &plan.ExecuteImmediate{Text: p.expr()}
	if p.accept("INTO") {
		x.Into = list(p, p.tableName)
	}
	if p.accept("USING") {
		brackets := p.accept("(")
		x.Using = list(p, func() plan.Expr { return p.namedExpr() })
		if brackets {
			p.expect(")")
		}
	}
	return x
}

// ---- functions

// functionClass reads AS 'class' USING JAR 'file', ... behind a function's name.
func (p *parser) functionClass(f *plan.CreateFunction) plan.Statement {
	p.expect("AS")
	f.Routine.Class = p.stringLit()
	if p.accept("USING") {
		list(p, func() string {
			if !p.accept("JAR") && !p.accept("FILE") {
				p.expect("ARCHIVE")
			}
			return p.stringLit()
		})
	}
	return f
}

// createFunction reads what follows CREATE ... FUNCTION.
func (p *parser) createFunction(f *plan.CreateFunction) plan.Statement {
	f.IfNotExists = p.ifNotExists()
	r := &f.Routine
	r.Name = p.multipart()
	if p.err == nil {
		p.checkFunctionName(f)
	}
	if p.is("AS") && p.peekAt(1).kind == text {
		return p.functionClass(f)
	}
	p.expect("(")
	if !p.is(")") {
		r.Params = list(p, p.routineParameter)
	}
	p.expect(")")
	table := false
	if p.accept("RETURNS") {
		if p.is("TABLE") {
			p.take()
			table = true
			if p.is("(") {
				st := types.StructType{}
				for _, c := range p.columnDefs() {
					st.Fields = append(st.Fields, c.Field)
				}
				r.Columns = &st
			}
		} else {
			r.Returns = p.dataType()
		}
	}
	clauses := map[string]bool{}
	from := p.pos
	for p.characteristic(from, r, clauses) {
	}
	if p.err == nil && !p.is("RETURN") {
		p.syntax(": missing 'RETURN'")
	}
	p.expect("RETURN")
	at := p.pos
	switch {
	case table:
		r.Query = p.query()
	case p.queryAt(0) && !p.is("("):
		r.Body = &plan.Subquery{Kind: plan.SubqueryScalar, Plan: p.query(), Origin: p.origin(at)}
	default:
		r.Body = p.expr()
	}
	r.Text = p.textFrom(at)
	p.ownText(r)
	return f
}

// ownText reads a function's body again by itself: places in it are those in the body, wherever it is called.
func (p *parser) ownText(r *plan.Routine) {
	if p.err != nil || p.late != nil {
		return
	}
	var err error
	switch opts := p.opts; {
	case r.Query != nil:
		r.Query, err = ParseQuery(r.Text, opts)
	default:
		if s, ok := r.Body.(*plan.Subquery); ok && !strings.HasPrefix(r.Text, "(") {
			own := *s
			own.Plan, err = ParseQuery(r.Text, opts)
			r.Body = &own
		} else {
			r.Body, err = ParseExpr(r.Text, opts)
		}
	}
	if err != nil {
		p.err = errclass.Internal(err)
	}
}

// checkFunctionName refuses what cannot go together before a function's parameters.
func (p *parser) checkFunctionName(f *plan.CreateFunction) {
	switch {
	case f.IfNotExists && f.Replace:
		p.refuseStatement(errclass.New("INVALID_SQL_SYNTAX.CREATE_ROUTINE_WITH_IF_NOT_EXISTS_AND_REPLACE"))
	case f.IfNotExists && f.Temp:
		p.refuseStatement(errclass.New("INVALID_SQL_SYNTAX.CREATE_TEMP_FUNC_WITH_IF_NOT_EXISTS"))
	case f.Temp:
		p.refuseStatement(p.temporaryName("FUNCTION", f.Routine.Name))
	}
}

func (p *parser) routineParameter() plan.Parameter {
	from := p.pos
	x := plan.Parameter{Name: p.name(), Type: p.dataType()}
	for {
		switch {
		case p.accept("NOT", "NULL"):
			if p.late == nil { // Spark gives no place
				p.noPlace = true
				p.late = errclass.New("USER_DEFINED_FUNCTIONS.NOT_NULL_ON_FUNCTION_PARAMETERS", "input", p.textFrom(from))
			}
		case p.accept("DEFAULT"):
			x.Default = p.expr()
		case p.accept("COMMENT"):
			x.Comment = p.stringLit()
		default:
			return x
		}
	}
}

// characteristic reads one of the words between a function's type and its body, each of which may be there once. They change nothing
// for one in SQL. from is where they begin.
func (p *parser) characteristic(from int, r *plan.Routine, seen map[string]bool) bool {
	clause := ""
	switch {
	case p.accept("LANGUAGE"):
		clause = "LANGUAGE"
		at := p.pos
		r.Language = strings.ToUpper(p.name())
		if r.Language != "SQL" && p.err == nil {
			p.refuse(at, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "CREATE FUNCTION in the language "+r.Language))
		}
	case p.accept("NOT", "DETERMINISTIC"):
		clause, r.Varies = "DETERMINISTIC", true
	case p.accept("DETERMINISTIC"):
		clause = "DETERMINISTIC"
	case p.accept("CONTAINS", "SQL"), p.accept("READS", "SQL", "DATA"):
		clause, r.Reads = "SQL DATA ACCESS", p.toks[p.pos-1].up == "DATA"
	case p.accept("SQL", "SECURITY", "INVOKER"), p.accept("SQL", "SECURITY", "DEFINER"):
		clause = "SQL SECURITY"
	case p.accept("COMMENT"):
		clause = "COMMENT"
		r.Comment = p.stringLit()
	default:
		return false
	}
	if seen[clause] {
		for more := true; more; more = p.characteristic(from, r, map[string]bool{}) {
		}
		p.refuse(from, errclass.New("DUPLICATE_CLAUSES", "clauseName", clause))
	}
	seen[clause] = true
	return true
}

// dropTemporary reads DROP TEMPORARY VARIABLE and FUNCTION.
func (p *parser) dropTemporary(from int) plan.Statement {
	switch {
	case p.accept("VARIABLE"), p.accept("VAR"):
		return &plan.DropVariable{IfExists: p.ifExists(), Name: p.multipart()}
	case p.accept("FUNCTION"):
		return &plan.DropFunction{Temp: true, IfExists: p.ifExists(), Name: p.multipart()}
	}
	p.failFrom(from, errclass.New("PARSE_SYNTAX_ERROR", "error", "'"+p.raw(p.peek())+"'", "hint", ""))
	return nil
}

// PositionalMarkers tells whether a text has parameter markers without names.
func PositionalMarkers(src string) bool {
	toks, err := lex(src)
	return err == nil && slices.ContainsFunc(toks, func(t token) bool { return t.up == "?" })
}

// NamedMarkers tells whether a text has parameter markers with names.
func NamedMarkers(src string) bool {
	toks, err := lex(src)
	if err != nil {
		return false
	}
	for i, t := range toks {
		if t.up == ":" && isName(toks[min(i+1, len(toks)-1)]) && (i == 0 || toks[i-1].end < t.start) {
			return true
		}
	}
	return false
}
