package xmlrow

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// conv is a compiled data type.
type conv struct {
	typ      types.DataType
	fields   []field
	index    map[string]int
	fold     bool // names are compared without regard to case
	wildcard int
	elem     *conv // of arrays, and of maps for their values
}

type field struct {
	name string
	conv *conv
}

func compile(t types.DataType, o *Options, path string) (*conv, error) {
	c := &conv{typ: t, wildcard: -1, fold: !o.CaseSensitive}
	switch t := t.(type) {
	case types.ArrayType:
		elem, err := compile(t.Element, o, path)
		c.elem = elem
		return c, err
	case types.MapType:
		if !types.IsString(t.Key) {
			return nil, unsupported(t, path)
		}
		elem, err := compile(t.Value, o, path)
		c.elem = elem
		return c, err
	case types.StructType:
		c.index = make(map[string]int, len(t.Fields))
		for i, f := range t.Fields {
			fc, err := compile(f.Type, o, strings.TrimPrefix(path+"."+f.Name, "."))
			if err != nil {
				return nil, err
			}
			c.fields = append(c.fields, field{f.Name, fc})
			c.index[c.key(f.Name)] = i
			if f.Name == o.WildcardColumn {
				c.wildcard = i
			}
		}
	case types.TimeType:
		return nil, errclass.New("UNSUPPORTED_TIME_TYPE")
	case types.UserDefinedType:
		return compile(t.Storage, o, path)
	case types.CalendarIntervalType:
		return nil, unsupported(t, path)
	}
	return c, nil
}

func (c *conv) key(name string) string {
	if c.fold {
		return strings.ToLower(name)
	}
	return name
}

// find is the place of a field.
func (c *conv) find(name string) (int, bool) {
	i, ok := c.index[c.key(name)]
	return i, ok
}

func unsupported(t types.DataType, path string) error {
	return errclass.New("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE", "format", "XML", "columnName", "`"+path+"`", "columnType", `"`+t.SQL()+`"`)
}

// Unsupported tells whether a schema can be held by XML text; err names the column that cannot.
func Unsupported(s types.StructType) error {
	o := DefaultOptions()
	_, err := compile(s, &o, "")
	return err
}
