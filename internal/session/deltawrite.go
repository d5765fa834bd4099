package session

import (
	"context"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/deltatable"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/sink"
)

// writeDelta is Write for the option replaceWhere, which the sink does not know: rows that meet a condition are replaced by the plan's.
// ok is false for any other write.
func (s *Session) writeDelta(ctx context.Context, w Write) (observed []query.Observation, ok bool, err error) {
	name := w.Format
	if name == "" {
		name = s.Conf.Value(setting.Source)
	}
	if !deltatable.Is(name) || w.Mode != sink.Overwrite {
		return nil, false, nil
	}
	text, ok := sink.Options(w.Options).Get("replaceWhere")
	if !ok || strings.TrimSpace(text) == "" {
		return nil, false, nil
	}
	if mode, _ := sink.Options(w.Options).Get("partitionOverwriteMode"); strings.EqualFold(mode, "dynamic") {
		return nil, true, errclass.New("DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE")
	}
	path := w.Path
	if p, ok := sink.Options(w.Options).Get("path"); ok && path == "" {
		path = p
	}
	cond, err := sql.ParseExpr(text, s.SQLOptions())
	if err != nil {
		return nil, true, errclass.New("DELTA_FAILED_RECOGNIZE_PREDICATE", "predicate", text).WithCause(err)
	}
	t, err := deltatable.At(ctx, s, path)
	if err != nil {
		return nil, true, err
	}
	if !t.Exists() { // there is nothing to replace
		delete(w.Options, "replaceWhere")
		return nil, false, nil
	}
	n, err := s.Analyze(ctx, w.Plan)
	if err != nil {
		return nil, true, err
	}
	if n.Streaming() {
		return nil, true, errclass.New("CALL_ON_STREAMING_DATASET_UNSUPPORTED", "methodName", errclass.Ident("write"))
	}
	observed, err = t.ReplaceWhere(ctx, cond, text, deltatable.Rows{Plan: n, PartitionBy: w.PartitionBy, Options: w.Options})
	return observed, true, err
}

// insertsDelta is the folder of the Delta table that INSERT is about; ok is false for other tables.
func (s *Session) insertsDelta(st *plan.Insert) (location string, ok bool) {
	named, isNamed := st.Table.(*plan.Named)
	if !isNamed {
		return "", false
	}
	if path, byPath := s.deltaPath(named.Parts); byPath {
		return path, true
	}
	t, err := s.table(named.Parts)
	return t.Location, err == nil && deltatable.Is(t.Format)
}

// insertDelta runs INSERT into a Delta table. location is its folder.
func (s *Session) insertDelta(ctx context.Context, st *plan.Insert, location string) error {
	t, err := deltatable.At(ctx, s, location)
	if err != nil {
		return err
	}
	if !t.Exists() {
		return errclass.New("DELTA_TABLE_NOT_FOUND", "tableName", location)
	}
	n, err := s.Analyze(ctx, st.Query)
	if err != nil {
		return err
	}
	if n, err = t.Inserted(ctx, n, st); err != nil {
		return err
	}
	named, _ := st.Table.(*plan.Named)
	w := Write{Plan: n, Format: deltatable.Format, Path: location, Mode: sink.Append, Options: map[string]string{}}
	if named != nil {
		for k, v := range named.Options {
			w.Options[k] = v
		}
	}
	switch {
	case st.ReplaceWhere != nil:
		w.Mode = sink.Overwrite
		_, err = t.ReplaceWhere(ctx, st.ReplaceWhere, sql.FormatExpr(st.ReplaceWhere), deltatable.Rows{Plan: n, Options: w.Options})
		return err
	case st.Overwrite:
		w.Mode = sink.Overwrite
		if len(st.Partition) > 0 {
			return s.overwriteDeltaPartition(ctx, t, n, st, w)
		}
	}
	_, err = s.Write(ctx, w)
	return err
}

// overwriteDeltaPartition runs INSERT OVERWRITE ... PARTITION: the partitions whose values are given are replaced, of the others those that
// get rows.
func (s *Session) overwriteDeltaPartition(ctx context.Context, t *deltatable.Table, n plan.Node, st *plan.Insert, w Write) error {
	if slices.ContainsFunc(st.Partition, func(p plan.PartitionValue) bool { return p.Value == nil }) {
		w.Options["partitionOverwriteMode"] = "dynamic"
		_, err := s.Write(ctx, w)
		return err
	}
	cond := partitionCondition(st.Partition)
	_, err := t.ReplaceWhere(ctx, cond, sql.FormatExpr(cond), deltatable.Rows{Plan: n, Options: w.Options})
	return err
}

// partitionCondition is PARTITION (column = value, ...) as a condition on rows; nil if it names no value.
func partitionCondition(spec []plan.PartitionValue) (cond plan.Expr) {
	for _, p := range spec {
		if p.Value == nil {
			continue
		}
		eq := &plan.Func{Name: []string{"<=>"}, Args: []plan.Expr{&plan.Column{Parts: []string{p.Name}, PlanID: -1}, p.Value}}
		if cond == nil {
			cond = eq
		} else {
			cond = &plan.Func{Name: []string{"and"}, Args: []plan.Expr{cond, eq}}
		}
	}
	return cond
}

// writeDeltaTable is WriteTable for a Delta table. old is the table that is there, if exists.
func (s *Session) writeDeltaTable(ctx context.Context, db, name string, w Write, insert bool, old catalog.Table, exists bool) ([]query.Observation, error) {
	n, err := s.Analyze(ctx, w.Plan)
	if err != nil {
		return nil, err
	}
	w.Plan = n
	if !exists {
		st := &plan.CreateTable{Query: n}
		t := catalog.Table{Database: db, Name: name, Location: w.Path, PartitionBy: w.PartitionBy, Properties: map[string]string{}}
		for k, v := range w.Options {
			switch {
			case strings.EqualFold(k, "path"):
				t.Location = v
			case strings.HasPrefix(strings.ToLower(k), "delta."):
				t.Properties[k] = v
			}
		}
		return nil, s.createDelta(ctx, st, t, false)
	}
	w.Format, w.Path = deltatable.Format, old.Location
	options := map[string]string{}
	for k, v := range w.Options {
		if !strings.EqualFold(k, "path") {
			options[k] = v
		}
	}
	w.Options = options
	if insert {
		if w.Mode != sink.Overwrite {
			w.Mode = sink.Append
		}
		t, err := deltatable.At(ctx, s, old.Location)
		if err != nil {
			return nil, err
		}
		if !t.Exists() {
			return nil, errclass.New("DELTA_TABLE_NOT_FOUND", "tableName", old.Location)
		}
		if w.Plan, err = t.Inserted(ctx, n, &plan.Insert{}); err != nil {
			return nil, err
		}
		return s.Write(ctx, w)
	}
	switch w.Mode {
	case sink.Ignore:
		return nil, nil
	case sink.Append, sink.Overwrite:
		return s.Write(ctx, w)
	}
	return nil, errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(catalog.Name, db, name))
}
