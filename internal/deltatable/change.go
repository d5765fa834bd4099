package deltatable

import (
	"context"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	conn "github.com/millrace/millrace/internal/connector/delta"
	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// hit is a file with rows that a condition is true for.
type hit struct {
	add  *core.Add
	rows int64
	// places are the rows' numbers, where they are wanted.
	places *roaring64.Bitmap
}

// hits finds the files with rows that meet a condition, in the order of the table. The transaction notes what was looked at.
func (t *Table) hits(ctx context.Context, txn *core.Transaction, cond plan.Expr, places bool) ([]hit, error) {
	scan, err := t.scan(nil)
	if err != nil {
		return nil, err
	}
	n := t.named(scan)
	if cond != nil {
		n = &plan.Filter{Cond: cond, Child: n}
	}
	meta := func(field string) plan.Expr {
		return &plan.Alias{Child: &plan.Column{Parts: []string{conn.MetadataColumn, field}, PlanID: -1}, Name: field}
	}
	n = &plan.Project{Cols: []plan.Expr{meta("file_path"), meta("row_index")}, Child: n}
	q, err := t.s.Prepare(ctx, n, "scan")
	if err != nil {
		return nil, err
	}
	if err := t.noteRead(txn, q.Optimized); err != nil {
		return nil, err
	}
	found := map[string]*hit{}
	err = q.Run(ctx, func(b *vec.Batch) error {
		last, h := "", (*hit)(nil)
		for i := range b.N {
			p := b.Cols[0].BytesAt(i)
			if h == nil || string(p) != last {
				last = string(p)
				if h = found[last]; h == nil {
					h = &hit{}
					if places {
						h.places = roaring64.New()
					}
					found[last] = h
				}
			}
			h.rows++
			if places {
				h.places.Add(uint64(vec.At[int64](b.Cols[1], i)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	adds, err := t.snap.Files(ctx)
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, a := range adds {
		p, err := t.log.DataFile(a.Path)
		if err != nil {
			return nil, err
		}
		if h := found[fs.ShortURI(p)]; h != nil {
			h.add = a
			out = append(out, *h)
		}
	}
	return out, nil
}

// noteRead has a transaction fail when others change what a plan has looked at: the partitions that its filters leave, or everything.
func (t *Table) noteRead(txn *core.Transaction, optimized plan.Node) error {
	var filters []source.Filter
	plan.Walk(optimized, func(n plan.Node) bool {
		if s, ok := n.(*plan.Scan); ok {
			for _, f := range s.Filters {
				filters = append(filters, physical.SourceFilters(f)...)
			}
		}
		return true
	})
	src, err := conn.NewTable(t.snap, nil, t.s.SourceEnv())
	if err != nil {
		return err
	}
	partition := map[string]bool{}
	for _, p := range t.snap.Metadata.PartitionColumns {
		partition[p] = true
	}
	var own []source.Filter
	for _, f := range filters {
		if partition[f.Column] {
			own = append(own, f)
		}
	}
	if len(own) == 0 {
		txn.ReadWhole()
		return nil
	}
	txn.ReadInside(func(a *core.Add) bool { return src.MayHold(a, own) })
	return nil
}

// rowsIn is how many rows a file has: as its statistics say, or counted.
func (t *Table) rowsIn(ctx context.Context, a *core.Add) (int64, error) {
	if n, ok := a.Rows(); ok {
		return n, nil
	}
	n, err := t.scan([]*core.Add{a})
	if err != nil {
		return 0, err
	}
	q, err := t.s.Prepare(ctx, &plan.Project{Cols: []plan.Expr{&plan.Alias{Child: one, Name: "one"}}, Child: n}, "count")
	if err != nil {
		return 0, err
	}
	rows := int64(0)
	err = q.Run(ctx, func(b *vec.Batch) error {
		rows += int64(b.N)
		return nil
	})
	return rows, err
}

func addsOf(hits []hit) []*core.Add {
	out := make([]*core.Add, len(hits))
	for i, h := range hits {
		out[i] = h.add
	}
	return out
}

// isTrue is a condition that counts as false where it is null.
func isTrue(e plan.Expr) plan.Expr {
	return &plan.Func{Name: []string{"coalesce"}, Args: []plan.Expr{e, &plan.Literal{Value: false, T: types.Boolean}}}
}

func not(e plan.Expr) plan.Expr { return &plan.Func{Name: []string{"not"}, Args: []plan.Expr{e}} }

// affected is the answer of a statement that changes rows: how many.
func affected(n int64) (plan.Node, error) {
	return plan.LocalRows(types.Struct(types.NewField("num_affected_rows", types.Long)), []types.Row{{n}})
}

func predicateList(cond plan.Expr) string {
	if cond == nil {
		return "[]"
	}
	return core.JSONList([]string{formatExpr(cond)})
}

// Delete runs DELETE; without a condition it removes all rows.
func (t *Table) Delete(ctx context.Context, cond plan.Expr) (plan.Node, error) {
	if hasSubquery(cond) {
		return nil, errclass.New("DELTA_UNSUPPORTED_SUBQUERY", "operation", "DELETE", "cond", formatExpr(cond))
	}
	if err := t.appendOnly(); err != nil {
		return nil, err
	}
	txn := t.log.Begin(t.snap)
	if done, _, err := t.once(txn, nil); done || err != nil {
		if err != nil {
			return nil, err
		}
		return affected(0)
	}
	r, err := t.removeRows(ctx, txn, cond, t.snap.Metadata.WritesVectors())
	if err != nil {
		return nil, err
	}
	if r.deleted == 0 && r.removed == 0 {
		return affected(0)
	}
	r.finish(txn, true)
	op := core.Operation{Name: "DELETE", Parameters: map[string]string{"predicate": predicateList(cond)}, Metrics: map[string]string{
		"numDeletedRows": count(r.deleted), "numCopiedRows": count(r.copied), "numRemovedFiles": count(r.removed), "numAddedFiles": count(int64(r.files())),
		"numDeletionVectorsAdded": count(int64(len(r.marked))), "numAddedChangeFiles": count(r.recorded()),
	}}
	if err := t.commit(ctx, txn, op, r.rest, r.feed); err != nil {
		return nil, err
	}
	return affected(r.deleted)
}

// removal is the outcome of taking rows out of files.
type removal struct {
	deleted, copied, removed int64
	gone                     []*core.Add // files to be taken out
	marked                   []*core.Add // files with deletion vectors, in the place of those that are gone
	rest                     *written    // the rows that stay, or nil
	feed                     *written    // the rows that go, for the change data feed, or nil
}

// files is how many files were written for the rows that stay.
func (r *removal) files() int {
	if r.rest == nil {
		return 0
	}
	return len(r.rest.adds)
}

// recorded is how many files were written for the change data feed.
func (r *removal) recorded() int64 {
	if r.feed == nil {
		return 0
	}
	return int64(len(r.feed.changes))
}

// abort removes the files that were written.
func (r *removal) abort(ctx context.Context) {
	r.rest.abort(ctx)
	r.feed.abort(ctx)
}

// finish hands the files to a transaction.
func (r *removal) finish(txn *core.Transaction, removesFirst bool) {
	add := func() {
		for _, a := range r.marked {
			txn.Add(a)
		}
		for _, w := range []*written{r.rest, r.feed} {
			if w != nil {
				w.add(txn)
			}
		}
	}
	if !removesFirst || len(r.marked) > 0 {
		add()
	}
	for _, a := range r.gone {
		txn.Remove(a, true)
	}
	if removesFirst && len(r.marked) == 0 {
		add()
	}
}

// removeRows takes the rows that meet a condition out of their files: files without other rows go, of the others the rest is written
// anew, or the rows are marked as deleted.
func (t *Table) removeRows(ctx context.Context, txn *core.Transaction, cond plan.Expr, mark bool) (*removal, error) {
	r := &removal{}
	if cond == nil {
		txn.ReadWhole()
		adds, err := t.snap.Files(ctx)
		if err != nil {
			return nil, err
		}
		for _, a := range adds {
			n, err := t.rowsIn(ctx, a)
			if err != nil {
				return nil, err
			}
			r.deleted += n
		}
		r.gone, r.removed = adds, int64(len(adds))
		return r, nil
	}
	hits, err := t.hits(ctx, txn, cond, mark)
	if err != nil {
		return nil, err
	}
	var rest []*core.Add
	for _, h := range hits {
		n, err := t.rowsIn(ctx, h.add)
		if err != nil {
			return nil, err
		}
		r.deleted += h.rows
		r.gone = append(r.gone, h.add)
		switch {
		case n == h.rows:
			r.removed++
		case mark:
			a, err := t.mark(h)
			if err != nil {
				return nil, err
			}
			r.marked = append(r.marked, a)
		default:
			r.removed++
			r.copied += n - h.rows
			rest = append(rest, h.add)
		}
	}
	if len(rest) > 0 {
		scan, err := t.scan(rest)
		if err != nil {
			return nil, err
		}
		n := &plan.Filter{Cond: not(isTrue(cond)), Child: t.named(scan)}
		if r.rest, err = t.write(ctx, n, t.snap.Metadata, nil, ""); err != nil {
			return nil, err
		}
	}
	if t.records() && !mark && len(hits) > 0 && (r.rest != nil || !t.byPartition(cond)) {
		scan, err := t.scan(addsOf(hits))
		if err == nil {
			gone := &plan.Filter{Cond: isTrue(cond), Child: t.named(scan)}
			r.feed, err = t.record(ctx, with(gone, kindIs(core.RowDeleted)), t.snap.Metadata)
		}
		if err != nil {
			r.abort(ctx)
			return nil, err
		}
	}
	return r, nil
}

// mark gives a file a deletion vector with more rows.
func (t *Table) mark(h hit) (*core.Add, error) {
	old, err := t.log.Deleted(h.add)
	if err != nil {
		return nil, err
	}
	if old != nil {
		h.places.Or(old)
	}
	dv, err := t.log.WriteDeleted(h.places)
	if err != nil {
		return nil, err
	}
	if err := t.log.FS.SyncDir(t.log.Path); err != nil {
		return nil, err
	}
	a := *h.add
	a.DeletionVector, a.DataChange = dv, true
	a.Stats = core.LooseStats(a.Stats)
	return &a, nil
}

// update runs UPDATE.
func (t *Table) update(ctx context.Context, set []plan.Assignment, cond plan.Expr) (plan.Node, error) {
	if hasSubquery(cond) {
		return nil, errclass.New("DELTA_UNSUPPORTED_SUBQUERY", "operation", "UPDATE", "cond", formatExpr(cond))
	}
	if err := t.appendOnly(); err != nil {
		return nil, err
	}
	sets, err := t.assignments(t.snap.Schema, set, func(c []string) error {
		return errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(c...), "proposal", errclass.Idents(t.snap.Schema.Names()))
	})
	if err != nil {
		return nil, err
	}
	txn := t.log.Begin(t.snap)
	if done, _, err := t.once(txn, nil); done || err != nil {
		if err != nil {
			return nil, err
		}
		return affected(0)
	}
	vectors := t.snap.Metadata.WritesVectors()
	if err := t.checkUpdate(ctx, sets, cond); err != nil {
		return nil, err
	}
	hits, err := t.hits(ctx, txn, cond, vectors)
	if err != nil {
		return nil, err
	}
	if len(hits) == 0 {
		return affected(0)
	}
	updated, copied := int64(0), int64(0)
	for _, h := range hits {
		n, err := t.rowsIn(ctx, h.add)
		if err != nil {
			return nil, err
		}
		updated += h.rows
		copied += n - h.rows
	}
	if vectors && cond != nil {
		copied = 0
	}
	w, err := t.writeUpdated(ctx, addsOf(hits), sets, cond, vectors)
	if err != nil {
		return nil, err
	}
	var gone []*core.Add
	for _, h := range hits {
		if rows, err := t.rowsIn(ctx, h.add); vectors && cond != nil && err == nil && rows > h.rows {
			a, err := t.mark(h)
			if err != nil {
				return nil, err
			}
			txn.Add(a)
		}
		gone = append(gone, h.add)
	}
	if !vectors {
		w.add(txn)
	}
	for _, a := range gone {
		txn.Remove(a, true)
	}
	if vectors {
		w.add(txn)
	}
	op := core.Operation{Name: "UPDATE", Parameters: map[string]string{"predicate": predicateList(cond)}, Metrics: map[string]string{
		"numUpdatedRows": count(updated), "numCopiedRows": count(copied), "numRemovedFiles": count(int64(len(gone))), "numAddedFiles": count(int64(len(w.adds))),
		"numAddedChangeFiles": count(int64(len(w.changes))),
	}}
	if err := t.commit(ctx, txn, op, w); err != nil {
		return nil, err
	}
	return affected(updated)
}

// writeUpdated writes the rows of files with new values where a condition, or nil, is met. The others are written as they are, or left out.
func (t *Table) writeUpdated(ctx context.Context, adds []*core.Add, sets *assignment, cond plan.Expr, leaveOut bool) (*written, error) {
	rows := func(met bool) (plan.Node, error) {
		scan, err := t.scan(adds)
		if err != nil {
			return nil, err
		}
		if met && cond != nil {
			return &plan.Filter{Cond: isTrue(cond), Child: t.named(scan)}, nil
		}
		return t.named(scan), nil
	}
	in, err := rows(leaveOut)
	if err != nil {
		return nil, err
	}
	choose := cond
	if leaveOut {
		choose = nil
	}
	after := t.updated(in, sets, choose)
	if !t.records() {
		return t.write(ctx, after, t.snap.Metadata, nil, "")
	}
	met, err := rows(true)
	if err != nil {
		return nil, err
	}
	before := &plan.Project{Child: met}
	for _, c := range after.Cols {
		if a, ok := c.(*plan.Alias); ok {
			before.Cols = append(before.Cols, &plan.Alias{Child: t.column(a.Name), Name: a.Name})
		}
	}
	what := kindIs(core.RowAfter)
	if choose != nil {
		what = &plan.Func{Name: []string{"if"}, Args: []plan.Expr{isTrue(choose), what, copiedRow()}}
	}
	before.Cols = append(before.Cols, kind(kindIs(core.RowBefore)))
	after.Cols = append(after.Cols, kind(what))
	return t.writeRecorded(ctx, &plan.Union{Inputs: []plan.Node{after, before}}, t.snap.Metadata)
}

// checkUpdate resolves what UPDATE computes, so that mistakes are found also when there are no rows.
func (t *Table) checkUpdate(ctx context.Context, sets *assignment, cond plan.Expr) error {
	scan, err := t.scan(nil)
	if err != nil {
		return err
	}
	_, err = t.s.Analyze(ctx, t.updated(t.named(scan), sets, cond))
	return err
}

// updated is a relation with new values in the rows that meet a condition. Generated columns that are not set are left out, to be computed
// anew.
func (t *Table) updated(n plan.Node, sets *assignment, cond plan.Expr) *plan.Project {
	p := &plan.Project{Child: n}
	for _, f := range t.snap.Schema.Fields {
		col := t.column(f.Name)
		a := sets.field(f.Name)
		if a == nil {
			if generation(f) == "" {
				p.Cols = append(p.Cols, &plan.Alias{Child: col, Name: f.Name})
			}
			continue
		}
		v := a.value(col, f)
		if cond != nil {
			v = &plan.Func{Name: []string{"if"}, Args: []plan.Expr{cond, v, col}}
		}
		p.Cols = append(p.Cols, &plan.Alias{Child: v, Name: f.Name})
	}
	return p
}

// column is a column of the table, whatever else is called so.
func (t *Table) column(name string) plan.Expr {
	if t.name == "" {
		return &plan.Column{Parts: []string{name}, PlanID: -1}
	}
	return &plan.Column{Parts: []string{t.name, name}, PlanID: -1}
}

// assignment is the tree of what is assigned to the columns of a table and the fields in them.
type assignment struct {
	name   string
	set    bool
	to     plan.Expr // nil for DEFAULT
	fields []*assignment
}

func (a *assignment) field(name string) *assignment {
	for _, f := range a.fields {
		if strings.EqualFold(f.name, name) {
			return f
		}
	}
	return nil
}

// assignments checks the left sides of assignments.
func (t *Table) assignments(schema types.StructType, set []plan.Assignment, unknown func(column []string) error) (*assignment, error) {
	root := &assignment{}
	for _, s := range set {
		parts := s.Column
		if len(parts) > 1 && schema.IndexFold(parts[0]) < 0 {
			switch {
			case strings.EqualFold(parts[0], t.name):
				parts = parts[1:]
			case len(t.path) > 0 && len(parts) > len(t.path) && strings.EqualFold(strings.Join(parts[:len(t.path)], "."), strings.Join(t.path, ".")):
				parts = parts[len(t.path):]
			}
		}
		at, in := root, types.DataType(schema)
		for _, p := range parts {
			st, ok := in.(types.StructType)
			i := -1
			if ok {
				i = st.IndexFold(p)
			}
			if i < 0 {
				return nil, unknown(s.Column)
			}
			next := at.field(p)
			if next == nil {
				next = &assignment{name: st.Fields[i].Name}
				at.fields = append(at.fields, next)
			}
			if next.set {
				return nil, errclass.New("DELTA_CONFLICT_SET_COLUMN", "columnList", errclass.Ident(parts...))
			}
			at, in = next, st.Fields[i].Type
		}
		if len(at.fields) > 0 {
			return nil, errclass.New("DELTA_CONFLICT_SET_COLUMN", "columnList", errclass.Ident(parts...))
		}
		at.set, at.to = true, s.Value
	}
	return root, nil
}

// value is the new value of a column whose old one is given.
func (a *assignment) value(old plan.Expr, f types.Field) plan.Expr {
	if a.set {
		if a.to == nil {
			return &plan.Cast{Child: &plan.Literal{T: types.Null}, To: f.Type}
		}
		return &plan.Cast{Child: a.to, To: f.Type}
	}
	st, ok := f.Type.(types.StructType)
	if !ok {
		return old
	}
	var args []plan.Expr
	for _, k := range st.Fields {
		var v plan.Expr = &plan.Extract{Child: old, Key: &plan.Literal{Value: k.Name, T: types.String}}
		if x := a.field(k.Name); x != nil {
			v = x.value(v, k)
		}
		args = append(args, &plan.Literal{Value: k.Name, T: types.String}, v)
	}
	return &plan.Cast{Child: &plan.Func{Name: []string{"named_struct"}, Args: args}, To: f.Type}
}

// formatExpr prints a condition for the log.
func formatExpr(e plan.Expr) string { return sql.FormatExpr(e) }
