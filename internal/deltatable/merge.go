package deltatable

import (
	"context"
	"errors"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	conn "github.com/millrace/millrace/internal/connector/delta"
	core "github.com/millrace/millrace/internal/delta"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/internal/setting"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Columns that MERGE adds to both sides, to tell rows of an outer join without a partner.
const (
	inTarget = "__millrace_in_target"
	inSource = "__millrace_in_source"
	chosen   = "__millrace_clause"
)

// What becomes of a row of the join: the number of the clause that it meets, or one of these.
const (
	copied  = 0
	dropped = -1
)

// merge is a MERGE at work.
type merge struct {
	*Table
	st       *plan.Merge
	source   plan.Node        // resolved
	schema   types.StructType // of the table after it
	metadata *core.Metadata
	txn      *core.Transaction
	clauses  []*clause
	// touched are the files whose rows may change.
	touched []*core.Add
	// distinct is the number of rows of the table that match, each counted once.
	distinct int64
	repeated bool // some match several rows of the source
}

// clause is a WHEN with its columns resolved.
type clause struct {
	*plan.MergeClause
	number int
	kind   clauseKind
	cond   plan.Expr // resolved over the side or sides that it sees; nil: always
	values []plan.Expr
}

type clauseKind uint8

const (
	whenMatched clauseKind = iota
	whenNotMatched
	whenNotBySource
)

func (k clauseKind) String() string {
	return [...]string{"WHEN MATCHED", "WHEN NOT MATCHED", "WHEN NOT MATCHED BY SOURCE"}[k]
}

// merge runs MERGE.
func (t *Table) merge(ctx context.Context, st *plan.Merge) (out plan.Node, err error) {
	m := &merge{Table: t, st: st, schema: t.snap.Schema, metadata: t.snap.Metadata, txn: t.log.Begin(t.snap)}
	if len(st.Matched)+len(st.NotBySource) > 0 {
		if err := t.appendOnly(); err != nil {
			return nil, err
		}
	}
	if m.source, err = t.s.Analyze(ctx, st.Source); err != nil {
		return nil, err
	}
	if len(st.Matched) > 0 {
		done, err := m.materialize()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	if err := m.evolve(); err != nil {
		return nil, err
	}
	if err := m.resolve(ctx); err != nil {
		return nil, err
	}
	if done, _, err := t.once(m.txn, nil); done || err != nil {
		if err != nil {
			return nil, err
		}
		return m.answer(mergeCounts{})
	}
	if err := m.findTouched(ctx); err != nil {
		return nil, err
	}
	return m.run(ctx)
}

// materialize has the rows of the source computed once. It is read twice, for the files that change and for their new rows, and need not give
// the same rows both times: it may depend on chance, on the clock, or on files that change.
func (m *merge) materialize() (done func() error, err error) {
	if a, ok := m.source.(*plan.Aliased); ok {
		named := *a
		named.Child, done, err = m.s.Once(a.Child)
		m.source = &named
		return done, err
	}
	m.source, done, err = m.s.Once(m.source)
	return done, err
}

// evolve works out the columns that the table is to have.
func (m *merge) evolve() error {
	if !m.st.Evolve && !strings.EqualFold(m.s.SourceEnv().Conf(setting.DeltaAutoMerge), "true") {
		return nil
	}
	star := false
	for _, cs := range [][]plan.MergeClause{m.st.Matched, m.st.NotMatched} {
		for _, c := range cs {
			star = star || c.Star
		}
	}
	if !star {
		return nil
	}
	m.st.Evolve = true
	schema, added, err := core.Merge(m.schema, plan.Schema(m.source), true, true, m.log.Path)
	if err != nil || !added {
		return err
	}
	next := m.metadata.Clone()
	if err := next.SetSchema(schema); err != nil {
		return err
	}
	if err := m.txn.SetMetadata(next, nil); err != nil {
		return err
	}
	m.metadata = next
	m.schema, err = next.Schema()
	return err
}

// target is some files of the table as a side of the join; nil stands for all.
func (m *merge) target(ctx context.Context, only []*core.Add, hidden bool) (plan.Node, error) {
	scan, err := m.scan(only)
	if err != nil {
		return nil, err
	}
	p := &plan.Project{Child: scan, Cols: []plan.Expr{&plan.Star{PlanID: -1}, mark(inTarget)}}
	if hidden {
		p.Cols = append(p.Cols, &plan.Column{Parts: []string{conn.MetadataColumn}, PlanID: -1})
	}
	return m.s.Analyze(ctx, m.named(p))
}

func mark(name string) plan.Expr {
	return &plan.Alias{Child: &plan.Literal{Value: true, T: types.Boolean}, Name: name}
}

// sourceSide is the source as a side of the join, under the name that the statement gives it.
func (m *merge) sourceSide(ctx context.Context, counted bool) (plan.Node, error) {
	name, path, child := "", []string(nil), m.source
	if a, ok := child.(*plan.Aliased); ok {
		name, path, child = a.Name, a.Path, a.Child
	}
	if counted {
		child = &plan.Observe{Name: "source", Child: child, Aggs: []plan.Expr{
			&plan.Alias{Child: &plan.Func{Name: []string{"count"}, Args: []plan.Expr{one}}, Name: "rows"},
		}}
	}
	var n plan.Node = &plan.Project{Child: child, Cols: []plan.Expr{&plan.Star{PlanID: -1}, mark(inSource)}}
	if name != "" {
		n = &plan.Aliased{Name: name, Path: path, Child: n}
	}
	return m.s.Analyze(ctx, n)
}

var one = &plan.Literal{Value: int32(1), T: types.Integer}

// resolve checks the clauses. What they compute is resolved again over the relations that it is computed of.
func (m *merge) resolve(ctx context.Context) error {
	for _, g := range []struct {
		list []plan.MergeClause
		kind clauseKind
	}{{m.st.Matched, whenMatched}, {m.st.NotMatched, whenNotMatched}, {m.st.NotBySource, whenNotBySource}} {
		for i := range g.list {
			m.clauses = append(m.clauses, &clause{MergeClause: &g.list[i], number: len(m.clauses) + 1, kind: g.kind})
		}
	}
	t, err := m.target(ctx, nil, false)
	if err != nil {
		return err
	}
	s, err := m.sourceSide(ctx, false)
	if err != nil {
		return err
	}
	if hasSubquery(m.st.On) {
		return errclass.New("DELTA_UNSUPPORTED_SUBQUERY", "operation", "MERGE", "cond", formatExpr(m.st.On))
	}
	j, err := m.join(ctx, t, s, plan.FullOuter)
	if errclass.Has(err, "INVALID_NON_DETERMINISTIC_EXPRESSIONS") { // rows are matched more than once
		return errclass.New("DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED", "operation", "MERGE", "expression", formatExpr(m.st.On))
	}
	if err != nil {
		return err
	}
	return m.bind(ctx, t, s, j)
}

func (m *merge) join(ctx context.Context, t, s plan.Node, kind plan.JoinKind) (plan.Node, error) {
	return m.s.Analyze(ctx, &plan.Join{Left: t, Right: s, Kind: kind, Cond: m.st.On})
}

// bind resolves conditions and values of all clauses: those of matched rows over the join, the others over the side that they see.
func (m *merge) bind(ctx context.Context, t, s, j plan.Node) error {
	for _, c := range m.clauses {
		over := j
		switch c.kind {
		case whenNotMatched:
			over = s
		case whenNotBySource:
			over = t
		}
		es := []plan.Expr{c.Cond}
		if c.Cond == nil {
			es[0] = &plan.Literal{Value: true, T: types.Boolean}
		}
		if hasSubquery(c.Cond) {
			return errclass.New("DELTA_UNSUPPORTED_SUBQUERY", "operation", "MERGE", "cond", formatExpr(c.Cond))
		}
		if c.Action != plan.MergeDelete {
			values, err := m.valuesOf(c, over, s)
			if err != nil {
				return err
			}
			es = append(es, values...)
		}
		resolved, err := m.resolveOver(ctx, c, over, es)
		if err != nil {
			return err
		}
		c.cond, c.values = resolved[0], resolved[1:]
	}
	return nil
}

// resolveOver resolves expressions over a relation.
func (m *merge) resolveOver(ctx context.Context, c *clause, over plan.Node, es []plan.Expr) ([]plan.Expr, error) {
	for _, e := range es {
		if e != nil && plan.Exists(e, func(e plan.Expr) bool {
			f, ok := e.(*plan.Func)
			return ok && len(f.Name) == 1 && agg.Lookup(f.Name[0]) != nil
		}) {
			return nil, errclass.New("UNSUPPORTED_EXPR_FOR_OPERATOR", "invalidExprSqls", errclass.Expr(formatExpr(e)))
		}
	}
	p := &plan.Project{Child: over}
	for _, e := range es {
		p.Cols = append(p.Cols, &plan.Alias{Child: e, Name: "x", Metadata: plan.NoMetadata})
	}
	n, err := m.s.Analyze(ctx, p)
	if err != nil {
		if e, ok := errors.AsType[*errclass.Error](err); ok && strings.HasPrefix(e.Class, "UNRESOLVED_COLUMN") {
			return nil, m.unresolved(c, e.Params["objectName"])
		}
		return nil, err
	}
	r, ok := n.(*plan.Project)
	if !ok {
		return nil, errclass.New("UNSUPPORTED_EXPR_FOR_OPERATOR", "invalidExprSqls", errclass.Expr(c.kind.String()))
	}
	out := make([]plan.Expr, len(r.Cols))
	for i, e := range r.Cols {
		out[i] = e
		if a, ok := e.(*plan.Alias); ok {
			out[i] = a.Child
		}
	}
	return out, nil
}

func (m *merge) unresolved(c *clause, what string) error {
	return errclass.New("DELTA_MERGE_UNRESOLVED_EXPRESSION", "sqlExpr", what, "clause", c.kind.String(), "cols",
		errclass.Idents(append(m.schema.Names(), plan.Schema(m.source).Names()...)))
}

// valuesOf are the values of all columns of the table in rows for which a clause is chosen, not resolved.
func (m *merge) valuesOf(c *clause, over, s plan.Node) ([]plan.Expr, error) {
	unknown := func(column []string) error { return m.unresolved(c, errclass.Ident(column...)) }
	sets := &assignment{}
	if !c.Star {
		var err error
		if sets, err = m.assignments(m.schema, c.Set, unknown); err != nil {
			return nil, err
		}
	}
	var out []plan.Expr
	for _, f := range m.schema.Fields {
		old := m.old(over, f, c.kind)
		if !c.Star {
			if a := sets.field(f.Name); a != nil {
				out = append(out, a.value(old, f))
			} else {
				out = append(out, old)
			}
			continue
		}
		a := findAttr(s, f.Name)
		switch {
		case a != nil:
			out = append(out, conform(a, a.T, f.Type))
		case m.st.Evolve:
			out = append(out, old)
		default:
			return nil, unknown([]string{f.Name})
		}
	}
	return out, nil
}

// old is what a column has before the clause: null in new rows, and in columns that the table has not had.
func (m *merge) old(over plan.Node, f types.Field, kind clauseKind) plan.Expr {
	if kind != whenNotMatched {
		// Of the join, the columns of the table come first.
		for i, a := range over.Output() {
			if i < len(m.snap.Schema.Fields) && strings.EqualFold(a.Name, f.Name) {
				return conform(a, a.T, f.Type)
			}
		}
	}
	return &plan.Cast{Child: &plan.Literal{T: types.Null}, To: f.Type}
}

func findAttr(n plan.Node, name string) *plan.Attr {
	for _, a := range n.Output() {
		if strings.EqualFold(a.Name, name) {
			return a
		}
	}
	return nil
}

// findTouched finds the files whose rows match rows of the source, and rows that match several.
func (m *merge) findTouched(ctx context.Context) error {
	m.txn.ReadWhole()
	adds, err := m.snap.Files(ctx)
	if err != nil {
		return err
	}
	if len(m.st.Matched) > 0 {
		matched, err := m.matches(ctx)
		if err != nil {
			return err
		}
		for _, a := range adds {
			p, err := m.log.DataFile(a.Path)
			if err != nil {
				return err
			}
			if rows := matched[fs.ShortURI(p)]; rows != nil {
				m.distinct += int64(rows.GetCardinality())
				m.touched = append(m.touched, a)
			}
		}
		only := len(m.st.Matched) == 1 && m.st.Matched[0].Action == plan.MergeDelete && m.st.Matched[0].Cond == nil
		if m.repeated && !only {
			return errclass.New("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE")
		}
	}
	if len(m.st.NotBySource) > 0 {
		m.touched = adds
	}
	return nil
}

// matches are the numbers of the rows that match, by file.
func (m *merge) matches(ctx context.Context) (map[string]*roaring64.Bitmap, error) {
	t, err := m.target(ctx, nil, true)
	if err != nil {
		return nil, err
	}
	s, err := m.sourceSide(ctx, false)
	if err != nil {
		return nil, err
	}
	j, err := m.join(ctx, t, s, plan.Inner)
	if err != nil {
		return nil, err
	}
	meta := j.Output()[len(t.Output())-1]
	field := func(name string) plan.Expr {
		return &plan.Alias{Child: &plan.Extract{Child: meta, Key: &plan.Literal{Value: name, T: types.String}}, Name: name}
	}
	q, err := m.s.Prepare(ctx, &plan.Project{Cols: []plan.Expr{field("file_path"), field("row_index")}, Child: j}, "merge")
	if err != nil {
		return nil, err
	}
	out := map[string]*roaring64.Bitmap{}
	err = q.Run(ctx, func(b *vec.Batch) error {
		for i := range b.N {
			p := b.Cols[0].BytesAt(i)
			rows := out[string(p)]
			if rows == nil {
				rows = roaring64.New()
				out[string(p)] = rows
			}
			if !rows.CheckedAdd(uint64(vec.At[int64](b.Cols[1], i))) {
				m.repeated = true
			}
		}
		return nil
	})
	return out, err
}

// mergeCounts is what a MERGE has done.
type mergeCounts struct {
	source, copied, inserted, updated, deleted int64
	matchedUpdated, matchedDeleted             int64
	bySourceUpdated, bySourceDeleted           int64
}

// run computes the new rows, writes them and commits.
func (m *merge) run(ctx context.Context) (plan.Node, error) {
	n, err := m.rows(ctx)
	if err != nil {
		return nil, err
	}
	var w *written
	if m.recorded() {
		w, err = m.writeRecorded(ctx, n, m.metadata)
	} else {
		w, err = m.write(ctx, n, m.metadata, nil, "")
	}
	if err != nil {
		return nil, err
	}
	c := m.counts(w.observed)
	w.add(m.txn)
	for _, a := range m.touched {
		m.txn.Remove(a, true)
	}
	if len(w.adds)+len(m.touched) == 0 && m.metadata == m.snap.Metadata {
		return m.answer(c)
	}
	op := core.Operation{Name: "MERGE", Parameters: m.parameters(), Metrics: map[string]string{
		"numSourceRows": count(c.source), "numOutputRows": count(c.copied + c.inserted + c.updated),
		"numTargetRowsCopied": count(c.copied), "numTargetRowsInserted": count(c.inserted), "numTargetRowsUpdated": count(c.updated),
		"numTargetRowsDeleted": count(c.deleted), "numTargetRowsMatchedUpdated": count(c.matchedUpdated),
		"numTargetRowsMatchedDeleted": count(c.matchedDeleted), "numTargetRowsNotMatchedBySourceUpdated": count(c.bySourceUpdated),
		"numTargetRowsNotMatchedBySourceDeleted": count(c.bySourceDeleted), "numTargetFilesAdded": count(int64(len(w.adds))),
		"numTargetFilesRemoved": count(int64(len(m.touched))), "numTargetChangeFilesAdded": count(int64(len(w.changes))),
	}}
	if err := m.commit(ctx, m.txn, op, w); err != nil {
		return nil, err
	}
	return m.answer(c)
}

// rows is the relation of the rows that are to be written.
func (m *merge) rows(ctx context.Context) (plan.Node, error) {
	touched := m.touched
	if touched == nil {
		touched = []*core.Add{}
	}
	if len(m.st.Matched)+len(m.st.NotBySource) == 0 {
		touched = nil // rows are only inserted: all of the table says which
	}
	t, err := m.target(ctx, touched, false)
	if err != nil {
		return nil, err
	}
	s, err := m.sourceSide(ctx, true)
	if err != nil {
		return nil, err
	}
	j, err := m.join(ctx, t, s, plan.FullOuter)
	if err != nil {
		return nil, err
	}
	if err := m.bind(ctx, t, s, j); err != nil {
		return nil, err
	}
	first := &plan.Project{Child: j}
	for _, a := range j.Output() {
		first.Cols = append(first.Cols, a)
	}
	first.Cols = append(first.Cols, &plan.Alias{Child: m.choice(j, touched == nil), Name: chosen, Metadata: plan.NoMetadata})
	n, err := m.s.Analyze(ctx, first)
	if err != nil {
		return nil, err
	}
	which := n.Output()[len(n.Output())-1]
	observe := &plan.Observe{Name: "merge", Child: n}
	for number := dropped; number <= len(m.clauses); number++ {
		is := &plan.Func{Name: []string{"count_if"}, Args: []plan.Expr{equals(which, number)}}
		observe.Aggs = append(observe.Aggs, &plan.Alias{Child: is, Name: "n" + count(int64(number+1))})
	}
	if m.recorded() {
		return m.recordedRows(ctx, j, which, observe)
	}
	keep := []plan.Expr{equals(which, copied)}
	for _, c := range m.clauses {
		if c.Action != plan.MergeDelete {
			keep = append(keep, equals(which, c.number))
		}
	}
	last := &plan.Project{Child: &plan.Filter{Cond: anyOf(keep), Child: observe}}
	for i, f := range m.schema.Fields {
		last.Cols = append(last.Cols, &plan.Alias{Child: m.newValue(j, which, i), Name: f.Name, Metadata: plan.NoMetadata})
	}
	return m.s.Analyze(ctx, last)
}

func anyOf(conds []plan.Expr) plan.Expr {
	cond := conds[0]
	for _, c := range conds[1:] {
		cond = &plan.Func{Name: []string{"or"}, Args: []plan.Expr{cond, c}}
	}
	return cond
}

// newValue is what column i has after the clause that is chosen.
func (m *merge) newValue(j plan.Node, which *plan.Attr, i int) plan.Expr {
	v := m.old(j, m.schema.Fields[i], whenMatched)
	for _, c := range m.clauses {
		if c.Action != plan.MergeDelete {
			v = &plan.Func{Name: []string{"if"}, Args: []plan.Expr{equals(which, c.number), c.values[i], v}}
		}
	}
	return v
}

// recorded tells whether the change data feed is to have the rows: those that are only inserted are found in the files themselves.
func (m *merge) recorded() bool { return m.records() && len(m.st.Matched)+len(m.st.NotBySource) > 0 }

// recordedRows are the rows with what becomes of them, those that are updated twice: as they were and as they are. j is the join, chosen the
// relation with the clause of each row.
func (m *merge) recordedRows(ctx context.Context, j plan.Node, which *plan.Attr, chosen plan.Node) (plan.Node, error) {
	list := func(kinds ...plan.Expr) plan.Expr { return &plan.Func{Name: []string{"array"}, Args: kinds} }
	kinds, keep := list(copiedRow()), []plan.Expr{equals(which, copied)}
	for _, c := range m.clauses {
		keep = append(keep, equals(which, c.number))
		of := list(kindIs(core.RowBefore), kindIs(core.RowAfter))
		switch c.Action {
		case plan.MergeDelete:
			of = list(kindIs(core.RowDeleted))
		case plan.MergeInsert:
			of = list(kindIs(core.RowInserted))
		}
		kinds = &plan.Func{Name: []string{"if"}, Args: []plan.Expr{equals(which, c.number), of, kinds}}
	}
	n, err := m.s.Analyze(ctx, &plan.Generate{
		Gen: &plan.Func{Name: []string{"explode"}, Args: []plan.Expr{kinds}}, Names: []string{core.ChangeColumn},
		Child: &plan.Filter{Cond: anyOf(keep), Child: chosen},
	})
	if err != nil {
		return nil, err
	}
	what := n.Output()[len(n.Output())-1]
	was := func(k core.ChangeKind) plan.Expr {
		return isTrue(&plan.Func{Name: []string{"="}, Args: []plan.Expr{what, kindIs(k)}})
	}
	old := anyOf([]plan.Expr{was(core.RowBefore), was(core.RowDeleted)})
	last := &plan.Project{Child: n}
	for i, f := range m.schema.Fields {
		v := &plan.Func{Name: []string{"if"}, Args: []plan.Expr{old, m.old(j, f, whenMatched), m.newValue(j, which, i)}}
		last.Cols = append(last.Cols, &plan.Alias{Child: v, Name: f.Name, Metadata: plan.NoMetadata})
	}
	last.Cols = append(last.Cols, kind(what))
	return m.s.Analyze(ctx, last)
}

func equals(a *plan.Attr, n int) plan.Expr {
	return &plan.Func{Name: []string{"=="}, Args: []plan.Expr{a, &plan.Literal{Value: int32(n), T: types.Integer}}}
}

// choice is the number of the clause that a row of the join meets first. Rows of the table that meet none are copied, others dropped; with
// inserts only, the rows of the table stay in their files.
func (m *merge) choice(j plan.Node, insertsOnly bool) plan.Expr {
	number := func(n int) plan.Expr { return &plan.Literal{Value: int32(n), T: types.Integer} }
	pick := func(kind clauseKind, otherwise int) plan.Expr {
		out := number(otherwise)
		for i := len(m.clauses) - 1; i >= 0; i-- {
			if c := m.clauses[i]; c.kind == kind {
				out = &plan.Func{Name: []string{"if"}, Args: []plan.Expr{isTrue(c.cond), number(c.number), out}}
			}
		}
		return out
	}
	has := func(name string) plan.Expr {
		return &plan.Func{Name: []string{"isnotnull"}, Args: []plan.Expr{findAttr(j, name)}}
	}
	kept := copied
	if insertsOnly {
		kept = dropped
	}
	return &plan.Func{Name: []string{"if"}, Args: []plan.Expr{
		has(inTarget),
		&plan.Func{Name: []string{"if"}, Args: []plan.Expr{has(inSource), pick(whenMatched, kept), pick(whenNotBySource, kept)}},
		pick(whenNotMatched, dropped),
	}}
}

// counts reads what was counted while the rows were written.
func (m *merge) counts(observed []query.Observation) mergeCounts {
	var c mergeCounts
	for _, o := range observed {
		at := func(i int) int64 {
			n, _ := o.Row[i].(int64)
			return n
		}
		switch o.Name {
		case "source":
			c.source = at(0)
		case "merge":
			c.copied = at(copied - dropped)
			for _, cl := range m.clauses {
				n := at(cl.number - dropped)
				switch {
				case cl.Action == plan.MergeInsert:
					c.inserted += n
				case cl.Action == plan.MergeUpdate && cl.kind == whenMatched:
					c.matchedUpdated += n
				case cl.Action == plan.MergeUpdate:
					c.bySourceUpdated += n
				case cl.kind == whenMatched:
					if m.repeated {
						n = m.distinct
					}
					c.matchedDeleted += n
				default:
					c.bySourceDeleted += n
				}
			}
		}
	}
	c.updated, c.deleted = c.matchedUpdated+c.bySourceUpdated, c.matchedDeleted+c.bySourceDeleted
	return c
}

func (m *merge) answer(c mergeCounts) (plan.Node, error) {
	return plan.LocalRows(types.Struct(
		types.NewField("num_affected_rows", types.Long), types.NewField("num_updated_rows", types.Long),
		types.NewField("num_deleted_rows", types.Long), types.NewField("num_inserted_rows", types.Long),
	), []types.Row{{c.updated + c.deleted + c.inserted, c.updated, c.deleted, c.inserted}})
}

// parameters are those of the commit.
func (m *merge) parameters() map[string]string {
	list := func(cs []plan.MergeClause) string {
		var parts []string
		for _, c := range cs {
			action := [...]string{"update", "delete", "insert"}[c.Action]
			text := `{"actionType":"` + action + `"}`
			if c.Cond != nil {
				text = `{"predicate":` + strings.Trim(core.JSONList([]string{formatExpr(c.Cond)}), "[]") + `,"actionType":"` + action + `"}`
			}
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return map[string]string{
		"predicate": predicateList(m.st.On), "matchedPredicates": list(m.st.Matched), "notMatchedPredicates": list(m.st.NotMatched),
		"notMatchedBySourcePredicates": list(m.st.NotBySource),
	}
}
