package millrace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/types"
)

// Row is a row of a result, or a value of a STRUCT. The package comment lists the Go types of its values.
type Row struct {
	schema *types.StructType // shared by the rows of a result
	values []any
}

// Len is the number of columns.
func (r Row) Len() int { return len(r.values) }

// At is the value at a position, counted from 0; nil is null. There is nothing at a position outside the row.
func (r Row) At(i int) any {
	if i < 0 || i >= len(r.values) {
		return nil
	}
	return r.values[i]
}

// Get is the value of a column; nil is null, or a column that does not exist. The name is compared exactly first, then without regard
// to case.
func (r Row) Get(name string) any {
	v, _ := r.Lookup(name)
	return v
}

// Lookup is Get that tells null from a column that does not exist.
func (r Row) Lookup(name string) (v any, ok bool) {
	i := r.index(name)
	if i < 0 {
		return nil, false
	}
	return r.values[i], true
}

func (r Row) index(name string) int {
	if r.schema == nil {
		return -1
	}
	if i := r.schema.Index(name); i >= 0 {
		return i
	}
	return r.schema.IndexFold(name)
}

// Schema is the type of the row.
func (r Row) Schema() types.StructType {
	if r.schema == nil {
		return types.StructType{}
	}
	return *r.schema
}

// Values are the values in the order of the columns.
func (r Row) Values() []any { return slices.Clone(r.values) }

// String prints the row with its names: "[start: 2026-01-01 10:00:00, total: 30]".
func (r Row) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range r.values {
		if i > 0 {
			b.WriteString(", ")
		}
		if r.schema != nil {
			b.WriteString(r.schema.Fields[i].Name + ": ")
		}
		b.WriteString(valueText(v))
	}
	b.WriteByte(']')
	return b.String()
}

func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case time.Time:
		return string(types.AppendTimestamp(nil, v))
	case []byte:
		return fmt.Sprintf("%x", v)
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = valueText(e)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case types.MapValue:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = valueText(e.Key) + ": " + valueText(e.Value)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// plain is a value as package types converts it: Rows become slices.
func plain(v any) any {
	switch v := v.(type) {
	case Row:
		out := make([]any, len(v.values))
		for i, e := range v.values {
			out[i] = plain(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	case types.MapValue:
		out := make(types.MapValue, len(v))
		for i, e := range v {
			out[i] = types.MapEntry{Key: plain(e.Key), Value: plain(e.Value)}
		}
		return out
	}
	return v
}
