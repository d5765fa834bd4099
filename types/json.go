package types

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
)

// JSON gives a type in Spark's compact JSON form, with the keys in Spark's order.
func JSON(t DataType) string {
	var b bytes.Buffer
	writeJSON(&b, t)
	return b.String()
}

// JSON is the schema as JSON.
func (t StructType) JSON() string { return JSON(t) }

func writeJSON(b *bytes.Buffer, t DataType) {
	switch t := t.(type) {
	case ArrayType:
		b.WriteString(`{"type":"array","elementType":`)
		writeJSON(b, t.Element)
		b.WriteString(`,"containsNull":` + strconv.FormatBool(t.ContainsNull) + `}`)
	case MapType:
		b.WriteString(`{"type":"map","keyType":`)
		writeJSON(b, t.Key)
		b.WriteString(`,"valueType":`)
		writeJSON(b, t.Value)
		b.WriteString(`,"valueContainsNull":` + strconv.FormatBool(t.ValueContainsNull) + `}`)
	case StructType:
		b.WriteString(`{"type":"struct","fields":[`)
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteByte(',')
			}
			writeField(b, f)
		}
		b.WriteString(`]}`)
	case UserDefinedType:
		b.WriteString(`{"type":"udt"`)
		for _, e := range [][2]string{{"class", t.Class}, {"pyClass", t.PyClass}, {"serializedClass", t.SerializedPythonClass}} {
			if e[1] != "" {
				b.WriteString(`,"` + e[0] + `":`)
				writeJSONString(b, e[1])
			}
		}
		b.WriteString(`,"sqlType":`)
		writeJSON(b, orNull(t.Storage))
		b.WriteByte('}')
	case StringType:
		b.WriteString(`"string"`) // the collation of a field is in its metadata
	default:
		writeJSONString(b, t.TypeName())
	}
}

func orNull(t DataType) DataType {
	if t == nil {
		return Null
	}
	return t
}

func writeField(b *bytes.Buffer, f Field) {
	b.WriteString(`{"name":`)
	writeJSONString(b, f.Name)
	b.WriteString(`,"type":`)
	writeJSON(b, f.Type)
	b.WriteString(`,"nullable":` + strconv.FormatBool(f.Nullable) + `,"metadata":`)
	m := f.Metadata
	if c := collations(nil, f.Name, f.Type); len(c) > 0 {
		m = f.WithMetadata(collationKey, json.RawMessage(c.String())).Metadata
	}
	if m == "" {
		m = emptyJSONObject
	}
	b.WriteString(m)
	b.WriteByte('}')
}

// collations collects the collations inside of a field, by path. Structs inside note those
// of their own fields.
func collations(o object, path string, t DataType) object {
	switch t := t.(type) {
	case StringType:
		if t.Collation != "" {
			provider := "icu."
			if strings.HasPrefix(t.Collation, "UTF8_") {
				provider = "spark."
			}
			raw, _ := encodeJSON(provider + t.Collation) // a string always encodes
			o = o.set(path, raw)
		}
	case ArrayType:
		o = collations(o, path+".element", t.Element)
	case MapType:
		o = collations(o, path+".key", t.Key)
		o = collations(o, path+".value", t.Value)
	}
	return o
}

// ParseJSON reads a type in Spark's JSON form. A bare name ("integer", quoted) is a type, too.
func ParseJSON(text []byte) (DataType, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, badJSON(string(text)).WithCause(err)
	}
	if d.More() {
		return nil, badJSON(string(text))
	}
	return parseJSON(raw, "", nil, 0)
}

func badJSON(text string) *errclass.Error {
	const limit = 200
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "..."
	}
	return errclass.New("INVALID_JSON_DATA_TYPE", "invalidType", text)
}

type jsonType struct {
	Type              string            `json:"type"`
	Element           json.RawMessage   `json:"elementType"`
	ContainsNull      *bool             `json:"containsNull"`
	Key               json.RawMessage   `json:"keyType"`
	Value             json.RawMessage   `json:"valueType"`
	ValueContainsNull *bool             `json:"valueContainsNull"`
	Fields            []json.RawMessage `json:"fields"`
	Class             string            `json:"class"`
	PyClass           string            `json:"pyClass"`
	SerializedClass   string            `json:"serializedClass"`
	SQLType           json.RawMessage   `json:"sqlType"`
}

type jsonField struct {
	Name     *string         `json:"name"`
	Type     json.RawMessage `json:"type"`
	Nullable *bool           `json:"nullable"`
	Metadata json.RawMessage `json:"metadata"`
}

// parseJSON reads a type; collated are the collations of the field around it and path the
// place within the field.
func parseJSON(raw json.RawMessage, path string, collated map[string]string, depth int) (DataType, error) {
	if depth > maxDepth {
		return nil, errclass.New("FAILED_TO_PARSE_TOO_COMPLEX")
	}
	if len(raw) > 0 && raw[0] == '"' {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return nil, badJSON(string(raw)).WithCause(err)
		}
		t, ok := jsonName(name)
		if !ok {
			return nil, badJSON(name)
		}
		if c, ok := collated[path]; ok && t == String {
			return StringType{c}, nil
		}
		return t, nil
	}
	var j jsonType
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, badJSON(string(raw)).WithCause(err)
	}
	switch j.Type {
	case "array":
		element, err := parseJSON(j.Element, path+".element", collated, depth+1)
		if err != nil {
			return nil, err
		}
		return ArrayType{element, orTrue(j.ContainsNull)}, nil
	case "map":
		key, err := parseJSON(j.Key, path+".key", collated, depth+1)
		if err != nil {
			return nil, err
		}
		value, err := parseJSON(j.Value, path+".value", collated, depth+1)
		if err != nil {
			return nil, err
		}
		return MapType{key, value, orTrue(j.ValueContainsNull)}, nil
	case "struct":
		s := StructType{}
		for _, f := range j.Fields {
			field, err := parseField(f, depth+1)
			if err != nil {
				return nil, err
			}
			s.Fields = append(s.Fields, field)
		}
		return s, nil
	case "udt":
		storage, err := parseJSON(j.SQLType, path, nil, depth+1)
		if err != nil {
			return nil, err
		}
		return UserDefinedType{storage, j.Class, j.PyClass, j.SerializedClass}, nil
	}
	return nil, badJSON(string(raw))
}

func orTrue(b *bool) bool { return b == nil || *b }

func parseField(raw json.RawMessage, depth int) (Field, error) {
	var j jsonField
	if err := json.Unmarshal(raw, &j); err != nil {
		return Field{}, badJSON(string(raw)).WithCause(err)
	}
	if j.Name == nil {
		return Field{}, badJSON(string(raw))
	}
	f := Field{Name: *j.Name, Nullable: orTrue(j.Nullable)}
	if len(j.Metadata) > 0 && string(j.Metadata) != "null" {
		m, err := parseObject(string(j.Metadata))
		if err != nil {
			return Field{}, badJSON(string(raw)).WithCause(err)
		}
		f.Metadata = m.String()
	}
	var collated map[string]string
	if c, ok := f.MetadataValue(collationKey); ok {
		if err := json.Unmarshal(c, &collated); err != nil {
			return Field{}, badJSON(string(raw)).WithCause(err)
		}
		for k, v := range collated {
			_, collated[k], _ = strings.Cut(v, ".") // without the provider
		}
		f = f.WithoutMetadata(collationKey)
	}
	t, err := parseJSON(j.Type, f.Name, collated, depth)
	f.Type = t
	return f, err
}

var sizedName = regexp.MustCompile(`^(decimal|char|varchar|time)\(\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?\)$`)

// jsonName reads the name of a type that is no object.
func jsonName(name string) (DataType, bool) {
	switch name {
	case "void", "null":
		return Null, true
	case "decimal":
		return DecimalDefault, true
	case "tinyint", "smallint", "int", "bigint", "timestamp_ltz", "byte", "short", "integer", "long", "boolean",
		"float", "double", "string", "binary", "date", "timestamp", "timestamp_ntz", "interval", "variant":
		return plainTypes[name], true
	case "time":
		return Time, true
	}
	if rest, ok := strings.CutPrefix(name, "interval "); ok {
		start, end, ranged := strings.Cut(rest, " to ")
		if !ranged {
			end = start
		}
		return IntervalOf(start, end)
	}
	if c, ok := strings.CutPrefix(name, "string collate "); ok && c != "" {
		if c == "UTF8_BINARY" {
			c = ""
		}
		return StringType{c}, true
	}
	if m := sizedName.FindStringSubmatch(name); m != nil {
		var args []int
		for _, s := range m[2:] {
			if n, err := strconv.Atoi(s); err == nil {
				args = append(args, n)
			}
		}
		t, err := NamedType(m[1], args...)
		return t, err == nil
	}
	return nil, false
}
