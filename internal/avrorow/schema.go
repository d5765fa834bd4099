package avrorow

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hamba/avro/v2"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// Parse reads a schema in JSON. Each text stands for itself: names defined by another are not known.
func Parse(text string) (avro.Schema, error) {
	s, err := avro.ParseBytesWithCache([]byte(text), "", &avro.SchemaCache{})
	if err != nil {
		return nil, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", text, "reason", err.Error())
	}
	return s, nil
}

// Unions says what the columns are called that hold the branches of a union.
type Unions struct {
	Stable bool   // by the branch's type, not by its position
	Prefix string // before the type's name
}

// TypeOf is the type of the values that a schema describes; nullable tells whether the schema itself allows null.
func TypeOf(s avro.Schema, u Unions) (t types.DataType, nullable bool, err error) {
	return typeOf(s, u, nil)
}

func typeOf(s avro.Schema, u Unions, above []string) (types.DataType, bool, error) {
	s = deref(s)
	switch s := s.(type) {
	case *avro.NullSchema:
		return types.Null, true, nil
	case *avro.PrimitiveSchema:
		t, err := primitiveType(s)
		return t, false, err
	case *avro.FixedSchema:
		if d, ok := s.Logical().(*avro.DecimalLogicalSchema); ok {
			t, err := decimalType(d)
			return t, false, err
		}
		return types.Binary, false, nil
	case *avro.EnumSchema:
		return types.String, false, nil
	case *avro.ArraySchema:
		e, null, err := typeOf(s.Items(), u, above)
		return types.ArrayType{Element: e, ContainsNull: null}, false, err
	case *avro.MapSchema:
		v, null, err := typeOf(s.Values(), u, above)
		return types.MapType{Key: types.String, Value: v, ValueContainsNull: null}, false, err
	case *avro.RecordSchema:
		t, err := recordType(s, u, above)
		return t, false, err
	case *avro.UnionSchema:
		return unionType(s, u, above)
	}
	return nil, false, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", s.String(), "reason", "the kind "+string(s.Type())+" is not known")
}

func recordType(s *avro.RecordSchema, u Unions, above []string) (types.DataType, error) {
	for _, name := range above {
		if name == s.FullName() {
			return nil, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", s.String(),
				"reason", "the record "+name+" holds itself, and a type cannot")
		}
	}
	above = append(above[:len(above):len(above)], s.FullName())
	t := types.StructType{Fields: make([]types.Field, 0, len(s.Fields()))}
	for _, f := range s.Fields() {
		ft, null, err := typeOf(f.Type(), u, above)
		if err != nil {
			return nil, err
		}
		t.Fields = append(t.Fields, types.Field{Name: f.Name(), Type: ft, Nullable: null})
	}
	return t, nil
}

// unionType is the type of a union: that of its only branch beside null, the wider of two numbers, or a struct with a field a branch.
func unionType(s *avro.UnionSchema, u Unions, above []string) (types.DataType, bool, error) {
	branches, null := branchesOf(s)
	switch {
	case len(branches) == 0:
		return types.Null, true, nil
	case len(branches) == 1:
		t, inner, err := typeOf(branches[0], u, above)
		return t, null || inner, err
	case plainPair(branches, avro.Int, avro.Long):
		return types.Long, null, nil
	case plainPair(branches, avro.Float, avro.Double):
		return types.Double, null, nil
	}
	t, seen := types.StructType{}, map[string]bool{}
	for i, b := range branches {
		bt, _, err := typeOf(b, u, above)
		if err != nil {
			return nil, false, err
		}
		name := "member" + strconv.Itoa(i)
		if u.Stable {
			name = u.Prefix + strings.ToLower(branchName(b))
			if seen[name] {
				return nil, false, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", s.String(),
					"reason", "two branches of a union would be the column "+name)
			}
			seen[name] = true
		}
		t.Fields = append(t.Fields, types.NewField(name, bt))
	}
	return t, null, nil
}

// branchesOf are the branches of a union but null.
func branchesOf(s *avro.UnionSchema) (branches []avro.Schema, null bool) {
	for _, b := range s.Types() {
		if b = deref(b); b.Type() == avro.Null {
			null = true
		} else {
			branches = append(branches, b)
		}
	}
	return branches, null
}

// plainPair tells whether the branches are two given ones, in any order.
func plainPair(b []avro.Schema, x, y avro.Type) bool {
	return len(b) == 2 && (b[0].Type() == x && b[1].Type() == y || b[0].Type() == y && b[1].Type() == x)
}

func branchName(s avro.Schema) string {
	if n, ok := s.(avro.NamedSchema); ok {
		return n.Name()
	}
	return string(s.Type())
}

func primitiveType(s *avro.PrimitiveSchema) (types.DataType, error) {
	if t, ok := ownType(s); ok {
		return t, nil
	}
	logical := logicalOf(s)
	switch s.Type() {
	case avro.Boolean:
		return types.Boolean, nil
	case avro.Int:
		if logical == avro.Date {
			return types.Date, nil
		}
		return types.Integer, nil
	case avro.Long:
		switch logical {
		case avro.TimestampMillis, avro.TimestampMicros:
			return types.Timestamp, nil
		case avro.LocalTimestampMillis, avro.LocalTimestampMicros:
			return types.TimestampNTZ, nil
		case avro.TimeMicros:
			return types.TimeType{Precision: 6}, nil
		}
		return types.Long, nil
	case avro.Float:
		return types.Float, nil
	case avro.Double:
		return types.Double, nil
	case avro.String:
		return types.String, nil
	case avro.Bytes:
		if d, ok := s.Logical().(*avro.DecimalLogicalSchema); ok {
			return decimalType(d)
		}
		return types.Binary, nil
	}
	return nil, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", s.String(), "reason", fmt.Sprintf("%s is no type of values", s.Type()))
}

// ownType is the type that Spark has written beside a number that Avro has no name for: an interval.
func ownType(s *avro.PrimitiveSchema) (types.DataType, bool) {
	name, ok := s.Prop("spark.sql.catalyst.type").(string)
	if !ok {
		return nil, false
	}
	t, err := types.ParseType(name)
	if err != nil {
		return nil, false
	}
	switch t.(type) {
	case types.YearMonthIntervalType:
		return t, s.Type() == avro.Int
	case types.DayTimeIntervalType:
		return t, s.Type() == avro.Long
	}
	return nil, false
}

func decimalType(d *avro.DecimalLogicalSchema) (types.DataType, error) {
	if d.Precision() > types.MaxPrecision {
		return nil, errclass.New("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "precision", strconv.Itoa(d.Precision()),
			"maxPrecision", strconv.Itoa(types.MaxPrecision))
	}
	return types.DecimalType{Precision: d.Precision(), Scale: d.Scale()}, nil
}

// deref is the schema that a name stands for.
func deref(s avro.Schema) avro.Schema {
	if r, ok := s.(*avro.RefSchema); ok {
		return r.Schema()
	}
	return s
}

func logicalOf(s avro.Schema) avro.LogicalType {
	if l, ok := s.(avro.LogicalTypeSchema); ok && l.Logical() != nil {
		return l.Logical().Type()
	}
	return ""
}
