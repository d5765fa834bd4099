package session

import (
	"context"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// runChange runs the statements that change single rows of tables, and those that look after the files of tables with a log.
func (s *Session) runChange(ctx context.Context, st plan.Statement) (plan.Node, error) {
	named, operation, kind := changed(st)
	if n, done, err := s.runDelta(ctx, st, named, operation); done || err != nil {
		return n, err
	}
	t, err := s.table(named.Parts)
	if err != nil {
		return nil, err
	}
	return nil, errclass.New("UNSUPPORTED_FEATURE.TABLE_OPERATION", "tableName", errclass.Ident(catalog.Name, t.Database, t.Name),
		"operation", operation).WithKind(kind)
}

// changed is the table that a statement is about, what the statement does, and the kind of the error of tables that cannot do it.
func changed(st plan.Statement) (*plan.Named, string, errclass.Kind) {
	var n plan.Node
	operation, kind := "", errclass.Analysis
	switch st := st.(type) {
	case *plan.Delete:
		n, operation = st.Table, "DELETE"
	case *plan.Update:
		n, operation, kind = st.Table, "UPDATE TABLE", errclass.Unsupported
	case *plan.Merge:
		n, operation, kind = st.Target, "MERGE INTO TABLE", errclass.Unsupported
	case *plan.Vacuum:
		n, operation = st.Table, "VACUUM"
	case *plan.DescribeHistory:
		n, operation = st.Table, "DESCRIBE HISTORY"
	case *plan.DescribeDetail:
		n, operation = st.Table, "DESCRIBE DETAIL"
	case *plan.Optimize:
		n, operation = st.Table, "OPTIMIZE"
	case *plan.Restore:
		n, operation = st.Table, "RESTORE"
	case *plan.AddConstraint:
		n, operation = st.Table, "ADD CONSTRAINT"
	case *plan.DropConstraint:
		n, operation = st.Table, "DROP CONSTRAINT"
	}
	if a, ok := n.(*plan.Aliased); ok {
		n = a.Child
	}
	named, _ := n.(*plan.Named)
	return named, operation, kind
}
