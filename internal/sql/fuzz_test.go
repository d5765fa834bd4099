package sql

import (
	"testing"

	"github.com/millrace/millrace/internal/plan"
)

// Whatever the text, the parser ends with a tree or an error that has a class, and a query that it reads prints as a text that
// reads as the same tree.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"queries.sql", "errors.txt", "expressions.txt"} {
		for _, l := range lines(f, name) {
			f.Add(l)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStatement(text, testOptions)
		if err != nil {
			if describe(err) == "no error" {
				t.Fatalf("%q: an error without a class: %v", text, err)
			}
			return
		}
		q, ok := s.(*plan.Query)
		if !ok {
			return
		}
		printed := FormatQuery(q.Plan)
		again, err := ParseQuery(printed, testOptions)
		if err != nil {
			t.Fatalf("%q\nprints as %q\n%v", text, printed, err)
		}
		if dump(q.Plan) != dump(again) {
			t.Fatalf("%q\nprints as %q\n(-first +second)\n%s", text, printed, diff(q.Plan, again))
		}
	})
}

// An expression that reads prints as one that reads as the same.
func FuzzExpr(f *testing.F) {
	for _, l := range lines(f, "expressions.txt") {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpr(text, testOptions)
		if err != nil {
			return
		}
		printed := FormatExpr(e)
		again, err := ParseExpr(printed, testOptions)
		if err != nil {
			t.Fatalf("%q\nprints as %q\n%v", text, printed, err)
		}
		if dump(e) != dump(again) {
			t.Fatalf("%q\nprints as %q\n(-first +second)\n%s", text, printed, diff(e, again))
		}
	})
}
