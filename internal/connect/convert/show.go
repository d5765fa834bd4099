package convert

import (
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/show"
	"github.com/millrace/millrace/types"
)

// showString runs the relation below and becomes one row that holds the table.
func (c *Converter) showString(m *connectpb.ShowString) (plan.Node, error) {
	return c.shown(m.GetInput(), "show_string", show.Options{
		Rows: int(m.GetNumRows()), Truncate: int(m.GetTruncate()), Vertical: m.GetVertical(),
	}, false)
}

func (c *Converter) htmlString(m *connectpb.HtmlString) (plan.Node, error) {
	return c.shown(m.GetInput(), "html_string", show.Options{Rows: int(m.GetNumRows()), Truncate: int(m.GetTruncate())}, true)
}

func (c *Converter) shown(m *connectpb.Relation, column string, o show.Options, html bool) (plan.Node, error) {
	in, err := c.input(m, "ShowString")
	if err != nil {
		return nil, err
	}
	text, err := c.s.Show(c.ctx, in, o, html)
	if err != nil {
		return nil, err
	}
	return plan.LocalRows(types.Struct(types.Field{Name: column, Type: types.String}), []types.Row{{text}})
}
