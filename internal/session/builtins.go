package session

import (
	_ "embed"
	"sort"
	"strings"
	"sync"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

//go:embed builtins.txt
var builtinsText string

// builtin is what DESCRIBE FUNCTION tells about a function or an operator.
type builtin struct {
	class string // "" for none
	usage string
}

// builtins are the functions that come with the engine, by name in lower case.
var builtins = sync.OnceValue(func() map[string]builtin {
	m := map[string]builtin{}
	for line := range strings.Lines(builtinsText) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 3 {
			continue // a remark
		}
		b := builtin{usage: parts[2]}
		if parts[1] != "-" {
			b.class = "org.apache.spark.sql.catalyst." + parts[1]
		}
		m[parts[0]] = b
	}
	return m
})

// listedFunctions are the names that SHOW FUNCTIONS lists: what the engine has, and the operators.
func listedFunctions() []string {
	have := FunctionNames()
	for name := range builtins() {
		if i := sort.SearchStrings(have, name); i < len(have) && have[i] == name {
			continue
		}
		if c := name[0]; c < 'a' || c > 'z' || operatorWords[name] {
			have = append(have, name)
		}
	}
	sort.Strings(have)
	return have
}

// operatorWords are the operators and forms of syntax that are words.
var operatorWords = map[string]bool{
	"and": true, "or": true, "not": true, "in": true, "between": true, "case": true, "when": true, "div": true,
	"like": true, "ilike": true, "rlike": true, "regexp": true, "regexp_like": true, "mod": true, "if": true, "cast": true, "range": true,
}

func (s *Session) describeFunction(st *plan.DescribeFunction) (plan.Node, error) {
	if len(st.Name) > 3 || len(st.Name) == 3 && !strings.EqualFold(st.Name[0], catalog.Name) {
		return nil, errclass.New("REQUIRES_SINGLE_PART_NAMESPACE", "sessionCatalog", catalog.Name, "identifier", errclass.Ident(st.Name...))
	}
	if f := (lookup{s: s}).LookupRoutine(st.Name); f != nil && f.Class != "" {
		return describeClass(f, st.Extended)
	} else if f != nil {
		return describeRoutine(f, st.Extended, s.Zone())
	}
	name := strings.ToLower(st.Name[len(st.Name)-1])
	b, ok := builtins()[name]
	if !ok && s.FunctionExists(name) {
		b, ok = builtin{usage: name + "(...)"}, true
	}
	if !ok || len(st.Name) > 1 {
		return nil, placed(errclass.New("UNRESOLVED_ROUTINE", "routineName", errclass.Ident(st.Name...), "searchPath", s.searchPath()), st.Origin)
	}
	rows := []types.Row{{"Function: " + name}}
	if b.class != "" {
		rows = append(rows, types.Row{"Class: " + b.class})
	}
	rows = append(rows, types.Row{"Usage: " + b.usage})
	if st.Extended {
		rows = append(rows, types.Row{"Extended Usage:\n    No example/argument for " + name + ".\n"})
	}
	return plan.LocalRows(types.Struct(text1("function_desc")), rows)
}

// searchPath is where functions and variables are looked up, as messages have it.
func (s *Session) searchPath() string {
	return "[" + strings.Join([]string{errclass.Ident("system", "builtin"), errclass.Ident("system", "session"), errclass.Ident(catalog.Name, s.Namespace())}, ", ") + "]"
}
