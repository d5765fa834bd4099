package analyze

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// Bytewise refuses types with texts that do not compare by their bytes: the engine would compare them wrongly.
func Bytewise(t types.DataType) error {
	switch t := t.(type) {
	case types.StringType:
		if t.Collation != "" && t.Collation != types.BinaryCollation {
			return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "the collation "+t.Collation)
		}
	case types.ArrayType:
		return Bytewise(t.Element)
	case types.MapType:
		if err := Bytewise(t.Key); err != nil {
			return err
		}
		return Bytewise(t.Value)
	case types.StructType:
		for _, f := range t.Fields {
			if err := Bytewise(f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// anyCollation are the functions that do not look at the order of texts, nor at whether two are equal.
var anyCollation = map[string]bool{
	"collation": true, "isnull": true, "isnotnull": true, "named_struct": true, "array": true, "length": true, "char_length": true,
	"character_length": true, "octet_length": true, "bit_length": true, "to_json": true, "get": true, "element_at": true, "size": true, "cardinality": true,
	"count": true, "first": true, "first_value": true, "last": true, "last_value": true, "any_value": true, "collect_list": true, "array_agg": true,
}

// collated refuses a call that would take texts of another collation by their bytes.
func collated(name string, args []plan.Expr, distinct bool) error {
	if anyCollation[name] && !distinct {
		return nil
	}
	for _, a := range args {
		if t := plan.TypeOf(a); t != nil {
			if err := Bytewise(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// collations checks the names of the collations in a type.
func collations(t types.DataType) error {
	switch t := t.(type) {
	case types.StringType:
		_, err := types.CollationOf(t.Collation)
		return err
	case types.ArrayType:
		return collations(t.Element)
	case types.MapType:
		if err := collations(t.Key); err != nil {
			return err
		}
		return collations(t.Value)
	case types.StructType:
		for _, f := range t.Fields {
			if err := collations(f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// collate gives a text a collation.
func (sc *scope) collate(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 2 {
		return nil, wrongNumArgs(name, "2", len(f.Args))
	}
	args, err := sc.operands(f.Args)
	if err != nil {
		return nil, err
	}
	text, ok := args[1].(*plan.Literal)
	if !ok {
		return nil, errclass.New("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "sqlExpr", errclass.Expr(callText(name, args)), "inputName", "`collation`",
			"inputType", errclass.Expr(types.String.SQL()), "inputExpr", errclass.Expr(args[1].SQL()))
	}
	written, _ := text.Value.(string)
	collation, err := types.CollationOf(written)
	if err != nil {
		return nil, err
	}
	if collation == types.BinaryCollation {
		collation = ""
	}
	if t := plan.TypeOf(args[0]); !isText(args[0]) && !isVoid(args[0]) {
		return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr(callText(name, args)), "paramIndex", "first",
			"requiredType", errclass.Expr(types.String.SQL()), "inputSql", errclass.Expr(args[0].SQL()), "inputType", errclass.Expr(t.SQL()))
	}
	to := types.StringType{Collation: collation}
	shown := callText(name, []plan.Expr{args[0], &plan.Literal{Value: collationName(to), T: types.String}})
	same := &plan.Cast{Child: args[0], To: to, Mode: sc.r.mode(), Origin: f.Origin}
	return &plan.Cond{Op: plan.OpCoalesce, Args: []plan.Expr{same}, T: to, Null: plan.NullableOf(args[0]), Name: name, Text: shown}, nil
}

func collationName(t types.StringType) string {
	if t.Collation == "" {
		return types.BinaryCollation
	}
	return t.Collation
}
