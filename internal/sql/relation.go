package sql

import (
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// autoAlias is the name of a subquery that was given none. It hides the names inside.
const autoAlias = "__auto_generated_subquery_name"

// commaJoin reads the relation behind a comma of a FROM clause.
func (p *parser) commaJoin(left plan.Node) plan.Node {
	lateral := p.lateralAhead()
	right := p.relationPrimary(lateral)
	return p.relationTail(&plan.Join{Left: left, Right: right, Kind: plan.Inner, Lateral: lateral})
}

// lateralAhead consumes LATERAL before a relation.
func (p *parser) lateralAhead() bool {
	if p.is("LATERAL") && p.peekAt(1).up != "VIEW" && (p.peekAt(1).up == "(" || isName(p.peekAt(1))) {
		p.take()
		return true
	}
	return false
}

// relation reads a relation with the joins and pivots behind it.
func (p *parser) relation() plan.Node {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	if p.lateralAhead() {
		return p.relationTail(&plan.Join{Left: &plan.OneRow{}, Right: p.relationPrimary(true), Kind: plan.Inner, Lateral: true})
	}
	return p.relationTail(p.relationPrimary(false))
}

// relationTail reads the joins and pivots behind a relation.
func (p *parser) relationTail(n plan.Node) plan.Node {
	for p.err == nil {
		switch {
		case p.is("PIVOT", "("):
			n = p.pivot(n)
		case p.is("UNPIVOT"):
			n = p.unpivot(n)
		default:
			j, ok := p.join(n)
			if !ok {
				return n
			}
			n = j
		}
	}
	return n
}

// join reads a join, if one follows.
func (p *parser) join(left plan.Node) (plan.Node, bool) {
	from := p.pos
	j := &plan.Join{Left: left}
	j.Natural = p.accept("NATURAL")
	typed := true
	switch {
	case p.accept("INNER"):
	case p.accept("CROSS"):
		j.Kind = plan.Cross
	case p.accept("LEFT"):
		j.Kind = plan.LeftOuter
		switch {
		case p.accept("SEMI"):
			j.Kind = plan.LeftSemi
		case p.accept("ANTI"):
			j.Kind = plan.LeftAnti
		default:
			p.accept("OUTER")
		}
	case p.accept("RIGHT"):
		j.Kind = plan.RightOuter
		p.accept("OUTER")
	case p.accept("FULL"):
		j.Kind = plan.FullOuter
		p.accept("OUTER")
	case p.accept("SEMI"):
		j.Kind = plan.LeftSemi
	case p.accept("ANTI"):
		j.Kind = plan.LeftAnti
	default:
		typed = false
	}
	if !p.accept("JOIN") {
		if typed || j.Natural {
			p.unexpected()
		}
		return left, false
	}
	j.Lateral = p.lateralAhead()
	j.Right = p.relationPrimary(j.Lateral)
	defer func() { p.place(j, from) }()
	switch {
	case p.is("ON") && !j.Natural:
		p.take()
		j.Cond = p.expr()
	case p.is("USING", "(") && !j.Natural:
		p.take()
		j.Using = p.nameList()
	}
	switch {
	case j.Natural && j.Kind == plan.Cross:
		p.failFrom(from, errclass.New("INCOMPATIBLE_JOIN_TYPES", "joinType1", "NATURAL", "joinType2", "CROSS"))
	case j.Lateral && j.Using != nil:
		p.failFrom(from, errclass.New("UNSUPPORTED_FEATURE.LATERAL_JOIN_USING"))
	case j.Lateral && (j.Kind == plan.RightOuter || j.Kind == plan.FullOuter || j.Kind == plan.LeftSemi || j.Kind == plan.LeftAnti):
		p.failFrom(from, errclass.New("INVALID_LATERAL_JOIN_TYPE", "joinType", joinNames[j.Kind]))
	}
	return j, true
}

var joinNames = [...]string{
	plan.Inner: "INNER", plan.Cross: "CROSS", plan.LeftOuter: "LEFT OUTER", plan.RightOuter: "RIGHT OUTER",
	plan.FullOuter: "FULL OUTER", plan.LeftSemi: "LEFT SEMI", plan.LeftAnti: "LEFT ANTI",
}

// relationPrimary reads a table, a stream, a subquery, a table function, rows, or a relation in brackets.
func (p *parser) relationPrimary(lateral bool) plan.Node {
	from := p.pos
	switch {
	case p.is("("):
		n, isQuery := p.bracketed()
		return p.relationEnd(from, n, isQuery)
	case p.is("VALUES") && !p.endsRelation(1):
		return p.inlineTable(from)
	case p.streamAhead():
		return p.stream()
	}
	if !isName(p.peek()) {
		p.unexpected()
		return nil
	}
	parts := p.multipart()
	if p.is("(") && p.err == nil {
		return p.functionEnd(from, p.tableFunc(from, parts))
	}
	if lateral {
		p.failFrom(from, errclass.New("INVALID_SQL_SYNTAX.LATERAL_WITHOUT_SUBQUERY_OR_TABLE_VALUED_FUNC"))
		return nil
	}
	return p.relationEnd(from, p.named(from, parts), false)
}

// inlineTable reads VALUES with an alias, which may name the columns.
func (p *parser) inlineTable(from int) plan.Node {
	v := p.values()
	n := p.relationAlias(from, v, "")
	a, ok := n.(*plan.Aliased)
	if rows := v.(*plan.Values).Rows; ok && a.Columns != nil && len(rows) > 0 && len(rows[0]) != len(a.Columns) {
		p.failFrom(from, errclass.New("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", "expectedNumCols", strconv.Itoa(len(a.Columns)),
			"actualNumCols", strconv.Itoa(len(rows[0])), "rowIndex", "0"))
	}
	return n
}

// endsRelation tells whether the token n ahead cannot stand behind the first word of a relation that is a form of its own.
func (p *parser) endsRelation(n int) bool {
	t := p.peekAt(n)
	if t.kind == eof {
		return true
	}
	switch t.up {
	case ")", ",", ".", ";", "AS", "WHERE", "JOIN", "GROUP", "ORDER", "LIMIT", "SELECT", "ON":
		return true
	}
	return false
}

// bracketed reads a query or a relation in brackets.
func (p *parser) bracketed() (n plan.Node, isQuery bool) {
	if !p.enter() {
		return nil, false
	}
	defer p.leave()
	p.expect("(")
	from := p.pos
	switch {
	case p.is("("):
		n, isQuery = p.bracketed()
		if isQuery {
			if p.queryGoesOn() {
				n = p.queryFrom(n)
				break
			}
			if p.is(")") {
				break
			}
		}
		n = p.relationTail(p.relationEnd(from, n, isQuery))
		isQuery = false
	case p.queryAt(0):
		rows := p.is("VALUES")
		n, isQuery = p.query(), true
		if rows && !p.is(")") { // rows that are the first of several relations
			n, isQuery = p.relationTail(n), false
		}
	default:
		n = p.relation()
	}
	for !isQuery && p.accept(",") {
		n = p.commaJoin(n)
	}
	p.expect(")")
	return n, isQuery
}

// named reads what belongs to a table's name: the version and options.
func (p *parser) named(from int, parts []string) *plan.Named {
	t := &plan.Named{Parts: parts, Home: p.opts.Home, Origin: p.origin(from)}
	switch {
	case p.accept("VERSION", "AS", "OF"), p.accept("SYSTEM_VERSION", "AS", "OF"),
		p.accept("FOR", "VERSION", "AS", "OF"), p.accept("FOR", "SYSTEM_VERSION", "AS", "OF"):
		if p.peek().kind == integer {
			t.Time = &plan.TimeTravel{Version: p.raw(p.take())}
		} else {
			t.Time = &plan.TimeTravel{Version: p.stringLit()}
		}
	case p.accept("TIMESTAMP", "AS", "OF"), p.accept("SYSTEM_TIME", "AS", "OF"),
		p.accept("FOR", "TIMESTAMP", "AS", "OF"), p.accept("FOR", "SYSTEM_TIME", "AS", "OF"):
		t.Time = &plan.TimeTravel{Timestamp: p.value()}
	}
	if p.is("WITH", "(") {
		p.take()
		t.Options = p.properties()
	}
	return t
}

// tableFunc reads the arguments of a table function.
func (p *parser) tableFunc(from int, name []string) plan.Node {
	f := &plan.Func{}
	p.expect("(")
	if !p.is(")") {
		p.args(f)
	}
	p.expect(")")
	return &plan.TableFunc{Name: name, Args: f.Args, ArgNames: f.ArgNames, Origin: p.origin(from)}
}

// streamAhead tells whether STREAM, which is next, is the keyword.
func (p *parser) streamAhead() bool {
	if !p.is("STREAM") {
		return false
	}
	next := p.peekAt(1)
	return next.up == "(" || isName(next) && !notRelationAlias[next.up] && !clauseStart[next.up] && next.up != "AS"
}

// stream reads STREAM t or STREAM(t). Of a table function, STREAM changes nothing.
func (p *parser) stream() plan.Node {
	from := p.pos
	p.expect("STREAM")
	closing := p.accept("(")
	at := p.pos
	parts := p.multipart()
	if p.is("(") {
		f := p.tableFunc(at, parts)
		if closing {
			p.expect(")")
		}
		return p.functionEnd(from, f)
	}
	if closing {
		p.expect(")")
	}
	t := &plan.Named{Parts: parts, Stream: true, Origin: p.origin(from)}
	if p.is("WITH", "(") {
		p.take()
		t.Options = p.properties()
	}
	return p.relationEnd(from, t, false)
}

// functionEnd reads what may follow a table function that begins at token from: a watermark and an alias, but no sample.
func (p *parser) functionEnd(from int, n plan.Node) plan.Node {
	f, _ := n.(*plan.TableFunc)
	if p.is("WATERMARK") && p.clauseAhead() {
		n = p.watermark(n)
	}
	n = p.relationAlias(from, n, "")
	if f != nil {
		f.Origin = p.origin(from)
	}
	return n
}

// relationEnd reads what may follow a relation that begins at token from: a sample, a watermark and an alias.
func (p *parser) relationEnd(from int, n plan.Node, isQuery bool) plan.Node {
	if p.is("TABLESAMPLE", "(") {
		n = p.sample(n)
	}
	if p.is("WATERMARK") && p.clauseAhead() {
		n = p.watermark(n)
	}
	if isQuery {
		return p.relationAlias(from, n, autoAlias)
	}
	return p.relationAlias(from, n, "")
}

// relationAlias reads an alias with or without column names. Without one, the relation is called auto, if that is set.
func (p *parser) relationAlias(from int, n plan.Node, auto string) plan.Node {
	switch {
	case p.is("AS") && isName(p.peekAt(1)) && !notRelationAlias[p.peekAt(1).up] && !p.asIsAlias():
		p.take()
	case isName(p.peek()) && !notRelationAlias[p.peek().up] && !p.clauseAhead() && !p.statementAhead():
	default:
		if auto != "" {
			return &plan.Aliased{Name: auto, Child: n}
		}
		return n
	}
	a := &plan.Aliased{Name: p.name(), Child: n}
	if p.is("(") {
		a.Columns = p.nameList()
		a.Origin = p.origin(from)
	}
	return a
}

// asIsAlias tells whether AS is the name of a relation rather than the keyword before it.
func (p *parser) asIsAlias() bool {
	p.pos++
	defer func() { p.pos-- }()
	return p.clauseAhead()
}

// statementAhead tells whether a clause of a statement follows a relation: MERGE's USING and WHEN, UPDATE's SET.
func (p *parser) statementAhead() bool {
	next := p.peekAt(1)
	switch p.peek().up {
	case "SET", "WHEN":
		return isName(next)
	case "INSERT":
		return next.up == "INTO" || next.up == "OVERWRITE"
	}
	return false
}

// watermark reads WATERMARK column DELAY OF interval. An expression needs a name, and becomes a column before the others.
func (p *parser) watermark(n plan.Node) plan.Node {
	p.expect("WATERMARK")
	from := p.pos
	e := p.namedExpr("DELAY")
	start, end := p.extent(from)
	p.expect("DELAY", "OF")
	at := p.pos
	delay := p.calendarInterval()
	if p.err != nil {
		return nil
	}
	w := &plan.Watermark{Col: e, Delay: delay, DelayText: p.textFrom(at), Child: n, ID: plan.NewID()}
	switch e := e.(type) {
	case *plan.Column:
	case *plan.Alias:
		if e.Names != nil {
			p.fail(start, end, errclass.New("CANNOT_USE_MULTI_ALIASES_IN_WATERMARK_CLAUSE"))
		}
		w.Col = &plan.Column{Parts: []string{e.Name}, PlanID: -1}
		w.Child = &plan.Project{Cols: []plan.Expr{e, &plan.Star{PlanID: -1}}, Child: n}
	default:
		p.fail(start, end, errclass.New("REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE", "sqlExpr", FormatExpr(e)))
	}
	return w
}

// sample reads TABLESAMPLE (...) and the seed.
func (p *parser) sample(n plan.Node) plan.Node {
	from := p.pos
	p.expect("TABLESAMPLE", "(")
	s := &plan.Sample{Child: n}
	switch {
	case p.accept("BUCKET"):
		num := p.unsigned()
		p.expect("OUT", "OF")
		of := p.unsigned()
		if p.is("ON") {
			p.unsupported(from, "TABLESAMPLE (BUCKET x OUT OF y ON column)")
		}
		if of > 0 {
			s.Hi = num / of
		}
		if s.Hi > 1 {
			p.failFrom(from, errclass.New("PARSE_SYNTAX_ERROR", "error", "'"+p.textFrom(from)+"'", "hint", ": the bucket must be one of those there are"))
		}
	default:
		num := p.pos
		e := p.value()
		switch {
		case p.accept("ROWS"):
			p.expect(")")
			if p.accept("REPEATABLE", "(") { // the first rows are taken, whatever the seed
				p.seedValue()
				p.expect(")")
			}
			return &plan.Limit{N: e, Child: n}
		case p.accept("PERCENT"):
			v, ok := numberValue(e)
			if !ok || v < 0 || v > 100 {
				p.failFrom(num, errclass.New("PARSE_SYNTAX_ERROR", "error", "'"+p.textFrom(num)+"'",
					"hint", ": the percentage must be a number from 0 to 100"))
			}
			s.Hi = v / 100
		default:
			p.unsupported(from, "TABLESAMPLE of a number of bytes")
		}
	}
	p.expect(")")
	if p.accept("REPEATABLE", "(") {
		s.Seed = p.seedValue()
		p.expect(")")
	} else {
		s.Seed = p.seed()
	}
	return s
}

// values reads VALUES and the rows behind it. A row of several columns is written in brackets.
func (p *parser) values() plan.Node {
	from := p.pos
	p.expect("VALUES")
	v := &plan.Values{}
	for more := true; more; more = p.is(",") && !p.is(",", "LATERAL", "(") && p.accept(",") {
		e := p.expr()
		row := []plan.Expr{e}
		if f, ok := plan.IsRow(e); ok {
			row = f.Args
		}
		v.Rows = append(v.Rows, row)
	}
	v.Origin = p.origin(from)
	return v
}

// lateralView reads LATERAL VIEW [OUTER] generator(...) [name] [[AS] columns].
func (p *parser) lateralView(n plan.Node) plan.Node {
	first := p.pos
	p.expect("LATERAL", "VIEW")
	g := &plan.Generate{Child: n}
	defer func() { p.place(g, first) }()
	if p.is("OUTER") && isName(p.peekAt(1)) {
		p.take()
		g.Outer = true
	}
	from := p.pos
	name := p.multipart()
	g.Gen = p.funcCall(from, name)
	if f, ok := g.Gen.(*plan.Func); ok && f.ArgNames != nil {
		p.failFrom(from, errclass.New("PARSE_SYNTAX_ERROR", "error", "'=>'", "hint", ": LATERAL VIEW takes no named arguments"))
	}
	if !p.is("AS") {
		if isName(p.peek()) && !notRelationAlias[p.peek().up] && !p.clauseAhead() {
			g.Qualifier = p.name()
		}
	}
	switch {
	case p.accept("AS"), isName(p.peek()) && g.Qualifier != "" && !notRelationAlias[p.peek().up] && !p.clauseAhead():
		g.Names = list(p, p.name)
	}
	return g
}

// unsigned reads a number without a sign.
func (p *parser) unsigned() float64 {
	from := p.pos
	if t := p.peek(); !isNumber(t) {
		p.unexpected()
		return 0
	}
	v, _ := numberValue(p.number())
	if p.err == nil && v < 0 {
		p.pos = from
		p.unexpected()
	}
	return v
}

// numberValue is the value of a numeric literal.
func numberValue(e plan.Expr) (float64, bool) {
	l, ok := e.(*plan.Literal)
	if !ok {
		return 0, false
	}
	switch v := l.Value.(type) {
	case int32:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case types.Decimal:
		return v.Float64(), true
	}
	return 0, false
}

// seedValue reads the seed of a sample.
func (p *parser) seedValue() int64 {
	from := p.pos
	if isNumber(p.peek()) || p.is("-") {
		if l, ok := p.number().(*plan.Literal); ok {
			switch v := l.Value.(type) {
			case int32:
				return int64(v)
			case int64:
				return v
			}
		}
		p.pos = from
	}
	p.unexpected()
	return 0
}
