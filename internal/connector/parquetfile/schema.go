package parquetfile

import (
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// The keys under which Spark keeps its version and the schema of the rows in a footer.
const (
	versionKey = "org.apache.spark.version"
	rowKey     = "org.apache.spark.sql.parquet.row.metadata"
)

// schemaOf gives the schema of a file: the one that Spark left in its footer, or what the file's own schema says.
func schemaOf(r *file.Reader, path string) (types.StructType, error) {
	if kv := r.MetaData().KeyValueMetadata(); kv != nil {
		if v := kv.FindValue(rowKey); v != nil {
			if t, err := types.ParseJSON([]byte(*v)); err == nil {
				if s, ok := t.(types.StructType); ok {
					return s, nil
				}
			}
		}
	}
	return groupType(r.MetaData().Schema.Root(), path, "")
}

func groupType(g *schema.GroupNode, path, prefix string) (types.StructType, error) {
	s := types.StructType{}
	for i := range g.NumFields() {
		n := g.Field(i)
		name := prefix + n.Name()
		t, err := fieldType(n, path, name)
		if err != nil {
			return s, err
		}
		s.Fields = append(s.Fields, types.Field{Name: n.Name(), Type: t, Nullable: n.RepetitionType() == parquet.Repetitions.Optional})
	}
	return s, nil
}

func fieldType(n schema.Node, path, name string) (types.DataType, error) {
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		t, err := valueType(n, path, name)
		return types.ArrayType{Element: t}, err
	}
	return valueType(n, path, name)
}

func valueType(n schema.Node, path, name string) (types.DataType, error) {
	g, ok := n.(*schema.GroupNode)
	if !ok {
		t, ok := primitiveType(n.(*schema.PrimitiveNode))
		if !ok {
			return nil, unreadable(n, path, name)
		}
		return t, nil
	}
	switch g.LogicalType().(type) {
	case schema.ListLogicalType:
		if g.NumFields() != 1 || g.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
			return nil, unreadable(n, path, name)
		}
		e := elementOf(g.Name(), place{n: g.Field(0)})
		t, err := valueType(e.n, path, name+".element")
		return types.ArrayType{Element: t, ContainsNull: !e.unwrapped && e.n.RepetitionType() == parquet.Repetitions.Optional}, err
	case schema.MapLogicalType:
		if g.NumFields() != 1 || g.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
			return nil, unreadable(n, path, name)
		}
		kv, ok := g.Field(0).(*schema.GroupNode)
		if !ok || kv.NumFields() != 2 {
			return nil, unreadable(n, path, name)
		}
		key, err := valueType(kv.Field(0), path, name+".key")
		if err != nil {
			return nil, err
		}
		value, err := valueType(kv.Field(1), path, name+".value")
		return types.MapType{Key: key, Value: value, ValueContainsNull: kv.Field(1).RepetitionType() == parquet.Repetitions.Optional}, err
	}
	if g.ConvertedType() == schema.ConvertedTypes.MapKeyValue { // what some old writers put on the outer group
		if kv, ok := g.Field(0).(*schema.GroupNode); ok && g.NumFields() == 1 && kv.NumFields() == 2 {
			key, err := valueType(kv.Field(0), path, name+".key")
			if err != nil {
				return nil, err
			}
			value, err := valueType(kv.Field(1), path, name+".value")
			return types.MapType{Key: key, Value: value, ValueContainsNull: true}, err
		}
	}
	return groupType(g, path, name+".")
}

func unreadable(n schema.Node, path, name string) error {
	actual := "a group"
	if p, ok := n.(*schema.PrimitiveNode); ok {
		actual = p.PhysicalType().String() + " (" + p.LogicalType().String() + ")"
	}
	return errclass.New("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH", "path", path, "column", name, "actualType", actual, "expectedType", "a type of Spark")
}

// primitiveType is the type that a leaf is read as unless another one is asked for.
func primitiveType(n *schema.PrimitiveNode) (types.DataType, bool) {
	switch l := n.LogicalType().(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType, schema.UUIDLogicalType:
		return types.String, true
	case schema.DecimalLogicalType:
		return types.DecimalType{Precision: int(l.Precision()), Scale: int(l.Scale())}, l.Precision() <= types.MaxPrecision
	case schema.DateLogicalType:
		return types.Date, true
	case schema.TimestampLogicalType:
		if l.IsAdjustedToUTC() {
			return types.Timestamp, true
		}
		return types.TimestampNTZ, true
	case schema.TimeLogicalType:
		return types.Time, true
	case schema.IntLogicalType:
		switch l.BitWidth() {
		case 8:
			if l.IsSigned() {
				return types.Byte, true
			}
			return types.Short, true
		case 16:
			if l.IsSigned() {
				return types.Short, true
			}
			return types.Integer, true
		case 32:
			if l.IsSigned() {
				return types.Integer, true
			}
			return types.Long, true
		case 64:
			if l.IsSigned() {
				return types.Long, true
			}
			return types.DecimalType{Precision: 20}, true
		}
	case schema.NullLogicalType:
		return types.Null, true
	case schema.Float16LogicalType:
		return types.Float, true
	case schema.IntervalLogicalType:
		return nil, false
	}
	switch n.PhysicalType() {
	case parquet.Types.Boolean:
		return types.Boolean, true
	case parquet.Types.Int32:
		return types.Integer, true
	case parquet.Types.Int64:
		return types.Long, true
	case parquet.Types.Int96:
		return types.Timestamp, true
	case parquet.Types.Float:
		return types.Float, true
	case parquet.Types.Double:
		return types.Double, true
	case parquet.Types.ByteArray, parquet.Types.FixedLenByteArray:
		return types.Binary, true
	}
	return nil, false
}
