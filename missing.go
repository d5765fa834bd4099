package millrace

import (
	"github.com/millrace/millrace/internal/connectpb"
)

// FillNA replaces nulls by a value in the columns named, or in all columns of a fitting type.
func (d *DataFrame) FillNA(value any, cols ...string) *DataFrame {
	v, err := stored(value)
	m := &connectpb.NAFill{Input: d.rel, Cols: cols, Values: []*connectpb.Expression_Literal{v}}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_FillNa{FillNa: m}}, err)
}

// FillNAs replaces nulls by a value for each column named.
func (d *DataFrame) FillNAs(values map[string]any) *DataFrame {
	m := &connectpb.NAFill{Input: d.rel}
	var err error
	for _, name := range sortedKeys(values) {
		v, e := stored(values[name])
		err = firstError(err, e)
		m.Cols, m.Values = append(m.Cols, name), append(m.Values, v)
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_FillNa{FillNa: m}}, err)
}

// stored is a literal of the types that the protocol takes for cells: BIGINT, DOUBLE, STRING, BOOLEAN and null.
func stored(value any) (*connectpb.Expression_Literal, error) {
	l := Lit(value)
	lit := l.expr.GetLiteral()
	switch n := lit.GetLiteralType().(type) {
	case *connectpb.Expression_Literal_Integer:
		lit = Lit(int64(n.Integer)).expr.GetLiteral()
	case *connectpb.Expression_Literal_Float:
		lit = Lit(float64(n.Float)).expr.GetLiteral()
	}
	return lit, l.use()
}

// DropNA drops rows with a null in one of the columns named, or in any column if none is. NaN counts as null.
func (d *DataFrame) DropNA(cols ...string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_DropNa{DropNa: &connectpb.NADrop{Input: d.rel, Cols: cols}}})
}

// DropNAUnless drops rows with fewer than some values that are not null in the columns named, or in all columns.
func (d *DataFrame) DropNAUnless(atLeast int, cols ...string) *DataFrame {
	m := &connectpb.NADrop{Input: d.rel, Cols: cols, MinNonNulls: new(int32)}
	err := toInt32("atLeast", atLeast, m.MinNonNulls)
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_DropNa{DropNa: m}}, err)
}

// Replacement is a value and what it is replaced by: numbers, strings, booleans, or nil.
type Replacement struct{ Old, New any }

// Replace replaces values in the columns named, or in all columns of a fitting type.
func (d *DataFrame) Replace(values []Replacement, cols ...string) *DataFrame {
	m := &connectpb.NAReplace{Input: d.rel, Cols: cols}
	var err error
	for _, r := range values {
		before, after := Lit(r.Old), Lit(r.New)
		err = firstError(err, before.use(), after.use())
		m.Replacements = append(m.Replacements, &connectpb.NAReplace_Replacement{OldValue: before.expr.GetLiteral(), NewValue: after.expr.GetLiteral()})
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Replace{Replace: m}}, err)
}
