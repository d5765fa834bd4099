package delta

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// The keys of column metadata with a meaning.
const (
	GenerationKey = "delta.generationExpression"
	physicalKey   = "delta.columnMapping.physicalName"
	idKey         = "delta.columnMapping.id"
	// FieldIDKey is what the Parquet writer takes the id of a field from.
	FieldIDKey = "parquet.field.id"
)

// badInNames may not be in the names of columns, unless their names in files are others.
const badInNames = " ,;{}()\n\t="

// CheckNames refuses columns that a table cannot have: two of a name, and names with characters that Parquet cannot have in them.
func CheckNames(s types.StructType, mapped bool) error {
	seen := map[string]bool{}
	for _, f := range s.Fields {
		k := strings.ToLower(f.Name)
		if seen[k] {
			return errclass.New("DELTA_DUPLICATE_COLUMNS_FOUND.DATA", "duplicateCols", errclass.Ident(k))
		}
		seen[k] = true
	}
	if mapped {
		return nil
	}
	var bad []string
	var walk func(t types.DataType)
	walk = func(t types.DataType) {
		switch t := t.(type) {
		case types.StructType:
			for _, f := range t.Fields {
				if strings.ContainsAny(f.Name, badInNames) {
					bad = append(bad, errclass.Ident(f.Name))
				}
				walk(f.Type)
			}
		case types.ArrayType:
			walk(t.Element)
		case types.MapType:
			walk(t.Key)
			walk(t.Value)
		}
	}
	walk(s)
	if len(bad) > 0 {
		return errclass.New("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", "invalidColumnNames", strings.Join(bad, ", "))
	}
	return nil
}

// Merge gives the schema of a table after rows of another schema were added to it. more tells whether columns may be added, cast whether
// any type of a column can be put into any other, as streams and INSERT have it. added tells whether there are new columns.
func Merge(table, rows types.StructType, more, cast bool, name string) (out types.StructType, added bool, err error) {
	out = types.StructType{Fields: slices.Clone(table.Fields)}
	var extra []string
	for _, f := range rows.Fields {
		i := table.IndexFold(f.Name)
		if i < 0 {
			extra = append(extra, errclass.Ident(f.Name))
			f.Nullable, f.Type = true, types.Nullable(f.Type)
			out.Fields = append(out.Fields, f)
			added = true
			continue
		}
		t, grown, err := mergeType(table.Fields[i].Type, f.Type, more, cast, f.Name, name)
		if err != nil {
			return out, false, err
		}
		out.Fields[i].Type = t
		added = added || grown
	}
	if len(extra) > 0 && !more {
		return out, false, errclass.New("DELTA_METADATA_MISMATCH", "tableName", name,
			"reason", "the columns "+strings.Join(extra, ", ")+" are not in the table; set the option mergeSchema to true to add them.")
	}
	return out, added, nil
}

func mergeType(table, rows types.DataType, more, cast bool, field, name string) (types.DataType, bool, error) {
	fail := errclass.New("DELTA_FAILED_TO_MERGE_FIELDS", "currentField", errclass.Ident(field),
		"currentType", table.SimpleString(), "updateType", rows.SimpleString())
	if types.SameType(types.Nullable(table), types.Nullable(rows)) || rows == types.Null {
		return table, false, nil
	}
	switch t := table.(type) {
	case types.StructType:
		r, ok := rows.(types.StructType)
		if !ok {
			return nil, false, fail
		}
		s, added, err := Merge(t, r, more, cast, name)
		return s, added, err
	case types.ArrayType:
		r, ok := rows.(types.ArrayType)
		if !ok {
			return nil, false, fail
		}
		e, added, err := mergeType(t.Element, r.Element, more, cast, field+".element", name)
		t.Element = e
		return t, added, err
	case types.MapType:
		r, ok := rows.(types.MapType)
		if !ok {
			return nil, false, fail
		}
		k, grown, err := mergeType(t.Key, r.Key, more, cast, field+".key", name)
		if err != nil {
			return nil, false, err
		}
		v, added, err := mergeType(t.Value, r.Value, more, cast, field+".value", name)
		t.Key, t.Value = k, v
		return t, added || grown, err
	}
	if types.IsNested(rows) {
		return nil, false, fail
	}
	if cast || storedAlike(table, rows) {
		return table, false, nil
	}
	return nil, false, fail
}

// storedAlike tells whether values of a type go into a column of another without a cast that could fail: bytes and shorts become ints.
func storedAlike(table, rows types.DataType) bool {
	if types.IsString(table) && types.IsString(rows) {
		return true
	}
	width := func(t types.DataType) int {
		switch t.(type) {
		case types.ByteType:
			return 1
		case types.ShortType:
			return 2
		case types.IntegerType:
			return 3
		}
		return 0
	}
	a, b := width(table), width(rows)
	return a > 0 && b > 0 && b <= a
}

// ---- names in files

// Mapped tells whether the names in files are not those of the columns.
func (m *Metadata) Mapped() bool {
	mode := m.Configuration[propMapping]
	return mode == "name" || mode == "id"
}

// Physical is a column's name in files, statistics and partition values.
func (m *Metadata) Physical(f types.Field) string {
	if !m.Mapped() {
		return f.Name
	}
	return physicalName(f)
}

func physicalName(f types.Field) string {
	if raw, ok := f.MetadataValue(physicalKey); ok {
		if s, err := strconv.Unquote(string(raw)); err == nil {
			return s
		}
	}
	return f.Name
}

// PhysicalType gives a type with the names that its fields have in files, and with the ids that go with them.
func PhysicalType(t types.DataType) types.DataType {
	switch t := t.(type) {
	case types.StructType:
		out := types.StructType{Fields: make([]types.Field, len(t.Fields))}
		for i, f := range t.Fields {
			out.Fields[i] = PhysicalField(f)
		}
		return out
	case types.ArrayType:
		t.Element = PhysicalType(t.Element)
		return t
	case types.MapType:
		t.Key, t.Value = PhysicalType(t.Key), PhysicalType(t.Value)
		return t
	}
	return t
}

// PhysicalField is PhysicalType for a field.
func PhysicalField(f types.Field) types.Field {
	p := types.Field{Name: physicalName(f), Type: PhysicalType(f.Type), Nullable: f.Nullable}
	if raw, ok := f.MetadataValue(idKey); ok {
		if id, err := strconv.ParseInt(string(raw), 10, 32); err == nil {
			p = p.WithMetadata(FieldIDKey, id)
		}
	}
	return p
}

// assignNames gives columns that have none an id and a name for files. In a table that had columns before it was mapped, those keep
// their names.
func assignNames(m *Metadata, s types.StructType, keep bool) types.StructType {
	last, _ := strconv.ParseInt(m.Configuration[propMaxColumnID], 10, 64)
	var walk func(t types.DataType) types.DataType
	walk = func(t types.DataType) types.DataType {
		switch t := t.(type) {
		case types.StructType:
			out := types.StructType{Fields: slices.Clone(t.Fields)}
			for i, f := range out.Fields {
				if _, ok := f.MetadataValue(idKey); !ok {
					last++
					f = f.WithMetadata(idKey, last)
				}
				if _, ok := f.MetadataValue(physicalKey); !ok {
					name := f.Name
					if !keep {
						name = "col-" + uuid.NewString()
					}
					f = f.WithMetadata(physicalKey, name)
				}
				f.Type = walk(f.Type)
				out.Fields[i] = f
			}
			return out
		case types.ArrayType:
			t.Element = walk(t.Element)
			return t
		case types.MapType:
			t.Key, t.Value = walk(t.Key), walk(t.Value)
			return t
		}
		return t
	}
	out, _ := walk(s).(types.StructType)
	m.Configuration[propMaxColumnID] = strconv.FormatInt(last, 10)
	return out
}

// SetSchema gives a table other columns.
func (m *Metadata) SetSchema(s types.StructType) error { return m.setSchema(s, false) }

// Upgrade gives the columns of a table that is to have names of their own in files the names that they have there already.
func (m *Metadata) Upgrade(s types.StructType) error { return m.setSchema(s, true) }

func (m *Metadata) setSchema(s types.StructType, keep bool) error {
	if err := CheckNames(s, m.Mapped()); err != nil {
		return err
	}
	if m.Mapped() {
		s = assignNames(m, s, keep)
	}
	m.SchemaString = types.JSON(withoutTransient(s))
	return nil
}

// withoutTransient drops metadata that belongs to a query and not to a table.
func withoutTransient(s types.StructType) types.StructType {
	out := types.StructType{Fields: make([]types.Field, len(s.Fields))}
	for i, f := range s.Fields {
		for _, k := range []string{types.EventTimeKey, types.AutoAliasKey, FieldIDKey} {
			f = f.WithoutMetadata(k)
		}
		out.Fields[i] = f
	}
	return out
}

// NewMetadata makes the metadata of a new table.
func NewMetadata(s types.StructType, partitionBy []string, conf map[string]string, description string, now int64) (*Metadata, error) {
	m := &Metadata{
		ID: uuid.NewString(), Format: FileFormat{Provider: "parquet", Options: map[string]string{}}, PartitionColumns: []string{}, Configuration: map[string]string{},
		CreatedTime: &now,
	}
	for k, v := range conf {
		m.Configuration[k] = v
	}
	if description != "" {
		m.Description = &description
	}
	var err error
	if m.PartitionColumns, err = PartitionNames(s, partitionBy); err != nil {
		return nil, err
	}
	return m, m.SetSchema(s)
}

// PartitionNames checks the columns that a table is to be partitioned by, and gives them as the schema spells them.
func PartitionNames(s types.StructType, by []string) ([]string, error) {
	out := []string{}
	for _, name := range by {
		i := s.IndexFold(name)
		if i < 0 {
			return nil, errclass.New("DELTA_INVALID_PARTITION_COLUMN", "columnName", errclass.Ident(name))
		}
		if types.IsNested(s.Fields[i].Type) {
			return nil, errclass.New("INVALID_PARTITION_COLUMN_DATA_TYPE", "type", errclass.Expr(s.Fields[i].Type.SQL()))
		}
		out = append(out, s.Fields[i].Name)
	}
	if len(out) > 0 && len(out) == len(s.Fields) {
		return nil, errclass.New("DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION")
	}
	return out, nil
}

// SamePartitions checks that a writer names the columns that a table is partitioned by. One that names none agrees.
func (m *Metadata) SamePartitions(by []string, table string) error {
	if len(by) == 0 {
		return nil
	}
	if !slices.EqualFunc(by, m.PartitionColumns, strings.EqualFold) {
		return errclass.New("DELTA_METADATA_MISMATCH", "tableName", table,
			"reason", fmt.Sprintf("it is partitioned by %s and not by %s.", JSONList(m.PartitionColumns), JSONList(by)))
	}
	return nil
}
