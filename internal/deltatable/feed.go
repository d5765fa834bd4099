package deltatable

import (
	"context"
	"slices"
	"strings"

	conn "github.com/millrace/millrace/internal/connector/delta"
	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// records tells whether the table has a change data feed that statements must write to: what rows have become where files hold others as
// well.
func (t *Table) records() bool { return t.snap.Metadata.ChangeFeed() }

// kind is the column that says what has become of rows.
func kind(e plan.Expr) plan.Expr {
	return &plan.Alias{Child: e, Name: core.ChangeColumn, Metadata: plan.NoMetadata}
}

func kindIs(k core.ChangeKind) plan.Expr { return &plan.Literal{Value: string(k), T: types.String} }

// copiedRow is the kind of rows that the feed is not to have.
func copiedRow() plan.Expr { return &plan.Cast{Child: &plan.Literal{T: types.Null}, To: types.String} }

// with is a relation with its rows' kind.
func with(n plan.Node, k plan.Expr) plan.Node {
	return &plan.Project{Child: n, Cols: []plan.Expr{&plan.Star{PlanID: -1}, kind(k)}}
}

// record writes rows to the feed. The relation's columns are those of the table and the kind.
func (t *Table) record(ctx context.Context, n plan.Node, m *core.Metadata) (*written, error) {
	q, err := t.s.Prepare(ctx, n, "write")
	if err != nil {
		return nil, err
	}
	job, err := conn.NewChangesJob(ctx, t.log, m, q.Schema, t.sinkRequest(nil))
	if err != nil {
		return nil, err
	}
	return runJob(ctx, q, job, func(w *written, messages []sink.Message) { w.changes = job.Changes(messages) })
}

// writeRecorded writes rows to the table and to its feed, by their kind, which is the relation's last column.
func (t *Table) writeRecorded(ctx context.Context, n plan.Node, m *core.Metadata) (*written, error) {
	q, err := t.s.Prepare(ctx, n, "write")
	if err != nil {
		return nil, err
	}
	job, err := conn.NewRecordedJob(ctx, t.log, m, q.Schema, t.sinkRequest(nil))
	if err != nil {
		return nil, err
	}
	return runJob(ctx, q, job, func(w *written, messages []sink.Message) { w.adds, w.changes = job.Files(messages) })
}

// recordWritten writes rows that are in new files already to the feed, as inserted.
func (t *Table) recordWritten(ctx context.Context, adds []*core.Add, m *core.Metadata) (*written, error) {
	snap, err := t.snap.Altered(m)
	if err != nil {
		return nil, err
	}
	now := *t
	now.snap = snap
	scan, err := now.scan(adds)
	if err != nil {
		return nil, err
	}
	return t.record(ctx, with(scan, kindIs(core.RowInserted)), m)
}

// byPartition tells whether a condition speaks of partition columns only, so that it holds for all rows of a file or for none.
func (t *Table) byPartition(cond plan.Expr) bool {
	return !plan.Exists(cond, func(e plan.Expr) bool {
		c, ok := e.(*plan.Column)
		return ok && !slices.ContainsFunc(t.snap.Metadata.PartitionColumns, func(p string) bool { return strings.EqualFold(p, c.Parts[len(c.Parts)-1]) })
	})
}
