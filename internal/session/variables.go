package session

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/types"
)

// variable is a session variable.
type variable struct {
	name    string
	value   *plan.Literal
	initial plan.Expr // DEFAULT; nil is NULL
}

// variableName checks the name of a variable and gives its last part.
func variableName(parts []string) (string, bool) {
	path := strings.ToLower(strings.Join(parts[:len(parts)-1], "."))
	return parts[len(parts)-1], path == "" || path == "session" || path == "system.session"
}

func variableIdent(name string) string { return errclass.Ident("system", "session", name) }

// LookupVariable implements analyze.Variables. The variables of a script hide those of the session.
func (c lookup) LookupVariable(parts []string) (*plan.Literal, bool) {
	if v, path := c.script.find(parts); v != nil {
		return v.reference(path), true
	}
	name, ok := variableName(parts)
	if !ok {
		return nil, false
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	v, ok := c.s.variables[strings.ToLower(name)]
	if !ok {
		return nil, false
	}
	return v.reference("system.session"), true
}

// reference is the value of a variable, under the name that an expression has which uses it.
func (v *variable) reference(path string) *plan.Literal {
	l := *v.value
	l.Text = "variablereference(" + path + "." + v.name + "=" + typedNull(v.value).SQL() + ")"
	return &l
}

// variable finds a variable that is to be set.
// variableOf is the name of the variable that a literal stands for.
func variableOf(l *plan.Literal) (string, bool) {
	text, ok := strings.CutPrefix(l.Text, "variablereference(")
	if !ok {
		return "", false
	}
	path, _, _ := strings.Cut(text, "=")
	return path[strings.LastIndexByte(path, '.')+1:], true
}

// typedNull is a literal as expressions show it: a NULL with its type.
func typedNull(l *plan.Literal) plan.Expr {
	if l.Value == nil && l.T != types.Null {
		return &plan.Cast{Child: &plan.Literal{T: types.Null}, To: l.T}
	}
	return l
}

func (s *Session) variable(ctx context.Context, t plan.TableName) (*variable, error) {
	parts := t.Parts
	if v, _ := scriptOf(ctx).find(parts); v != nil {
		return v, nil
	}
	if name, ok := variableName(parts); ok {
		s.mu.Lock()
		v := s.variables[strings.ToLower(name)]
		s.mu.Unlock()
		if v != nil {
			return v, nil
		}
	}
	return nil, placed(errclass.New("UNRESOLVED_VARIABLE", "variableName", errclass.Ident(parts...), "searchPath", s.searchPath()), t.Origin)
}

// evaluate gives the one row of an expression over nothing.
func (s *Session) evaluate(ctx context.Context, e plan.Expr) (types.Row, types.StructType, error) {
	rows, st, err := s.Rows(ctx, &plan.Project{Cols: []plan.Expr{&plan.Alias{Child: e, Name: "value"}}, Child: &plan.OneRow{}})
	if err != nil {
		return nil, st, err
	}
	return rows[0], st, nil
}

func (s *Session) declareVariable(ctx context.Context, st *plan.DeclareVariable) error {
	var names []string
	frame := scriptOf(ctx)
	ident := variableIdent
	if frame != nil {
		ident = func(name string) string { return errclass.Ident("local", frame.label, name) }
	}
	for _, t := range st.Names {
		name, ok := variableName(t.Parts)
		if !ok {
			return placed(errclass.New("UNRESOLVED_VARIABLE", "variableName", errclass.Ident(t.Parts...), "searchPath", "[`system`.`session`]"), t.Origin)
		}
		names = append(names, name)
	}
	if st.Default != nil && plan.Exists(st.Default, func(e plan.Expr) bool { _, ok := e.(*plan.Subquery); return ok }) {
		return errclass.New("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION", "statement", "DECLARE VARIABLE", "colName", ident(names[0]), "defaultValue", st.Text)
	}
	t, e := st.Type, st.Default
	if e == nil {
		e = &plan.Literal{T: types.Null}
	}
	if t != nil {
		e = &plan.Cast{Child: e, To: t}
	}
	row, schema, err := s.evaluate(ctx, e)
	if err != nil {
		return placed(err, st.Origin)
	}
	t = schema.Fields[0].Type
	if frame != nil {
		for _, name := range names {
			if !frame.declare(&variable{name: name, value: &plan.Literal{Value: row[0], T: t}, initial: st.Default}) {
				return errclass.New("VARIABLE_ALREADY_EXISTS", "variableName", errclass.Ident(frame.id, name))
			}
		}
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if s.variables[strings.ToLower(name)] != nil && !st.Replace {
			return errclass.New("VARIABLE_ALREADY_EXISTS", "variableName", variableIdent(name))
		}
	}
	if s.variables == nil {
		s.variables = map[string]*variable{}
	}
	for _, name := range names {
		s.variables[strings.ToLower(name)] = &variable{name: name, value: &plan.Literal{Value: row[0], T: t}, initial: st.Default}
	}
	return nil
}

func (s *Session) dropVariable(st *plan.DropVariable) error {
	name, ok := variableName(st.Name)
	if !ok {
		return errclass.New("UNRESOLVED_VARIABLE", "variableName", errclass.Ident(st.Name...), "searchPath", "[`system`.`session`]")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.ToLower(name)
	if s.variables[key] == nil && !st.IfExists {
		return errclass.New("VARIABLE_NOT_FOUND", "variableName", variableIdent(name))
	}
	delete(s.variables, key)
	return nil
}

func (s *Session) setVariables(ctx context.Context, st *plan.SetVariable) error {
	vars := make([]*variable, len(st.Names))
	for i, t := range st.Names {
		v, err := s.variable(ctx, t)
		if err != nil {
			return err
		}
		for _, other := range vars[:i] {
			if other == v {
				return errclass.New("DUPLICATE_ASSIGNMENTS", "nameList", errclass.Ident(v.name))
			}
		}
		vars[i] = v
	}
	if st.Query != nil {
		return s.assignRow(ctx, vars, st.Query)
	}
	values := make(types.Row, len(vars))
	for i, e := range st.Values {
		if _, isDefault := e.(*plan.Default); isDefault {
			if e = vars[i].initial; e == nil {
				e = &plan.Literal{T: types.Null}
			}
		}
		row, _, err := s.evaluate(ctx, &plan.Cast{Child: e, To: vars[i].value.T})
		if err != nil {
			return placed(err, st.Origin)
		}
		values[i] = row[0]
	}
	s.assign(vars, values)
	return nil
}

func (s *Session) assign(vars []*variable, row types.Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, v := range vars {
		v.value = &plan.Literal{Value: row[i], T: v.value.T}
	}
}

// assignRow gives variables the values of a query's one row, or NULL when it has none.
func (s *Session) assignRow(ctx context.Context, vars []*variable, query plan.Node) error {
	n, err := s.Analyze(ctx, query)
	if err != nil {
		return err
	}
	out := n.Output()
	if len(out) != len(vars) {
		return errclass.New("ASSIGNMENT_ARITY_MISMATCH", "numTarget", strconv.Itoa(len(vars)), "numExpr", strconv.Itoa(len(out)))
	}
	p := &plan.Project{Child: &plan.Limit{N: &plan.Literal{Value: int32(2), T: types.Integer}, Child: n}}
	for i, a := range out {
		p.Cols = append(p.Cols, &plan.Alias{Child: &plan.Cast{Child: a, To: vars[i].value.T}, Name: a.Name})
	}
	rows, _, err := s.Rows(ctx, p)
	switch {
	case err != nil:
		return err
	case len(rows) > 1:
		return errclass.New("ROW_SUBQUERY_TOO_MANY_ROWS")
	case len(rows) == 0:
		rows = append(rows, make(types.Row, len(vars)))
	}
	s.assign(vars, rows[0])
	return nil
}

// executeImmediate runs a statement that is made while the program runs.
func (s *Session) executeImmediate(ctx context.Context, st *plan.ExecuteImmediate) (plan.Node, error) {
	row, schema, err := s.evaluate(ctx, st.Text)
	if err != nil {
		return nil, err
	}
	if _, isText := schema.Fields[0].Type.(types.StringType); !isText {
		return nil, errclass.New("INVALID_EXPR_TYPE_FOR_QUERY_EXECUTE_IMMEDIATE", "exprType", errclass.Expr(schema.Fields[0].Type.SQL()))
	}
	text, ok := row[0].(string)
	if !ok {
		return nil, errclass.New("NULL_QUERY_STRING_EXECUTE_IMMEDIATE", "varName", errclass.Ident(st.Text.SQL()))
	}
	opts := s.SQLOptions()
	if err := s.arguments(ctx, st.Using, &opts, text); err != nil {
		return nil, err
	}
	inner, err := sql.ParseStatement(text, opts)
	if err != nil {
		return nil, immediately(text, err)
	}
	if _, isScript := inner.(*plan.Script); isScript {
		return nil, errclass.New("SQL_SCRIPT_IN_EXECUTE_IMMEDIATE", "sqlString", text)
	}
	// The text sees none of the variables of a script that it is run in.
	outer := ctx
	ctx = withScript(ctx, nil)
	q, isQuery := inner.(*plan.Query)
	if st.Into == nil {
		if isQuery { // its names mean what they do now
			return s.Analyze(ctx, q.Plan)
		}
		return s.Run(ctx, inner)
	}
	if !isQuery {
		return nil, errclass.New("INVALID_STATEMENT_FOR_EXECUTE_INTO", "sqlString", strings.ToUpper(text))
	}
	vars := make([]*variable, len(st.Into))
	for i, t := range st.Into {
		if vars[i], err = s.variable(outer, t); errclass.Has(err, "UNRESOLVED_VARIABLE") {
			err = placed(errclass.New("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "objectName", errclass.Ident(t.Parts...)), t.Origin)
		}
		if err != nil {
			return nil, err
		}
		if slices.Contains(vars[:i], vars[i]) {
			return nil, errclass.New("DUPLICATE_ASSIGNMENTS", "nameList", errclass.Ident(vars[i].name))
		}
	}
	if err := s.assignRow(ctx, vars, q.Plan); err != nil {
		return nil, err
	}
	return nothing()
}

// immediately is an error of grammar in the text of EXECUTE IMMEDIATE, of which the whole text is the place.
func immediately(text string, err error) error {
	e, ok := errors.AsType[*errclass.Error](err)
	switch {
	case !ok || e.Class != "PARSE_SYNTAX_ERROR":
		return err
	case strings.TrimSpace(text) == "":
		return errclass.New("PARSE_EMPTY_STATEMENT")
	}
	e.Context = nil
	return e.WithContext(errclass.SQLPlace(text, 0, utf8.RuneCountInString(text)-1))
}

// arguments evaluates the arguments of USING. Where the text has named markers, all of them must have names.
func (s *Session) arguments(ctx context.Context, using []plan.Expr, opts *sql.Options, text string) error {
	opts.Named = map[string]plan.Expr{}
	var nameless []string
	for _, e := range using {
		value, name := e, ""
		switch x := e.(type) {
		case *plan.Alias:
			value, name = x.Child, x.Name
		case *plan.Column:
			name = x.Parts[len(x.Parts)-1]
		}
		row, st, err := s.evaluate(ctx, value)
		if err != nil {
			return err
		}
		l := typedNull(&plan.Literal{Value: row[0], T: st.Fields[0].Type})
		opts.Positional = append(opts.Positional, l)
		if name == "" {
			nameless = append(nameless, errclass.Expr(value.SQL()))
		} else {
			opts.Named[name] = l
		}
	}
	if sql.NamedMarkers(text) && sql.PositionalMarkers(text) {
		return errclass.New("INVALID_QUERY_MIXED_QUERY_PARAMETERS")
	}
	if len(nameless) > 0 && sql.NamedMarkers(text) {
		return errclass.New("ALL_PARAMETERS_MUST_BE_NAMED", "exprs", strings.Join(nameless, ", "))
	}
	return nil
}
