package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/types"
)

// answer is what a server says to a question.
type answer struct {
	schema string
	rows   [][]any
	class  string // of an error, with its SQLSTATE
	place  string // in the query, of an error
	err    error
}

// numbered is how conditions of Spark begin that have no name yet. Any name will do instead.
const numbered = "_LEGACY_ERROR_TEMP_"

// noCondition stands for the condition of an error that has none.
const noCondition = "(no condition)"

// timeout is how long a server may think.
const timeout = time.Minute

// ask runs a query.
func ask(ctx context.Context, s *millrace.Session, query string) answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	df, err := s.SQL(ctx, query)
	if err != nil {
		return failed(err)
	}
	schema, err := df.Schema(ctx)
	if err != nil {
		return failed(err)
	}
	rows, err := df.Collect(ctx)
	if err != nil {
		return failed(err)
	}
	a := answer{schema: schema.SQL()}
	for _, r := range rows {
		vs := make([]any, r.Len())
		for i := range vs {
			vs[i] = r.At(i)
		}
		a.rows = append(a.rows, vs)
	}
	return a
}

// failed is the answer that is an error.
func failed(err error) answer {
	a := answer{class: noCondition, err: err}
	if e, ok := errors.AsType[*millrace.Error](err); ok && e.Class != "" {
		a.class = e.Class + " " + e.SQLState
		if len(e.Context) > 0 && e.Context[0].Start >= 0 {
			a.place = fmt.Sprintf("%d-%d", e.Context[0].Start, e.Context[0].Stop)
		}
	}
	return a
}

// differ says in what the answers of millrace and of Spark differ; nothing when they do not. The order of rows does not count.
func differ(a, b answer) string {
	switch {
	case a.err != nil && b.err != nil:
		if strings.HasPrefix(b.class, numbered) || strings.HasPrefix(b.class, "INTERNAL_ERROR ") || b.class == noCondition {
			return "" // the condition says nothing, or Spark failed over what millrace refuses
		}
		if a.class != b.class {
			return fmt.Sprintf("errors %s and %s", a.class, b.class)
		}
		if a.place != b.place && b.place != "" { // one that Spark does not tell is no loss
			return fmt.Sprintf("error %s at %q and %q", a.class, a.place, b.place)
		}
		return ""
	case a.err != nil:
		return "error " + a.class + " and rows"
	case strings.HasPrefix(b.class, "INTERNAL_ERROR"):
		return "" // a fault of Spark's own
	case b.err != nil:
		return "rows and error " + b.class
	case a.schema != b.schema:
		return fmt.Sprintf("schemas %s and %s", a.schema, b.schema)
	}
	x, y := texts(a.rows), texts(b.rows)
	if slices.Equal(x, y) {
		return ""
	}
	if len(x) != len(y) {
		return fmt.Sprintf("%d and %d rows", len(x), len(y))
	}
	for i := range x {
		if x[i] != y[i] {
			return fmt.Sprintf("rows %s and %s", x[i], y[i])
		}
	}
	return ""
}

func texts(rows [][]any) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = text(r)
	}
	slices.Sort(out)
	return out
}

// text writes a value so that equal ones are written alike. Twelve digits of a fraction count: the last ones depend on who computes
// sines.
func text(v any) string {
	switch v := v.(type) {
	case float64:
		return fraction(v, 64)
	case float32:
		return fraction(float64(v), 32)
	case []any:
		var out []string
		for _, x := range v {
			out = append(out, text(x))
		}
		return "[" + strings.Join(out, ", ") + "]"
	case types.Row:
		return text([]any(v))
	case types.MapValue:
		var out []string
		for _, e := range v {
			out = append(out, text(e.Key)+": "+text(e.Value))
		}
		slices.Sort(out)
		return "{" + strings.Join(out, ", ") + "}"
	case string:
		return strconv.Quote(v)
	case types.VariantValue:
		return fmt.Sprintf("%X %X", v.Metadata, v.Value)
	case []byte:
		return fmt.Sprintf("%X", v)
	}
	return fmt.Sprint(v)
}

func fraction(v float64, bits int) string {
	digits := 12
	if bits == 32 {
		digits = 6
	}
	if v == 0 && math.Signbit(v) {
		return "-0"
	}
	return strconv.FormatFloat(v, 'g', digits, bits)
}
