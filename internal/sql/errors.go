package sql

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// at puts text[start:end] of a SQL text to an error as its place.
func at(sql string, start, end int, e *errclass.Error) *errclass.Error {
	from := utf8.RuneCountInString(sql[:start])
	return e.WithContext(errclass.SQLPlace(sql, from, from+utf8.RuneCountInString(sql[start:end])-1))
}

// fail notes the first error, with text[start:end] as its place, and moves the parser to the end of its input.
func (p *parser) fail(start, end int, e *errclass.Error) {
	if p.err == nil {
		p.err = at(p.src, start, end, e)
	}
	p.pos = len(p.toks) - 1
}

// failFrom is fail for what was read since token from.
func (p *parser) failFrom(from int, e *errclass.Error) {
	start, end := p.extent(from)
	p.fail(start, end, e)
}

// failTok is fail for one token.
func (p *parser) failTok(t token, e *errclass.Error) { p.fail(t.start, t.end, e) }

// refuse notes a mistake that is none of grammar, made in what was read since token from. It is reported when the rest of the
// text can be read; the first of several counts.
func (p *parser) refuse(from int, e *errclass.Error) {
	if p.late == nil && p.err == nil && e != nil {
		start, end := p.extent(from)
		p.late = at(p.src, start, end, e)
	}
}

// refuseStatement is refuse for the whole statement, whose end is not known yet.
func (p *parser) refuseStatement(e *errclass.Error) {
	if p.late == nil && e != nil {
		p.late = e
	}
}

// placeLate gives a late error without a place that of the statement, which has been read to its end.
func (p *parser) placeLate() {
	if p.late != nil && len(p.late.Context) == 0 && !p.noPlace {
		start, end := p.extent(p.first)
		if p.pos == len(p.toks)-1 { // what is behind the last token read may be no tokens at all
			end = max(end, start+len(strings.TrimRight(p.src[start:], "; \t\r\n")))
		}
		p.late = at(p.src, start, end, p.late)
	}
}

// failErr is failFrom for an error of another package, whose own place is replaced.
func (p *parser) failErr(from int, err error) {
	e, ok := errors.AsType[*errclass.Error](err)
	if !ok {
		e = errclass.Internal(err)
	}
	e.Context = nil
	p.failFrom(from, e)
}

// unexpected reports the next token as a syntax error.
func (p *parser) unexpected() { p.syntax("") }

// extra reports the next token, which is behind a complete statement. It is called one too many when the text would be right
// without it.
func (p *parser) extra() {
	t := p.peek()
	if p.peekAt(1).kind == eof && t.kind != eof && t.kind != bad || p.pos > 0 && p.toks[p.pos-1].up == ";" {
		p.syntax(": extra input '" + p.src[t.start:t.end] + "'")
		return
	}
	p.unexpected()
}

func (p *parser) syntax(hint string) {
	if p.err != nil {
		return
	}
	t := p.peek()
	what := "end of input"
	if t.kind != eof {
		what = "'" + p.src[t.start:t.end] + "'"
	}
	p.failTok(t, errclass.New("PARSE_SYNTAX_ERROR", "error", what, "hint", hint))
}

// unsupported reports a feature, named in words, that this engine has not got.
func (p *parser) unsupported(from int, what string) {
	p.failFrom(from, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", what))
}

// extent is the stretch of text from token from to the last token read.
func (p *parser) extent(from int) (start, end int) {
	last := max(p.pos-1, from)
	return p.toks[from].start, p.toks[last].end
}

// origin is the place of what was read since token from.
func (p *parser) origin(from int) plan.Origin {
	if p.err != nil {
		return plan.Origin{}
	}
	start, end := p.extent(from)
	first := p.chars(start)
	return plan.Origin{Context: &errclass.QueryContext{
		Start:    first,
		Stop:     first + p.width(start, end) - 1,
		Fragment: p.src[start:end],
		SQL:      p.src,
	}}
}

// chars is the position in characters of a position in bytes.
func (p *parser) chars(at int) int {
	if p.runes == nil {
		return at
	}
	return int(p.runes[at])
}

func (p *parser) width(start, end int) int { return p.chars(end) - p.chars(start) }

// runeIndex maps byte positions to character positions, or is nil when they are the same.
func runeIndex(s string) []int32 {
	if utf8.RuneCountInString(s) == len(s) {
		return nil
	}
	idx := make([]int32, len(s)+1)
	n := int32(0)
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		for j := range size {
			idx[i+j] = n
		}
		i += size
		n++
	}
	idx[len(s)] = n
	return idx
}
