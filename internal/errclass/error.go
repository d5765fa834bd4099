package errclass

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
)

// Error is an error that a user can see and a program can tell apart by its class.
type Error struct {
	Class    string            // condition, with its subclass: "UNRESOLVED_COLUMN.WITH_SUGGESTION"
	SQLState string            // five characters, or empty
	Params   map[string]string // parameters of the message template
	Message  string            // text without class and SQLSTATE
	Context  []QueryContext    // places in the query, innermost first
	Cause    error             // what led to it; nil if nothing did

	// Kind decides the Java classes that clients are told. New sets the one of the registry.
	Kind Kind
	// JavaClasses replaces the list of the kind. The remote backend keeps here what the server said.
	JavaClasses []string
	// Stack is the Go stack of an internal error. It is for the log and never goes to a client.
	Stack string
}

// carried are parameters that Spark sends with a condition although its text does without them. Clients see them.
var carried = map[string]map[string]string{
	"CAST_INVALID_INPUT": {"ansiConfig": `"spark.sql.ansi.enabled"`},
	"CAST_OVERFLOW":      {"ansiConfig": `"spark.sql.ansi.enabled"`},
	"DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION":                     {"ansiConfig": `"spark.sql.ansi.enabled"`},
	"INVALID_DATETIME_PATTERN.WITH_SUGGESTION":                         {"docroot": "https://spark.apache.org/docs/latest"},
	"INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION": {"docroot": "https://spark.apache.org/docs/latest"},
	"WRONG_NUM_ARGS.WITHOUT_SUGGESTION":                                {"docroot": "https://spark.apache.org/docs/latest"},
}

// New makes an error of a registered condition; kv are the names and values of its parameters.
// A mistake in the call (unknown condition, missing or surplus parameter) is found by a test of
// this package. At run time it only makes the message poorer.
func New(class string, kv ...string) *Error {
	e := &Error{Class: class}
	if len(kv) > 0 {
		e.Params = make(map[string]string, (len(kv)+1)/2)
		for i := 0; i < len(kv); i += 2 {
			if i+1 < len(kv) {
				e.Params[kv[i]] = kv[i+1]
			} else {
				e.Params[kv[i]] = ""
			}
		}
	}
	def, ok := registry[class]
	if !ok {
		e.Kind, e.SQLState, e.Message = SparkFailure, "XX000", looseText(e.Params)
		return e
	}
	for k, v := range carried[class] {
		if _, ok := e.Params[k]; !ok && e.Params != nil {
			e.Params[k] = v
		}
	}
	e.Kind, e.SQLState = def.Kind, def.SQLState
	e.Message = fill(def.Text, e.Params)
	return e
}

// Internal wraps an error that is a fault of the engine, not of the user. An error that has a
// class already is returned as it is, and what a file system said is a FILE_IO.
func Internal(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return FileIO(e).WithCause(err)
	}
	text := "unknown fault"
	if err != nil {
		text = err.Error()
	}
	e := New("INTERNAL_ERROR", "message", text)
	e.Cause, e.Stack = err, string(debug.Stack())
	return e
}

// FileIO is the error of an operation on a file.
func FileIO(e *fs.PathError) *Error {
	return New("FILE_IO", "operation", e.Op, "path", e.Path, "reason", e.Err.Error()+".")
}

// Recovered turns what recover() returned into an internal error.
func Recovered(v any) *Error {
	err, ok := v.(error)
	if !ok {
		err = fmt.Errorf("%v", v)
	}
	e := New("INTERNAL_ERROR", "message", "panic: "+err.Error())
	e.Cause, e.Stack = err, string(debug.Stack())
	return e
}

// Error gives "[CLASS] text SQLSTATE: xxxxx", or the text alone where Spark does so. Conditions of Delta tables, which are not Spark's own,
// come without the SQLSTATE.
func (e *Error) Error() string {
	var b strings.Builder
	marked := e.Class != "" && !unmarked(e.Class)
	if marked {
		b.WriteString("[" + e.Class + "] ")
	}
	b.WriteString(e.Message)
	if _, silent := deltaTable[e.Class]; e.SQLState != "" && !silent && (marked || e.Class == "") {
		b.WriteString(" SQLSTATE: " + e.SQLState)
	}
	return b.String()
}

// Detail is Error followed by the places in the query, as a terminal or a client shows it.
func (e *Error) Detail() string {
	var b strings.Builder
	b.WriteString(e.Error())
	for _, c := range e.Context {
		if s := strings.TrimRight(c.Text(), "\n"); s != "" {
			b.WriteString("\n" + s)
		}
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is an *Error of the same class; parameters and texts are not compared.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Class == e.Class
}

// WithCause sets the cause and returns the error.
func (e *Error) WithCause(err error) *Error {
	e.Cause = err
	return e
}

// WithContext adds a place in the query and returns the error.
func (e *Error) WithContext(c QueryContext) *Error {
	if c.Summary == "" && c.SQL != "" {
		c.Summary = SQLPlace(c.SQL, c.Start, c.Stop).Summary
	}
	e.Context = append(e.Context, c)
	return e
}

// WithKind replaces the kind: some conditions are raised with different Java classes, a cast
// for one as a number format, a date time or a plain runtime error.
func (e *Error) WithKind(k Kind) *Error {
	e.Kind = k
	return e
}

// Renamed is an error with another value of a parameter, which the message follows; an error of another kind is returned as it is.
func Renamed(err error, parameter, value string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Params == nil {
		return err
	}
	r := *e
	r.Params = maps.Clone(e.Params)
	r.Params[parameter] = value
	r.Message = fill(registry[e.Class].Text, r.Params)
	return &r
}

// Has reports whether a class is in the chain of err. A class without a subclass matches all
// of its subclasses.
func Has(err error, class string) bool {
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return false
		}
		if e.Class == class || strings.HasPrefix(e.Class, class+".") {
			return true
		}
		err = e.Cause
	}
	return false
}

// Known tells whether there is a condition of a name, with subclass or without.
func Known(class string) bool {
	if _, ok := registry[class]; ok {
		return true
	}
	for name := range registry {
		if strings.HasPrefix(name, class+".") {
			return true
		}
	}
	return false
}

// Split takes a text of the form that Error gives apart. A text of another form is returned as
// the message.
func Split(text string) (class, message, sqlState string) {
	message = text
	if rest, ok := strings.CutPrefix(text, "["); ok {
		if c, m, ok := strings.Cut(rest, "] "); ok && isClass(c) {
			class, message = c, m
		}
	}
	if i := strings.LastIndex(message, " SQLSTATE: "); i >= 0 && class != "" {
		if s := message[i+len(" SQLSTATE: "):]; len(s) >= 5 && (len(s) == 5 || s[5] == '\n' || s[5] == ';') {
			message, sqlState = message[:i]+s[5:], s[:5]
		}
	}
	return class, message, sqlState
}

func isClass(s string) bool {
	for _, r := range s {
		if r != '_' && r != '.' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// fill replaces each <name> by its parameter; one without a value stays readable as it is.
func fill(text string, params map[string]string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '<')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i:]
		j := strings.IndexByte(text, '>')
		if j < 0 || !isParam(text[1:j]) {
			b.WriteByte('<')
			text = text[1:]
			continue
		}
		if v, ok := params[text[1:j]]; ok {
			b.WriteString(v)
		} else {
			b.WriteString(text[:j+1])
		}
		text = text[j+1:]
	}
}

// isParam tells the name of a parameter from a piece of SQL such as ARRAY<INT>: it has a
// small letter.
func isParam(s string) bool {
	small := false
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' {
			return false
		}
		small = small || r >= 'a' && r <= 'z'
	}
	return small
}

// looseText prints parameters of a condition that has no template.
func looseText(params map[string]string) string {
	parts := []string{}
	for _, k := range slices.Sorted(maps.Keys(params)) {
		parts = append(parts, k+": "+params[k])
	}
	if len(parts) == 0 {
		return "no further details."
	}
	return strings.Join(parts, ", ")
}
