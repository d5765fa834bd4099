package csvrow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/numtext"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// castText prints a value as a cast to STRING does.
func castText(v any, t types.DataType) string {
	switch v := v.(type) {
	case float64:
		return string(numtext.AppendFloat(nil, v, 64))
	case float32:
		return string(numtext.AppendFloat(nil, float64(v), 32))
	case types.Micros:
		return string(datetime.AppendTimestamp(nil, int64(v)))
	case types.MicrosNTZ:
		return string(datetime.AppendTimestamp(nil, int64(v)))
	case types.Days:
		return string(datetime.AppendDate(nil, int64(v)))
	case []byte:
		return string(v)
	case types.YearMonth:
		t := t.(types.YearMonthIntervalType)
		return string(interval.AppendYearMonth(nil, int32(v), t.Start, t.End))
	case types.DayTime:
		t := t.(types.DayTimeIntervalType)
		return string(interval.AppendDayTime(nil, int64(v), t.Start, t.End))
	}
	return fmt.Sprint(v)
}

// TestValues reads texts with the types and options of real programs; the rows are those of Apache Spark 4.2.0.
func TestValues(t *testing.T) {
	for n, c := range goldens[struct {
		Schema string
		Text   string
		Opts   map[string]string
		Select []string
		Rows   [][]*string
	}](t, "testdata/values.jsonl") {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			o := optionsOf(t, c.Opts)
			o.Now = func() time.Time { return time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC) }
			r := newReader(t, c.Schema, strings.Join(c.Select, ","), o)
			if o.Header {
				r.SkipHeader()
			}
			var err error
			switch {
			case o.MultiLine:
				if err = r.Document([]byte(c.Text)); err == nil {
					_, err = r.Records(1000)
				}
			case o.LineSep != "":
				for line := range strings.SplitSeq(c.Text, o.LineSep) {
					if err == nil {
						err = r.Record([]byte(line))
					}
				}
			default:
				_, err = r.Lines(pad(c.Text), 0, len(c.Text), 1000)
			}
			if err != nil {
				t.Fatal(err)
			}
			b := r.Take()
			var got, want []string
			for i := range b.N {
				var row []string
				for _, col := range b.Cols {
					s := "null"
					if v := vec.ValueAt(col, i); v != nil {
						s = castText(v, col.Type())
					}
					row = append(row, s)
				}
				got = append(got, strings.Join(row, " | "))
			}
			for _, r := range c.Rows {
				var row []string
				for _, s := range r {
					if s == nil {
						row = append(row, "null")
					} else {
						row = append(row, *s)
					}
				}
				want = append(want, strings.Join(row, " | "))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s %v %q: -want +got\n%s", c.Schema, c.Opts, c.Text, d)
			}
		})
	}
}

// TestInference compares schemas with those of Apache Spark 4.2.0.
func TestInference(t *testing.T) {
	for _, c := range goldens[struct {
		Text   string
		Opts   map[string]string
		Schema string
	}](t, "testdata/schemas.jsonl") {
		inf, err := NewInference(optionsOf(t, c.Opts))
		if err != nil {
			t.Fatal(err)
		}
		if inf.opts.MultiLine {
			err = inf.Document([]byte(c.Text))
		} else {
			err = inf.Lines([]byte(c.Text), len(c.Text))
		}
		if got := inf.Schema().SimpleString(); err != nil || got != c.Schema {
			t.Errorf("%v %q: %s, want %s (%v)", c.Opts, c.Text, got, c.Schema, err)
		}
	}
}

func TestFailFast(t *testing.T) {
	for _, tt := range []struct {
		text string
		opts map[string]string
		want string
	}{
		{"1,x\n", map[string]string{"mode": "FAILFAST"}, ""},
		{"x,x\n", map[string]string{"mode": "FAILFAST"}, "CAST_INVALID_INPUT"},
		{"1\n", map[string]string{"mode": "FAILFAST"}, "MALFORMED_CSV_RECORD"},
		{"1,2,3\n", map[string]string{"mode": "FAILFAST"}, "MALFORMED_CSV_RECORD"},
		{"1,2,3,4,5\n", map[string]string{"maxColumns": "3"}, "MALFORMED_CSV_RECORD"},
		{"1,2,3\n", map[string]string{"maxColumns": "3"}, ""},
		{"1,xyz\n", map[string]string{"maxCharsPerColumn": "3"}, ""},
		{"1,wxyz\n", map[string]string{"maxCharsPerColumn": "3"}, "MALFORMED_CSV_RECORD"},
		{"1,\"wxyz\"\n", map[string]string{"maxCharsPerColumn": "3"}, "MALFORMED_CSV_RECORD"},
		{"1,\"a\"b\n", map[string]string{"unescapedQuoteHandling": "RAISE_ERROR"}, "MALFORMED_CSV_RECORD"},
		{"1,\"a\" b\n", map[string]string{"unescapedQuoteHandling": "RAISE_ERROR"}, "MALFORMED_CSV_RECORD"},
		{"1,\"" + strings.Repeat("\"\\", 5000) + "\n", map[string]string{"unescapedQuoteHandling": "STOP_AT_CLOSING_QUOTE"}, "MALFORMED_CSV_RECORD"},
	} {
		r := newReader(t, "a INT, b STRING", "", optionsOf(t, tt.opts))
		_, err := r.Lines(pad("1,y\n"+tt.text), 0, 4+len(tt.text), 10)
		rows := r.Take().N
		if tt.want == "" && (err != nil || rows != 2) || tt.want != "" && (!errclass.Has(err, tt.want) || rows != 1) {
			t.Errorf("%.50q %v: %d rows, %v", tt.text, tt.opts, rows, err)
		}
	}
}

func TestHeader(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		opts       map[string]string
		ok         bool
	}{
		{"a,b\n1,2\n", "", nil, true},
		{"A,\"b\"\n1,2\n", "", nil, true},
		{"\n  \na,b\n1,2\n", "", nil, true},
		{"b,a\n1,2\n", "", nil, false},
		{"a\n1,2\n", "", nil, false},
		{"a,b,c\n1,2\n", "", nil, false},
		{"x,b,c\n1,2\n", "b", nil, true},
		{"a,x\n1,2\n", "b", nil, false},
		{"b,a\n1,2\n", "", map[string]string{"enforceSchema": "true"}, true},
		{"#b\n,a\n1,2\n", "", map[string]string{"comment": "#", "enforceSchema": "true"}, true},
	} {
		opts := map[string]string{"header": "true", "enforceSchema": "false"}
		for k, v := range tt.opts {
			opts[k] = v
		}
		for _, multi := range []bool{false, true} {
			o := optionsOf(t, opts)
			r := newReader(t, "a INT, b STRING", tt.want, o)
			r.SkipHeader()
			var err error
			if multi {
				if strings.Contains(tt.text, "  ") {
					continue // a line of blanks is a record there
				}
				if err = r.Document([]byte(tt.text)); err == nil {
					_, err = r.Records(10)
				}
			} else {
				_, err = r.Lines(pad(tt.text), 0, len(tt.text), 10)
			}
			if rows := r.Take().N; (err == nil) != tt.ok || tt.ok && rows != 1 || err != nil && !errclass.Has(err, "CSV_HEADER_MISMATCH") {
				t.Errorf("%q: %d rows, %v", tt.text, rows, err)
			}
		}
	}
}
