package sql

import (
	"errors"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// primary reads an operand without the subscripts, fields and casts behind it.
func (p *parser) primary() plan.Expr {
	from := p.pos
	t := p.peek()
	switch t.kind {
	case text:
		return stringLiteral(p.stringLit())
	case integer, decimal, float, suffixed:
		return p.number()
	case word, quoted:
		return p.wordPrimary(from, t)
	case symbol:
		switch t.up {
		case "-":
			return p.number()
		case "(":
			if p.lambdaAhead() {
				return p.lambda()
			}
			n, e := p.parenthesized()
			if n != nil {
				return &plan.Subquery{Kind: plan.SubqueryScalar, Plan: n, Origin: p.origin(from)}
			}
			return e
		case "*":
			p.take()
			return p.star(from, nil)
		case ":", "?":
			return p.parameter()
		}
	}
	p.unexpected()
	return nil
}

// wordPrimary reads what starts with a word: a constant, a special form, a call or a column.
func (p *parser) wordPrimary(from int, t token) plan.Expr {
	next := p.peekAt(1)
	if next.up == "->" {
		return p.lambda()
	}
	if t.up == "INTERVAL" && p.intervalAhead() {
		return p.interval()
	}
	if t.kind == word && next.kind == text {
		return p.typedLiteral()
	}
	switch t.up {
	case "NULL":
		p.take()
		return &plan.Literal{T: types.Null}
	case "TRUE", "FALSE":
		p.take()
		return &plan.Literal{Value: t.up == "TRUE", T: types.Boolean}
	case "CASE":
		if p.caseAhead() {
			return p.caseExpr()
		}
	}
	if next.up == "(" {
		if e, ok := p.specialForm(from, t.up); ok {
			return e
		}
	}
	var parts []string
	if p.is("IDENTIFIER", "(") {
		parts = p.identifierClause()
	} else {
		parts = []string{p.name()}
	}
	for p.is(".") {
		if p.peekAt(1).up == "*" {
			p.pos += 2
			return p.star(from, parts)
		}
		if !isName(p.peekAt(1)) {
			p.take()
			p.unexpected()
			return nil
		}
		p.take()
		parts = p.namePart(parts)
	}
	if p.err != nil || len(parts) == 0 {
		return nil
	}
	if p.is("(") {
		return p.funcCall(from, parts)
	}
	return p.column(from, parts)
}

// star reads what may follow * or t.*.
func (p *parser) star(from int, target []string) plan.Expr {
	s := &plan.Star{Target: target, PlanID: -1}
	if p.is("EXCEPT", "(") && !p.queryAt(1) {
		p.pos += 2
		s.Except = list(p, p.multipart)
		p.expect(")")
	}
	s.Origin = p.origin(from)
	return s
}

// caseAhead tells whether CASE starts a CASE expression, rather than being a name.
func (p *parser) caseAhead() bool {
	next := p.peekAt(1)
	switch next.kind {
	case symbol:
		return next.up == "(" || next.up == "-" || next.up == "+" || next.up == "~" || next.up == "?" || next.up == ":" || next.up == "!"
	case eof, hintEnd, hintStart:
		return false
	}
	return next.up != "FROM" && next.up != "AS"
}

// caseExpr reads CASE. The form with a value compares it with each of the choices.
func (p *parser) caseExpr() plan.Expr {
	from := p.pos
	p.expect("CASE")
	var subject plan.Expr
	if !p.is("WHEN") {
		subject = p.expr()
	}
	var args []plan.Expr
	for first := true; first || p.is("WHEN"); first = false {
		p.expect("WHEN")
		cond := p.expr()
		if subject != nil {
			cond = p.call(from, "==", subject, cond)
		}
		p.expect("THEN")
		args = append(args, cond, p.expr())
	}
	if p.accept("ELSE") {
		args = append(args, p.expr())
	}
	p.expect("END")
	return p.call(from, "when", args...)
}

// cast reads CAST or TRY_CAST.
func (p *parser) cast(mode plan.CastMode) plan.Expr {
	from := p.pos
	p.take()
	p.expect("(")
	e := p.expr()
	p.expect("AS")
	t := p.dataType()
	p.expect(")")
	return &plan.Cast{Child: e, To: t, Mode: mode, Origin: p.origin(from)}
}

// dataType reads a data type. Package types reads its text, and tells where it ends.
func (p *parser) dataType() types.DataType {
	if p.err != nil {
		return types.Null
	}
	start := p.peek().start
	t, n, err := types.ParseTypePrefix(p.src[start:])
	if err != nil {
		p.failType(err)
		return types.Null
	}
	p.skipTo(start + n)
	return t
}

// failType reports an error of package types, with its place moved to where the type stands.
func (p *parser) failType(err error) {
	e, ok := errors.AsType[*errclass.Error](err)
	if !ok || len(e.Context) == 0 {
		p.failErr(p.pos, err)
		return
	}
	first := p.chars(p.peek().start)
	c := e.Context[0]
	e.Context = []errclass.QueryContext{errclass.SQLPlace(p.src, first+c.Start, first+c.Stop)}
	if p.err == nil {
		p.err = e
	}
	p.pos = len(p.toks) - 1
}

// skipTo moves to the token that starts at a byte position. The position can be inside of a token such as >> that types read as
// two; it is then split.
func (p *parser) skipTo(pos int) {
	for p.peek().end <= pos && p.peek().kind != eof {
		p.pos++
	}
	if t := &p.toks[p.pos]; t.start < pos && t.kind == symbol {
		t.start = pos
		t.up = p.src[pos:t.end]
	}
}

// parameter reads a marker and gives the value that it stands for.
func (p *parser) parameter() plan.Expr {
	from := p.pos
	if p.accept("?") {
		i := p.positional
		p.positional++
		if p.namedSeen {
			p.failFrom(from, errclass.New("INVALID_QUERY_MIXED_QUERY_PARAMETERS"))
			return nil
		}
		if i >= len(p.opts.Positional) {
			p.failFrom(from, errclass.New("UNBOUND_SQL_PARAMETER", "name", "_"+strconv.Itoa(p.chars(p.toks[from].start))))
			return nil
		}
		return p.opts.Positional[i]
	}
	p.expect(":")
	t := p.peek()
	if !isName(t) {
		p.unexpected()
		return nil
	}
	p.take()
	name := p.nameText(t)
	p.namedSeen = true
	if p.positional > 0 {
		p.failFrom(from, errclass.New("INVALID_QUERY_MIXED_QUERY_PARAMETERS"))
		return nil
	}
	v, ok := p.opts.Named[name]
	if !ok {
		p.failFrom(from, errclass.New("UNBOUND_SQL_PARAMETER", "name", name))
		return nil
	}
	return v
}
