package errclass

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ContextType says where a piece of query came from.
type ContextType uint8

// The two kinds of context, numbered as on the wire.
const (
	SQLContext       ContextType = 0
	DataFrameContext ContextType = 1
)

// QueryContext is the place of an error in a SQL text or in a program.
type QueryContext struct {
	Type       ContextType
	ObjectType string // "VIEW", or empty for the query itself
	ObjectName string
	Start      int // position of the first character in the SQL text, from 0
	Stop       int // position of the last character, inclusive
	Fragment   string
	CallSite   string // file and line in the program, for DataFrameContext
	Summary    string // the block of text shown below the message
	// SQL is the whole text. With it set, an empty Summary is filled in when the context is added to an error: plans hold a
	// context for every expression, and a block of text for each would be quadratic.
	SQL string
}

// SQLPlace is the context of the characters start to stop (inclusive, counted in code points)
// of a SQL text. Positions outside the text are cut to it.
func SQLPlace(sql string, start, stop int) QueryContext {
	runes := []rune(sql)
	start = max(0, min(start, len(runes)))
	stop = max(start-1, min(stop, len(runes)-1))
	c := QueryContext{Start: start, Stop: stop, Fragment: string(runes[start : stop+1])}

	line, lineStart := 1, 0
	for i, r := range runes[:start] {
		if r == '\n' {
			line, lineStart = line+1, i+1
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "== SQL (line %d, position %d) ==\n", line, start-lineStart+1)
	pos := 0 // of the line's first character
	for _, text := range strings.Split(sql, "\n") {
		n := utf8.RuneCountInString(text)
		b.WriteString(text + "\n")
		if from, to := max(start, pos), min(stop, pos+n-1); from <= to {
			b.WriteString(strings.Repeat(" ", from-pos) + strings.Repeat("^", to-from+1) + "\n")
		}
		pos += n + 1
	}
	c.Summary = b.String()
	return c
}

// CallPlace is the context of a call in a program: the method and where it was called from.
func CallPlace(fragment, callSite string) QueryContext {
	return QueryContext{
		Type: DataFrameContext, Fragment: fragment, CallSite: callSite,
		Summary: fmt.Sprintf("== DataFrame ==\n%q was called from\n%s\n", fragment, callSite),
	}
}

// Text is the Summary, made when it is not there yet.
func (c QueryContext) Text() string {
	switch {
	case c.Summary != "":
		return c.Summary
	case c.Type == DataFrameContext:
		return CallPlace(c.Fragment, c.CallSite).Summary
	case c.SQL != "":
		return SQLPlace(c.SQL, c.Start, c.Stop).Summary
	}
	return ""
}

// Ident prints a name of several parts as SQL does: `db`.`t`.
func Ident(parts ...string) string {
	q := make([]string, len(parts))
	for i, p := range parts {
		q[i] = "`" + strings.ReplaceAll(p, "`", "``") + "`"
	}
	return strings.Join(q, ".")
}

// Idents prints names of one part as a list: `a`, `b`.
func Idents(names []string) string {
	q := make([]string, len(names))
	for i, n := range names {
		q[i] = Ident(n)
	}
	return strings.Join(q, ", ")
}

// Expr prints an expression or a type as it stands in messages: "(a + 1)", "INT".
func Expr(sql string) string { return `"` + sql + `"` }

// Conf prints a configuration key as it stands in messages.
func Conf(key string) string { return `"` + key + `"` }

// Text prints a string value as a SQL literal.
func Text(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
