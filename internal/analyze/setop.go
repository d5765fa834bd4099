package analyze

import (
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// widen casts the columns of relations to common types, position by position.
func (r *resolver) widen(operator string, in []plan.Node, o plan.Origin) ([]plan.Node, error) {
	first := visible(in[0].Output())
	outs := make([][]*plan.Attr, len(in))
	for i, n := range in {
		outs[i] = visible(n.Output())
		if len(outs[i]) != len(first) {
			return nil, errclass.New("NUM_COLUMNS_MISMATCH", "operator", operator, "firstNumColumns", strconv.Itoa(len(first)),
				"invalidOrdinalNum", ordinal(i+1), "invalidNumColumns", strconv.Itoa(len(outs[i])))
		}
	}
	want := make([]types.DataType, len(first))
	same := types.SameShape // columns that fit stay as they are, unless others have to be cast
	for c, a := range first {
		t := a.T
		for i := 1; i < len(in); i++ {
			if operator == "UNION" && types.SameShape(t, outs[i][c].T) { // the fields of structs may have other names
				continue
			}
			if !types.SameType(t, outs[i][c].T) {
				same = types.Equal
			}
			u, ok := r.common([]types.DataType{t, outs[i][c].T})
			if !ok {
				return nil, errclass.New("INCOMPATIBLE_COLUMN_TYPE", "operator", operator, "columnOrdinalNumber", ordinal(c+1),
					"tableOrdinalNumber", ordinal(i+1), "dataType1", errclass.Expr(outs[i][c].T.SQL()), "dataType2", errclass.Expr(t.SQL()), "hint", "")
			}
			t = u
		}
		want[c] = t
	}
	out := make([]plan.Node, len(in))
	for i, n := range in {
		out[i] = r.castTo(n, outs[i], want, same, o)
	}
	return out, nil
}

// castTo projects columns to types; the relation itself when it has just them.
func (r *resolver) castTo(n plan.Node, attrs []*plan.Attr, want []types.DataType, same func(a, b types.DataType) bool, o plan.Origin) plan.Node {
	p := &plan.Project{Child: n}
	change := len(attrs) != len(n.Output())
	for i, a := range attrs {
		if same(a.T, want[i]) {
			p.Cols = append(p.Cols, a)
			continue
		}
		change = true
		p.Cols = append(p.Cols, plan.NewAlias(placed([]plan.Expr{r.to(a, want[i])}, o)[0], a.Name))
	}
	if !change {
		return n
	}
	return p
}

// setOp resolves INTERSECT and EXCEPT.
func (r *resolver) setOp(n *plan.SetOp) (plan.Node, error) {
	name := "INTERSECT"
	if n.Kind == plan.Except {
		name = "EXCEPT"
	}
	if n.All {
		name += " ALL"
	}
	in, err := r.widen(name, []plan.Node{n.Left, n.Right}, n.Origin)
	if err != nil {
		return nil, err
	}
	if err := noMaps(in[0]); err != nil {
		return nil, err
	}
	right, err := apart(in[0], in[1])
	if err != nil {
		return nil, err
	}
	return &plan.SetOp{Kind: n.Kind, All: n.All, Left: in[0], Right: right}, nil
}

// noMaps refuses to compare maps as a whole, what has a variant in it, and texts of another collation.
func noMaps(n plan.Node) error {
	for _, a := range n.Output() {
		if err := noMap(a); err != nil {
			return err
		}
		if err := Bytewise(a.T); err != nil {
			return err
		}
	}
	return nil
}

// noMap refuses a column that cannot be compared: a map or a variant, or what has one in it.
func noMap(a *plan.Attr) error {
	class := ""
	switch {
	case !types.IsGroupable(a.T):
		class = "UNSUPPORTED_FEATURE.SET_OPERATION_ON_VARIANT_TYPE"
	case holdsMap(a.T):
		class = "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE"
	default:
		return nil
	}
	return errclass.New(class, "colName", errclass.Ident(a.Name), "dataType", errclass.Expr(a.T.SQL()))
}

func holdsMap(t types.DataType) bool {
	switch t := t.(type) {
	case types.MapType:
		return true
	case types.ArrayType:
		return holdsMap(t.Element)
	case types.StructType:
		return slices.ContainsFunc(t.Fields, func(f types.Field) bool { return holdsMap(f.Type) })
	}
	return false
}

// union resolves UNION ALL, by position or by name. Its columns are new: those of the inputs cannot be named above it.
func (r *resolver) union(n *plan.Union) (plan.Node, error) {
	in := n.Inputs
	if n.ByName {
		var err error
		if in, err = r.byName(in, n.AllowMissing); err != nil {
			return nil, err
		}
	}
	in, err := r.widen("UNION", in, n.Origin)
	if err != nil {
		return nil, err
	}
	u := &plan.Union{Inputs: in}
	for i, a := range in[0].Output() {
		c := *a
		c.ID, c.Qualifier = plan.NewID(), nil
		if i < len(n.Out) { // a union that is resolved already, in a plan with more on top: what is there refers to its columns
			c.ID = n.Out[i].ID
		}
		for _, n := range in[1:] {
			b := n.Output()[i]
			c.Null = c.Null || b.Null
			c.T = mergedNulls(c.T, b.T)
		}
		u.Out = append(u.Out, &c)
	}
	return u, nil
}

// mergedNulls is a type whose parts may be null where those of either type may.
func mergedNulls(a, b types.DataType) types.DataType {
	switch x := a.(type) {
	case types.ArrayType:
		if y, ok := b.(types.ArrayType); ok {
			return types.ArrayType{Element: mergedNulls(x.Element, y.Element), ContainsNull: x.ContainsNull || y.ContainsNull}
		}
	case types.MapType:
		if y, ok := b.(types.MapType); ok {
			return types.MapType{
				Key: mergedNulls(x.Key, y.Key), Value: mergedNulls(x.Value, y.Value), ValueContainsNull: x.ValueContainsNull || y.ValueContainsNull,
			}
		}
	case types.StructType:
		if y, ok := b.(types.StructType); ok && len(x.Fields) == len(y.Fields) {
			fields := slices.Clone(x.Fields)
			for i := range fields {
				fields[i].Type = mergedNulls(fields[i].Type, y.Fields[i].Type)
				fields[i].Nullable = fields[i].Nullable || y.Fields[i].Nullable
			}
			return types.StructType{Fields: fields}
		}
	}
	return a
}

// byName brings the columns of all inputs into the first one's order.
func (r *resolver) byName(in []plan.Node, allowMissing bool) ([]plan.Node, error) {
	names := []string{}
	for _, a := range visible(in[0].Output()) {
		names = append(names, a.Name)
	}
	types0 := map[string]types.DataType{}
	for _, n := range in {
		seen := map[string]bool{}
		for _, a := range visible(n.Output()) {
			key := r.foldName(a.Name)
			if seen[key] {
				return nil, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(strings.ToLower(a.Name)))
			}
			seen[key] = true
			if types0[key] == nil {
				types0[key] = a.T
			}
		}
	}
	if allowMissing {
		for _, n := range in[1:] {
			for _, a := range visible(n.Output()) {
				if !slices.ContainsFunc(names, func(s string) bool { return r.eq(s, a.Name) }) {
					names = append(names, a.Name)
				}
			}
		}
	}
	out := make([]plan.Node, len(in))
	for i, n := range in {
		sc := r.over(n)
		p := &plan.Project{Child: n}
		for _, name := range names {
			found := sc.named(name)
			switch {
			case len(found) > 0:
				p.Cols = append(p.Cols, found[0])
			case allowMissing:
				p.Cols = append(p.Cols, plan.NewAlias(&plan.Literal{T: types0[r.foldName(name)]}, name))
			default:
				have := make([]string, 0, len(sc.attrs))
				for _, a := range visible(sc.attrs) {
					have = append(have, a.Name)
				}
				return nil, errclass.New("UNRESOLVED_COLUMN_AMONG_FIELD_NAMES", "colName", name, "fieldNames", strings.Join(have, ", "))
			}
		}
		if !allowMissing && len(visible(n.Output())) != len(names) {
			return nil, errclass.New("NUM_COLUMNS_MISMATCH", "operator", "UNION", "firstNumColumns", strconv.Itoa(len(names)),
				"invalidOrdinalNum", ordinal(i+1), "invalidNumColumns", strconv.Itoa(len(visible(n.Output()))))
		}
		out[i] = narrowTo(n, p)
	}
	return out, nil
}

// narrowTo leaves a projection out that changes nothing.
func narrowTo(n plan.Node, p *plan.Project) plan.Node {
	out := n.Output()
	if len(out) != len(p.Cols) {
		return p
	}
	for i, c := range p.Cols {
		if a, ok := c.(*plan.Attr); !ok || a.ID != out[i].ID {
			return p
		}
	}
	return n
}
