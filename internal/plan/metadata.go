package plan

import (
	"encoding/json"
	"strconv"

	"github.com/millrace/millrace/types"
)

// The names under which Spark marks the columns of windows in their metadata. Clients see them in schemas.
const (
	timeWindowKey    = "spark.timeWindow"
	sessionWindowKey = "spark.sessionWindow"
)

func hasMeta(meta, key string) bool {
	_, ok := types.Field{Metadata: meta}.MetadataValue(key)
	return ok
}

func setMeta(meta, key string, value any) string {
	return types.Field{Metadata: meta}.WithMetadata(key, value).Metadata
}

func dropMeta(meta, key string) string {
	return types.Field{Metadata: meta}.WithoutMetadata(key).Metadata
}

// CurrentDefaultKey is the metadata key of a column's default, the text of an expression.
const CurrentDefaultKey = "CURRENT_DEFAULT"

// DefaultOf is the text of a column's default, or "".
func DefaultOf(f types.Field) string { return MetadataText(f, CurrentDefaultKey) }

// MetadataText is a text in the metadata of a column, or "".
func MetadataText(f types.Field, key string) string {
	raw, ok := f.MetadataValue(key)
	var text string
	if !ok || json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// eventTime reads the mark of a watermark.
func eventTime(meta string) (marked bool, delay int64) {
	v, ok := types.Field{Metadata: meta}.MetadataValue(types.EventTimeKey)
	if !ok {
		return false, 0
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	return err == nil, n
}

// Field is the column as a field of a schema.
func (e *Attr) Field() types.Field {
	return types.Field{Name: e.Name, Type: e.T, Nullable: e.Null, Metadata: e.Metadata}
}

// Schema is the schema of a relation.
func Schema(n Node) types.StructType {
	out := n.Output()
	fields := make([]types.Field, len(out))
	for i, a := range out {
		fields[i] = a.Field()
	}
	return types.StructType{Fields: fields}
}

// Attrs are new columns for the fields of a schema.
func Attrs(schema types.StructType) []*Attr {
	out := make([]*Attr, len(schema.Fields))
	for i, f := range schema.Fields {
		out[i] = &Attr{ID: NewID(), Name: f.Name, T: f.Type, Null: f.Nullable, Metadata: f.Metadata}
	}
	return out
}

// Marked returns the column marked as event time with a delay in milliseconds.
func (e *Attr) Marked(delay int64) *Attr {
	c := *e
	c.EventTime, c.Delay = true, delay
	c.Metadata = setMeta(c.Metadata, types.EventTimeKey, delay)
	return &c
}

// Unmarked returns the column without an event-time mark.
func (e *Attr) Unmarked() *Attr {
	c := *e
	c.EventTime, c.Delay = false, 0
	c.Metadata = dropMeta(c.Metadata, types.EventTimeKey)
	return &c
}

// IsTimeWindow tells whether the column was made by window().
func (e *Attr) IsTimeWindow() bool { return hasMeta(e.Metadata, timeWindowKey) }

// IsSessionWindow tells whether the column was made by session_window().
func (e *Attr) IsSessionWindow() bool { return hasMeta(e.Metadata, sessionWindowKey) }

// TimeWindowMeta marks a metadata text as that of a window() column.
func TimeWindowMeta(meta string) string { return setMeta(meta, timeWindowKey, true) }

// SessionWindowMeta marks a metadata text as that of a session_window() column.
func SessionWindowMeta(meta string) string { return setMeta(meta, sessionWindowKey, true) }

// NoWindowMeta removes the marks of windows.
func NoWindowMeta(meta string) string {
	return dropMeta(dropMeta(meta, timeWindowKey), sessionWindowKey)
}
