package deltatable

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	core "github.com/millrace/millrace/internal/delta"
	"github.com/millrace/millrace/internal/setting"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func parseVersion(text string) (int64, error) {
	return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
}

// vacuum runs VACUUM: files that are older than the time for which versions are kept and that no version since then has are deleted.
func (t *Table) vacuum(ctx context.Context, st *plan.Vacuum) (plan.Node, error) {
	keep := t.snap.Metadata.DeletedFileRetention()
	configured := keep
	if st.Hours != nil {
		keep = time.Duration(*st.Hours * float64(time.Hour))
	}
	if keep < configured && !strings.EqualFold(t.s.SourceEnv().Conf(setting.DeltaRetentionCheck), "false") {
		return nil, errclass.New("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT", "configuredRetentionHours", strconv.Itoa(int(configured.Hours())))
	}
	now := t.log.Now()
	oldest := now.Add(-keep)
	needed, err := t.snap.Needed(ctx, oldest)
	if err != nil {
		return nil, err
	}
	v := &vacuum{fsys: t.log.FS, root: t.log.Path, needed: needed, oldest: oldest}
	if err := v.walk(ctx, t.log.Path); err != nil {
		return nil, err
	}
	column := types.Struct(types.NewField("path", types.String))
	if st.DryRun {
		var rows []types.Row
		for _, f := range v.files {
			rows = append(rows, types.Row{fs.Location(f)})
		}
		return plan.LocalRows(column, rows)
	}
	start := core.Operation{Name: "VACUUM START", Blind: true, Parameters: map[string]string{
		"retentionCheckEnabled":  strconv.FormatBool(!strings.EqualFold(t.s.SourceEnv().Conf(setting.DeltaRetentionCheck), "false")),
		"defaultRetentionMillis": count(configured.Milliseconds()), "specifiedRetentionMillis": count(keep.Milliseconds()),
	}, Metrics: map[string]string{"numFilesToDelete": count(int64(len(v.files))), "sizeOfDataToDelete": count(v.size)}}
	if err := t.note(ctx, start); err != nil {
		return nil, err
	}
	deleted := int64(0)
	for _, f := range v.files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := t.log.FS.Remove(f); err == nil {
			deleted++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, errclass.Internal(err)
		}
	}
	for _, d := range slices.Backward(v.dirs) {
		_ = t.log.FS.Remove(d) // works where it is empty
	}
	end := core.Operation{Name: "VACUUM END", Blind: true, Parameters: map[string]string{"status": "COMPLETED"}, Metrics: map[string]string{
		"numDeletedFiles": count(deleted), "numVacuumedDirectories": count(int64(len(v.dirs) + 1)),
	}}
	if err := t.note(ctx, end); err != nil {
		return nil, err
	}
	return plan.LocalRows(column, []types.Row{{fs.Location(t.log.Path)}})
}

// note commits a version that changes nothing.
func (t *Table) note(ctx context.Context, op core.Operation) error {
	snap, err := t.snap.Update(ctx)
	if err != nil {
		return err
	}
	t.snap = snap
	return t.commit(ctx, t.log.Begin(snap), op)
}

// vacuum looks for files that nobody needs.
type vacuum struct {
	fsys   fs.FS
	root   string
	needed map[string]bool
	oldest time.Time
	files  []string
	dirs   []string
	size   int64
}

// walk goes through a folder. Hidden names are left alone, but for those of partition columns and of the change data feed.
func (v *vacuum) walk(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := v.fsys.ReadDir(dir)
	if err != nil {
		return errclass.Internal(err)
	}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		hidden := strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")
		if hidden && !strings.Contains(name, "=") && name != core.ChangesDir {
			continue
		}
		if e.IsDir() {
			v.dirs = append(v.dirs, path)
			if err := v.walk(ctx, path); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return errclass.Internal(err)
		}
		if v.needed[path] || !info.ModTime().Before(v.oldest) {
			continue
		}
		v.files = append(v.files, path)
		v.size += info.Size()
	}
	return nil
}

// addConstraint runs ALTER TABLE ... ADD CONSTRAINT.
func (t *Table) addConstraint(ctx context.Context, st *plan.AddConstraint) error {
	for _, c := range t.snap.Metadata.Checks() {
		if strings.EqualFold(c.Name, st.Name) {
			return errclass.New("DELTA_CONSTRAINT_ALREADY_EXISTS", "constraintName", st.Name, "oldConstraint", c.Text)
		}
	}
	scan, err := t.scan(nil)
	if err != nil {
		return err
	}
	bad := &plan.Project{Cols: []plan.Expr{&plan.Alias{Child: st.Check, Name: "ok"}}, Child: t.named(scan)}
	n, err := t.s.Analyze(ctx, bad)
	if err != nil {
		return err
	}
	if n.Output()[0].T != types.Boolean {
		return errclass.New("DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", "name", st.Name, "expr", st.Text)
	}
	txn := t.log.Begin(t.snap)
	txn.ReadWhole()
	if rows, err := t.countRows(ctx, not(isTrue(st.Check))); err != nil || rows > 0 {
		if err == nil {
			err = errclass.New("DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "numRows", count(rows), "tableName", t.log.Path, "checkConstraint", st.Text)
		}
		return err
	}
	m := t.snap.Metadata.Clone()
	m.Configuration[core.CheckKey(st.Name)] = st.Text
	if err := txn.SetMetadata(m, nil); err != nil {
		return err
	}
	return t.commit(ctx, txn, core.Operation{Name: "ADD CONSTRAINT", Parameters: map[string]string{"name": st.Name, "expr": st.Text}})
}

// countRows is how many rows meet a condition.
func (t *Table) countRows(ctx context.Context, cond plan.Expr) (int64, error) {
	scan, err := t.scan(nil)
	if err != nil {
		return 0, err
	}
	agg := &plan.Aggregate{Aggs: []plan.Expr{&plan.Alias{Child: &plan.Func{Name: []string{"count"}, Args: []plan.Expr{one}}, Name: "n"}}, Child: &plan.Filter{Cond: cond, Child: t.named(scan)}}
	rows, err := rowsOf(ctx, t.s, agg)
	if err != nil {
		return 0, err
	}
	n, _ := rows[0][0].(int64)
	return n, nil
}

// dropConstraint runs ALTER TABLE ... DROP CONSTRAINT.
func (t *Table) dropConstraint(ctx context.Context, st *plan.DropConstraint) error {
	m := t.snap.Metadata.Clone()
	text, ok := m.Configuration[core.CheckKey(st.Name)]
	if !ok && !st.IfExists {
		return errclass.New("DELTA_CONSTRAINT_DOES_NOT_EXIST", "constraintName", st.Name, "tableName", t.log.Path)
	}
	parameters := map[string]string{"name": st.Name}
	if ok {
		parameters["expr"] = text
	}
	delete(m.Configuration, core.CheckKey(st.Name))
	txn := t.log.Begin(t.snap)
	if err := txn.SetMetadata(m, nil); err != nil {
		return err
	}
	return t.commit(ctx, txn, core.Operation{Name: "DROP CONSTRAINT", Blind: true, Parameters: parameters})
}
