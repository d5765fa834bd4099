package parquetfile

import (
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// place is a node of a file's schema with its levels: those of the node itself, and of the list that it is an element of.
type place struct {
	n         schema.Node
	def, rep  int16
	slot      int16
	path      string
	unwrapped bool // a repeated node as the element of the list that it is
}

// matcher maps the columns that are wanted to those of a file.
type matcher struct {
	file          string
	s             *schema.Schema
	caseSensitive bool
	cal           calendars
}

// column maps a column. One that the file does not have is read as nulls.
func (m *matcher) column(f types.Field) (*node, error) {
	p, ok, err := m.child(place{n: m.s.Root()}, f.Name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return &node{kind: missingNode, typ: f.Type}, nil
	}
	return m.node(p, f.Type)
}

// child finds a field of a group by name: as it is written, or else in any case.
func (m *matcher) child(p place, name string) (place, bool, error) {
	g, ok := p.n.(*schema.GroupNode)
	if !ok {
		return place{}, false, nil
	}
	at, folded := -1, 0
	for i := range g.NumFields() {
		switch n := g.Field(i).Name(); {
		case n == name:
			return p.below(g.Field(i)), true, nil
		case !m.caseSensitive && strings.EqualFold(n, name):
			if at < 0 {
				at = i
			}
			folded++
		}
	}
	if folded > 1 {
		return place{}, false, errclass.New("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", "path", m.file, "column", name,
			"actualType", "several columns whose names differ in case only", "expectedType", "one column")
	}
	if at < 0 {
		return place{}, false, nil
	}
	return p.below(g.Field(at)), true, nil
}

// below gives the place of a child.
func (p place) below(n schema.Node) place {
	c := place{n: n, def: p.def, rep: p.rep, slot: p.slot, path: n.Name()}
	if p.path != "" {
		c.path = p.path + "." + n.Name()
	}
	switch n.RepetitionType() {
	case parquet.Repetitions.Optional:
		c.def++
	case parquet.Repetitions.Repeated:
		c.def++
		c.rep++
	}
	return c
}

// node maps a place to a type.
func (m *matcher) node(p place, t types.DataType) (*node, error) {
	if u, ok := t.(types.UserDefinedType); ok {
		return m.node(p, u.Storage)
	}
	if p.n.RepetitionType() == parquet.Repetitions.Repeated && !p.unwrapped {
		return m.bareList(p, t)
	}
	out := &node{typ: t, def: p.def, slot: p.slot, rep: p.rep}
	if g, ok := p.n.(*schema.GroupNode); ok {
		return m.group(p, g, t, out)
	}
	if _, ok := t.(types.NullType); ok {
		return &node{kind: missingNode, typ: t}, nil
	}
	i := m.s.ColumnIndexByNode(p.n)
	if i < 0 {
		return nil, errDamaged
	}
	open, ok := leafOpener(m.s.Column(i), i, t, m.cal)
	if !ok {
		return nil, m.mismatch(p, t)
	}
	out.kind, out.open = leafNode, open
	return out, nil
}

func (m *matcher) mismatch(p place, t types.DataType) error {
	actual := "a group"
	if n, ok := p.n.(*schema.PrimitiveNode); ok {
		actual = n.PhysicalType().String()
		if l := n.LogicalType(); l != nil && !l.IsNone() {
			actual += " (" + l.String() + ")"
		}
	}
	return errclass.New("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", "path", m.file, "column", p.path, "actualType", actual, "expectedType", t.SimpleString())
}

func (m *matcher) group(p place, g *schema.GroupNode, t types.DataType, out *node) (*node, error) {
	switch t := t.(type) {
	case types.StructType:
		return m.structNode(p, t.Fields, out)
	case types.VariantType:
		return m.structNode(p, []types.Field{{Name: "value", Type: types.Binary}, {Name: "metadata", Type: types.Binary}}, out)
	case types.ArrayType:
		if g.NumFields() != 1 || g.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
			return nil, m.mismatch(p, t)
		}
		repeated := p.below(g.Field(0))
		elem := elementOf(g.Name(), repeated)
		elem.slot, elem.rep = repeated.def, repeated.rep
		out.kind, out.elem = listNode, repeated.def
		k, err := m.node(elem, t.Element)
		out.kids = []*node{k}
		return m.withLeaf(out, elem, err)
	case types.MapType:
		if g.NumFields() != 1 || g.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
			return nil, m.mismatch(p, t)
		}
		repeated := p.below(g.Field(0))
		kv, ok := repeated.n.(*schema.GroupNode)
		if !ok || kv.NumFields() < 1 || kv.NumFields() > 2 {
			return nil, m.mismatch(p, t)
		}
		repeated.slot = repeated.def
		out.kind, out.elem = mapNode, repeated.def
		key, err := m.node(repeated.below(kv.Field(0)), t.Key)
		if err != nil {
			return nil, err
		}
		value := &node{kind: missingNode, typ: t.Value}
		if kv.NumFields() == 2 {
			if value, err = m.node(repeated.below(kv.Field(1)), t.Value); err != nil {
				return nil, err
			}
		}
		out.kids = []*node{key, value}
		return m.withLeaf(out, repeated.below(kv.Field(0)), nil)
	}
	return nil, m.mismatch(p, t)
}

// withLeaf checks that a list has something that can be read: its elements may consist of nothing that the file has.
func (m *matcher) withLeaf(n *node, elem place, err error) (*node, error) {
	if err != nil {
		return nil, err
	}
	if n.kids[0].kind == missingNode {
		return nil, m.mismatch(elem, n.kids[0].typ)
	}
	return n, nil
}

func (m *matcher) structNode(p place, fields []types.Field, out *node) (*node, error) {
	out.kind = structNode
	present := false
	for _, f := range fields {
		c, ok, err := m.child(p, f.Name)
		if err != nil {
			return nil, err
		}
		k := &node{kind: missingNode, typ: f.Type}
		if ok {
			if k, err = m.node(c, f.Type); err != nil {
				return nil, err
			}
		}
		present = present || k.kind != missingNode
		out.kids = append(out.kids, k)
	}
	if !present {
		out.levels = m.anyLeaf(p)
		if out.levels == nil {
			return nil, m.mismatch(p, out.typ)
		}
	}
	return out, nil
}

// anyLeaf is some leaf in a group, for its levels.
func (m *matcher) anyLeaf(p place) *node {
	g, ok := p.n.(*schema.GroupNode)
	for ok && g.NumFields() > 0 {
		p = p.below(g.Field(0))
		if g, ok = p.n.(*schema.GroupNode); ok {
			continue
		}
		i := m.s.ColumnIndexByNode(p.n)
		if i < 0 {
			return nil
		}
		col := m.s.Column(i)
		open, ok := leafOpener(col, i, ownType(col), m.cal)
		if !ok {
			return nil
		}
		return &node{kind: leafNode, open: open, typ: ownType(col), def: p.def, slot: p.def}
	}
	return nil
}

// ownType is a type that a column can be read as, whatever is in it.
func ownType(col *schema.Column) types.DataType {
	if t, ok := primitiveType(col.SchemaNode().(*schema.PrimitiveNode)); ok {
		return t
	}
	return types.Binary
}

// bareList reads a repeated field that stands by itself: a list that is never null, of elements that are not null.
func (m *matcher) bareList(p place, t types.DataType) (*node, error) {
	a, ok := t.(types.ArrayType)
	if !ok {
		return nil, m.mismatch(p, t)
	}
	// The list is there wherever its parent is; p's own levels are those of the elements.
	out := &node{typ: t, kind: listNode, def: p.def - 1, slot: p.slot, rep: p.rep - 1, elem: p.def}
	elem := p
	elem.unwrapped, elem.slot = true, p.def
	k, err := m.node(elem, a.Element)
	out.kids = []*node{k}
	return m.withLeaf(out, elem, err)
}

// elementOf finds the element of a list below its repeated node. Mostly that is a group of its own around the element; old writers
// made the repeated node the element itself.
func elementOf(list string, repeated place) place {
	g, ok := repeated.n.(*schema.GroupNode)
	if !ok || g.NumFields() != 1 || g.Name() == "array" || g.Name() == list+"_tuple" {
		repeated.unwrapped = true
		return repeated
	}
	return repeated.below(g.Field(0))
}
