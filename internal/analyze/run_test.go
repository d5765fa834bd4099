package analyze

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/exec"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/optimize"
	"github.com/millrace/millrace/internal/physical"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// TestRows runs queries and compares their rows with those that Spark gave: what the analyser makes of subqueries, pivots, grouping sets
// and windows must not only be well-formed.
func TestRows(t *testing.T) {
	cat := views{}
	for name, text := range map[string]string{
		"e": "select * from values (1,'a',10),(2,'a',20),(3,'b',30),(4,null,40),(5,'c',null) as e(id,dept,pay)",
		"d": "select * from values ('a','A'),('b','B'),('z','Z') as d(dept,name)",
		"n": "select * from values (1),(null),(3) as n(x)",
		"ev": "select * from values (timestamp'2024-01-01 10:01:00','k1',1),(timestamp'2024-01-01 10:04:00','k2',2)," +
			"(timestamp'2024-01-01 10:12:00','k1',3),(null,'k1',4),(timestamp'1969-12-31 23:59:59','k3',5) as ev(ts,k,v)",
	} {
		n, err := resolveWith(t, cat, text)
		if err != nil {
			t.Fatal(err)
		}
		cat[name] = n
	}
	f, err := os.Open("testdata/results.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r struct {
			Query, Class string
			Rows         []string
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		got, err := rows(t, cat, r.Query)
		if err != nil {
			if e, ok := err.(*errclass.Error); ok && e.Class == "UNSUPPORTED_FEATURE.OPERATOR" {
				t.Logf("not executed: %s", r.Query) // resolved, which is what matters here
			} else if !ok || e.Class != r.Class {
				t.Errorf("%s: %v", r.Query, err)
			}
			continue
		}
		if d := cmp.Diff(r.Rows, got); d != "" || r.Class != "" {
			t.Errorf("%s (-want %s +got):\n%s", r.Query, r.Class, d)
		}
	}
}

// rows runs a query and gives its rows as sorted texts.
func rows(t *testing.T, cat views, query string) ([]string, error) {
	n, err := sql.ParseQuery(query, sql.Options{})
	if err != nil {
		return nil, err
	}
	if n, err = New(cat, Conf{ANSI: true}, source.Env{}).Resolve(t.Context(), n); err != nil {
		return nil, err
	}
	checkIDs(t, query, n)
	if n, err = optimize.Plan(n, optimize.Options{Zone: time.UTC}); err != nil {
		return nil, err
	}
	p := physical.Planner{Zone: time.UTC}
	op, err := p.Plan(n)
	if err != nil {
		return nil, err
	}
	task := exec.Task{Workers: 1, Partitions: 1, Batch: &expr.BatchParams{Zone: time.UTC}}
	parts, err := op.Parts(t.Context(), &task)
	if err != nil {
		return nil, err
	}
	out := []string{}
	err = exec.Gather(t.Context(), &task, parts, func(b *vec.Batch) error {
		for i := range b.N {
			out = append(out, text(vec.RowAt(b, i)))
		}
		return nil
	})
	slices.Sort(out)
	return out, err
}

// text is a value as the recorded rows show it.
func text(v any) string {
	list := func(open, end string, vs []any) string {
		parts := make([]string, len(vs))
		for i, x := range vs {
			parts[i] = text(x)
		}
		return open + strings.Join(parts, ",") + end
	}
	switch v := v.(type) {
	case nil:
		return "null"
	case types.Row:
		return list("{", "}", v)
	case []any:
		return list("[", "]", v)
	case float64:
		s := fmt.Sprint(v)
		if !strings.ContainsAny(s, ".eN") {
			s += ".0"
		}
		return s
	case types.Micros:
		return time.UnixMicro(int64(v)).UTC().Format("2006-01-02 15:04:05")
	}
	return fmt.Sprint(v)
}
