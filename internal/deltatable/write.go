package deltatable

import (
	"context"
	"strconv"
	"strings"

	core "github.com/millrace/millrace/internal/delta"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// Rows are rows that take the place of others.
type Rows struct {
	Plan        plan.Node // resolved
	PartitionBy []string
	Options     sink.Options
}

// ReplaceWhere replaces the rows that meet a condition, which text is in the log, by others, all of which must meet it.
func (t *Table) ReplaceWhere(ctx context.Context, cond plan.Expr, text string, by Rows) ([]query.Observation, error) {
	if err := t.appendOnly(); err != nil {
		return nil, err
	}
	if err := core.CheckNames(plan.Schema(by.Plan), true); err != nil {
		return nil, err
	}
	if err := t.snap.Metadata.SamePartitions(by.PartitionBy, t.log.Path); err != nil {
		return nil, err
	}
	txn := t.log.Begin(t.snap)
	done, numbered, err := t.once(txn, by.Options)
	if done || err != nil {
		return nil, err
	}
	merge, _ := by.Options.Get("mergeSchema")
	m := t.snap.Metadata
	rows, _ := types.Nullable(plan.Schema(by.Plan)).(types.StructType)
	schema, added, err := core.Merge(t.snap.Schema, rows, strings.EqualFold(merge, "true"), false, t.log.Path)
	if err != nil {
		return nil, err
	}
	if added {
		m = m.Clone()
		if err := m.SetSchema(schema); err != nil {
			return nil, err
		}
		if err := txn.SetMetadata(m, nil); err != nil {
			return nil, err
		}
	}
	r, err := t.removeRows(ctx, txn, cond, false)
	if err != nil {
		return nil, err
	}
	w, err := t.write(ctx, by.Plan, m, by.Options, text)
	if err != nil {
		r.abort(ctx)
		return nil, err
	}
	var inserted *written
	if r.feed != nil {
		if inserted, err = t.recordWritten(ctx, w.adds, m); err != nil {
			r.abort(ctx)
			w.abort(ctx)
			return nil, err
		}
		r.feed.changes = append(r.feed.changes, inserted.changes...)
	}
	w.add(txn)
	r.finish(txn, false)
	if len(w.adds)+len(r.gone) == 0 && !added && !numbered {
		return w.observed, nil
	}
	op := core.Operation{Name: "WRITE", Parameters: map[string]string{
		"mode": "Overwrite", "partitionBy": core.JSONList(by.PartitionBy), "predicate": text,
	}, Metrics: map[string]string{
		"numFiles": count(int64(len(w.adds) + r.files())), "numDeletedRows": count(r.deleted), "numCopiedRows": count(r.copied),
		"numRemovedFiles": count(int64(len(r.gone))), "numOutputRows": count(rowsWritten(w.adds)),
	}}
	if u, ok := by.Options.Get("userMetadata"); ok {
		op.UserMetadata = &u
	}
	return w.observed, t.commit(ctx, txn, op, w, r.rest, r.feed, inserted)
}

func rowsWritten(adds []*core.Add) int64 {
	n := int64(0)
	for _, a := range adds {
		rows, _ := a.Rows()
		n += rows
	}
	return n
}

// Inserted makes the rows of a query rows of the table: columns by position or by name, cast to the table's types. Columns without a value
// are left out.
func (t *Table) Inserted(ctx context.Context, n plan.Node, st *plan.Insert) (plan.Node, error) {
	schema := t.snap.Schema
	out := n.Output()
	fixed := map[string]plan.Expr{}
	for _, p := range st.Partition {
		if p.Value != nil {
			fixed[strings.ToLower(p.Name)] = p.Value
		}
	}
	columns := st.Columns
	switch {
	case columns != nil:
	case st.ByName:
		for _, a := range out {
			columns = append(columns, a.Name)
		}
	default:
		for _, f := range schema.Fields {
			if fixed[strings.ToLower(f.Name)] == nil {
				columns = append(columns, f.Name)
			}
		}
	}
	if len(columns) > len(out) {
		return nil, errclass.New("DELTA_INSERT_COLUMN_ARITY_MISMATCH", "tableName", t.log.Path, "columnName", errclass.Idents(columns),
			"numColumns", strconv.Itoa(len(columns)), "insertColumns", strconv.Itoa(len(out)))
	}
	if len(columns) < len(out) {
		return nil, errclass.New("DELTA_METADATA_MISMATCH", "tableName", t.log.Path,
			"reason", strconv.Itoa(len(out))+" columns come, and the table has "+strconv.Itoa(len(columns))+".")
	}
	p := &plan.Project{Child: n}
	given := map[string]bool{}
	for i, name := range columns {
		at := schema.IndexFold(name)
		switch {
		case at < 0 && st.ByName:
			return nil, errclass.New("DELTA_METADATA_MISMATCH", "tableName", t.log.Path, "reason", "it has no column "+errclass.Ident(name)+".")
		case at < 0:
			return nil, errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(name), "proposal", errclass.Idents(schema.Names()))
		}
		f := schema.Fields[at]
		switch {
		case given[f.Name] && st.ByName:
			return nil, errclass.New("DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA", "duplicateCols", errclass.Ident(name))
		case given[f.Name]:
			return nil, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(name))
		}
		given[f.Name] = true
		p.Cols = append(p.Cols, &plan.Alias{Child: conform(out[i], out[i].T, f.Type), Name: f.Name, Metadata: plan.NoMetadata})
	}
	for _, f := range schema.Fields {
		if v := fixed[strings.ToLower(f.Name)]; v != nil && !given[f.Name] {
			given[f.Name] = true
			p.Cols = append(p.Cols, &plan.Alias{Child: &plan.Cast{Child: v, To: f.Type}, Name: f.Name, Metadata: plan.NoMetadata})
		}
		if !given[f.Name] && !f.Nullable && plan.DefaultOf(f) == "" && generation(f) == "" {
			return nil, errclass.New("DELTA_INSERT_COLUMN_MISMATCH", "columnName", errclass.Ident(f.Name))
		}
	}
	return t.s.Analyze(ctx, p)
}
