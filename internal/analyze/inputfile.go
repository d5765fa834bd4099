package analyze

import (
	"slices"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// inputFile resolves the functions that tell the file a row was read from: fields of its source's _metadata. Where rows do not come
// straight from files the name is empty and the numbers are -1.
func (sc *scope) inputFile(name string, f *plan.Func) (plan.Expr, error) {
	if len(f.Args) != 0 {
		return nil, wrongNumArgs(name, "0", len(f.Args))
	}
	field := map[string]string{
		"input_file_name": "file_path", "input_file_block_start": "file_block_start", "input_file_block_length": "file_block_length",
	}[name]
	for _, c := range sc.children {
		for _, a := range hiddenOf(c) {
			s, ok := a.T.(types.StructType)
			if !ok || a.Name != "_metadata" {
				continue
			}
			i := slices.IndexFunc(s.Fields, func(f types.Field) bool { return f.Name == field })
			if i < 0 {
				continue
			}
			sc.note(a)
			var e plan.Expr = &plan.Field{Child: a, Ordinal: i, Name: field}
			if name == "input_file_name" {
				// The field has file:/dir and the function file:///dir.
				var err error
				if e, err = sc.call("regexp_replace", []plan.Expr{e, textLit("^file:/(?!/)"), textLit("file:///")}, f.Origin); err != nil {
					return nil, err
				}
			}
			return plan.NewAlias(e, name+"()"), nil
		}
	}
	if name == "input_file_name" {
		return plan.NewAlias(textLit(""), name+"()"), nil
	}
	return plan.NewAlias(&plan.Literal{Value: int64(-1), T: types.Long}, name+"()"), nil
}
