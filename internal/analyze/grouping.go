package analyze

import (
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// groupingExpr is grouping(key) or grouping_id(...) until the grouping sets around it are known.
type groupingExpr struct {
	id   bool
	args []plan.Expr
}

func (e *groupingExpr) Kids() []plan.Expr { return nil } // they name keys and are not evaluated

func (e *groupingExpr) WithKids([]plan.Expr) plan.Expr { return e }

func (e *groupingExpr) SQL() string {
	if e.id {
		return callText("grouping_id", e.args)
	}
	return callText("grouping", e.args)
}

func (e *groupingExpr) Type() types.DataType {
	if e.id {
		return types.Long
	}
	return types.Byte
}

func (e *groupingExpr) Nullable() bool { return false }

func (sc *scope) grouping(name string, f *plan.Func) (plan.Expr, error) {
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	if name == "grouping" && len(args) != 1 {
		return nil, wrongNumArgs(name, "1", len(args))
	}
	return &groupingExpr{id: name == "grouping_id", args: args}, nil
}

// sets are the grouping sets of a grouping, as lists of resolved keys.
func (k *keyScope) sets(n *plan.Aggregate, keys []plan.Expr) ([][]plan.Expr, error) {
	switch n.Kind {
	case plan.GroupRollup:
		var out [][]plan.Expr
		for i := len(keys); i >= 0; i-- {
			out = append(out, keys[:i:i])
		}
		return out, nil
	case plan.GroupCube:
		if len(keys) > 16 {
			return nil, errclass.New("UNSUPPORTED_FEATURE.EXPRESSION", "expression", "CUBE of more than 16 columns")
		}
		var out [][]plan.Expr
		for mask := range 1 << len(keys) {
			var s []plan.Expr
			for i, key := range keys {
				if mask>>(len(keys)-1-i)&1 == 0 {
					s = append(s, key)
				}
			}
			out = append(out, s)
		}
		return out, nil
	case plan.GroupSets:
		out := make([][]plan.Expr, len(n.Sets))
		for i, s := range n.Sets {
			var err error
			if out[i], _, err = k.resolve(s); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, nil
}

const groupingID = "spark_grouping_id"

// groupingSets turns a grouping by several sets into one over an Expand that emits each row once for each set, with the keys
// outside of the set null and a number that tells the sets apart.
func (r *resolver) groupingSets(a *plan.Aggregate, sets [][]plan.Expr) (*plan.Aggregate, error) {
	in := a.Child.Output()
	copies := make([]plan.Expr, len(a.Keys))    // the keys' values, beside the columns that aggregates use
	nullable := make([]*plan.Attr, len(a.Keys)) // the keys as groups have them
	for i, k := range a.Keys {
		name := k.SQL()
		if at, ok := k.(*plan.Attr); ok {
			name = at.Name
		}
		c := plan.NewAlias(k, name)
		copies[i] = c
		n := *c.Attr()
		n.ID = plan.NewID()
		for _, set := range sets {
			n.Null = n.Null || indexOf(set, k) < 0
		}
		nullable[i] = &n
	}
	gid := plan.NewAttr(groupingID, types.Long, false)
	e := &plan.Expand{Out: append(append(slices.Clone(in), nullable...), gid)}
	e.Child = &plan.Project{Cols: append(exprsOf(in), copies...), Child: a.Child}
	seen := map[int64]bool{}
	var dup *plan.Attr
	for pos, set := range sets {
		row, id := exprsOf(in), int64(0)
		for i, k := range a.Keys {
			id <<= 1
			if indexOf(set, k) >= 0 {
				row = append(row, plan.AttrOf(copies[i]))
			} else {
				row = append(row, &plan.Literal{T: nullable[i].T})
				id |= 1
			}
		}
		if seen[id] && dup == nil { // equal sets make groups of their own
			dup = plan.NewAttr("_gen_grouping_pos", types.Integer, false)
		}
		seen[id] = true
		row = append(row, &plan.Literal{Value: id, T: types.Long}, &plan.Literal{Value: int32(pos), T: types.Integer})
		e.Lists = append(e.Lists, row)
	}
	keys := append(exprsOf(nullable), gid)
	if dup != nil {
		e.Out = append(e.Out, dup)
		keys = append(keys, dup)
	} else {
		for i, l := range e.Lists {
			e.Lists[i] = l[:len(l)-1]
		}
	}
	g := &groupedSets{keys: a.Keys, attrs: nullable, gid: gid}
	items := make([]plan.Expr, len(a.Aggs))
	for i, x := range a.Aggs {
		var err error
		if items[i], err = r.inSets(x, g); err != nil {
			return nil, err
		}
		if old, ok := x.(*plan.Attr); ok { // a key keeps its name
			if now := plan.AttrOf(items[i]); now != nil {
				c := *now
				c.Name, c.Qualifier = old.Name, old.Qualifier
				items[i] = &c
			}
		}
	}
	return &plan.Aggregate{Keys: keys, Aggs: items, Child: e}, nil
}

// groupedSets is what expressions above an Expand for grouping sets refer to.
type groupedSets struct {
	keys  []plan.Expr
	attrs []*plan.Attr
	gid   *plan.Attr
}

// inSets replaces keys by their nullable columns, outside of aggregate calls, and the grouping functions by bits of the id.
func (r *resolver) inSets(e plan.Expr, g *groupedSets) (plan.Expr, error) {
	switch x := e.(type) {
	case *plan.Agg, *plan.Literal:
		return e, nil
	case *groupingExpr:
		return r.groupingBit(x, g)
	case *plan.Alias:
		child, err := r.inSets(x.Child, g)
		if err != nil {
			return nil, err
		}
		c := *x
		c.Child = child
		return &c, nil
	}
	if i := indexOf(g.keys, e); i >= 0 {
		return g.attrs[i], nil
	}
	with, err := plan.MapKids(e, func(k plan.Expr) (plan.Expr, error) { return r.inSets(k, g) })
	if err != nil || with == e {
		return e, err
	}
	return r.over().rebound(with) // what could not be null may be now
}

func (r *resolver) groupingBit(e *groupingExpr, g *groupedSets) (plan.Expr, error) {
	if e.id {
		if len(e.args) > 0 && !slices.EqualFunc(e.args, g.keys, plan.Same) && !slices.EqualFunc(e.args, exprsOf(g.attrs), plan.Same) {
			return nil, errclass.New("GROUPING_ID_COLUMN_MISMATCH", "groupingIdColumn", listText(e.args), "groupByColumns", listText(g.keys))
		}
		return g.gid, nil
	}
	i := indexOf(g.keys, e.args[0])
	if i < 0 {
		i = indexOf(exprsOf(g.attrs), e.args[0])
	}
	if i < 0 {
		return nil, errclass.New("GROUPING_COLUMN_MISMATCH", "grouping", plan.TreeText(e.args[0]), "groupingColumns", listText(g.keys))
	}
	sc := r.over()
	shifted, err := sc.call("shiftright", []plan.Expr{g.gid, &plan.Literal{Value: int32(len(g.keys) - 1 - i), T: types.Integer}}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	bit, err := sc.call("&", []plan.Expr{shifted, &plan.Literal{Value: int64(1), T: types.Long}}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	return &plan.Cast{Child: bit, To: types.Byte, Mode: r.mode(), Implicit: true}, nil
}

func listText(es []plan.Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = plan.TreeText(e)
	}
	return strings.Join(parts, ",")
}

// setsOf finds the grouping sets behind an aggregate, for HAVING and ORDER BY.
func setsOf(a *plan.Aggregate) *groupedSets {
	e, ok := a.Child.(*plan.Expand)
	if !ok {
		return nil
	}
	p, ok := e.Child.(*plan.Project)
	if !ok {
		return nil
	}
	g := &groupedSets{}
	for _, k := range a.Keys {
		at, ok := k.(*plan.Attr)
		switch {
		case !ok:
			return nil
		case at.Name == groupingID:
			g.gid = at
		case g.gid == nil:
			i := slices.IndexFunc(e.Out, func(o *plan.Attr) bool { return o.ID == at.ID })
			if i < 0 || i >= len(p.Cols) {
				return nil
			}
			g.keys, g.attrs = append(g.keys, plan.Trim(p.Cols[i])), append(g.attrs, at)
		}
	}
	if g.gid == nil {
		return nil
	}
	return g
}
