package deltatable

import (
	"context"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	conn "github.com/millrace/millrace/internal/connector/delta"
	core "github.com/millrace/millrace/internal/delta"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// Format is the name of the format whose tables have a log.
const Format = "delta"

// Is tells whether a format is this one.
func Is(format string) bool { return strings.EqualFold(format, Format) }

// Session is what a table asks of the session that a statement runs in.
type Session interface {
	// Analyze resolves a plan, Prepare also makes it ready to run.
	Analyze(ctx context.Context, n plan.Node) (plan.Node, error)
	Prepare(ctx context.Context, n plan.Node, operation string) (*query.Query, error)
	SQLOptions() sql.Options
	SourceEnv() source.Env
	SinkEnv() sink.Env
	Files() fs.FS
	// Once is a relation with the same rows as n that computes them once, however often it is read, until done is called.
	Once(n plan.Node) (once plan.Node, done func() error, err error)
	// RefreshPath tells that files have changed.
	RefreshPath(path string) error
}

// Table is a Delta table that a statement is about.
type Table struct {
	s    Session
	log  *core.Log
	snap *core.Snapshot // nil where there is no table
	// name and path are what its columns may be qualified with.
	name string
	path []string
}

// At is the table in a folder; it may not be there.
func At(ctx context.Context, s Session, path string) (*Table, error) {
	place, err := conn.Place(path)
	if err != nil {
		return nil, err
	}
	t := &Table{s: s, log: conn.OpenLog(s.Files(), place, s.SourceEnv().Now)}
	t.snap, err = t.log.Latest(ctx)
	return t, err
}

// Exists tells whether there is a table.
func (t *Table) Exists() bool { return t.snap != nil }

// Target finds the Delta table that a statement changes: by path, in the catalog, or through a temporary view of all of its columns.
// It is nil for a table of another format.
func Target(ctx context.Context, s Session, n plan.Node) (*Table, error) {
	r, err := s.Analyze(ctx, n)
	if err != nil {
		return nil, err
	}
	t := &Table{s: s}
	for {
		switch x := r.(type) {
		case *plan.Aliased:
			if t.name == "" {
				t.name, t.path = x.Name, x.Path
			}
			r = x.Child
		case *plan.View:
			r = x.Child
		case *plan.Scan:
			src, ok := x.Source.(*conn.Table)
			if !ok || x.Stream || src.Pinned() {
				return nil, nil
			}
			if t.snap, err = src.Snapshot().Update(ctx); err != nil { // a view is of the table as it was when it was made
				return nil, err
			}
			t.log = t.snap.Log()
			return t, nil
		default:
			return nil, nil
		}
	}
}

// scan is the table, or some of its files, as a relation.
func (t *Table) scan(only []*core.Add) (plan.Node, error) {
	src, err := conn.NewTable(t.snap, only, t.s.SourceEnv())
	if err != nil {
		return nil, err
	}
	n := &plan.Scan{ID: plan.NewID(), Source: src, Name: Format, Out: plan.Attrs(src.Schema())}
	n.Hidden = plan.Attrs(types.StructType{Fields: src.HiddenColumns()})
	return n, nil
}

// named is a relation under the names that the statement has for the table.
func (t *Table) named(n plan.Node) plan.Node {
	return &plan.Aliased{Name: t.name, Path: t.path, Child: n}
}

// written are the files of a write, which are not part of the table yet.
type written struct {
	job     sink.Batch
	adds    []*core.Add
	changes []*core.CDC
	// observed are the metrics of the plan that was written.
	observed []query.Observation
}

// add hands the files to a transaction.
func (w *written) add(txn *core.Transaction) {
	for _, a := range w.adds {
		txn.Add(a)
	}
	for _, c := range w.changes {
		txn.AddChanges(c)
	}
}

// abort removes the files.
func (w *written) abort(ctx context.Context) {
	if w != nil {
		w.job.Abort(context.WithoutCancel(ctx))
	}
}

// write computes a plan, whose columns are those of the table, into new files of the table.
func (t *Table) write(ctx context.Context, n plan.Node, m *core.Metadata, options map[string]string, only string) (*written, error) {
	q, err := t.s.Prepare(ctx, n, "write")
	if err != nil {
		return nil, err
	}
	return t.writeQuery(ctx, q, m, options, only)
}

// writeQuery is write for a plan that is ready to run.
func (t *Table) writeQuery(ctx context.Context, q *query.Query, m *core.Metadata, options map[string]string, only string) (*written, error) {
	job, err := conn.NewJob(ctx, t.log, m, q.Schema, only, t.sinkRequest(options))
	if err != nil {
		return nil, err
	}
	return runJob(ctx, q, job, func(w *written, messages []sink.Message) { w.adds, _, _ = job.Files(messages) })
}

func (t *Table) sinkRequest(options map[string]string) sink.Request {
	return sink.Request{Format: Format, Options: options, Env: t.s.SinkEnv()}
}

// runJob writes the rows of a query and waits until they are durable; take notes the files. Of a write that fails nothing is left.
func runJob(ctx context.Context, q *query.Query, job sink.Batch, take func(w *written, messages []sink.Message)) (*written, error) {
	messages, err := q.WriteParts(ctx, job)
	if err == nil {
		err = job.Commit(ctx, messages)
	}
	if err != nil {
		job.Abort(context.WithoutCancel(ctx))
		return nil, err
	}
	w := &written{job: job, observed: q.Observed()}
	take(w, messages)
	return w, nil
}

// commit makes a transaction the table's next version. The files that were written for it go when it is refused.
func (t *Table) commit(ctx context.Context, txn *core.Transaction, op core.Operation, writes ...*written) error {
	if u := t.s.SourceEnv().Conf(setting.DeltaUserMetadata); u != "" && op.UserMetadata == nil {
		op.UserMetadata = &u
	}
	_, err := txn.Commit(ctx, op)
	if err == nil {
		return t.s.RefreshPath(t.log.Path)
	}
	if core.Refused(err) {
		for _, w := range writes {
			w.abort(ctx)
		}
	}
	return err
}

// once looks at options and settings for writing once. done tells that the table has the write already, numbered that it has a number.
func (t *Table) once(txn *core.Transaction, options sink.Options) (done, numbered bool, err error) {
	app, version, err := conn.IdempotentWrite(options.Get, t.s.SourceEnv().Conf)
	if err != nil || app == "" {
		return false, false, err
	}
	if last, ok := t.snap.Txn(app); ok && last >= version {
		return true, true, nil
	}
	txn.SetTxn(app, version)
	return false, true, nil
}

// appendOnly refuses changes of tables to which rows may only be added.
func (t *Table) appendOnly() error {
	if t.snap.Metadata.AppendOnly() {
		return errclass.New("DELTA_CANNOT_MODIFY_APPEND_ONLY", "table_name", t.log.Path, "config", core.AppendOnlyKey)
	}
	return nil
}

// Describe completes what the catalog has of the table by what its log says.
func (t *Table) Describe(in catalog.Table) catalog.Table {
	in.Schema, in.PartitionBy, in.Properties = t.snap.Schema, t.snap.Metadata.PartitionColumns, properties(t.snap)
	return in
}

// properties are the properties that SHOW TBLPROPERTIES lists.
func properties(snap *core.Snapshot) map[string]string {
	out := map[string]string{
		"delta.minReaderVersion": strconv.Itoa(snap.Protocol.MinReaderVersion), "delta.minWriterVersion": strconv.Itoa(snap.Protocol.MinWriterVersion),
	}
	for k, v := range snap.Metadata.Configuration {
		out[k] = v
	}
	if snap.Protocol.MinWriterVersion >= 7 {
		for _, f := range snap.Protocol.Features() {
			out["delta.feature."+f] = "supported"
		}
	}
	return out
}

// count prints a number for metrics.
func count(n int64) string { return strconv.FormatInt(n, 10) }

// hasSubquery tells whether an expression, or nil, holds a query.
func hasSubquery(e plan.Expr) bool {
	return e != nil && plan.Exists(e, func(e plan.Expr) bool { _, ok := e.(*plan.Subquery); return ok })
}

// rowsOf are the few rows of a plan.
func rowsOf(ctx context.Context, s Session, n plan.Node) ([]types.Row, error) {
	q, err := s.Prepare(ctx, n, "collect")
	if err != nil {
		return nil, err
	}
	return q.Rows(ctx)
}
