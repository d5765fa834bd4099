package plan

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// LocalRows is a relation of a few rows.
func LocalRows(st types.StructType, rows []types.Row) (Node, error) {
	n := &Local{Out: Attrs(st)}
	if len(rows) == 0 {
		return n, nil
	}
	builders := vec.NewBuilders(st)
	for _, r := range rows {
		for i, b := range builders {
			if err := b.AppendValue(r[i]); err != nil {
				return nil, errclass.Internal(err)
			}
		}
	}
	b := vec.NewBatch(len(rows))
	for _, bld := range builders {
		b.Cols = append(b.Cols, bld.Finish())
	}
	n.Rows = []*vec.Batch{b}
	return n, nil
}
