package fn

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// literals are constants of all kinds of types, and nulls of them.
func literals(t *testing.T) []Arg {
	var out []Arg
	for _, l := range []struct {
		t types.DataType
		v any
	}{
		{types.Null, nil},
		{types.Boolean, true},
		{types.Byte, int8(1)},
		{types.Short, int16(1)},
		{types.Integer, int32(2)},
		{types.Long, int64(2)},
		{types.Float, float32(1)},
		{types.Double, 1.5},
		{types.DecimalType{Precision: 3, Scale: 1}, types.DecimalFromInt64(15, 1)},
		{types.String, "hex"},
		{types.Binary, []byte{1}},
		{types.Date, types.Days(1)},
		{types.Timestamp, types.Micros(1)},
		{types.ArrayOf(types.Integer), []any{int32(1)}},
		{types.MapType{Key: types.String, Value: types.Integer}, types.MapValue{{Key: "a", Value: int32(1)}}},
		{types.StructType{Fields: []types.Field{types.NewField("a", types.Integer)}}, types.Row{int32(1)}},
	} {
		for _, v := range []any{l.v, nil} {
			b := vec.NewBuilder(l.t)
			if err := b.AppendValue(v); err != nil {
				t.Fatal(err)
			}
			out = append(out, Arg{Type: l.t, Nullable: v == nil, Const: b.Finish(), SQL: fmt.Sprint(v)})
		}
	}
	return out
}

// Literals of any types are bound or refused: none makes a function stumble that looks at them while it is bound.
func TestLiteralsOfAnyType(t *testing.T) {
	all := literals(t)
	bind := func(name string, args ...Arg) {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s: %v", CallSQL(name, args), r)
			}
		}()
		_, _ = Lookup(name).Bind(&Binding{Name: name, Args: args, ANSI: true, Zone: time.UTC})
	}
	for _, name := range Names() {
		bind(name)
		for i, a := range all {
			bind(name, a)
			for j, b := range all {
				bind(name, a, b)
				if (i+j)%5 == 0 {
					bind(name, a, b, all[(i*7+j*3)%len(all)])
				}
			}
		}
	}
}
