package fn

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func TestGetItem(t *testing.T) {
	arr, m := types.ArrayOf(types.Integer), types.MapOf(types.String, types.Long)
	for _, c := range []struct {
		name string
		ansi bool
		t    types.DataType
		of   []any
		keyT types.DataType
		keys []any
		want []any
		err  string
	}{
		{
			"elements", true, arr,
			[]any{[]any{int32(1), nil}, []any{int32(7), int32(8)}, nil},
			types.Long,
			[]any{int64(0), int64(1), int64(0)},
			[]any{int32(1), int32(8), nil},
			"",
		},
		{"null element and null position", true, arr, []any{[]any{int32(1), nil}, []any{}}, types.Long, []any{int64(1), nil}, []any{nil, nil}, ""},
		{"outside", false, arr, []any{[]any{int32(1)}, []any{int32(1)}}, types.Long, []any{int64(1), int64(-1)}, []any{nil, nil}, ""},
		{"outside under ANSI", true, arr, []any{[]any{int32(1)}}, types.Long, []any{int64(1)}, nil, "INVALID_ARRAY_INDEX"},
		{
			"entries", true, m,
			[]any{types.MapValue{{Key: "a", Value: int64(1)}, {Key: "b", Value: int64(2)}}, types.MapValue{}, nil},
			types.String,
			[]any{"b", "a", "a"},
			[]any{int64(2), nil, nil},
			"",
		},
	} {
		b, err := Lookup("getitem").Bind(&Binding{Name: "getitem", ANSI: c.ansi, Args: []Arg{{Type: c.t, Nullable: true}, {Type: c.keyT, Nullable: true}}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		of, err := vec.FromValues(c.t, c.of...)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := vec.FromValues(c.keyT, c.keys...)
		if err != nil {
			t.Fatal(err)
		}
		var e expr.Eval
		v := NewNode(b, []expr.Node{expr.NewColumn(0, c.t), expr.NewColumn(1, c.keyT)}).Eval(&e, vec.NewBatch(len(c.of), of, keys))
		if _, err, failed := e.Errs.First(); failed || c.err != "" {
			if !errclass.Has(err, c.err) || c.err == "" {
				t.Errorf("%s: got %v", c.name, err)
			}
			continue
		}
		got := make([]any, v.Len())
		for i := range got {
			got[i] = vec.ValueAt(v, i)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
