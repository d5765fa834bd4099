package agg

import (
	"slices"
	"testing"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/jsonrow"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// The schema of a group does not depend on how its rows are spread over partial results. The schemas are Spark's.
func TestVariantSchemas(t *testing.T) {
	for _, c := range []struct {
		want  string
		texts []string
	}{
		{"BIGINT", []string{"1", "2", "3"}},
		{"OBJECT<a: BIGINT, b: STRING>", []string{`{"a":1}`, `{"b":"x"}`, "null"}},
		{"ARRAY<VARIANT>", []string{"[1]", `["x"]`}},
		{"VARIANT", []string{"[1]", `{"a":1}`}},
		{"DECIMAL(22,2)", []string{"1", "1.25"}},
		{"DOUBLE", []string{"99999999999999999999999999999999999999", "1.25"}},
		{"VOID", nil},
	} {
		r := jsonrow.NewVariantReader(false)
		b := vec.NewBuilder(types.Variant)
		for _, text := range c.texts {
			v, err := r.Read([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			b.Child(0).AppendBytes(v.Value())
			b.Child(1).AppendBytes(v.AppendMeta(nil))
			b.AppendStruct(true)
		}
		b.AppendNull()
		rows := b.Finish()
		f, err := Lookup("schema_of_variant_agg").Bind(&Binding{Name: "schema_of_variant_agg", Args: []fn.Arg{{Type: types.Variant}}})
		if err != nil {
			t.Fatal(err)
		}
		var e expr.Eval
		total := f.New()
		total.Grow(1)
		for i := range rows.Len() {
			part := f.New()
			part.Grow(1)
			part.Update(&e, []uint32{0}, []*vec.Vector{rows.Slice(i, 1)})
			total.Merge(&e, []uint32{0}, part.Save([]uint32{0}))
		}
		whole := f.New()
		whole.Grow(1)
		whole.Update(&e, slices.Repeat([]uint32{0}, rows.Len()), []*vec.Vector{rows})
		for _, s := range []States{total, whole} {
			if got := s.Emit(&e, []uint32{0}).StringAt(0); got != c.want {
				t.Errorf("%q: %s, want %s", c.texts, got, c.want)
			}
		}
	}
}
