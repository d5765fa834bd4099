package statestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/processor"
	"github.com/millrace/millrace/internal/state"
	"github.com/millrace/millrace/internal/stateful/transform"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// custom is what a reader sees of the state of a stateful processor: one of its variables, or its timers.
type custom struct {
	keys     []types.DataType // of the grouping key
	variable transform.Variable
	timers   bool
	// whole puts a list or a map into one row instead of one for each element.
	whole bool
}

// describeCustom finds the variable that the options ask for, and the schema of its table.
func (t *table) describeCustom(ctx context.Context, h state.Header) error {
	spec, err := h.Spec()
	if err != nil {
		return t.o.noSchema(err)
	}
	c := &custom{keys: spec.KeyTypes(), timers: t.o.timers, whole: !t.o.flatten}
	vars, mode, err := t.state.variables(ctx, t.o.batch)
	if err != nil {
		return err
	}
	switch {
	case t.o.feed:
		return conflict("readChangeFeed", "stateVarName")
	case c.timers && mode == processor.None.String():
		return invalid("readRegisteredTimers", "the processor's time mode is None, which has no timers")
	case !c.timers && t.o.variable == "":
		return missing("stateVarName")
	case !c.timers:
		i := slices.IndexFunc(vars, func(v transform.Variable) bool { return v.Name == t.o.variable })
		if i < 0 {
			return invalid("stateVarName", fmt.Sprintf("the processor has no state variable %s; %s", t.o.variable, namesOf(vars)))
		}
		c.variable = vars[i]
	}
	t.custom, t.partitions = c, h.Partitions
	key := types.StructType{}
	for i, f := range spec.Keys {
		f.Nullable = true
		if len(h.Views) == 1 && i < len(h.Views[0].Key) {
			f.Name = h.Views[0].Key[i].Name
		}
		key.Fields = append(key.Fields, f)
	}
	t.schema.Fields = append([]types.Field{{Name: "key", Type: key, Nullable: true}}, c.fields()...)
	t.schema.Fields = append(t.schema.Fields, types.Field{Name: "partition_id", Type: types.Integer, Nullable: true})
	return nil
}

func namesOf(vars []transform.Variable) string {
	text := "it has none"
	for i, v := range vars {
		if i == 0 {
			text = "it has " + v.Name
		} else {
			text += ", " + v.Name
		}
	}
	return text
}

// fields are the columns between the key and the partition.
func (c *custom) fields() []types.Field {
	if c.timers {
		return []types.Field{{Name: "expiration_timestamp_ms", Type: types.Long, Nullable: true}}
	}
	v := c.variable
	value := types.DataType(asStruct(v.Value))
	if v.TTL {
		value = types.StructType{Fields: []types.Field{
			{Name: "value", Type: value, Nullable: true}, {Name: "ttlExpirationMs", Type: types.Long, Nullable: true},
		}}
	}
	switch {
	case v.Kind == processor.List && c.whole:
		return []types.Field{{Name: "list_value", Type: types.ArrayType{Element: value, ContainsNull: true}, Nullable: true}}
	case v.Kind == processor.List:
		return []types.Field{{Name: "list_element", Type: value, Nullable: true}}
	case v.Kind == processor.Map && c.whole:
		return []types.Field{{Name: "map_value", Type: types.MapType{Key: asStruct(v.Key), Value: value, ValueContainsNull: true}, Nullable: true}}
	case v.Kind == processor.Map:
		return []types.Field{{Name: "user_map_key", Type: asStruct(v.Key), Nullable: true}, {Name: "user_map_value", Type: value, Nullable: true}}
	}
	return []types.Field{{Name: "value", Type: value, Nullable: true}}
}

// asStruct is the struct that Spark stores for a value: a type that is none becomes its only field.
func asStruct(t types.DataType) types.StructType {
	if st, ok := t.(types.StructType); ok {
		return st
	}
	return types.StructType{Fields: []types.Field{{Name: "value", Type: t, Nullable: true}}}
}

func wrap(x any, t types.DataType) any {
	if _, ok := t.(types.StructType); ok {
		return x
	}
	return types.Row{x}
}

// variables are those of the state behind a batch.
func (s *operatorState) variables(ctx context.Context, batch int64) (vars []transform.Variable, mode string, err error) {
	r, dir, version, err := s.place(batch)
	if err != nil {
		return nil, "", err
	}
	err = r.KVs(ctx, dir, version, func(kvs []state.KV) error {
		vars, mode, err = transform.Variables(kvs)
		return err
	})
	return vars, mode, err
}

// chunkRows is about how many rows a batch has.
const chunkRows = 8192

// readCustom reads the rows behind a batch.
func (t *table) readCustom(ctx context.Context, batch int64, add func(*vec.Batch)) error {
	r, dir, version, err := t.state.place(batch)
	if err != nil {
		return err
	}
	w := &customRows{c: t.custom, types: t.schema, add: add}
	return r.KVs(ctx, dir, version, func(kvs []state.KV) error {
		err := transform.Look(kvs, t.custom.keys, func(e transform.Entry) error {
			partition := state.PartitionOf(binary.BigEndian.Uint32(e.Place), t.partitions)
			if t.o.partition >= 0 && int64(partition) != t.o.partition {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return w.entry(e, int32(partition))
		})
		if err != nil {
			return err
		}
		return w.finish()
	})
}

// customRows makes rows of entries.
type customRows struct {
	c     *custom
	types types.StructType
	add   func(*vec.Batch)
	rows  []*vec.Builder
	n     int

	// A list or a map that is gathered in one row.
	place    []byte
	row      types.Row
	elements []any
	entries  types.MapValue
}

func (w *customRows) entry(e transform.Entry, partition int32) error {
	c := w.c
	if c.timers != (e.Variable == "") || e.Variable != c.variable.Name {
		return nil
	}
	if c.timers {
		return w.put(types.Row{e.Group, e.At, partition})
	}
	value := wrap(e.Value, c.variable.Value)
	if c.variable.TTL {
		value = types.Row{value, e.At}
	}
	single := e.Kind == processor.Value
	if c.whole && !single {
		if !bytes.Equal(w.place, e.Place) {
			if err := w.gathered(); err != nil {
				return err
			}
			w.place, w.row = bytes.Clone(e.Place), types.Row{e.Group, nil, partition}
		}
		if e.Kind == processor.List {
			w.elements = append(w.elements, value)
		} else {
			w.entries = append(w.entries, types.MapEntry{Key: wrap(e.MapKey, c.variable.Key), Value: value})
		}
		return nil
	}
	if e.Kind == processor.Map {
		return w.put(types.Row{e.Group, wrap(e.MapKey, c.variable.Key), value, partition})
	}
	return w.put(types.Row{e.Group, value, partition})
}

// gathered puts the row of the list or map that is complete.
func (w *customRows) gathered() error {
	if w.row == nil {
		return nil
	}
	row := w.row
	if w.c.variable.Kind == processor.List {
		row[1] = w.elements
	} else {
		row[1] = w.entries
	}
	w.row, w.elements, w.entries = nil, nil, nil
	return w.put(row)
}

func (w *customRows) put(row types.Row) error {
	if w.rows == nil {
		for _, f := range w.types.Fields {
			w.rows = append(w.rows, vec.NewBuilder(f.Type))
		}
	}
	for i, x := range row {
		if err := w.rows[i].AppendValue(x); err != nil {
			return errclass.New("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", err.Error()).WithCause(err)
		}
	}
	if w.n++; w.n == chunkRows {
		w.flush()
	}
	return nil
}

func (w *customRows) flush() {
	if w.n == 0 {
		return
	}
	cols := make([]*vec.Vector, len(w.rows))
	for i, b := range w.rows {
		cols[i] = b.Finish()
	}
	w.add(vec.NewBatch(w.n, cols...))
	w.rows, w.n = nil, 0
}

func (w *customRows) finish() error {
	err := w.gathered()
	w.flush()
	return err
}
