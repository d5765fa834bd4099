package convert

import (
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/plan"
)

// statistics translates the relations that stand for whole methods of DataFrame.
func (c *Converter) statistics(m *connectpb.Relation) (plan.Node, error) {
	switch k := m.GetRelType().(type) {
	case *connectpb.Relation_FillNa:
		return c.fillNA(k.FillNa)
	case *connectpb.Relation_DropNa:
		return c.dropNA(k.DropNa)
	case *connectpb.Relation_Replace:
		return c.replaceNA(k.Replace)
	}
	return nil, unsupported(choiceName(m.GetRelType()))
}
