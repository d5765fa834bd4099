package sql

import (
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// scripts is what the parser knows while it reads a script.
type scripts struct {
	labels   []scriptLabel // around the statement, innermost last
	rows     bool          // the query of FOR is being read, which DO ends
	deferred bool          // the statement has names in variables
}

// scriptLabel is a label, in upper case, or the variable of a FOR.
type scriptLabel struct {
	name string
	loop bool
}

// script reads BEGIN ... END.
func (p *parser) script() plan.Statement {
	p.scripts = &scripts{}
	p.expect("BEGIN")
	p.accept("NOT", "ATOMIC")
	b := p.blockBody(&plan.Block{})
	p.expect("END")
	return &plan.Script{Body: b}
}

// refusePlain is refuse for a mistake that Spark gives no place for.
func (p *parser) refusePlain(e *errclass.Error) {
	if p.late == nil && p.err == nil {
		p.late, p.noPlace = e, true
	}
}

// what a statement of a script is, for the order in which they must come.
const (
	variableDeclaration = iota
	conditionDeclaration
	handlerDeclaration
	cursorStatement
	otherStatement
)

// statementKind tells what the next statement of a script is.
func (p *parser) statementKind() int {
	switch p.peek().up {
	case "OPEN", "FETCH", "CLOSE":
		if isName(p.peekAt(1)) {
			return cursorStatement
		}
	case "DECLARE":
		switch {
		case p.isCursor():
			return cursorStatement
		case isName(p.peekAt(1)) && p.peekAt(2).up == "HANDLER":
			return handlerDeclaration
		case isName(p.peekAt(1)) && p.peekAt(2).up == "CONDITION" && (p.peekAt(3).up == ";" || p.peekAt(3).up == "FOR"):
			return conditionDeclaration
		}
		return variableDeclaration
	}
	return otherStatement
}

// isCursor tells whether DECLARE c CURSOR is next.
func (p *parser) isCursor() bool {
	at := 2
	if up := p.peekAt(at).up; up == "INSENSITIVE" || up == "ASENSITIVE" {
		at++
	}
	return p.is("DECLARE") && isName(p.peekAt(1)) && p.peekAt(at).up == "CURSOR"
}

// cursor refuses a statement about cursors, whatever its rest.
func (p *parser) cursor() plan.Statement {
	depth := 0
	for t := p.peek(); t.kind != eof && (t.up != ";" || depth > 0); t = p.peek() {
		p.take()
	}
	p.refusePlain(errclass.New("UNSUPPORTED_FEATURE.SQL_CURSOR"))
	return nil
}

// blockBody reads the statements of a block up to its END, with the declarations at its beginning.
func (p *parser) blockBody(b *plan.Block) *plan.Block {
	if !p.enter() {
		return b
	}
	defer p.leave()
	past := variableDeclaration
	conditions := map[string]bool{}
	for !p.is("END") && p.err == nil {
		kind := p.statementKind()
		name := ""
		if kind < otherStatement {
			name = p.nameText(p.peekAt(1))
		}
		switch {
		case kind == variableDeclaration && past > conditionDeclaration:
			p.refusePlain(errclass.New("INVALID_VARIABLE_DECLARATION.ONLY_AT_BEGINNING", "varName", p.declaredName()))
		case kind == conditionDeclaration && past > conditionDeclaration:
			p.refusePlain(errclass.New("INVALID_ERROR_CONDITION_DECLARATION.NOT_AT_START_OF_COMPOUND_STATEMENT", "conditionName", errclass.Ident(strings.ToUpper(name))))
		case kind == handlerDeclaration && past > handlerDeclaration:
			p.refusePlain(errclass.New("INVALID_HANDLER_DECLARATION.WRONG_PLACE_OF_DECLARATION"))
		}
		past = max(past, kind)
		switch kind {
		case conditionDeclaration:
			p.condition(conditions)
		case handlerDeclaration:
			h := p.handler(conditions)
			p.checkHandlers(b.Handlers, h)
			b.Handlers = append(b.Handlers, h)
		case variableDeclaration:
			p.checkLocal()
			b.Body = append(b.Body, p.scriptStatement())
		default:
			b.Body = append(b.Body, p.scriptStatement())
		}
		p.expect(";")
	}
	return b
}

// declaredName is the name that the DECLARE here declares, as messages have it.
func (p *parser) declaredName() string {
	at := 1
	for up := p.peekAt(at).up; (up == "OR" || up == "REPLACE" || up == "VARIABLE" || up == "VAR") && isName(p.peekAt(at+1)); up = p.peekAt(at).up {
		at++
	}
	parts := []string{p.nameText(p.peekAt(at))}
	for p.peekAt(at+1).up == "." {
		at += 2
		parts = append(parts, p.nameText(p.peekAt(at)))
	}
	return errclass.Ident(parts...)
}

// checkLocal refuses what DECLARE may do for session variables only.
func (p *parser) checkLocal() {
	name := p.declaredName()
	switch {
	case p.is("DECLARE", "OR", "REPLACE"):
		p.refusePlain(errclass.New("INVALID_VARIABLE_DECLARATION.REPLACE_LOCAL_VARIABLE", "varName", name))
	case strings.Contains(name, "`.`"):
		p.refusePlain(errclass.New("INVALID_VARIABLE_DECLARATION.QUALIFIED_LOCAL_VARIABLE", "varName", name))
	}
}

// statements reads the statements of a branch or a loop: one at least, up to one of the words that end them.
func (p *parser) statements(ends ...string) []plan.Statement {
	if !p.enter() {
		return nil
	}
	defer p.leave()
	var out []plan.Statement
	for first := true; p.err == nil && (first || !p.isAny(ends...)); first = false {
		switch p.statementKind() {
		case variableDeclaration:
			p.refusePlain(errclass.New("INVALID_VARIABLE_DECLARATION.NOT_ALLOWED_IN_SCOPE", "varName", p.declaredName()))
		case conditionDeclaration:
			p.refusePlain(errclass.New("INVALID_ERROR_CONDITION_DECLARATION.NOT_AT_START_OF_COMPOUND_STATEMENT", "conditionName", p.declaredName()))
			p.condition(map[string]bool{})
			p.expect(";")
			continue
		case handlerDeclaration:
			p.refusePlain(errclass.New("INVALID_HANDLER_DECLARATION.WRONG_PLACE_OF_DECLARATION"))
			p.handler(nil)
			p.expect(";")
			continue
		}
		out = append(out, p.scriptStatement())
		p.expect(";")
	}
	return out
}

// scriptStatement reads one statement of a script, without the semicolon behind it.
func (p *parser) scriptStatement() plan.Statement {
	if p.statementKind() == cursorStatement {
		return p.cursor()
	}
	label := ""
	if isName(p.peek()) && p.peekAt(1).up == ":" && p.peekAt(1).end < p.peekAt(2).start {
		label = p.name()
		p.take()
		if !p.isAny("BEGIN", "WHILE", "REPEAT", "LOOP", "FOR") {
			p.unexpected()
			return nil
		}
	}
	switch p.peek().up {
	case "BEGIN":
		return p.labelled(label, false, func(end func()) plan.Statement {
			p.take()
			p.accept("NOT", "ATOMIC")
			b := p.blockBody(&plan.Block{Label: upper(label)})
			p.expect("END")
			end()
			return b
		})
	case "WHILE":
		return p.labelled(label, true, func(end func()) plan.Statement {
			p.take()
			l := &plan.Loop{Label: upper(label), Branch: p.branchCondition()}
			p.expect("DO")
			l.Body = p.statements("END")
			p.expect("END", "WHILE")
			end()
			return l
		})
	case "LOOP":
		return p.labelled(label, true, func(end func()) plan.Statement {
			p.take()
			l := &plan.Loop{Label: upper(label)}
			l.Body = p.statements("END")
			p.expect("END", "LOOP")
			end()
			return l
		})
	case "REPEAT":
		return p.labelled(label, true, func(end func()) plan.Statement {
			p.take()
			l := &plan.Loop{Label: upper(label), Until: true}
			body := p.statements("UNTIL")
			p.expect("UNTIL")
			l.Branch = p.branchCondition()
			l.Body = body
			p.expect("END", "REPEAT")
			end()
			return l
		})
	case "FOR":
		return p.labelled(label, true, p.forLoop(label))
	case "IF":
		return p.ifStatement()
	case "CASE":
		return p.caseStatement()
	case "LEAVE", "ITERATE":
		return p.jump()
	case "SET":
		return p.plainStatement(func() plan.Statement {
			p.first = p.pos
			p.take()
			return p.setVariable()
		})
	}
	return p.plainStatement(p.statement)
}

// plainStatement reads a statement that is no part of the language of scripts.
func (p *parser) plainStatement(read func() plan.Statement) plan.Statement {
	at, before := p.peek().start, p.scripts.deferred
	p.scripts.deferred = false
	st := read()
	p.placeLate()
	if p.scripts.deferred {
		st = &plan.Deferred{Text: p.src, At: at}
	}
	p.scripts.deferred = before
	return st
}

// labelled reads a block or a loop with its label. read calls its argument where the label may stand again.
func (p *parser) labelled(label string, loop bool, read func(end func()) plan.Statement) plan.Statement {
	p.openLabel(label, loop)
	outer := len(p.scripts.labels)
	st := read(func() {
		if !isName(p.peek()) {
			return
		}
		switch last := p.name(); {
		case label == "":
			p.refusePlain(errclass.New("END_LABEL_WITHOUT_BEGIN_LABEL", "endLabel", errclass.Ident(last)))
		case !strings.EqualFold(label, last):
			p.refusePlain(errclass.New("LABELS_MISMATCH", "beginLabel", errclass.Ident(label), "endLabel", errclass.Ident(last)))
		}
	})
	p.scripts.labels = p.scripts.labels[:outer-1]
	return st
}

// openLabel begins the scope of a label, which may be empty.
func (p *parser) openLabel(label string, loop bool) {
	name := upper(label)
	if label != "" && slices.ContainsFunc(p.scripts.labels, func(l scriptLabel) bool { return l.name == name }) {
		p.refusePlain(errclass.New("LABEL_OR_FOR_VARIABLE_ALREADY_EXISTS", "label", errclass.Ident(strings.ToLower(label))))
	}
	if name == "SYSTEM" || name == "SESSION" || name == "BUILTIN" {
		p.refusePlain(errclass.New("LABEL_OR_FOR_VARIABLE_NAME_FORBIDDEN", "label", errclass.Ident(strings.ToLower(label))))
	}
	p.scripts.labels = append(p.scripts.labels, scriptLabel{name, loop})
}

func (p *parser) forLoop(label string) func(end func()) plan.Statement {
	return func(end func()) plan.Statement {
		p.take()
		f := &plan.For{Label: upper(label)}
		if isName(p.peek()) && p.peekAt(1).up == "AS" {
			f.Variable = p.name()
			p.take()
			p.openLabel(f.Variable, false)
		}
		if !p.queryAt(0) {
			p.unexpected()
			return f
		}
		outer := p.scripts.rows
		p.scripts.rows = true
		f.Query = p.query()
		p.scripts.rows = outer
		p.expect("DO")
		p.scripts.rows = false
		f.Body = p.statements("END")
		p.scripts.rows = outer
		p.expect("END", "FOR")
		if f.Variable != "" {
			p.scripts.labels = p.scripts.labels[:len(p.scripts.labels)-1]
		}
		end()
		return f
	}
}

// branchCondition reads a condition with its text.
func (p *parser) branchCondition() plan.Branch {
	from := p.pos
	p.openWindows()
	b := plan.Branch{Cond: p.expr()}
	p.closeWindows()
	b.Text = p.textFrom(from)
	return b
}

func (p *parser) ifStatement() plan.Statement {
	p.expect("IF")
	st := &plan.If{}
	for more := true; more && p.err == nil; more = p.accept("ELSEIF") {
		b := p.branchCondition()
		p.expect("THEN")
		b.Body = p.statements("ELSEIF", "ELSE", "END")
		st.Branches = append(st.Branches, b)
	}
	if p.accept("ELSE") {
		st.Else = p.statements("END")
	}
	p.expect("END", "IF")
	return st
}

func (p *parser) caseStatement() plan.Statement {
	p.expect("CASE")
	c := &plan.Case{}
	if !p.is("WHEN") {
		c.Value = p.branchCondition().Cond
	}
	for p.is("WHEN") && p.err == nil {
		p.take()
		b := p.branchCondition()
		p.expect("THEN")
		b.Body = p.statements("WHEN", "ELSE", "END")
		c.Branches = append(c.Branches, b)
	}
	if c.Branches == nil {
		p.unexpected()
	}
	if p.accept("ELSE") {
		c.Else = p.statements("END")
	}
	p.expect("END", "CASE")
	if c.Value == nil {
		return &plan.If{Branches: c.Branches, Else: c.Else}
	}
	return c
}

// jump reads LEAVE and ITERATE.
func (p *parser) jump() plan.Statement {
	word := p.take().up
	label := upper(p.name())
	found := slices.IndexFunc(p.scripts.labels, func(l scriptLabel) bool { return l.name == label })
	switch {
	case p.err != nil:
	case found < 0:
		p.refusePlain(errclass.New("INVALID_LABEL_USAGE.DOES_NOT_EXIST", "labelName", label, "statementType", word))
	case word == "ITERATE" && !p.scripts.labels[found].loop:
		p.refusePlain(errclass.New("INVALID_LABEL_USAGE.ITERATE_IN_COMPOUND", "labelName", label))
	}
	if word == "LEAVE" {
		return &plan.Leave{Label: label}
	}
	return &plan.Iterate{Label: label}
}

// condition reads DECLARE name CONDITION [FOR SQLSTATE [VALUE] 'state'].
func (p *parser) condition(known map[string]bool) {
	p.expect("DECLARE")
	name := upper(p.name())
	p.expect("CONDITION")
	if p.accept("FOR") {
		if !p.is("SQLSTATE") && p.err == nil {
			p.syntax(": missing 'SQLSTATE'")
		}
		p.state()
	}
	if known[name] {
		p.refusePlain(errclass.New("DUPLICATE_CONDITION_IN_SCOPE", "condition", errclass.Ident(name)))
	}
	known[name] = true
}

// state reads SQLSTATE [VALUE] 'state'.
func (p *parser) state() string {
	p.expect("SQLSTATE")
	p.accept("VALUE")
	s := p.stringLit()
	ok := len(s) == 5 && !strings.HasPrefix(s, "00") && !strings.HasPrefix(s, "01") && !strings.HasPrefix(s, "XX")
	for _, r := range s {
		ok = ok && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z')
	}
	if !ok {
		p.refusePlain(errclass.New("INVALID_SQLSTATE", "sqlState", s))
	}
	return s
}

// handler reads DECLARE {EXIT | CONTINUE} HANDLER FOR conditions statement. declared are the conditions of the block.
func (p *parser) handler(declared map[string]bool) *plan.Handler {
	p.expect("DECLARE")
	h := &plan.Handler{}
	switch {
	case p.accept("CONTINUE"):
		h.Continue = true
		if !p.opts.ContinueHandlers {
			p.refusePlain(errclass.New("UNSUPPORTED_FEATURE.CONTINUE_EXCEPTION_HANDLER"))
		}
	case !p.accept("EXIT"):
		p.pos += 2 // Spark takes it for a variable of the type HANDLER
		p.syntax(": missing ';'")
		return h
	}
	p.expect("HANDLER", "FOR")
	for more := true; more && p.err == nil; more = p.accept(",") {
		p.handled(h, declared)
	}
	if (h.Exceptions || h.NotFound) && len(h.Conditions)+len(h.States) > 0 {
		p.refusePlain(errclass.New("INVALID_HANDLER_DECLARATION.INVALID_CONDITION_COMBINATION"))
	}
	h.Body = p.scriptStatement()
	return h
}

// handled reads one of the conditions of a handler.
func (p *parser) handled(h *plan.Handler, declared map[string]bool) {
	switch {
	case p.accept("SQLEXCEPTION"):
		h.Exceptions = true
	case p.accept("NOT", "FOUND"):
		h.NotFound = true
	case p.is("SQLSTATE") && p.peekAt(1).up != ",":
		s := p.state()
		if slices.Contains(h.States, s) {
			p.refusePlain(errclass.New("INVALID_HANDLER_DECLARATION.DUPLICATE_SQLSTATE_IN_HANDLER_DECLARATION", "sqlState", s))
		}
		h.States = append(h.States, s)
	default:
		name := upper(strings.Join(p.multipart(), "."))
		if slices.Contains(h.Conditions, name) {
			p.refusePlain(errclass.New("INVALID_HANDLER_DECLARATION.DUPLICATE_CONDITION_IN_HANDLER_DECLARATION", "condition", name))
		}
		if p.err == nil && !declared[name] && !errclass.Known(name) {
			p.refusePlain(errclass.New("INVALID_HANDLER_DECLARATION.CONDITION_NOT_FOUND", "condition", name))
		}
		h.Conditions = append(h.Conditions, name)
	}
}

// checkHandlers refuses a second handler for something.
func (p *parser) checkHandlers(others []*plan.Handler, h *plan.Handler) {
	for _, o := range others {
		for _, c := range h.Conditions {
			if slices.Contains(o.Conditions, c) {
				p.refusePlain(errclass.New("DUPLICATE_EXCEPTION_HANDLER.CONDITION", "condition", c))
			}
		}
		for _, s := range h.States {
			if slices.Contains(o.States, s) {
				p.refusePlain(errclass.New("DUPLICATE_EXCEPTION_HANDLER.SQLSTATE", "sqlState", s))
			}
		}
		if h.Exceptions && o.Exceptions {
			p.refusePlain(errclass.New("DUPLICATE_EXCEPTION_HANDLER.CONDITION", "condition", "SQLEXCEPTION"))
		}
		if h.NotFound && o.NotFound {
			p.refusePlain(errclass.New("DUPLICATE_EXCEPTION_HANDLER.CONDITION", "condition", "NOT FOUND"))
		}
	}
}

// ParseAt reads the statement that begins at a byte of a text which was read before.
func ParseAt(src string, at int, opts Options) (plan.Statement, error) {
	p, err := newParser(src, opts)
	if err != nil {
		return nil, err
	}
	for p.peek().start < at {
		p.take()
	}
	var st plan.Statement
	if p.is("SET") {
		p.first = p.pos
		p.take()
		st = p.setVariable()
	} else {
		st = p.statement()
	}
	p.placeLate()
	if p.err == nil {
		p.err = p.late
	}
	if p.err != nil {
		return nil, p.err
	}
	return st, nil
}
