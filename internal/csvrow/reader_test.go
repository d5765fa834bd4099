package csvrow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// pad copies a text and puts bytes behind it that are none of its own.
func pad(s string) []byte { return append([]byte(s), "\",x\n\",x\n\",x\n\",x\n"...) }

func newSchema(t testing.TB, ddl string) types.StructType {
	t.Helper()
	schema, err := types.ParseDDL(ddl)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func newReader(t testing.TB, ddl, want string, opts Options) *Reader {
	t.Helper()
	data := newSchema(t, ddl)
	some := data
	if want != "" {
		some = types.StructType{}
		for name := range strings.SplitSeq(want, ",") {
			some.Fields = append(some.Fields, data.Fields[data.Index(name)])
		}
	}
	r, err := NewReader(data, some, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rowsOf prints the rows of a batch.
func rowsOf(b *vec.Batch) []string {
	out := make([]string, b.N)
	for i := range out {
		row := make([]string, len(b.Cols))
		for k, c := range b.Cols {
			row[k] = showValue(vec.ValueAt(c, i))
		}
		out[i] = strings.Join(row, " | ")
	}
	return out
}

func showValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case types.Micros:
		return time.UnixMicro(int64(v)).UTC().Format("2006-01-02 15:04:05.999999")
	case types.MicrosNTZ:
		return time.UnixMicro(int64(v)).UTC().Format("2006-01-02 15:04:05.999999")
	case types.Days:
		return time.Unix(int64(v)*86400, 0).UTC().Format("2006-01-02")
	}
	return fmt.Sprint(v)
}

func readLines(t testing.TB, r *Reader, text string, max int) ([]string, error) {
	t.Helper()
	var out []string
	p := pad(text)
	for i := 0; i < len(text); {
		next, err := r.Lines(p, i, len(text), max)
		out = append(out, rowsOf(r.Take())...)
		if err != nil {
			return out, err
		}
		i = next
	}
	return out, nil
}

// TestReaderGoldens reads the recorded lines as texts of lines.
func TestReaderGoldens(t *testing.T) {
	all := goldens[record](t, goldenPath())
	const width = 19
	var ddl []string
	for i := range width {
		ddl = append(ddl, fmt.Sprintf("c%d STRING", i))
	}
	for len(all) > 0 {
		n := 0
		for n < len(all) && cmp.Equal(all[n].Options, all[0].Options) {
			n++
		}
		var text strings.Builder
		var want []string
		for i, r := range all[:n] {
			text.WriteString(r.Text + []string{"\n", "\r\n", "\r"}[i%3])
			row := make([]string, 0, width+1)
			for k := range width {
				v := "null"
				if k < len(r.Values) && r.Values[k] != nil {
					v = *r.Values[k]
				}
				row = append(row, v)
			}
			want = append(want, strings.Join(append(row, r.Text), " | "))
		}
		r := newReader(t, strings.Join(ddl, ",")+", _corrupt_record STRING", "", optionsOf(t, all[0].Options))
		got, err := readLines(t, r, text.String(), 7)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: -want +got\n%.2000s", all[0].Options, d)
		}
		all = all[n:]
	}
}
