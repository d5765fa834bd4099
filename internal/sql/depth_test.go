package sql

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/errclass"
)

// Texts that nest deeper than any person writes end in an error, and those a program might write do not.
func TestDepth(t *testing.T) {
	const deep = 30_000
	for name, text := range map[string]string{
		"brackets":   "SELECT " + strings.Repeat("(", deep),
		"not":        "SELECT " + strings.Repeat("NOT ", deep) + "a",
		"minus":      "SELECT " + strings.Repeat("- ", deep) + "a",
		"calls":      "SELECT " + strings.Repeat("f(", deep),
		"subscripts": "SELECT a" + strings.Repeat("[a", deep),
		"case":       "SELECT " + strings.Repeat("CASE WHEN ", deep),
		"lambda":     "SELECT " + strings.Repeat("x -> ", deep) + "x",
		"subqueries": strings.Repeat("SELECT * FROM (", deep),
		"relations":  "SELECT * FROM " + strings.Repeat("(", deep) + "a",
		"in":         "SELECT " + strings.Repeat("a IN (", deep),
		"with":       strings.Repeat("WITH a AS (", deep),
		"explain":    strings.Repeat("EXPLAIN ", deep),
		"sum":        "SELECT 1" + strings.Repeat(" + 1", deep),
		"or":         "SELECT a" + strings.Repeat(" OR a", deep),
		"union":      "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", deep),
		"joins":      "SELECT * FROM a" + strings.Repeat(" JOIN a", deep),
		"pipes":      "FROM a" + strings.Repeat(" |> WHERE a", deep),
		"casts":      "SELECT a" + strings.Repeat("::int", deep),
		"type":       "SELECT CAST(a AS " + strings.Repeat("ARRAY<", deep),
		"sets":       "SELECT 1 GROUP BY " + strings.Repeat("GROUPING SETS (", deep),
	} {
		if _, err := ParseStatement(text, Options{}); !errclass.Has(err, "FAILED_TO_PARSE_TOO_COMPLEX") {
			t.Errorf("%s: %v", name, err)
		}
	}
	const usual = 300
	for name, text := range map[string]string{
		"brackets": "SELECT " + strings.Repeat("(", usual) + "1" + strings.Repeat(")", usual),
		"or":       "SELECT a" + strings.Repeat(" OR a", 5000),
		"values":   "VALUES (1, 2)" + strings.Repeat(", (1, 2)", 50_000),
	} {
		if _, err := ParseStatement(text, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
