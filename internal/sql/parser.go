package sql

import (
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// Options are what the meaning of a text depends on besides the text.
type Options struct {
	// Named and Positional are the values of parameter markers: literals or calls of simple constructors.
	Named      map[string]plan.Expr
	Positional []plan.Expr
	// Zone is the session time zone, in which TIMESTAMP literals without a zone are read. Nil is UTC.
	Zone *time.Location
	// Now is the time that DATE'today' and its kin mean; zero is the time of the call.
	Now time.Time
	// NTZ makes TIMESTAMP mean TIMESTAMP_NTZ (spark.sql.timestampType).
	NTZ bool
	// DoubleQuotedIdentifiers makes "a" a name instead of a string (spark.sql.ansi.doubleQuotedIdentifiers).
	DoubleQuotedIdentifiers bool
	// Home is the database that a view's names are looked up in; see plan.Named.
	Home string
	// Constant gives the value of an expression over nothing, which may be of variables, and its type. Nil knows literals only.
	Constant func(e plan.Expr) (any, types.DataType, error)
	// ContinueHandlers allows DECLARE CONTINUE HANDLER (spark.sql.scripting.continueHandlerEnabled).
	ContinueHandlers bool
	// Seed makes the seed of a TABLESAMPLE without REPEATABLE. Nil draws one at random.
	Seed func() int64
}

func (o *Options) now() time.Time {
	if o.Now.IsZero() {
		return time.Now()
	}
	return o.Now
}

// maxDepth bounds the nesting of the parser's functions. A pair of brackets counts three times, a subquery five times.
const maxDepth = 3000

// parser reads one text. Its functions consume tokens and return what they built; after an error they return anything, quickly.
type parser struct {
	src     string
	toks    []token
	pos     int
	opts    Options
	err     *errclass.Error
	scripts *scripts        // while a script is read
	late    *errclass.Error // see refuse
	noPlace bool            // of the late error
	inserts bool            // while FROM ... INSERT is read, which may go on with another INSERT
	first   int             // token where the statement begins
	runes   []int32         // see runeIndex
	depth   int

	lambdas []*plan.LambdaVar // parameters in scope, innermost last
	row     *plan.Func        // the last row (a, b) that was read
	rowFrom int               // the token where it begins
	windows []*windowScope    // of the queries being read, innermost last

	positional int  // positional markers met
	namedSeen  bool // a named marker was met
}

func newParser(src string, opts Options) (*parser, error) {
	toks, err := lex(src)
	if err != nil {
		return nil, err
	}
	if opts.Zone == nil {
		opts.Zone = time.UTC
	}
	if opts.DoubleQuotedIdentifiers {
		for i, t := range toks {
			if t.kind == text && src[t.start] == '"' {
				toks[i].kind = quoted
			}
		}
	}
	return &parser{src: src, toks: toks, opts: opts, runes: runeIndex(src)}, nil
}

// ParseStatement reads one statement, with or without a semicolon at its end.
func ParseStatement(src string, opts Options) (plan.Statement, error) {
	p, err := newParser(src, opts)
	if err != nil {
		return nil, err
	}
	s := p.statement()
	p.placeLate()
	for p.accept(";") {
	}
	p.checkDepth(treeItem{node: queryOf(s)})
	if err := p.finish(); err != nil {
		return nil, err
	}
	return s, nil
}

// ParseQuery reads a query: a text whose statement is none is a syntax error.
func ParseQuery(src string, opts Options) (plan.Node, error) {
	p, err := newParser(src, opts)
	if err != nil {
		return nil, err
	}
	q := p.query()
	for p.accept(";") {
	}
	p.checkDepth(treeItem{node: q})
	if err := p.finish(); err != nil {
		return nil, err
	}
	return q, nil
}

// ParseExpr reads an item of a select list: an expression with or without an alias, * or t.*.
func ParseExpr(src string, opts Options) (plan.Expr, error) {
	p, err := newParser(src, opts)
	if err != nil {
		return nil, err
	}
	p.openWindows()
	e := p.namedExpr()
	p.closeWindows()
	p.checkDepth(treeItem{expr: e})
	if err := p.finish(); err != nil {
		return nil, err
	}
	return e, nil
}

// ParseIdentifier reads the name of a table or a column: parts between dots, each with or without backticks.
func ParseIdentifier(src string) ([]string, error) {
	if strings.TrimSpace(src) == "" {
		return nil, errclass.New("PARSE_EMPTY_STATEMENT")
	}
	p, err := newParser(src, Options{})
	if err != nil {
		return nil, err
	}
	parts := p.multipart()
	if err := p.finish(); err != nil {
		return nil, err
	}
	return parts, nil
}

// finish reports what is left over, or the error that ended the parse.
func (p *parser) finish() error {
	if p.err == nil && p.peek().kind != eof {
		p.extra()
	}
	if p.err == nil && p.late != nil {
		p.err = p.late
	}
	if p.err != nil {
		return p.err
	}
	return nil
}

// ---- tokens

func (p *parser) peek() token { return p.toks[p.pos] }

// peekAt looks n tokens ahead.
func (p *parser) peekAt(n int) token { return p.toks[min(p.pos+n, len(p.toks)-1)] }

// take consumes the next token; the last one stays.
func (p *parser) take() token {
	t := p.toks[p.pos]
	if p.pos < len(p.toks)-1 {
		p.pos++
	}
	return t
}

// is tells whether the next tokens are these keywords or symbols.
func (p *parser) is(ups ...string) bool {
	for i, up := range ups {
		if p.peekAt(i).up != up {
			return false
		}
	}
	return true
}

// isAny tells whether the next token is one of several.
func (p *parser) isAny(ups ...string) bool {
	t := p.peek().up
	if t == "" {
		return false
	}
	for _, up := range ups {
		if t == up {
			return true
		}
	}
	return false
}

// accept consumes the keywords or symbols if they are next.
func (p *parser) accept(ups ...string) bool {
	if !p.is(ups...) {
		return false
	}
	p.pos += len(ups)
	return true
}

// acceptAny consumes the next token if it is one of several, and returns it, or "".
func (p *parser) acceptAny(ups ...string) string {
	if !p.isAny(ups...) {
		return ""
	}
	return p.take().up
}

// expect consumes keywords or symbols, or fails.
func (p *parser) expect(ups ...string) {
	for _, up := range ups {
		if !p.accept(up) {
			p.unexpected()
			return
		}
	}
}

// raw is the text of a token.
func (p *parser) raw(t token) string { return p.src[t.start:t.end] }

// textFrom is the text of what was read since token from.
func (p *parser) textFrom(from int) string {
	start, end := p.extent(from)
	return p.src[start:end]
}

// enter counts a level of nesting and tells whether it is still allowed; leave takes it back.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.failTok(p.peek(), errclass.New("FAILED_TO_PARSE_TOO_COMPLEX"))
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }

func (p *parser) seed() int64 {
	if p.opts.Seed != nil {
		return p.opts.Seed()
	}
	return rand.Int64()
}

// list reads one or more items between commas.
func list[T any](p *parser, item func() T) []T {
	out := []T{item()}
	for p.accept(",") {
		out = append(out, item())
	}
	return out
}

// ---- names

// isName tells whether a token can be a name.
func isName(t token) bool { return t.kind == word || t.kind == quoted }

// name reads one name.
func (p *parser) name() string {
	t := p.peek()
	if !isName(t) {
		p.unexpected()
		return ""
	}
	if t.up == "IDENTIFIER" && p.peekAt(1).up == "(" {
		parts := p.identifierClause()
		if len(parts) != 1 {
			p.failTok(t, errclass.New("IDENTIFIER_TOO_MANY_NAME_PARTS", "identifier", errclass.Ident(parts...), "limit", "1"))
			return ""
		}
		return parts[0]
	}
	p.take()
	if s := p.raw(t); t.kind == word && !isASCII(s) {
		p.failTok(t, errclass.New("INVALID_IDENTIFIER", "ident", s))
	}
	return p.nameText(t)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// nameText is the name that a token stands for.
func (p *parser) nameText(t token) string {
	s := p.raw(t)
	if t.kind != quoted {
		return s
	}
	if s[0] == '"' {
		return stringValue(s)
	}
	return nameOf(s)
}

// strictName reads a name where the words that join relations cannot be one.
func (p *parser) strictName() string {
	if notRelationAlias[p.peek().up] {
		p.unexpected()
		return ""
	}
	return p.name()
}

// multipart reads a name of one or more parts. A hyphen within is a mistake that deserves a message of its own.
func (p *parser) multipart() []string {
	from := p.pos
	parts := p.namePart(nil)
	for p.accept(".") {
		parts = p.namePart(parts)
	}
	if p.is("-") && p.adjacent() {
		for p.is("-") || isName(p.peek()) || p.is(".") || p.peek().kind == integer {
			p.take()
		}
		p.failFrom(from, errclass.New("INVALID_IDENTIFIER", "ident", p.textFrom(from)))
	}
	return parts
}

// namePart adds the next part, or the several of an IDENTIFIER clause.
func (p *parser) namePart(parts []string) []string {
	if p.is("IDENTIFIER", "(") {
		return append(parts, p.identifierClause()...)
	}
	return append(parts, p.name())
}

// adjacent tells whether the next token, and the one behind it, follow without white space and continue a name.
func (p *parser) adjacent() bool {
	t, n := p.peek(), p.peekAt(1)
	return p.pos > 0 && p.toks[p.pos-1].end == t.start && n.start == t.end && (isName(n) || n.kind == integer)
}

// identifierClause reads IDENTIFIER(text), where the text is known when the statement is read.
func (p *parser) identifierClause() []string {
	from := p.pos
	p.expect("IDENTIFIER", "(")
	inner := p.pos
	e := p.expr()
	place := p.origin(inner)
	p.expect(")")
	if p.err != nil {
		return nil
	}
	s, ok := constantString(e)
	if !ok {
		if p.scripts != nil {
			p.scripts.deferred = true
			return []string{"deferred"}
		}
		if s, ok = p.evaluated(e, place); !ok {
			return nil
		}
	}
	parts, err := ParseIdentifier(s)
	if err != nil {
		p.failErr(from, err)
	}
	return parts
}

// evaluated is the value of the expression in IDENTIFIER(...), which is at a place.
func (p *parser) evaluated(e plan.Expr, place plan.Origin) (string, bool) {
	class, kv := "NOT_A_CONSTANT_STRING.NOT_CONSTANT", []string{"name", "IDENTIFIER", "expr", FormatExpr(e)}
	if l, ok := e.(*plan.Literal); ok {
		class, kv = "NOT_A_CONSTANT_STRING.WRONG_TYPE", append(kv, "dataType", l.T.SimpleString())
	} else if p.opts.Constant != nil {
		switch v, t, err := p.opts.Constant(e); {
		case err != nil && !errclass.Has(err, "UNRESOLVED_COLUMN"):
			if p.err == nil {
				p.err = errclass.Internal(err)
			}
			p.pos = len(p.toks) - 1
			return "", false
		case err != nil:
		case !types.IsString(t):
			class, kv = "NOT_A_CONSTANT_STRING.WRONG_TYPE", append(kv, "dataType", t.SimpleString())
		case v == nil:
			class = "NOT_A_CONSTANT_STRING.NULL"
		default:
			if s, ok := v.(string); ok {
				return s, true
			}
		}
	}
	if p.err == nil {
		p.err = errclass.New(class, kv...)
		if place.Context != nil {
			p.err = p.err.WithContext(*place.Context)
		}
	}
	p.pos = len(p.toks) - 1
	return "", false
}

// constantString evaluates literals and concatenations of them.
func constantString(e plan.Expr) (string, bool) {
	switch e := e.(type) {
	case *plan.Literal:
		s, ok := e.Value.(string)
		return s, ok
	case *plan.Func:
		if len(e.Name) != 1 || e.Name[0] != "concat" {
			return "", false
		}
		var all string
		for _, a := range e.Args {
			s, ok := constantString(a)
			if !ok {
				return "", false
			}
			all += s
		}
		return all, true
	}
	return "", false
}
