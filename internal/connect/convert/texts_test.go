package convert

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/connector"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// texts is one line of testdata/texts.jsonl: texts of a DataFrame, how they are read, and what Apache Spark 4.2.0 makes of them.
type texts struct {
	Format  string
	Texts   []*string
	Schema  string
	Options map[string]string
	Type    string
	Rows    []string
	Error   string
}

// A column of texts is read as the lines of a file are.
func TestTexts(t *testing.T) {
	connector.RegisterAll()
	sv := session.NewServer(engine.New(engine.Runtime{Parallelism: 1, Warehouse: t.TempDir()}), nil)
	f, err := os.Open("testdata/texts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var tt texts
		if err := json.Unmarshal(lines.Bytes(), &tt); err != nil {
			t.Fatal(err)
		}
		s := sv.New("me", "")
		kind, rows, err := readTexts(t, s, tt)
		if tt.Error != "" {
			if !errclass.Has(err, tt.Error) {
				t.Errorf("%s: %v, want %s", lines.Text(), err, tt.Error)
			}
			continue
		}
		if err != nil || kind != tt.Type {
			t.Errorf("%s: %s, %v", lines.Text(), kind, err)
		} else if d := cmp.Diff(append([]string{}, tt.Rows...), append([]string{}, rows...)); d != "" {
			t.Errorf("%s:\n%s", lines.Text(), d)
		}
	}
}

// readTexts gives the type of what is read and its rows as JSON.
func readTexts(t *testing.T, s *session.Session, tt texts) (kind string, rows []string, err error) {
	in := []types.Row{}
	for _, x := range tt.Texts {
		if x == nil {
			in = append(in, types.Row{nil})
		} else {
			in = append(in, types.Row{*x})
		}
	}
	local, err := plan.LocalRows(types.Struct(types.NewField("value", types.String)), in)
	if err != nil {
		t.Fatal(err)
	}
	s.PutRemote("in", local)
	m := &connectpb.Parse{
		Input:   &connectpb.Relation{RelType: &connectpb.Relation_CachedRemoteRelation{CachedRemoteRelation: &connectpb.CachedRemoteRelation{RelationId: "in"}}},
		Format:  map[string]connectpb.Parse_ParseFormat{"json": connectpb.Parse_PARSE_FORMAT_JSON, "csv": connectpb.Parse_PARSE_FORMAT_CSV, "xml": connectpb.Parse_PARSE_FORMAT_XML}[tt.Format],
		Options: tt.Options,
	}
	if tt.Schema != "" {
		schema, err := types.ParseDDL(tt.Schema)
		if err != nil {
			t.Fatal(err)
		}
		m.Schema = typepb.Message(schema)
	}
	n, err := New(t.Context(), s).parse(m)
	if err != nil {
		return "", nil, err
	}
	st, err := s.Schema(t.Context(), n)
	if err != nil {
		return "", nil, err
	}
	if len(st.Fields) == 0 {
		return st.SimpleString(), nil, nil
	}
	if err := s.CreateView(t.Context(), "v", n, false, true); err != nil {
		return "", nil, err
	}
	q, err := sql.ParseStatement("select to_json(struct(*), map('ignoreNullFields', 'false')) from v", s.SQLOptions())
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := s.Rows(t.Context(), q.(*plan.Query).Plan)
	for _, r := range got {
		rows = append(rows, r[0].(string))
	}
	return st.SimpleString(), rows, err
}
