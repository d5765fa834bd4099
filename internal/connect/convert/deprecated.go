//lint:file-ignore SA1019 fields that older clients still fill, and read

package convert

import (
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// What the protocol has in a better form by now. Today's clients send the new fields, older ones those here.

func elementType(m *connectpb.Expression_Literal_Array) *connectpb.DataType {
	return m.GetElementType()
}

func keyType(m *connectpb.Expression_Literal_Map) *connectpb.DataType { return m.GetKeyType() }

func valueType(m *connectpb.Expression_Literal_Map) *connectpb.DataType { return m.GetValueType() }

func structType(m *connectpb.Expression_Literal_Struct) *connectpb.DataType { return m.GetStructType() }

func newArray(t types.ArrayType) *connectpb.Expression_Literal_Array {
	return &connectpb.Expression_Literal_Array{ElementType: typepb.Message(t.Element)}
}

func newMap(t types.MapType) *connectpb.Expression_Literal_Map {
	return &connectpb.Expression_Literal_Map{KeyType: typepb.Message(t.Key), ValueType: typepb.Message(t.Value)}
}

func newStruct(t types.DataType) *connectpb.Expression_Literal_Struct {
	return &connectpb.Expression_Literal_Struct{StructType: typepb.Message(t)}
}

// literalArgs are the values of a statement's parameters where they can be nothing but literals.
func literalArgs(m *connectpb.SQL) (named map[string]plan.Expr, positional []plan.Expr, err error) {
	for k, l := range m.GetArgs() {
		if named == nil {
			named = map[string]plan.Expr{}
		}
		if named[k], err = Literal(l); err != nil {
			return nil, nil, err
		}
	}
	for _, l := range m.GetPosArgs() {
		e, err := Literal(l)
		if err != nil {
			return nil, nil, err
		}
		positional = append(positional, e)
	}
	return named, positional, nil
}

func renameMap(m *connectpb.WithColumnsRenamed) map[string]string { return m.GetRenameColumnsMap() }

// SQLInput is the relation of a SQL command, made of the command's own fields when it has none.
func SQLInput(m *connectpb.SqlCommand) *connectpb.Relation {
	if m.GetInput() != nil {
		return m.GetInput()
	}
	return &connectpb.Relation{RelType: &connectpb.Relation_Sql{Sql: &connectpb.SQL{
		Query: m.GetSql(), Args: m.GetArgs(), PosArgs: m.GetPosArgs(),
		NamedArguments: m.GetNamedArguments(), PosArguments: m.GetPosArguments(),
	}}}
}
