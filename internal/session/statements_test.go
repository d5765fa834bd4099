package session_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/types"
)

// statement is a statement with what Apache Spark 4.2.0 answered. Those of a block ran one after the other in a session and a
// database of their own.
type statement struct {
	Block   string   `json:"block"`
	SQL     string   `json:"sql"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	Class   string   `json:"class"`
	Place   []any    `json:"place"`   // fragment, first and last character
	Differs string   `json:"differs"` // why the answer here is another one
}

// changing are the parts of answers that differ from run to run: places of files, times, sizes, identities.
var changing = regexp.MustCompile(`(file:)?/[^" \n,'\]]*/(spark-warehouse|[0-9]{3})(/|\b)|(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w+ \d+ [\d:]+ \w+ \d+|20\d\d-\d\d-\d\dT[\d:]+Z|totalSize=\d+|DdlTime=\d+|[0-9a-f]{8}-[0-9a-f-]{27}|"Owner","\w+"`)

func steady(s string) string { return changing.ReplaceAllString(s, "…") }

func TestStatementsOfSpark(t *testing.T) {
	f, err := os.Open("testdata/statements.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sh *shell
	block := ""
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var want statement
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		if want.Block != block {
			block, sh = want.Block, newShell(t)
			sh.try("CREATE DATABASE sqp; USE sqp")
		}
		got := answer(sh.Session, want.SQL)
		if want.Differs != "" {
			continue
		}
		if a, b := want.text(), got.text(); a != b {
			t.Errorf("%s: %s\n got %s\nwant %s", block, want.SQL, b, a)
		}
	}
}

func (s statement) text() string {
	if s.Class != "" {
		return fmt.Sprint(s.Class, s.Place)
	}
	b, _ := json.Marshal(s.Rows)
	return steady(strings.Join(s.Columns, ", ")) + " " + steady(string(b))
}

// answer runs a statement and gives its outcome in the form of the record.
func answer(s *session.Session, text string) statement {
	out := statement{Columns: []string{}, Rows: [][]any{}}
	r, err := s.SQL(context.Background(), text, nil, nil)
	var rows []types.Row
	var st types.StructType
	if err == nil {
		rows, st, err = s.Rows(context.Background(), r.Plan)
	}
	if err != nil {
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok {
			e = errclass.Internal(err)
		}
		out.Class = e.Class
		if len(e.Context) > 0 && e.Class != "PARSE_SYNTAX_ERROR" && e.Class != "REQUIRES_SINGLE_PART_NAMESPACE" {
			c := e.Context[0]
			out.Place = []any{c.Fragment, float64(c.Start), float64(c.Stop)}
		}
		return out
	}
	for _, f := range st.Fields {
		text := f.Name + " " + f.Type.SimpleString()
		if !f.Nullable {
			text += " NOT NULL"
		}
		out.Columns = append(out.Columns, text)
	}
	for _, row := range rows {
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = plainValue(v)
		}
		out.Rows = append(out.Rows, values)
	}
	return out
}

func plainValue(v any) any {
	switch v := v.(type) {
	case nil, bool, string:
		return v
	case int8, int16, int32, int64:
		return v
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			list[i] = plainValue(x)
		}
		return list
	case types.Row:
		return plainValue([]any(v))
	}
	return fmt.Sprint(v)
}
