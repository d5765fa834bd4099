package lsm

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/internal/vec/valuetest"
	"github.com/millrace/millrace/types"
)

// What is written can be read again, and nothing that is cut off or changed makes reading fail otherwise than with an error.
func TestRowsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ts []types.DataType
		for range rapid.IntRange(1, 3).Draw(t, "columns") {
			ts = append(ts, valuetest.Type(t, 2))
		}
		n := rapid.IntRange(1, 5).Draw(t, "rows")
		want := make([][]any, n)
		var cols []*vec.Vector
		for _, typ := range ts {
			b := vec.NewBuilder(typ)
			for i := range n {
				v := valuetest.Value(t, typ, true)
				want[i] = append(want[i], v)
				if err := b.AppendValue(v); err != nil {
					t.Fatal(err)
				}
			}
			cols = append(cols, b.Finish())
		}
		enc := rowBuf{canonical: rapid.Bool().Draw(t, "canonical")}
		enc.encode(cols, n)
		enc.encode(cols, n) // over the old content
		rows := make([][]byte, n)
		for i := range rows {
			rows[i] = append(append([]byte(nil), enc.row(i)...), 'x')
		}
		got, err := decodeRows(rows, ts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if string(rows[i]) != "x" {
				t.Fatalf("%d bytes are left of row %d", len(rows[i])-1, i)
			}
			for c := range ts {
				if d := cmp.Diff(want[i][c], vec.ValueAt(got[c], i), cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
					t.Fatalf("row %d, column %d of %s (-want +got)\n%s", i, c, ts[c].SQL(), d)
				}
			}
		}
		bad := append([]byte(nil), enc.row(0)...)
		bad = bad[:rapid.IntRange(0, len(bad)).Draw(t, "cut")]
		if len(bad) > 0 && rapid.Bool().Draw(t, "change") {
			bad[rapid.IntRange(0, len(bad)-1).Draw(t, "at")] ^= 0x55
		}
		_, _ = decodeRows([][]byte{bad}, ts)
	})
}
