package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatements(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                    nil,
		" ; ;":                                nil,
		"SELECT 1":                            {"SELECT 1"},
		"SELECT 1;\nSELECT 2;":                {"SELECT 1", "SELECT 2"},
		"SELECT ';', \";\" AS `a;`; SELECT 2": {"SELECT ';', \";\" AS `a;`", "SELECT 2"},
		`SELECT 'it\'s;'; SELECT 2`:           {`SELECT 'it\'s;'`, "SELECT 2"},
		"SELECT 1 -- a; b\n; SELECT 2":        {"SELECT 1 -- a; b", "SELECT 2"},
		"SELECT /* ; */ 1; SELECT 2":          {"SELECT /* ; */ 1", "SELECT 2"},
		"SELECT 'open; ":                      {"SELECT 'open;"},
		"SELECT 1 /* open; ":                  {"SELECT 1 /* open;"},
	} {
		if d := cmp.Diff(want, statements(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}
