package convert

import (
	"math"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// The methods of DataFrame.na become projections and filters.

func call(name string, args ...plan.Expr) plan.Expr {
	return &plan.Func{Name: []string{name}, Args: args}
}

func lit(v any, t types.DataType) plan.Expr { return &plan.Literal{Value: v, T: t} }

// fields resolves the input and picks the named columns; all when no names are given.
func (c *Converter) fields(in plan.Node, names []string) (st types.StructType, picked map[int]bool, err error) {
	st, err = c.s.Schema(c.ctx, in)
	if err != nil {
		return st, nil, err
	}
	picked = map[int]bool{}
	for i := range st.Fields {
		picked[i] = len(names) == 0
	}
	for _, name := range names {
		i := st.IndexFold(name)
		if i < 0 {
			return st, nil, unknownColumn(name, st)
		}
		picked[i] = true
	}
	return st, picked, nil
}

func unknownColumn(name string, st types.StructType) error {
	proposal := ""
	for i, n := range st.Names() {
		if i > 0 {
			proposal += ", "
		}
		proposal += errclass.Ident(n)
	}
	return errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(name), "proposal", proposal)
}

// family is what makes a value fit a column for fill and replace: numbers go with numbers of any kind.
func family(t types.DataType) int {
	switch {
	case types.IsNumeric(t):
		return 1
	case types.IsString(t):
		return 2
	case t == types.Boolean:
		return 3
	}
	return 0
}

func isFloating(t types.DataType) bool { return t == types.Double || t == types.Float }

func (c *Converter) fillNA(m *connectpb.NAFill) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "NAFill")
	if err != nil {
		return nil, err
	}
	values := make([]*plan.Literal, len(m.GetValues()))
	for i, v := range m.GetValues() {
		if values[i], err = Literal(v); err != nil {
			return nil, err
		}
	}
	if len(values) == 0 || len(values) > 1 && len(values) != len(m.GetCols()) {
		return nil, malformed("fill takes one value, or one for each column")
	}
	st, picked, err := c.fields(in, m.GetCols())
	if err != nil {
		return nil, err
	}
	valueOf := func(i int) *plan.Literal {
		if len(values) == 1 {
			return values[0]
		}
		for k, name := range m.GetCols() {
			if st.IndexFold(name) == i {
				return values[k]
			}
		}
		return nil
	}
	cols := make([]plan.Expr, len(st.Fields))
	for i, f := range st.Fields {
		cols[i] = column(f.Name)
		v := valueOf(i)
		if !picked[i] || v == nil || family(f.Type) == 0 || family(f.Type) != family(v.T) {
			continue
		}
		var old plan.Expr = column(f.Name)
		if isFloating(f.Type) {
			old = call("nanvl", old, &plan.Cast{Child: lit(nil, types.Null), To: f.Type})
		}
		cols[i] = &plan.Alias{Child: call("coalesce", old, &plan.Cast{Child: v, To: f.Type}), Name: f.Name}
	}
	return &plan.Project{Cols: cols, Child: in}, nil
}

func (c *Converter) dropNA(m *connectpb.NADrop) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "NADrop")
	if err != nil {
		return nil, err
	}
	st, picked, err := c.fields(in, m.GetCols())
	if err != nil {
		return nil, err
	}
	var present []plan.Expr
	for i, f := range st.Fields {
		if !picked[i] {
			continue
		}
		p := call("isnotnull", column(f.Name))
		if isFloating(f.Type) {
			p = call("and", p, call("not", call("isnan", column(f.Name))))
		}
		present = append(present, p)
	}
	need := len(present)
	if m.MinNonNulls != nil {
		need = int(m.GetMinNonNulls())
	}
	if need <= 0 || len(present) == 0 {
		return in, nil
	}
	var cond plan.Expr
	for _, p := range present {
		switch {
		case need == len(present) && cond == nil:
			cond = p
		case need == len(present):
			cond = call("and", cond, p)
		default:
			one := call("if", p, lit(int32(1), types.Integer), lit(int32(0), types.Integer))
			if cond == nil {
				cond = one
			} else {
				cond = call("+", cond, one)
			}
		}
	}
	if need != len(present) {
		cond = call(">=", cond, lit(int32(need), types.Integer))
	}
	return &plan.Filter{Cond: cond, Child: in}, nil
}

func (c *Converter) replaceNA(m *connectpb.NAReplace) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "NAReplace")
	if err != nil {
		return nil, err
	}
	st, picked, err := c.fields(in, m.GetCols())
	if err != nil {
		return nil, err
	}
	type pair struct{ from, to *plan.Literal }
	var pairs []pair
	for _, r := range m.GetReplacements() {
		var p pair
		if p.from, err = Literal(r.GetOldValue()); err != nil {
			return nil, err
		}
		if p.to, err = Literal(r.GetNewValue()); err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	cols := make([]plan.Expr, len(st.Fields))
	for i, f := range st.Fields {
		cols[i] = column(f.Name)
		if !picked[i] {
			continue
		}
		var args []plan.Expr
		for _, p := range pairs {
			if family(p.from.T) != family(f.Type) || family(f.Type) == 0 {
				continue
			}
			to := plan.Expr(&plan.Cast{Child: p.to, To: f.Type})
			cond := call("==", column(f.Name), p.from)
			if d, ok := p.from.Value.(float64); ok && math.IsNaN(d) && isFloating(f.Type) {
				cond = call("isnan", column(f.Name))
			}
			args = append(args, cond, to)
		}
		if args != nil {
			cols[i] = &plan.Alias{Child: call("when", append(args, column(f.Name))...), Name: f.Name}
		}
	}
	return &plan.Project{Cols: cols, Child: in}, nil
}
