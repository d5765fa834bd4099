package session_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// formatCase is a use of a file format under some options, with what Apache Spark 4.2.0 answered.
type formatCase struct {
	Key     string
	Format  string
	Options map[string]string
	// Files are read by Query, or as a whole, with a Schema or without one.
	Files         map[string]string
	Schema, Query string
	// Select is written.
	Select string
	Answer formatAnswer
}

type formatAnswer struct {
	Schema       string            `json:"schema,omitempty"`
	Rows         []string          `json:"rows,omitempty"`
	Files        map[string]string `json:"files,omitempty"` // by the end of their names
	Class, State string
}

// TestFormatsOfSpark compares reading and writing under each option with testdata/formats.jsonl (made by record_formats.py). The cases in
// testdata/formats_differ.txt have another answer here.
func TestFormatsOfSpark(t *testing.T) {
	differ := map[string]bool{}
	listed, err := os.ReadFile("testdata/formats_differ.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(listed), "\n") {
		if !strings.HasPrefix(line, "#") {
			for _, key := range strings.Fields(line) {
				differ[key] = true
			}
		}
	}
	f, err := os.Open("testdata/formats.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newShell(t)
	if _, condition := s.try("SET TIME ZONE 'UTC'"); condition != "" {
		t.Fatal(condition)
	}
	dir := t.TempDir()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c formatCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		answer, what := s.written, "written"
		if c.Select == "" {
			answer, what = s.readBack, "read"
		}
		got, err := answer(c, filepath.Join(dir, c.Key))
		if err != nil {
			e := errclass.Internal(err)
			got = formatAnswer{Class: e.Class, State: e.SQLState}
		}
		d := cmp.Diff(c.Answer, got, cmpopts.EquateEmpty())
		switch {
		case d == "" && differ[c.Key]:
			t.Errorf("%s is as in Spark and should not be in formats_differ.txt", c.Key)
		case d != "" && !differ[c.Key]:
			t.Errorf("%s: %s %s %v %s%s (-Spark +got, %v):\n%s", c.Key, c.Format, what, c.Options, c.Schema, c.Select, err, d)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// sqlText writes a string literal.
func sqlText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\x00", `\0`, "\t", `\t`).Replace(s) + "'"
}

func sqlOptions(options map[string]string) string {
	var list []string
	for k, v := range options {
		list = append(list, sqlText(k)+" "+sqlText(v))
	}
	if list == nil {
		return ""
	}
	return "OPTIONS (" + strings.Join(list, ", ") + ")"
}

// ask runs a statement.
func (s *shell) ask(text string) ([]types.Row, types.StructType, error) {
	r, err := s.SQL(context.Background(), text, nil, nil)
	if err != nil {
		return nil, types.StructType{}, err
	}
	return s.Rows(context.Background(), r.Plan)
}

// readBack reads the files of a case.
func (s *shell) readBack(c formatCase, dir string) (a formatAnswer, err error) {
	for name, text := range c.Files {
		content := []byte(text)
		if encoded, ok := strings.CutPrefix(text, "base64:"); ok {
			if content, err = base64.StdEncoding.DecodeString(encoded); err != nil {
				return a, err
			}
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return a, err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return a, err
		}
	}
	columns := ""
	if c.Schema != "" {
		columns = "(" + c.Schema + ")"
	}
	view := "CREATE OR REPLACE TEMPORARY VIEW fv " + columns + " USING " + c.Format + " "
	options := map[string]string{"path": dir}
	for k, v := range c.Options {
		options[k] = v
	}
	if _, _, err := s.ask(view + sqlOptions(options)); err != nil {
		return a, err
	}
	query := "SELECT * FROM fv"
	if c.Query != "" {
		query = strings.ReplaceAll(c.Query, "{v}", "fv")
	}
	r, err := s.SQL(context.Background(), query, nil, nil)
	if err != nil {
		return a, err
	}
	n, err := s.Analyze(context.Background(), r.Plan)
	if err != nil {
		return a, err
	}
	st := types.StructType{}
	for _, f := range n.Output() {
		st.Fields = append(st.Fields, types.Field{Name: f.Name, Type: f.T})
	}
	a.Schema = st.SimpleString()
	shown := "to_json(struct(*), map('ignoreNullFields', 'false'))"
	if len(st.Fields) == 0 {
		shown = "count(*)"
	}
	rows, _, err := s.ask("SELECT " + shown + " FROM (" + query + ")")
	for _, row := range rows {
		a.Rows = append(a.Rows, fmt.Sprint(row[0]))
	}
	slices.Sort(a.Rows)
	return a, err
}

// named is how the names of files of parts begin.
var named = regexp.MustCompile(`^part-\d+-[0-9a-f-]{36}(-c\d+|\.c\d+)?`)

// packed are the ends of names of files that are not compared byte by byte.
var packed = regexp.MustCompile(`\.(bz2|deflate|lz4|snappy|zst|parquet)$`)

// written writes the query of a case.
func (s *shell) written(c formatCase, dir string) (a formatAnswer, err error) {
	text := "INSERT OVERWRITE DIRECTORY " + sqlText(dir) + " USING " + c.Format + " " + sqlOptions(c.Options) + " " + c.Select
	if _, _, err := s.ask(text); err != nil {
		return a, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return a, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return a, err
		}
		end := named.ReplaceAllString(e.Name(), "")
		switch {
		case strings.HasSuffix(end, ".gz"):
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return a, err
			}
			if b, err = io.ReadAll(r); err != nil {
				return a, err
			}
		case strings.HasSuffix(end, ".avro"):
			_, b, _ = bytes.Cut(b, []byte("avro.schema"))
			n, size := binary.Varint(b)
			b = b[size : size+int(n)]
		case packed.MatchString(end):
			b = nil
		}
		if a.Files == nil {
			a.Files = map[string]string{}
		}
		a.Files[end] += string(b)
	}
	for end, text := range a.Files {
		if strings.ContainsFunc(text, func(r rune) bool { return r > 127 }) {
			a.Files[end] = "base64:" + base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	return a, nil
}
