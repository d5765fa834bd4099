package analyze

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// withField resolves Column.withField: the struct with a field set, which may lie in structs inside it.
func (sc *scope) withField(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 3 {
		return nil, wrongNumArgs(name, "3", len(f.Args))
	}
	return sc.updateField(f, func(s plan.Expr, t types.StructType, field string) ([]plan.Expr, error) {
		value, err := sc.expr(f.Args[2])
		if err != nil {
			return nil, err
		}
		value = plan.Trim(value)
		var pairs []plan.Expr
		found := false
		for i, x := range t.Fields {
			if sc.r.eq(x.Name, field) {
				pairs, found = append(pairs, textLit(field), value), true
			} else {
				pairs = append(pairs, textLit(x.Name), &plan.Field{Child: s, Ordinal: i, Name: x.Name})
			}
		}
		if !found {
			pairs = append(pairs, textLit(field), value)
		}
		return pairs, nil
	})
}

// dropField resolves Column.dropFields; a field that does not exist is ignored.
func (sc *scope) dropField(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 2 {
		return nil, wrongNumArgs(name, "2", len(f.Args))
	}
	return sc.updateField(f, func(s plan.Expr, t types.StructType, field string) ([]plan.Expr, error) {
		var pairs []plan.Expr
		for i, x := range t.Fields {
			if !sc.r.eq(x.Name, field) {
				pairs = append(pairs, textLit(x.Name), &plan.Field{Child: s, Ordinal: i, Name: x.Name})
			}
		}
		if len(pairs) == 0 {
			return nil, errclass.New("DATATYPE_MISMATCH.CANNOT_DROP_ALL_FIELDS", "sqlExpr", errclass.Expr("update_fields("+s.SQL()+", dropfield())"))
		}
		return pairs, nil
	})
}

func textLit(s string) plan.Expr { return &plan.Literal{Value: s, T: types.String} }

// updateField rebuilds a struct around a change of its innermost field. A null struct stays null.
func (sc *scope) updateField(f *plan.Func, change func(s plan.Expr, t types.StructType, field string) ([]plan.Expr, error)) (plan.Expr, error) {
	args, err := sc.operands(f.Args[:2])
	if err != nil {
		return nil, err
	}
	path, ok := fieldName(args[1])
	if !ok {
		return nil, errclass.New("INVALID_EXTRACT_FIELD_TYPE", "extraction", errclass.Expr(args[1].SQL()))
	}
	kind := "WithField"
	if len(f.Args) == 2 {
		kind = "dropfield"
	}
	e, err := sc.rebuild(args[0], strings.Split(path, "."), change)
	if c, ok := e.(*plan.Call); ok {
		c.Text = "update_fields(" + args[0].SQL() + ", " + kind + "())"
	}
	return e, err
}

func (sc *scope) rebuild(s plan.Expr, path []string, change func(s plan.Expr, t types.StructType, field string) ([]plan.Expr, error)) (plan.Expr, error) {
	t, ok := plan.TypeOf(s).(types.StructType)
	if !ok {
		return nil, errclass.New("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "sqlExpr", errclass.Expr("update_fields("+s.SQL()+")"), "paramIndex", "first",
			"requiredType", `"STRUCT"`, "inputSql", errclass.Expr(s.SQL()), "inputType", errclass.Expr(plan.TypeOf(s).SQL()))
	}
	var pairs []plan.Expr
	var err error
	if len(path) == 1 {
		pairs, err = change(s, t, path[0])
	} else {
		var at int
		if at, err = sc.field(t, path[0]); err != nil {
			return nil, err
		}
		for i, x := range t.Fields {
			var v plan.Expr = &plan.Field{Child: s, Ordinal: i, Name: x.Name}
			if i == at {
				if v, err = sc.rebuild(v, path[1:], change); err != nil {
					return nil, err
				}
			}
			pairs = append(pairs, textLit(x.Name), v)
		}
	}
	if err != nil {
		return nil, err
	}
	made, err := sc.call("named_struct", pairs, plan.Origin{})
	if err != nil || !plan.NullableOf(s) {
		return made, err
	}
	null, err := sc.call("isnull", []plan.Expr{s}, plan.Origin{})
	if err != nil {
		return nil, err
	}
	return sc.conditional([]plan.Expr{null, &plan.Literal{T: types.Null}, made}, "if", "update_fields("+s.SQL()+")")
}
