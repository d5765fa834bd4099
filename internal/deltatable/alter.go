package deltatable

import (
	"context"
	"slices"
	"strings"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// Alter commits a change of what the table looks like.
func (t *Table) Alter(ctx context.Context, change plan.Change) error {
	m := t.snap.Metadata.Clone()
	schema := t.snap.Schema
	op := core.Operation{Blind: true}
	var asked *core.Protocol
	var err error
	upgrade := false
	switch c := change.(type) {
	case *plan.SetProperties:
		if c.Serde {
			return errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "ALTER TABLE SET SERDEPROPERTIES")
		}
		var conf map[string]string
		if conf, asked, err = core.Properties(c.Properties); err != nil {
			return err
		}
		was := m.Mapped()
		for k, v := range conf {
			m.Configuration[k] = v
		}
		upgrade = !was && m.Mapped()
		op.Name, op.Parameters = "SET TBLPROPERTIES", map[string]string{"properties": core.JSONMap(c.Properties)}
	case *plan.UnsetProperties:
		for _, k := range c.Keys {
			delete(m.Configuration, k)
		}
		op.Name, op.Parameters = "UNSET TBLPROPERTIES", map[string]string{"properties": core.JSONList(c.Keys), "ifExists": "false"}
	case *plan.AddColumns:
		if c.Replace {
			return errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "ALTER TABLE REPLACE COLUMNS")
		}
		if schema, err = t.added(schema, c.Columns); err != nil {
			return err
		}
		names := make([]string, len(c.Columns))
		for i, n := range c.Columns {
			names[i] = strings.Join(n.Path, ".")
		}
		op.Name, op.Parameters = "ADD COLUMNS", map[string]string{"columns": core.JSONList(names)}
	case *plan.RenameColumn:
		if !m.Mapped() {
			return errclass.New("DELTA_UNSUPPORTED_RENAME_COLUMN", "advice", mappingAdvice)
		}
		if schema, err = t.renamed(m, schema, c); err != nil {
			return err
		}
		op.Name = "RENAME COLUMN"
		op.Parameters = map[string]string{"oldColumnPath": strings.Join(c.Column, "."), "newColumnPath": c.Name}
	case *plan.DropColumns:
		if !m.Mapped() {
			return errclass.New("DELTA_UNSUPPORTED_DROP_COLUMN", "advice", mappingAdvice)
		}
		if schema, err = t.dropped(m, schema, c); err != nil {
			return err
		}
		op.Name, op.Parameters = "DROP COLUMNS", map[string]string{"columns": core.JSONList(dotted(c.Columns))}
	case *plan.AlterColumns:
		if schema, err = t.altered(schema, c.Columns); err != nil {
			return err
		}
		op.Name, op.Parameters = "CHANGE COLUMN", map[string]string{"column": strings.Join(c.Columns[0].Column, ".")}
	default:
		return errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "ALTER TABLE ... "+plan.ChangeName(change))
	}
	if upgrade {
		err = m.Upgrade(schema)
	} else {
		err = m.SetSchema(schema)
	}
	if err != nil {
		return err
	}
	txn := t.log.Begin(t.snap)
	if err := txn.SetMetadata(m, asked); err != nil {
		return err
	}
	return t.commit(ctx, txn, op)
}

const mappingAdvice = "Set the table property first."

func dotted(columns [][]string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = strings.Join(c, ".")
	}
	return out
}

// changeFields changes the fields of the struct that a path leads to. The elements of arrays and maps are called element, key and value.
func changeFields(t types.DataType, path []string, change func([]types.Field) ([]types.Field, error), missing func() error) (types.DataType, error) {
	var err error
	switch x := t.(type) {
	case types.StructType:
		fields := slices.Clone(x.Fields)
		if len(path) == 0 {
			x.Fields, err = change(fields)
			return x, err
		}
		i := x.IndexFold(path[0])
		if i < 0 {
			return nil, missing()
		}
		fields[i].Type, err = changeFields(fields[i].Type, path[1:], change, missing)
		x.Fields = fields
		return x, err
	case types.ArrayType:
		if len(path) > 0 && strings.EqualFold(path[0], "element") {
			x.Element, err = changeFields(x.Element, path[1:], change, missing)
			return x, err
		}
	case types.MapType:
		if len(path) > 0 && strings.EqualFold(path[0], "key") {
			x.Key, err = changeFields(x.Key, path[1:], change, missing)
			return x, err
		}
		if len(path) > 0 && strings.EqualFold(path[0], "value") {
			x.Value, err = changeFields(x.Value, path[1:], change, missing)
			return x, err
		}
	}
	return nil, missing()
}

// inside is changeFields for a whole schema and the column that a path names.
func (t *Table) inside(s types.StructType, path []string, change func(fields []types.Field, i int) ([]types.Field, error)) (types.StructType, error) {
	missing := func() error {
		return errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(path...), "proposal", errclass.Idents(s.Names()))
	}
	last := len(path) - 1
	out, err := changeFields(s, path[:last], func(fields []types.Field) ([]types.Field, error) {
		return change(fields, types.StructType{Fields: fields}.IndexFold(path[last]))
	}, missing)
	if err != nil {
		return s, err
	}
	st, _ := out.(types.StructType)
	return st, nil
}

// place puts a field first, behind another, or at the end.
func placeField(fields []types.Field, f types.Field, first bool, after string) ([]types.Field, error) {
	at := len(fields)
	switch {
	case first:
		at = 0
	case after != "":
		i := types.StructType{Fields: fields}.IndexFold(after)
		if i < 0 {
			return nil, errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(after), "proposal", errclass.Idents(types.StructType{Fields: fields}.Names()))
		}
		at = i + 1
	}
	return slices.Insert(fields, at, f), nil
}

func (t *Table) added(s types.StructType, columns []plan.NewColumn) (types.StructType, error) {
	for _, c := range columns {
		f := ColumnField(c.ColumnDef)
		f.Name = c.Path[len(c.Path)-1]
		if !f.Nullable {
			return s, errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "ALTER TABLE ADD COLUMNS with a column that is NOT NULL")
		}
		if c.Default != nil || c.GeneratedText != "" || c.Refused != "" {
			return s, errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "ALTER TABLE ADD COLUMNS with a default or a generated value")
		}
		var err error
		s, err = t.inside(s, c.Path, func(fields []types.Field, i int) ([]types.Field, error) {
			if i >= 0 {
				return nil, errclass.New("FIELD_ALREADY_EXISTS", "op", "add", "fieldNames", errclass.Ident(c.Path...), "struct", errclass.Expr(types.StructType{Fields: fields}.SQL()))
			}
			return placeField(fields, f, c.First, c.After)
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func (t *Table) renamed(m *core.Metadata, s types.StructType, c *plan.RenameColumn) (types.StructType, error) {
	return t.inside(s, c.Column, func(fields []types.Field, i int) ([]types.Field, error) {
		if i < 0 {
			return nil, errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(c.Column...), "proposal", errclass.Idents(s.Names()))
		}
		if j := (types.StructType{Fields: fields}).IndexFold(c.Name); j >= 0 && j != i {
			return nil, errclass.New("FIELD_ALREADY_EXISTS", "op", "rename", "fieldNames", errclass.Ident(c.Name), "struct", errclass.Expr(types.StructType{Fields: fields}.SQL()))
		}
		if len(c.Column) == 1 {
			for k, p := range m.PartitionColumns {
				if strings.EqualFold(p, fields[i].Name) {
					m.PartitionColumns[k] = c.Name
				}
			}
		}
		fields[i].Name = c.Name
		return fields, nil
	})
}

func (t *Table) dropped(m *core.Metadata, s types.StructType, c *plan.DropColumns) (types.StructType, error) {
	for _, column := range c.Columns {
		var err error
		s, err = t.inside(s, column, func(fields []types.Field, i int) ([]types.Field, error) {
			switch {
			case i < 0 && c.IfExists:
				return fields, nil
			case i < 0:
				return nil, errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(column...), "proposal", errclass.Idents(s.Names()))
			case len(fields) == 1:
				return nil, errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "dropping the only column")
			case len(column) == 1 && slices.ContainsFunc(m.PartitionColumns, func(p string) bool { return strings.EqualFold(p, fields[i].Name) }):
				return nil, errclass.New("DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", "columnList", errclass.Ident(fields[i].Name))
			}
			return slices.Delete(fields, i, i+1), nil
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func (t *Table) altered(s types.StructType, changes []plan.ColumnChange) (types.StructType, error) {
	for _, c := range changes {
		var err error
		s, err = t.inside(s, c.Column, func(fields []types.Field, i int) ([]types.Field, error) {
			if i < 0 {
				return nil, errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(c.Column...), "proposal", errclass.Idents(s.Names()))
			}
			f, err := changedField(fields[i], c)
			if err != nil {
				return nil, err
			}
			if !c.First && c.After == "" {
				fields[i] = f
				return fields, nil
			}
			return placeField(slices.Delete(fields, i, i+1), f, c.First, c.After)
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// changedField is a column with what ALTER COLUMN says. Values that are in files already must still fit.
func changedField(f types.Field, c plan.ColumnChange) (types.Field, error) {
	if c.Type != nil && !types.SameType(f.Type, c.Type) {
		return f, errclass.New("DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", "fieldPath", errclass.Ident(c.Column...),
			"oldField", f.Type.SQL(), "newField", c.Type.SQL())
	}
	if c.Comment != nil {
		f = f.WithMetadata(types.CommentKey, *c.Comment)
	}
	if c.Default != nil || c.DropDefault {
		return f, errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "ALTER COLUMN ... DEFAULT")
	}
	if c.Null != nil {
		if f.Nullable && !*c.Null {
			return f, errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "ALTER COLUMN ... SET NOT NULL of a column that may hold NULL")
		}
		f.Nullable = *c.Null
	}
	return f, nil
}
