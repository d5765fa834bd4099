package deltatable

import (
	"context"
	"fmt"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// Run runs a statement that changes rows of the table, or that looks after its files. name is what the table is called in the catalog,
// nil for one that is named by its path.
func (t *Table) Run(ctx context.Context, st plan.Statement, name any) (plan.Node, error) {
	switch st := st.(type) {
	case *plan.Delete:
		return t.Delete(ctx, st.Cond)
	case *plan.Update:
		return t.update(ctx, st.Set, st.Cond)
	case *plan.Merge:
		return t.merge(ctx, st)
	case *plan.Vacuum:
		return t.vacuum(ctx, st)
	case *plan.DescribeHistory:
		return t.history(st.Limit)
	case *plan.DescribeDetail:
		return t.detail(ctx, name)
	case *plan.Optimize:
		return t.optimize(ctx, st)
	case *plan.Restore:
		return t.restoreTo(ctx, st.To)
	case *plan.AddConstraint:
		return nothing(t.addConstraint(ctx, st))
	case *plan.DropConstraint:
		return nothing(t.dropConstraint(ctx, st))
	}
	return nil, errclass.New("INTERNAL_ERROR", "message", fmt.Sprintf("a Delta table has nothing to do with a %T", st))
}

// nothing is the empty answer of a statement that ended with err.
func nothing(err error) (plan.Node, error) {
	if err != nil {
		return nil, err
	}
	return plan.LocalRows(types.StructType{}, nil)
}
