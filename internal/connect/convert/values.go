package convert

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// frequent are the values of a column that make up at least a share of the rows, in the order of their first appearance.
func frequent(batches []*vec.Batch, col int, share float64) []any {
	counts := map[string]int{}
	values := map[string]any{}
	var order []string
	total := 0
	for _, b := range batches {
		for i := range b.N {
			v := vec.ValueAt(b.Cols[col], i)
			key := fmt.Sprintf("%#v", v)
			if _, seen := counts[key]; !seen {
				order, values[key] = append(order, key), v
			}
			counts[key]++
			total++
		}
	}
	out := []any{}
	for _, key := range order {
		if float64(counts[key]) >= share*float64(total) {
			out = append(out, values[key])
		}
	}
	return out
}

// transpose swaps rows and columns. The values of the index column become names, all others the rows below them.
func (c *Converter) transpose(m *connectpb.Transpose) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Transpose")
	if err != nil {
		return nil, err
	}
	if len(m.GetIndexColumns()) > 1 {
		return nil, malformed("transpose takes one index column")
	}
	st, err := c.s.Schema(c.ctx, in)
	if err != nil {
		return nil, err
	}
	if len(st.Fields) == 0 {
		return plan.LocalRows(st, nil)
	}
	index := plan.Expr(column(st.Fields[0].Name))
	indexName := st.Fields[0].Name
	if len(m.GetIndexColumns()) == 1 {
		if index, err = c.Expr(m.GetIndexColumns()[0]); err != nil {
			return nil, err
		}
		if col, ok := index.(*plan.Column); ok {
			indexName = col.Parts[len(col.Parts)-1]
		}
	}
	var common types.DataType
	cols := []plan.Expr{&plan.Alias{Child: &plan.Cast{Child: index, To: types.String}, Name: "index"}}
	var names []string
	for _, f := range st.Fields {
		if f.Name == indexName {
			continue
		}
		names = append(names, f.Name)
		cols = append(cols, column(f.Name))
		if common == nil {
			common = f.Type
			continue
		}
		t, ok := fn.WiderType(common, f.Type, true)
		if !ok {
			return nil, errclass.New("TRANSPOSE_NO_LEAST_COMMON_TYPE", "dt1", common.SQL(), "dt2", f.Type.SQL())
		}
		common = t
	}
	if common == nil {
		common = types.String
	}
	for i := range cols[1:] {
		cols[i+1] = &plan.Cast{Child: cols[i+1], To: common}
		cols[i+1] = &plan.Alias{Child: cols[i+1], Name: names[i]}
	}
	n := plan.Node(&plan.Project{Cols: cols, Child: in})
	most := c.s.Conf.Int(setting.MaxTransposed)
	n = &plan.Limit{N: intLiteral(int32(min(max(0, most+1), math.MaxInt32))), Child: &plan.Sort{
		Orders: []*plan.SortOrder{{Child: column("index"), NullsFirst: true}}, Global: true, Child: n,
	}}
	rows, _, err := c.s.Rows(c.ctx, n)
	if err != nil {
		return nil, err
	}
	if int64(len(rows)) > max(0, most) {
		return nil, errclass.New("TRANSPOSE_EXCEED_ROW_LIMIT", "maxValues", strconv.FormatInt(most, 10), "config", setting.MaxTransposed)
	}
	rows = slices.DeleteFunc(rows, func(r types.Row) bool { return r[0] == nil })
	out := types.Struct(types.Field{Name: "key", Type: types.String})
	for _, r := range rows {
		name, _ := r[0].(string)
		out.Fields = append(out.Fields, types.NewField(name, common))
	}
	result := make([]types.Row, len(names))
	for i, name := range names {
		result[i] = types.Row{name}
		for _, r := range rows {
			result[i] = append(result[i], r[i+1])
		}
	}
	return plan.LocalRows(out, result)
}
