package analyze

import (
	"cmp"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// unresolved is the error for a name that means nothing, with the most similar columns.
func (sc *scope) unresolved(parts []string) *errclass.Error {
	have := visible(sc.attrs)
	if len(have) == 0 {
		return errclass.New("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "objectName", errclass.Ident(parts...))
	}
	return errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(parts...), "proposal", proposal(parts, have))
}

// unnamed is the name that the parser gives a query in FROM that has none.
const unnamed = "__auto_generated_subquery_name"

// proposal lists the five columns whose names are most like a written one. What all qualifiers have in common is left out, unless
// the written name has as many parts.
func proposal(parts []string, have []*plan.Attr) string {
	names := make([][]string, len(have))
	for i, a := range have {
		if names[i] = []string{a.Name}; !slices.Equal(a.Qualifier, []string{unnamed}) {
			names[i] = append(slices.Clone(a.Qualifier), a.Name)
		}
	}
	for keep := 1; keep <= 2; keep++ {
		head := func(n []string) []string { return n[:max(0, len(n)-keep)] }
		if len(parts) <= keep && !slices.ContainsFunc(names, func(n []string) bool { return !slices.Equal(head(n), head(names[0])) }) {
			for i, n := range names {
				names[i] = n[len(head(n)):]
			}
			break
		}
	}
	return strings.Join(similar(strings.Join(parts, "."), names), ", ")
}

// similar sorts names by their edit distance from a word and returns the first five, quoted.
func similar(word string, names [][]string) []string {
	type entry struct {
		text string
		dist int
	}
	entries := make([]entry, len(names))
	for i, n := range names {
		text := errclass.Ident(n...)
		entries[i] = entry{text, distance(word, text)}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(a.dist-b.dist, strings.Compare(a.text, b.text)) })
	out := make([]string, 0, 5)
	for _, e := range entries[:min(len(entries), 5)] {
		out = append(out, e.text)
	}
	return out
}

// distance is the Levenshtein distance of two texts.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, c := range x {
		diag := row[0]
		row[0] = i + 1
		for j, d := range y {
			next := diag
			if c != d {
				next++
			}
			diag = row[j+1]
			row[j+1] = min(next, row[j]+1, diag+1)
		}
	}
	return row[len(y)]
}
