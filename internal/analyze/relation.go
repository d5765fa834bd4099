package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// cte is a common table expression with what its own definition can see.
type cte struct {
	name string
	plan plan.Node
	env  *cte // the expressions defined before it
	next *cte

	recursive bool
	id        plan.ID     // of its definition, or 0 for the name of a DataFrame
	levels    int64       // MAX RECURSION LEVEL, or 0
	recursion *recursion  // set while the expression itself is being resolved
	origin    plan.Origin // of the WITH
	columns   plan.Origin // of the names of its columns
}

// named finds the relation of a name: a common table expression, a view, a table, a file.
func (r *resolver) named(n *plan.Named) (plan.Node, error) {
	if len(n.Parts) == 1 && !n.Stream {
		for c := r.ctes; c != nil; c = c.next {
			if r.eq(c.name, n.Parts[0]) {
				return r.cteRef(c)
			}
		}
	}
	if v, ok := r.cat.LookupView(n.Parts); ok && n.Home == "" {
		child, err := r.view(n.Parts, v)
		if err != nil {
			return nil, err
		}
		if n.Stream && !child.Streaming() {
			return nil, at(errclass.New("UNSUPPORTED_STREAMING_OPERATION.VIEW", "viewName", errclass.Ident(n.Parts...)), n.Origin)
		}
		name := n.Parts[len(n.Parts)-1]
		return &plan.Aliased{Name: name, Child: &plan.View{Name: n.Parts, Child: child}}, nil
	}
	t, err := r.cat.LookupTable(r.ctx, n)
	if err != nil {
		return nil, at(err, n.Origin)
	}
	if t == nil && len(n.Parts) == 2 && source.Lookup(n.Parts[0]) != nil { // SELECT ... FROM json.`path`
		t = &plan.Read{Format: n.Parts[0], Paths: n.Parts[1:], Options: n.Options, Stream: n.Stream}
	}
	if t == nil {
		return nil, at(errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident(n.Parts...)), n.Origin)
	}
	child, err := r.view(n.Parts, t)
	if err != nil {
		return nil, err
	}
	path := n.Parts
	if len(path) == 1 {
		path = []string{r.database(n), path[0]}
	}
	if len(path) == 2 {
		path = append([]string{"spark_catalog"}, path...)
	}
	return &plan.Aliased{Name: path[len(path)-1], Path: path, Child: child}, nil
}

// database is the database that a name of one part is looked up in.
func (r *resolver) database(n *plan.Named) string {
	if n.Home != "" {
		return n.Home
	}
	if name := r.conf.get(setting.CurrentDatabase); name != "" {
		return name
	}
	return "default"
}

// view resolves the plan behind a name. It sees none of the query's own names.
func (r *resolver) view(name []string, n plan.Node) (plan.Node, error) {
	if plan.Resolved(n) {
		return n, nil
	}
	text := strings.Join(name, ".")
	if slices.ContainsFunc(r.views, func(v string) bool { return r.eq(v, text) }) {
		return nil, errclass.New("RECURSIVE_VIEW", "viewIdent", errclass.Ident(name...), "newPath", strings.Join(append(r.views, text), " -> "))
	}
	inner := *r
	inner.ctes, inner.outer, inner.views = nil, nil, append(slices.Clone(r.views), text)
	return inner.node(n)
}

// cteRef resolves a common table expression anew for each reference: so each has columns of its own, unless it is a frame's name.
func (r *resolver) cteRef(c *cte) (plan.Node, error) {
	if c.recursion != nil {
		return c.recursion.reference(c.name), nil
	}
	inner := *r
	inner.ctes, inner.outer = c.env, nil
	resolve := inner.node
	if c.recursive {
		resolve = func(plan.Node) (plan.Node, error) { return inner.recursive(c) }
	}
	child, err := resolve(c.plan)
	if err != nil {
		return nil, err
	}
	if child.Streaming() && c.id != 0 { // what a view or a read gives has the same columns each time
		if child, err = fresh(child); err != nil {
			return nil, err
		}
	}
	return &plan.Aliased{Name: c.name, Child: child, Def: c.id}, nil
}

// with resolves WITH.
func (r *resolver) with(n *plan.With) (plan.Node, error) {
	inner := *r
	for i, name := range n.Names {
		for _, other := range n.Names[:i] {
			if r.eq(other, name) {
				return nil, errclass.New("DUPLICATED_CTE_NAMES", "duplicateNames", errclass.Ident(name))
			}
		}
		c := &cte{name: name, plan: n.Plans[i], env: inner.ctes, next: inner.ctes, origin: n.Origin}
		if !n.Frames {
			c.id = plan.NewID()
		}
		c.recursive = n.Recursive && refersTo(n.Plans[i], name)
		if n.Levels != nil {
			c.levels = n.Levels[i]
		}
		if a, ok := n.Plans[i].(*plan.Aliased); ok {
			c.columns = a.Origin
		}
		inner.ctes = c
	}
	// Definitions that nothing refers to are checked all the same.
	for c := inner.ctes; c != r.ctes; c = c.next {
		if !refersTo(n.Child, c.name) {
			if _, err := inner.cteRef(c); err != nil {
				return nil, err
			}
		}
	}
	return inner.node(n.Child)
}

func refersTo(n plan.Node, name string) bool {
	found := false
	plan.Walk(n, func(n plan.Node) bool {
		if t, ok := n.(*plan.Named); ok && len(t.Parts) == 1 && strings.EqualFold(t.Parts[0], name) {
			found = true
		}
		for _, e := range n.Exprs() {
			plan.WalkExpr(e, func(e plan.Expr) bool {
				if s, ok := e.(*plan.Subquery); ok && refersTo(s.Plan, name) {
					found = true
				}
				return !found
			})
		}
		return !found
	})
	return found
}

// remote finds a relation that was parked on the server.
func (r *resolver) remote(n *plan.CachedRemote) (plan.Node, error) {
	c, ok := r.cat.LookupRemote(n.RelationID)
	if !ok {
		return nil, errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident("cached relation "+n.RelationID))
	}
	return r.view([]string{n.RelationID}, c)
}

// read opens a source.
func (r *resolver) read(n *plan.Read) (plan.Node, error) {
	name := n.Format
	if name == "" {
		if name = r.conf.get(setting.Source); name == "" {
			name = "parquet"
		}
	}
	f := source.Lookup(name)
	if f == nil {
		if n.Stream && strings.EqualFold(name, "jdbc") {
			return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.SOURCE", "provider", name) // Spark has it, for batch reads only
		}
		return nil, errclass.New("DATA_SOURCE_NOT_FOUND", "provider", name)
	}
	if _, twice := source.Options(n.Options).Get("path"); twice && len(n.Paths) > 0 && n.User {
		return nil, errclass.New("INVALID_STREAMING_OPTION.PATH_TWICE", "method", "load")
	}
	t := r.opened[n.ID]
	if t == nil || n.ID == 0 {
		req := source.Request{Format: strings.ToLower(name), Options: n.Options, Paths: n.Paths, Stream: n.Stream, Env: r.env}
		if n.Schema != "" {
			s, err := types.ParseSchema(n.Schema)
			if err != nil {
				return nil, err
			}
			if n.User && hasChars(s) {
				return nil, errclass.New("UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING")
			}
			req.Schema = &s
		}
		var err error
		if t, err = f.Open(r.ctx, req); err != nil {
			return nil, err
		}
		if n.ID != 0 {
			r.opened[n.ID] = t
		}
	}
	if _, ok := t.(source.Streamer); n.Stream && !ok {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.SOURCE", "provider", name)
	}
	if _, ok := t.(source.Batch); !n.Stream && !ok {
		return nil, errclass.New("UNSUPPORTED_FEATURE.TABLE_OPERATION", "tableName", errclass.Ident(name), "operation", "batch scan")
	}
	if s := r.streams[n.ID]; s != nil {
		return s, nil
	}
	s := &plan.Scan{ID: n.ID, Source: t, Name: strings.ToLower(name), Out: plan.Attrs(t.Schema()), Stream: n.Stream}
	if s.ID == 0 {
		s.ID = plan.NewID()
	}
	if n.Stream {
		r.streams[s.ID] = s
	}
	if h, ok := t.(source.Hidden); ok {
		s.Hidden = plan.Attrs(types.StructType{Fields: h.HiddenColumns()})
	}
	return s, nil
}

// hasChars tells whether a type is, or has in it, one of the strings of a fixed or limited length, which only tables have.
func hasChars(t types.DataType) bool {
	switch t := t.(type) {
	case types.CharType, types.VarcharType:
		return true
	case types.ArrayType:
		return hasChars(t.Element)
	case types.MapType:
		return hasChars(t.Key) || hasChars(t.Value)
	case types.StructType:
		return slices.ContainsFunc(t.Fields, func(f types.Field) bool { return hasChars(f.Type) })
	}
	return false
}

func lowerLast(parts []string) string { return strings.ToLower(parts[len(parts)-1]) }

// tableFunc resolves a table-valued function.
func (r *resolver) tableFunc(n *plan.TableFunc) (plan.Node, error) {
	name := lowerLast(n.Name)
	sc := r.over()
	if isGenerator(name) {
		return r.generate(&plan.Generate{Gen: &plan.Func{Name: []string{name}, Args: n.Args, ArgNames: n.ArgNames, Origin: n.Origin}, Child: &plan.OneRow{}}, true)
	}
	if isChanges(name) {
		return r.tableChanges(n, name)
	}
	if name != "range" {
		if f := r.routine(n.Name); f != nil {
			return r.routineRows(f, n)
		}
		if l, err := r.listing(name, len(n.Args)); l != nil || err != nil {
			return l, err
		}
		if len(n.Name) == 1 && sc.builtin(name) {
			return nil, at(errclass.New("NOT_A_TABLE_FUNCTION", "functionName", errclass.Ident(name)), n.Origin)
		}
		return nil, at(errclass.New("UNRESOLVABLE_TABLE_VALUED_FUNCTION", "name", errclass.Ident(n.Name...)), n.Origin)
	}
	if len(n.Args) < 1 || len(n.Args) > 4 {
		return nil, at(wrongNumArgs("range", "[1, 2, 3, 4]", len(n.Args)), n.Origin)
	}
	args, err := sc.operands(n.Args)
	if err != nil {
		return nil, err
	}
	vals := make([]int64, len(args))
	for i, a := range args {
		if vals[i], err = r.rangeArg(n, i, a); err != nil {
			return nil, at(err, n.Origin)
		}
	}
	if len(vals) > 2 && vals[2] == 0 {
		return nil, at(errclass.New("FAILED_FUNCTION_CALL", "funcName", "`range`"), n.Origin)
	}
	out := &plan.Range{End: vals[0], Step: 1, Out: []*plan.Attr{plan.NewAttr("id", types.Long, false)}}
	if len(vals) > 1 {
		out.Start, out.End = vals[0], vals[1]
	}
	if len(vals) > 2 {
		out.Step = vals[2]
	}
	if len(vals) > 3 {
		out.Parts = int(vals[3])
	}
	return out, nil
}

// rangeArg is the value of an argument of range(end), or range(start, end, step, numSlices).
func (r *resolver) rangeArg(n *plan.TableFunc, i int, a plan.Expr) (int64, error) {
	if len(n.Args) == 1 {
		i++
	}
	name, want := []string{"start", "end", "step", "numSlices"}[i], types.DataType(types.Long)
	if i == 3 {
		want = types.Integer
	}
	if n.ArgNames != nil && n.ArgNames[min(i, len(n.ArgNames)-1)] != "" || r.constantNode(a) == nil || len(plan.References(a)) > 0 {
		return 0, errclass.New("NON_FOLDABLE_ARGUMENT", "funcName", "`range`", "paramName", errclass.Ident(name), "paramType", errclass.Expr(want.SQL()))
	}
	wrong := errclass.New("UNEXPECTED_INPUT_TYPE", "functionName", "`range`", "paramIndex", ordinal(i+1), "requiredType", errclass.Expr(want.SQL()),
		"inputSql", errclass.Expr(a.SQL()), "inputType", errclass.Expr(plan.TypeOf(a).SQL()))
	if t := plan.TypeOf(a); !types.IsNumeric(t) && !isText(a) {
		return 0, wrong
	}
	l, err := r.value(r.to(a, want))
	if err != nil {
		return 0, err
	}
	switch v := l.Value.(type) {
	case int64:
		return v, nil
	case int32:
		return int64(v), nil
	}
	return 0, wrong
}

// values resolves VALUES: constant rows become a local relation, others a union of one-row projections.
func (r *resolver) values(n *plan.Values) (plan.Node, error) {
	sc := r.over()
	width := 0
	if len(n.Rows) > 0 {
		width = len(n.Rows[0])
	}
	rows := make([][]plan.Expr, len(n.Rows))
	for i, row := range n.Rows {
		if len(row) != width {
			return nil, at(errclass.New("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", "expectedNumCols", strconv.Itoa(width), "actualNumCols", strconv.Itoa(len(row)),
				"rowIndex", strconv.Itoa(i)), n.Origin)
		}
		var err error
		if rows[i], err = sc.operands(row); err != nil {
			return nil, err
		}
		for j, e := range rows[i] {
			if plan.Exists(e, isSubquery) {
				return nil, at(errclass.New("UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.SCALAR_SUBQUERY_IN_VALUES"), n.Origin)
			}
			o := n.Origin
			if f, ok := row[j].(*plan.Func); ok {
				o = f.Origin
			}
			if err := r.inline(e, o, n.Origin); err != nil {
				return nil, err
			}
		}
	}
	attrs := make([]*plan.Attr, width)
	for c := range width {
		ts := make([]types.DataType, len(rows))
		null := false
		for i, row := range rows {
			ts[i] = plan.TypeOf(row[c])
			null = null || plan.NullableOf(row[c])
		}
		name := "col" + strconv.Itoa(c+1)
		t, ok := r.inlineType(ts)
		if !ok {
			return nil, at(errclass.New("INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE", "colName", errclass.Ident(name)), n.Origin)
		}
		attrs[c] = plan.NewAttr(name, t, null)
		for _, row := range rows {
			row[c] = r.to(row[c], t)
		}
	}
	if b := r.constantRows(attrs, rows); b != nil {
		return &plan.Local{Out: attrs, Rows: []*vec.Batch{b}}, nil
	}
	u := &plan.Union{}
	for _, row := range rows {
		p := &plan.Project{Child: &plan.OneRow{}}
		for c, e := range row {
			p.Cols = append(p.Cols, plan.NewAlias(e, attrs[c].Name))
		}
		u.Inputs = append(u.Inputs, p)
	}
	if len(u.Inputs) == 1 {
		return u.Inputs[0], nil
	}
	return r.union(u)
}

// inline refuses what cannot be computed without rows, at o, and constants that fail, at the table.
func (r *resolver) inline(e plan.Expr, o, table plan.Origin) error {
	if plan.Exists(e, func(e plan.Expr) bool { return isAgg(e) || isOver(e) || isGen(e) || IsRandom(e) }) {
		return at(errclass.New("INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE", "expr", errclass.Expr(e.SQL())), o)
	}
	n := r.constantNode(e)
	if n == nil {
		return nil
	}
	ev := expr.Eval{Batch: &expr.BatchParams{Zone: r.conf.Zone}}
	if n.Eval(&ev, vec.NewBatch(1)); ev.Errs.Empty() {
		return nil
	}
	_, cause, _ := ev.Errs.First()
	failed := errclass.New("INVALID_INLINE_TABLE.FAILED_SQL_EXPRESSION_EVALUATION", "sqlExpr", errclass.Expr(e.SQL()))
	failed.Cause = cause
	return at(failed, table)
}

// inlineType is the type of a column of VALUES. Strings do not give way here, nor in UNPIVOT.
func (r *resolver) inlineType(ts []types.DataType) (types.DataType, bool) {
	var t types.DataType = types.Null
	for _, u := range ts {
		var ok bool
		if t, ok = fn.WiderType(t, u, r.conf.ANSI); !ok {
			return nil, false
		}
	}
	return t, true
}

// constantRows evaluates rows of constants; nil when some are not.
func (r *resolver) constantRows(attrs []*plan.Attr, rows [][]plan.Expr) *vec.Batch {
	cols := make([]*vec.Vector, len(attrs))
	for c, a := range attrs {
		b := vec.NewBuilder(a.T)
		for _, row := range rows {
			v := r.constant(row[c])
			if v == nil || b.AppendValue(vec.ValueAt(v, 0)) != nil {
				return nil
			}
		}
		cols[c] = b.Finish()
	}
	return vec.NewBatch(len(rows), cols...)
}

// aliased resolves new column names of a subquery alias.
func (r *resolver) aliased(n *plan.Aliased) (plan.Node, error) {
	if len(n.Columns) == 0 {
		return n, nil
	}
	out := visible(n.Child.Output())
	if f, ok := n.Child.(*plan.Range); ok && len(out) != len(n.Columns) {
		return nil, at(aliasMismatch("range", len(n.Columns), len(f.Out)), n.Origin)
	}
	if g, ok := n.Child.(*plan.Generate); ok && len(out) != len(n.Columns) {
		if _, alone := g.Child.(*plan.OneRow); alone {
			return nil, at(aliasMismatch(g.Gen.(*plan.Generator).Name, len(n.Columns), len(out)), n.Origin)
		}
	}
	if len(out) != len(n.Columns) {
		return nil, at(errclass.New("ASSIGNMENT_ARITY_MISMATCH", "numTarget", strconv.Itoa(len(out)), "numExpr", strconv.Itoa(len(n.Columns))), n.Origin)
	}
	return &plan.Aliased{Name: n.Name, Child: renamed(n.Child, out, n.Columns)}, nil
}

func aliasMismatch(function string, aliases, columns int) error {
	return errclass.New("NUM_TABLE_VALUE_ALIASES_MISMATCH", "aliasesNum", strconv.Itoa(aliases), "outColsNum", strconv.Itoa(columns),
		"funcName", errclass.Ident(function))
}

// renamed projects columns under new names.
func renamed(child plan.Node, attrs []*plan.Attr, names []string) plan.Node {
	p := &plan.Project{Child: child}
	for i, a := range attrs {
		if a.Name == names[i] {
			p.Cols = append(p.Cols, a)
		} else {
			p.Cols = append(p.Cols, plan.NewAlias(a, names[i]))
		}
	}
	return p
}
