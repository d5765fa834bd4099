package millrace

import (
	"context"

	"github.com/millrace/millrace/internal/connectpb"
)

// MergeWriter merges the rows of a DataFrame into a table: each of its methods adds a clause, and the first clause that fits a row decides.
// Columns of the table are named "target.name" when both have them; use DataFrame.Alias for the source.
type MergeWriter struct {
	d   *DataFrame
	m   *connectpb.MergeIntoTableCommand
	err error
}

// MergeInto merges the DataFrame into a table; a condition tells which of its rows are which of the table's.
func (d *DataFrame) MergeInto(table string, condition Column) *MergeWriter {
	return &MergeWriter{d, &connectpb.MergeIntoTableCommand{TargetTableName: table, MergeCondition: condition.expr}, condition.use()}
}

// MergeWhen is when a clause of a merge applies.
type MergeWhen int

// The kinds of clauses.
const (
	// WhenMatched is for rows that both have.
	WhenMatched MergeWhen = iota
	// WhenNotMatched is for rows that the table lacks.
	WhenNotMatched
	// WhenNotMatchedBySource is for rows that only the table has.
	WhenNotMatchedBySource
)

// Delete drops the table's row where the conditions are true.
func (w *MergeWriter) Delete(when MergeWhen, conditions ...Column) *MergeWriter {
	return w.add(when, connectpb.MergeAction_ACTION_TYPE_DELETE, nil, conditions)
}

// Update sets columns of the table's row where the conditions are true.
func (w *MergeWriter) Update(when MergeWhen, set map[string]Column, conditions ...Column) *MergeWriter {
	return w.add(when, connectpb.MergeAction_ACTION_TYPE_UPDATE, set, conditions)
}

// UpdateAll sets all columns of the table's row to those of the same names.
func (w *MergeWriter) UpdateAll(conditions ...Column) *MergeWriter {
	return w.add(WhenMatched, connectpb.MergeAction_ACTION_TYPE_UPDATE_STAR, nil, conditions)
}

// Insert adds a row to the table that lacks it, where the conditions are true.
func (w *MergeWriter) Insert(values map[string]Column, conditions ...Column) *MergeWriter {
	return w.add(WhenNotMatched, connectpb.MergeAction_ACTION_TYPE_INSERT, values, conditions)
}

// InsertAll adds a row with all columns to the table that lacks it.
func (w *MergeWriter) InsertAll(conditions ...Column) *MergeWriter {
	return w.add(WhenNotMatched, connectpb.MergeAction_ACTION_TYPE_INSERT_STAR, nil, conditions)
}

// WithSchemaEvolution adds columns to the table that it lacks.
func (w *MergeWriter) WithSchemaEvolution() *MergeWriter { w.m.WithSchemaEvolution = true; return w }

func (w *MergeWriter) add(when MergeWhen, does connectpb.MergeAction_ActionType, set map[string]Column, conditions []Column) *MergeWriter {
	a := &connectpb.MergeAction{ActionType: does}
	for _, name := range sortedKeys(set) {
		w.err = firstError(w.err, set[name].use())
		a.Assignments = append(a.Assignments, &connectpb.MergeAction_Assignment{Key: attribute(name, nil), Value: set[name].expr})
	}
	c, err := all(conditions)
	a.Condition, w.err = c, firstError(w.err, err)
	e := &connectpb.Expression{ExprType: &connectpb.Expression_MergeAction{MergeAction: a}}
	switch when {
	case WhenMatched:
		w.m.MatchActions = append(w.m.MatchActions, e)
	case WhenNotMatched:
		w.m.NotMatchedActions = append(w.m.NotMatchedActions, e)
	default:
		w.m.NotMatchedBySourceActions = append(w.m.NotMatchedBySourceActions, e)
	}
	return w
}

// Merge does it.
func (w *MergeWriter) Merge(ctx context.Context) error {
	if err := firstError(w.d.err, w.err); err != nil {
		return err
	}
	w.m.SourceTablePlan = w.d.rel
	return w.d.s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_MergeIntoTableCommand{MergeIntoTableCommand: w.m}}, nil)
}
