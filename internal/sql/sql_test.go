package sql

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

var testOptions = Options{
	Now:        time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	Seed:       func() int64 { return 7 },
	Named:      map[string]plan.Expr{"x": &plan.Literal{Value: int32(1), T: types.Integer}},
	Positional: []plan.Expr{&plan.Literal{Value: "a", T: types.String}, &plan.Literal{Value: int32(2), T: types.Integer}},
}

// lines gives the lines of a file in testdata that are neither empty nor comments.
func lines(t testing.TB, name string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range strings.Split(string(b), "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

// Each query prints as a text that reads as the same tree, and that prints as itself.
func TestQueriesReadAsPrinted(t *testing.T) {
	for _, text := range lines(t, "queries.sql") {
		checkRoundTrip(t, text)
	}
}

func checkRoundTrip(t *testing.T, text string) {
	t.Helper()
	first, err := ParseQuery(text, testOptions)
	if err != nil {
		t.Errorf("%s\n\t%v", text, err)
		return
	}
	printed := FormatQuery(first)
	second, err := ParseQuery(printed, testOptions)
	if err != nil {
		t.Errorf("%s\n\tprints as\n\t%s\n\t%v", text, printed, err)
		return
	}
	if d := diff(first, second); d != "" {
		t.Errorf("%s\n\tprints as\n\t%s\n\t(-first +second)\n%s", text, printed, d)
	}
	if again := FormatQuery(second); again != printed {
		t.Errorf("%s\n\tprints as\n\t%s\n\tand then as\n\t%s", text, printed, again)
	}
}

// Expressions print as expected; the text says how operators bind.
func TestExpressions(t *testing.T) {
	for _, l := range lines(t, "expressions.txt") {
		text, want, _ := strings.Cut(l, " ==> ")
		e, err := ParseExpr(text, testOptions)
		if err != nil {
			t.Errorf("%s\n\t%v", text, err)
			continue
		}
		if got := FormatExpr(e); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", text, got, want)
		}
		again, err := ParseExpr(FormatExpr(e), testOptions)
		if err != nil {
			t.Errorf("%s\n\tprints as %s\n\t%v", text, FormatExpr(e), err)
			continue
		}
		if d := diff(e, again); d != "" {
			t.Errorf("%s\n\t(-first +second)\n%s", text, d)
		}
	}
}

// Errors have Spark's condition, parameters and place.
func TestErrors(t *testing.T) {
	for _, l := range lines(t, "errors.txt") {
		text, want, _ := strings.Cut(l, " ==> ")
		_, err := ParseStatement(text, Options{})
		if got := describe(err); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", text, got, want)
		}
	}
}

func describe(err error) string {
	e, ok := errors.AsType[*errclass.Error](err)
	if !ok {
		return "no error"
	}
	out := e.Class
	switch e.Class {
	case "PARSE_SYNTAX_ERROR":
		out += " " + e.Params["error"] + e.Params["hint"]
	default:
		if len(e.Context) > 0 {
			out += " [" + e.Context[0].Fragment + "]"
		}
	}
	return out
}
