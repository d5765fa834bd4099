package sql

import (
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/variant"
	"github.com/millrace/millrace/types"
)

// Binding powers of the value operators, from loose to tight. Predicates, NOT, AND and OR bind looser than all of them and
// have functions of their own.
const (
	bindCompare = iota + 1
	bindBitOr
	bindBitXor
	bindBitAnd
	bindShift
	bindAdd
	bindMul
)

type binary struct {
	bind int
	fn   string
}

// binaries are the value operators with the functions they call.
var binaries = map[string]binary{
	"=": {bindCompare, "=="}, "==": {bindCompare, "=="}, "<=>": {bindCompare, "<=>"}, "<>": {bindCompare, "!="}, "!=": {bindCompare, "!="},
	"<": {bindCompare, "<"}, "<=": {bindCompare, "<="}, ">": {bindCompare, ">"}, ">=": {bindCompare, ">="},
	"|": {bindBitOr, "|"}, "^": {bindBitXor, "^"}, "&": {bindBitAnd, "&"},
	"<<": {bindShift, "<<"}, ">>": {bindShift, ">>"}, ">>>": {bindShift, ">>>"},
	"+": {bindAdd, "+"}, "-": {bindAdd, "-"}, "||": {bindAdd, "concat"},
	"*": {bindMul, "*"}, "/": {bindMul, "/"}, "%": {bindMul, "%"}, "DIV": {bindMul, "div"},
}

// isPredicateWord are the words that may follow NOT behind a value.
var isPredicateWord = set("BETWEEN", "IN", "LIKE", "ILIKE", "RLIKE", "REGEXP")

// call makes a function call whose text starts at token from.
func (p *parser) call(from int, name string, args ...plan.Expr) *plan.Func {
	return &plan.Func{Name: []string{name}, Args: args, Origin: p.origin(from)}
}

// expr reads an expression.
func (p *parser) expr() plan.Expr {
	from := p.pos
	return p.orTail(from, p.unaryBool())
}

// exprFrom reads the rest of an expression that starts with a primary one, already read.
func (p *parser) exprFrom(from int, primary plan.Expr) plan.Expr {
	v := p.valueTail(from, p.postfix(from, primary), bindCompare)
	return p.orTail(from, p.predicate(v))
}

// orTail reads what may follow an operand of AND or OR.
func (p *parser) orTail(from int, left plan.Expr) plan.Expr {
	left = p.andTail(from, left)
	for p.accept("OR") {
		start := p.pos
		right := p.andTail(start, p.unaryBool())
		left = p.call(from, "or", left, right)
	}
	return left
}

func (p *parser) andTail(from int, left plan.Expr) plan.Expr {
	for p.accept("AND") {
		right := p.unaryBool()
		left = p.call(from, "and", left, right)
	}
	return left
}

// unaryBool reads an operand of AND: a negation, EXISTS or a predicate.
func (p *parser) unaryBool() plan.Expr {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	from := p.pos
	switch {
	case p.accept("NOT"), p.accept("!"):
		return p.call(from, "not", p.unaryBool())
	case p.is("EXISTS", "(") && p.queryAt(2):
		p.pos += 2
		q := p.query()
		p.expect(")")
		return &plan.Subquery{Kind: plan.SubqueryExists, Plan: q, Origin: p.origin(from)}
	}
	return p.predicate(p.value())
}

// predicate reads the predicate, if any, that follows a value. The place of a predicate in the text does not include the value.
func (p *parser) predicate(v plan.Expr) plan.Expr {
	from := p.pos
	if p.accept("IS") {
		return p.isPredicate(from, v)
	}
	not := (p.is("NOT") || p.is("!")) && isPredicateWord[p.peekAt(1).up]
	if not {
		p.take()
	}
	var e plan.Expr
	switch {
	case p.accept("BETWEEN"):
		lo := p.value()
		p.expect("AND")
		e = p.call(from, "between", v, lo, p.value())
	case p.accept("IN"):
		e = p.inPredicate(from, v)
	case p.accept("LIKE"):
		return p.likePredicate(from, "like", v, not)
	case p.accept("ILIKE"):
		return p.likePredicate(from, "ilike", v, not)
	case p.accept("RLIKE"), p.accept("REGEXP"):
		e = p.call(from, "rlike", v, p.value())
	default:
		return v
	}
	return p.negateIf(from, not, e)
}

func (p *parser) negateIf(from int, not bool, e plan.Expr) plan.Expr {
	if not {
		return p.call(from, "not", e)
	}
	return e
}

func (p *parser) isPredicate(from int, v plan.Expr) plan.Expr {
	not := p.accept("NOT") || p.accept("!")
	switch up := p.acceptAny("NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"); up {
	case "NULL", "UNKNOWN":
		if not {
			return p.call(from, "isnotnull", v)
		}
		return p.call(from, "isnull", v)
	case "TRUE", "FALSE":
		return p.negateIf(from, not, p.call(from, "<=>", v, &plan.Literal{Value: up == "TRUE", T: types.Boolean}))
	case "DISTINCT":
		p.expect("FROM")
		return p.negateIf(from, !not, p.call(from, "<=>", v, p.value()))
	}
	p.unexpected()
	return nil
}

func (p *parser) inPredicate(from int, v plan.Expr) plan.Expr {
	word := p.pos - 1
	p.expect("(")
	if p.accept(")") {
		p.failFrom(from, errclass.New("INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE"))
		return nil
	}
	n, e := p.queryOrExpr()
	if n != nil {
		p.expect(")")
		values := []plan.Expr{v}
		if f, ok := plan.IsRow(v); ok {
			values = f.Args
		}
		return &plan.Subquery{Kind: plan.SubqueryIn, Plan: n, Values: values, Origin: p.origin(word)}
	}
	args := []plan.Expr{v, e}
	for p.accept(",") {
		args = append(args, p.expr())
	}
	p.expect(")")
	return p.call(from, "in", args...)
}

func allStrings(list []plan.Expr) bool {
	for _, e := range list {
		l, _ := e.(*plan.Literal)
		if _, ok := literalString(l); !ok {
			return false
		}
	}
	return true
}

// likeList is LIKE with several literal patterns, which is a function of its own. ILIKE compares in lower case.
func (p *parser) likeList(from int, name string, v plan.Expr, not, all bool, patterns []plan.Expr) plan.Expr {
	f := fn.LikeAny
	switch {
	case not && all:
		f = fn.NotLikeAll
	case not:
		f = fn.NotLikeAny
	case all:
		f = fn.LikeAll
	}
	args := []plan.Expr{v}
	if name == "ilike" {
		args[0] = p.call(from, "lower", v)
	}
	for _, e := range patterns {
		s, _ := literalString(e.(*plan.Literal))
		if name == "ilike" {
			s = strings.ToLower(s)
		}
		args = append(args, stringLiteral(s))
	}
	return p.call(from, f, args...)
}

// likePredicate reads the pattern of LIKE or ILIKE. A quantified one becomes a chain of AND or OR, unless the patterns are literals.
func (p *parser) likePredicate(from int, name string, v plan.Expr, not bool) plan.Expr {
	if q := p.peek().up; (q == "ANY" || q == "SOME" || q == "ALL") && p.peekAt(1).up == "(" {
		p.pos += 2
		chain := "or"
		if q == "ALL" {
			chain = "and"
		}
		patterns := list(p, p.expr)
		p.expect(")")
		if allStrings(patterns) {
			return p.likeList(from, name, v, not, q == "ALL", patterns)
		}
		var all plan.Expr
		for _, pat := range patterns {
			one := p.negateIf(from, not, p.call(from, name, v, pat))
			if all == nil {
				all = one
			} else {
				all = p.call(from, chain, all, one)
			}
		}
		return all
	}
	args := []plan.Expr{v, p.value()}
	if p.accept("ESCAPE") {
		at := p.peek()
		esc := p.stringLit()
		if utf8.RuneCountInString(esc) != 1 {
			p.failTok(at, errclass.New("INVALID_ESC", "invalidEscape", errclass.Text(esc)))
		}
		args = append(args, stringLiteral(esc))
	}
	return p.negateIf(from, not, p.call(from, name, args...))
}

// value reads a value expression: all operators that bind tighter than predicates.
func (p *parser) value() plan.Expr {
	from := p.pos
	return p.valueTail(from, p.unaryValue(), bindCompare)
}

// valueTail reads the operators of at least the given binding power, with their right sides.
func (p *parser) valueTail(from int, left plan.Expr, least int) plan.Expr {
	for {
		op, ok := binaries[p.peek().up]
		if !ok || op.bind < least {
			return left
		}
		p.take()
		start := p.pos
		right := p.valueTail(start, p.unaryValue(), op.bind+1)
		left = p.call(from, op.fn, left, right)
	}
}

var unaries = map[string]string{"-": "-", "+": "positive", "~": "~"}

// unaryValue reads a sign with its operand, or a primary expression with what follows it.
func (p *parser) unaryValue() plan.Expr {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	from := p.pos
	fn, ok := unaries[p.peek().up]
	if !ok || p.is("-") && isNumber(p.peekAt(1)) {
		return p.postfix(from, p.primary())
	}
	p.take()
	return p.call(from, fn, p.unaryValue())
}

// postfix reads subscripts, fields, casts and collations behind a primary expression.
func (p *parser) postfix(from int, e plan.Expr) plan.Expr {
	for {
		switch {
		case p.accept("["):
			key := p.value()
			if !p.is("]") && p.peek().kind == eof {
				p.syntax(": missing ']'")
			}
			p.expect("]")
			e = &plan.Extract{Child: e, Key: key, Origin: p.origin(from)}
		case p.is(".") && isName(p.peekAt(1)):
			p.take()
			part := p.name()
			if c, ok := e.(*plan.Column); ok {
				e = &plan.Column{Parts: append(c.Parts[:len(c.Parts):len(c.Parts)], part), PlanID: -1, Origin: p.origin(from)}
			} else {
				e = &plan.Extract{Child: e, Key: stringLiteral(part), Origin: p.origin(from)}
			}
		case p.accept("::"):
			t := p.dataType()
			e = &plan.Cast{Child: e, To: t, Mode: plan.CastANSI, Origin: p.origin(from)}
		case p.is("COLLATE") && isName(p.peekAt(1)):
			p.take()
			e = p.call(from, "collate", e, stringLiteral(strings.Join(p.multipart(), ".")))
		case p.is(":") && (isName(p.peekAt(1)) || p.peekAt(1).up == "["):
			p.take()
			e = p.variantPath(from, e)
		default:
			return e
		}
	}
}

// variantPath reads the path behind the colon of v:a.b[0]['c'], which takes a part out of a variant.
func (p *parser) variantPath(from int, e plan.Expr) plan.Expr {
	var path []variant.Step
	field := func(s string) { path = append(path, variant.Step{Name: s, Index: -1}) }
	if !p.is("[") {
		field(p.name())
	}
	for {
		switch next := p.peekAt(1); {
		case p.is(".") && isName(next):
			p.take()
			field(p.name())
		case p.accept("["):
			l, _ := p.value().(*plan.Literal)
			p.expect("]")
			var key any
			if l != nil {
				key = l.Value
			}
			switch key := key.(type) {
			case string:
				field(key)
			case int32:
				path = append(path, variant.Step{Index: int(key)})
			default:
				p.syntax(": a name in quotes or a position is expected between the brackets")
			}
		default:
			return p.call(from, ":", e, stringLiteral(variant.PathString(path)))
		}
	}
}

// queryAt tells whether the token n ahead starts a query, behind any number of opening brackets.
func (p *parser) queryAt(n int) bool {
	for p.peekAt(n).up == "(" {
		n++
	}
	next := p.peekAt(n + 1)
	switch p.peekAt(n).up {
	case "SELECT", "VALUES":
		switch next.up {
		case ")", ",", ".", "=", "IS", "IN", "AS":
			return false
		}
		return next.kind != eof
	case "WITH":
		return isName(next)
	case "TABLE":
		return isName(next) && p.peekAt(n+2).up != "("
	case "FROM":
		return isName(next) || next.up == "("
	}
	return false
}

// queryOrExpr reads a query or an expression, of which nothing is known but that both may start with brackets. Exactly one
// result is set.
func (p *parser) queryOrExpr() (plan.Node, plan.Expr) {
	from := p.pos
	if !p.is("(") {
		if p.queryAt(0) {
			return p.query(), nil
		}
		return nil, p.expr()
	}
	if p.lambdaAhead() {
		return nil, p.expr()
	}
	n, e := p.parenthesized()
	if n != nil {
		if p.queryGoesOn() {
			return p.queryFrom(n), nil
		}
		if p.is(")") || p.err != nil {
			return n, nil
		}
		e = &plan.Subquery{Kind: plan.SubqueryScalar, Plan: n}
	}
	return nil, p.exprFrom(from, e)
}

// parenthesized reads a query, an expression or a row in brackets.
func (p *parser) parenthesized() (plan.Node, plan.Expr) {
	if !p.enter() {
		return nil, nil
	}
	defer p.leave()
	from := p.pos
	p.expect("(")
	n, e := p.queryOrExpr()
	if n != nil {
		p.expect(")")
		return n, nil
	}
	if p.accept(")") {
		return nil, e
	}
	items := []plan.Expr{p.aliased(e)}
	if !p.is(",") {
		p.unexpected()
	}
	for p.accept(",") {
		items = append(items, p.namedExpr())
	}
	p.expect(")")
	p.row, p.rowFrom = p.call(from, plan.RowName, items...), from
	return nil, p.row
}

// lambdaAhead tells whether the next tokens are the parameters of a lambda function: x -> or (x, y) ->.
func (p *parser) lambdaAhead() bool {
	if isName(p.peek()) {
		return p.peekAt(1).up == "->"
	}
	if !p.is("(") {
		return false
	}
	for i := 1; isName(p.peekAt(i)); i += 2 {
		switch p.peekAt(i + 1).up {
		case ",":
		case ")":
			return p.peekAt(i+2).up == "->"
		default:
			return false
		}
	}
	return false
}

// lambda reads a lambda function. Its parameters hide columns of the same name in its body.
func (p *parser) lambda() plan.Expr {
	var names []string
	if p.accept("(") {
		names = list(p, p.name)
		p.expect(")")
	} else {
		names = []string{p.name()}
	}
	p.expect("->")
	outer := p.lambdas
	params := make([]*plan.LambdaVar, len(names))
	for i, n := range names {
		params[i] = &plan.LambdaVar{ID: plan.NewID(), Name: n}
	}
	p.lambdas = append(outer[:len(outer):len(outer)], params...)
	body := p.expr()
	p.lambdas = outer
	return &plan.Lambda{Params: params, Body: body}
}

// lambdaVar finds the innermost lambda parameter of that name.
func (p *parser) lambdaVar(name string) *plan.LambdaVar {
	for i := len(p.lambdas) - 1; i >= 0; i-- {
		if strings.EqualFold(p.lambdas[i].Name, name) {
			return p.lambdas[i]
		}
	}
	return nil
}

// column is a reference to a column, a field of one, or a lambda parameter.
func (p *parser) column(from int, parts []string) plan.Expr {
	v := p.lambdaVar(parts[0])
	if v == nil {
		return &plan.Column{Parts: parts, PlanID: -1, Origin: p.origin(from)}
	}
	var e plan.Expr = v
	for _, f := range parts[1:] {
		e = &plan.Extract{Child: e, Key: stringLiteral(f), Origin: p.origin(from)}
	}
	return e
}

// namedExpr reads an expression with an alias or without one.
func (p *parser) namedExpr(stop ...string) plan.Expr {
	return p.aliased(p.expr(), stop...)
}

// aliased reads the alias, if any, behind an expression. The words of stop, if next, are none.
func (p *parser) aliased(e plan.Expr, stop ...string) plan.Expr {
	switch {
	case p.accept("AS"):
		if p.is("(") {
			return &plan.Alias{Child: e, Names: p.nameList()}
		}
		return &plan.Alias{Child: e, Name: p.name()}
	case p.is("(") && e != nil:
		return &plan.Alias{Child: e, Names: p.nameList()}
	case isName(p.peek()) && !p.isAny(stop...) && !p.clauseAhead():
		return &plan.Alias{Child: e, Name: p.name()}
	}
	return e
}

// nameList reads names in brackets.
func (p *parser) nameList() []string {
	p.expect("(")
	names := list(p, p.name)
	if p.peek().kind == eof {
		p.syntax(": missing ')'")
	}
	p.expect(")")
	return names
}

// clauseAhead tells whether the next word starts a clause, rather than being an alias.
func (p *parser) clauseAhead() bool {
	up := p.peek().up
	next := p.peekAt(1)
	if p.scripts != nil && p.scripts.rows && up == "DO" {
		return true
	}
	if p.inserts && up == "INSERT" {
		return next.up == "INTO" || next.up == "OVERWRITE"
	}
	if !clauseStart[up] {
		return false
	}
	switch up {
	case "GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE":
		return next.up == "BY" && p.peekAt(2).kind != eof
	case "WINDOW":
		return isName(next) && p.peekAt(2).up == "AS"
	case "UNION", "EXCEPT", "INTERSECT", "MINUS", "SETMINUS":
		return next.up == "ALL" || next.up == "DISTINCT" || p.queryAt(1)
	case "PIVOT":
		return next.up == "("
	case "UNPIVOT":
		return next.up == "(" || next.up == "INCLUDE" || next.up == "EXCLUDE"
	case "TABLESAMPLE":
		return next.up == "("
	case "LATERAL":
		return next.up == "VIEW" || next.up == "(" || isName(next)
	}
	switch next.up {
	case ",", ")", ";", "|>":
		return false
	}
	return next.kind != eof
}
