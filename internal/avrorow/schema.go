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

// Typing says what the type of a schema is where that is open.
type Typing struct {
	// StableNames has the columns that hold the branches of a union be called by the branch's type, not by its position.
	StableNames bool
	Prefix      string // before the type's name
	// MaxDepth is how often a record may be within itself: what lies deeper is left out. With 0 such records have no type.
	MaxDepth int
}

// maxDepth is the most that MaxDepth may be.
const maxDepth = 15

// TypingOf reads the options that say it.
func TypingOf(get func(string) (string, bool)) (Typing, error) {
	t := Typing{Prefix: "member_"}
	if p, ok := get("stableIdentifierPrefixForUnionType"); ok {
		t.Prefix = p
	}
	if s, ok := get("recursiveFieldMaxDepth"); ok {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n > maxDepth {
			return t, errclass.New("STDS_INVALID_OPTION_VALUE.WITH_MESSAGE", "optionName", "recursiveFieldMaxDepth",
				"message", "it must be a number of at most "+strconv.Itoa(maxDepth)+", and is "+s+".")
		}
		t.MaxDepth = max(0, int(n))
	}
	return t, nil
}

// TypeOf is the type of the values that a schema describes; nullable tells whether the schema itself allows null.
func TypeOf(s avro.Schema, typing Typing) (t types.DataType, nullable bool, err error) {
	return typing.typeOf(s, nil)
}

// typeOf is nil for what is left out.
func (o Typing) typeOf(s avro.Schema, above []string) (types.DataType, bool, error) {
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
		e, null, err := o.typeOf(s.Items(), above)
		if e == nil {
			return nil, false, err
		}
		return types.ArrayType{Element: e, ContainsNull: null}, false, err
	case *avro.MapSchema:
		v, null, err := o.typeOf(s.Values(), above)
		if v == nil {
			return nil, false, err
		}
		return types.MapType{Key: types.String, Value: v, ValueContainsNull: null}, false, err
	case *avro.RecordSchema:
		t, err := o.recordType(s, above)
		return t, false, err
	case *avro.UnionSchema:
		return o.unionType(s, above)
	}
	return nil, false, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", s.String(), "reason", "the kind "+string(s.Type())+" is not known")
}

func (o Typing) recordType(s *avro.RecordSchema, above []string) (types.DataType, error) {
	depth := 0
	for _, name := range above {
		if name == s.FullName() {
			depth++
		}
	}
	if depth > 0 && o.MaxDepth == 0 {
		return nil, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", s.String(),
			"reason", "the record "+s.FullName()+" holds itself, and a type cannot. The option recursiveFieldMaxDepth cuts it at a depth")
	}
	if depth > 0 && depth >= o.MaxDepth {
		return nil, nil
	}
	above = append(above[:len(above):len(above)], s.FullName())
	t := types.StructType{Fields: make([]types.Field, 0, len(s.Fields()))}
	for _, f := range s.Fields() {
		ft, null, err := o.typeOf(f.Type(), above)
		if err != nil {
			return nil, err
		}
		if ft != nil {
			t.Fields = append(t.Fields, types.Field{Name: f.Name(), Type: ft, Nullable: null})
		}
	}
	return t, nil
}

// unionType is the type of a union: that of its only branch beside null, the wider of two numbers, or a struct with a field a branch.
func (o Typing) unionType(s *avro.UnionSchema, above []string) (types.DataType, bool, error) {
	branches, null := branchesOf(s)
	switch {
	case len(branches) == 0:
		return types.Null, true, nil
	case len(branches) == 1:
		t, inner, err := o.typeOf(branches[0], above)
		return t, null || inner, err
	case plainPair(branches, avro.Int, avro.Long):
		return types.Long, null, nil
	case plainPair(branches, avro.Float, avro.Double):
		return types.Double, null, nil
	}
	t, seen := types.StructType{}, map[string]bool{}
	for i, b := range branches {
		bt, _, err := o.typeOf(b, above)
		if err != nil {
			return nil, false, err
		}
		if bt == nil {
			continue
		}
		name := "member" + strconv.Itoa(i)
		if o.StableNames {
			name = o.Prefix + branchName(b)
			if seen[strings.ToLower(name)] {
				return nil, false, errclass.New("INVALID_SCHEMA.PARSE_ERROR", "inputSchema", s.String(),
					"reason", "two branches of a union would be the column "+name)
			}
			seen[strings.ToLower(name)] = true
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
